//! A finished picture: as SVG with text as paths, and as PNG.
//!
//! ```text
//!   canvas's SVG (with <text>) ──usvg, embedded font only──► Tree ──► svg(): text as paths
//!                                                              └────► png(scale): pixels
//! ```
//!
//! Both come from one tree, so they cannot differ. usvg drops `<title>` and `<desc>`, which screen
//! readers need because text is paths; they are added to the finished file.

use crate::canvas::{Canvas, escaped};
use crate::error::ViewError;
use crate::typeface::{FAMILY, FONTS};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Indent, Options, Tree, WriteOptions};
use std::sync::Arc;

/// The largest number of pixels of a PNG: 400 MB in memory.
const MOST_PIXELS: f64 = 1e8;

/// A picture that can be written as SVG or PNG.
#[derive(Debug, Clone)]
pub struct Picture {
    svg: String,
    tree: Tree,
    title: String,
    description: String,
}

impl Picture {
    /// Renders the text of `canvas` in the embedded typeface.
    pub(crate) fn from_canvas(
        canvas: Canvas,
        title: &str,
        description: &str,
        (width, height): (f64, f64),
    ) -> Result<Self, ViewError> {
        let options = Options {
            font_family: FAMILY.to_owned(),
            fontdb: Arc::clone(&FONTS),
            ..Options::default()
        };
        let draft = canvas.finish(title, width, height)?;
        let tree = Tree::from_str(&draft, &options)
            .map_err(|e| ViewError::Renderer { title: title.to_owned(), reason: e.to_string() })?;
        let svg = written(&tree, None, title, description);
        Ok(Self { svg, tree, title: title.to_owned(), description: description.to_owned() })
    }

    /// The picture as SVG for a page with several pictures: its ids start with `prefix`, so that
    /// the clip of one picture does not apply to another.
    pub(crate) fn svg_in_page(&self, prefix: &str) -> String {
        written(&self.tree, Some(prefix.to_owned()), &self.title, &self.description)
    }

    /// The picture as SVG; all text is paths, so no font is needed to show it.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// Width and height in pixels at scale 1.
    pub fn size(&self) -> (f32, f32) {
        (self.tree.size().width(), self.tree.size().height())
    }

    /// The picture as PNG on white, `scale` times its size (2 for print and high-resolution
    /// screens).
    ///
    /// # Errors
    /// If `scale` is not positive or the result would have more than 100 million pixels.
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, ViewError> {
        let bad_scale = || ViewError::BadMeasure {
            what: "the scale of a PNG",
            got: scale.to_string(),
            expected: "a positive factor that gives at most 100 million pixels",
        };
        let (width, height) = self.size();
        let [wide, high] = [width, height].map(|v| f64::from((v * scale).ceil()));
        if !(scale > 0.0 && wide * high <= MOST_PIXELS) {
            return Err(bad_scale());
        }
        let mut pixels = Pixmap::new(wide as u32, high as u32).ok_or_else(bad_scale)?;
        pixels.fill(Color::WHITE);
        resvg::render(&self.tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
        pixels
            .encode_png()
            .map_err(|e| ViewError::Renderer { title: self.title.clone(), reason: e.to_string() })
    }
}

/// The tree as SVG with its description.
fn written(tree: &Tree, id_prefix: Option<String>, title: &str, description: &str) -> String {
    let svg = tree.to_string(&WriteOptions {
        id_prefix,
        preserve_text: false,
        coordinates_precision: 2,
        transforms_precision: 5,
        indent: Indent::None,
        ..WriteOptions::default()
    });
    with_description(&svg, title, description, tree)
}

/// Adds title and description, and a viewBox so that the picture scales in a page.
fn with_description(svg: &str, title: &str, description: &str, tree: &Tree) -> String {
    let (head, rest) = svg.split_once('>').unwrap_or((svg, ""));
    let (title, description) = (escaped(title), escaped(description));
    let (width, height) = (tree.size().width(), tree.size().height());
    let view_box = if head.contains("viewBox") {
        String::new()
    } else {
        format!(" viewBox=\"0 0 {width} {height}\"")
    };
    format!(
        "{head}{view_box} role=\"img\" aria-label=\"{title}\">\
         <title>{title}</title><desc>{description}</desc>{rest}\n"
    )
}
