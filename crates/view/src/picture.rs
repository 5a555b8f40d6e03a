//! A finished picture: as SVG, PDF and PNG.
//!
//! ```text
//!   canvas's SVG, text as text ──► svg(): as it is, or with the fonts in it
//!                 │
//!                 └─usvg, embedded font only──► Tree ──► pdf(): vectors, text as text
//!                                                 ├────► png(scale): pixels
//!                                                 └────► svg with text as outlines
//! ```
//!
//! All come from one drawing, so they cannot differ. Text that stays text can be searched, copied
//! and edited; outlines look the same where the fonts are missing.

use crate::canvas::{Canvas, Sheet, escaped};
use crate::error::ViewError;
use crate::pdf;
use crate::typeface::{FAMILY, FONTS, Weight};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Indent, Options, Tree, WriteOptions};
use std::sync::Arc;

/// The largest number of pixels of a PNG: 400 MB in memory.
const MOST_PIXELS: f64 = 1e8;

/// How a file has its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextAs {
    /// As text. An SVG names the fonts, a PDF contains what it needs of them.
    #[default]
    Text,
    /// As text, and the fonts are in the file (about 150 kB more in an SVG).
    Embedded,
    /// As outlines, which need no font and cannot be searched.
    Outlines,
}

/// A picture that can be written as SVG, PDF or PNG.
#[derive(Debug, Clone)]
pub struct Picture {
    svg: String,
    tree: Tree,
    title: String,
    description: String,
}

impl Picture {
    /// Renders `canvas` in the embedded typeface.
    pub(crate) fn from_canvas(
        canvas: Canvas,
        title: &str,
        description: &str,
        sheet: Sheet,
    ) -> Result<Self, ViewError> {
        let options = Options {
            font_family: FAMILY.to_owned(),
            fontdb: Arc::clone(&FONTS),
            ..Options::default()
        };
        let svg = canvas.finish(title, description, sheet)?;
        let tree = Tree::from_str(&svg, &options)
            .map_err(|e| ViewError::Renderer { title: title.to_owned(), reason: e.to_string() })?;
        Ok(Self { svg, tree, title: title.to_owned(), description: description.to_owned() })
    }

    /// The picture as SVG for a page with several pictures: text as outlines, and its ids start
    /// with `prefix`, so that the clip of one picture does not apply to another.
    pub(crate) fn svg_in_page(&self, prefix: &str) -> String {
        outlined(&self.tree, Some(prefix.to_owned()), &self.title, &self.description)
    }

    /// The picture as SVG. Text is text in DejaVu Sans; where that is missing, a reader takes a
    /// font of about the same widths.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// The picture as SVG, with its text in another form.
    pub fn svg_with(&self, text: TextAs) -> String {
        match text {
            TextAs::Text => self.svg.clone(),
            TextAs::Embedded => with_fonts(&self.svg),
            TextAs::Outlines => outlined(&self.tree, None, &self.title, &self.description),
        }
    }

    /// The picture as a PDF of one page: lines stay lines, text stays text unless it is
    /// [`TextAs::Outlines`]. The same picture gives the same bytes.
    ///
    /// # Errors
    /// If the drawing uses something that this PDF writer does not know (a bug in this crate).
    pub fn pdf(&self, text: TextAs) -> Result<Vec<u8>, ViewError> {
        pdf::written(&self.tree, &self.title, text == TextAs::Outlines)
            .map_err(|reason| ViewError::Renderer { title: self.title.clone(), reason })
    }

    /// Width and height in pixels at scale 1; a pixel is a 96th of an inch.
    pub fn size(&self) -> (f32, f32) {
        (self.tree.size().width(), self.tree.size().height())
    }

    /// The picture as PNG on white, `scale` times its size (2 for high-resolution screens, 3.125
    /// for print at 300 dots per inch). The file says how many pixels are a metre, so that a
    /// document shows it at its size.
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
        let file = pixels.encode_png().map_err(|e| ViewError::Renderer {
            title: self.title.clone(),
            reason: e.to_string(),
        })?;
        Ok(with_density(file, 96.0 * f64::from(scale)))
    }
}

/// The tree as SVG with text as outlines, and with its description, which usvg drops.
fn outlined(tree: &Tree, id_prefix: Option<String>, title: &str, description: &str) -> String {
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

/// The SVG with the weights that it uses as fonts of its own.
fn with_fonts(svg: &str) -> String {
    let mut faces = String::new();
    for weight in Weight::BOTH {
        let bold = weight == Weight::Bold;
        if bold && !svg.contains("font-weight=\"700\"") {
            continue;
        }
        let number = if bold { 700 } else { 400 };
        faces.push_str(&format!(
            "@font-face{{font-family:'{FAMILY}';font-weight:{number};\
             src:url(data:font/ttf;base64,{})}}",
            base64(weight.file())
        ));
    }
    let (head, rest) = svg.split_once("</desc>\n").unwrap_or((svg, ""));
    format!("{head}</desc>\n<style>{faces}</style>\n{rest}")
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |k: usize| u32::from(group.get(k).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for k in 0..4 {
            if k > group.len() {
                text.push('=');
            } else {
                text.push(char::from(SIGNS[(bits >> (18 - 6 * k) & 63) as usize]));
            }
        }
    }
    text
}

/// A PNG with the chunk that says its density. The first chunk of every PNG, after 8 bytes, is
/// IHDR, which has 25.
fn with_density(mut png: Vec<u8>, dots_per_inch: f64) -> Vec<u8> {
    let per_metre = (dots_per_inch / 0.0254).round() as u32;
    let mut chunk = b"pHYs".to_vec();
    chunk.extend([per_metre.to_be_bytes(), per_metre.to_be_bytes()].concat());
    chunk.push(1); // the unit is the metre
    let check = crc32fast::hash(&chunk);
    let whole = [&9u32.to_be_bytes()[..], &chunk, &check.to_be_bytes()].concat();
    let after_header = 33.min(png.len());
    png.splice(after_header..after_header, whole);
    png
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of RFC 4648, section 10.
    #[test]
    fn base64_is_that_of_the_standard() {
        let pairs =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (plain, coded) in pairs {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
        assert_eq!(base64(b"foobar"), "Zm9vYmFy");
        assert_eq!(base64(&[0xff, 0xef, 0xbe]), "/+++");
    }
}
