//! A canvas: the few SVG elements that the pictures need, written as text. Text stays text; the
//! family of fonts is named once, at the root.
//!
//! One function formats all numbers. It rounds them to a hundredth of a pixel and remembers values
//! that are not finite, so that a mistake becomes an error and not a NaN in a file.

use crate::error::ViewError;
use crate::layout::MARGIN;
use crate::typeface::{FALLBACKS, Weight};
use std::cell::Cell;
use std::fmt::Write;

/// The colours of everything except data.
pub(crate) mod ink {
    /// Titles, labels and node outlines.
    pub(crate) const TEXT: &str = "#1a1a1a";
    /// Axis lines and ticks.
    pub(crate) const AXIS: &str = "#4d4d4d";
    /// Secondary text.
    pub(crate) const QUIET: &str = "#666666";
    /// Lines of other methods, behind the one that a panel is about.
    pub(crate) const BEHIND: &str = "#d4d4d4";
    /// Grid lines.
    pub(crate) const GRID: &str = "#e4e4e4";
}

/// A position in pixels.
pub(crate) type Point = (f64, f64);

/// Which end of a text its point marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// The style of a line of text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextStyle {
    pub(crate) size: f64,
    pub(crate) weight: Weight,
    pub(crate) color: &'static str,
    pub(crate) anchor: Anchor,
}

/// The style of a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pen<'a> {
    pub(crate) color: &'a str,
    pub(crate) width: f64,
    pub(crate) dash: &'a str,
    pub(crate) opacity: f64,
}

impl<'a> Pen<'a> {
    /// A plain solid line.
    pub(crate) fn solid(color: &'a str, width: f64) -> Self {
        Self { color, width, dash: "", opacity: 1.0 }
    }
}

/// An SVG picture under construction.
pub(crate) struct Canvas {
    body: String,
    clips: usize,
    all_finite: Cell<bool>,
}

impl Canvas {
    pub(crate) fn new() -> Self {
        Self { body: String::new(), clips: 0, all_finite: Cell::new(true) }
    }

    /// A coordinate as text: two decimals, no trailing zeros.
    pub(crate) fn number(&self, value: f64) -> String {
        if !value.is_finite() {
            self.all_finite.set(false);
            return "0".to_owned();
        }
        let text = format!("{value:.2}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        if text == "-0" { "0".to_owned() } else { text.to_owned() }
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), pen: Pen) {
        let data = format!("M{}L{}", self.point(from), self.point(to));
        self.stroke(&data, pen);
    }

    /// Draws the line of a path.
    pub(crate) fn stroke(&mut self, data: &str, pen: Pen) {
        let Pen { color, width, dash, opacity } = pen;
        let mut extra = String::new();
        if !dash.is_empty() {
            let _ = write!(extra, " stroke-dasharray=\"{dash}\"");
        }
        if opacity < 1.0 {
            let _ = write!(extra, " stroke-opacity=\"{}\"", self.number(opacity));
        }
        let width = self.number(width);
        let _ = writeln!(
            self.body,
            "<path d=\"{data}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\"{extra}/>"
        );
    }

    /// Fills a path.
    pub(crate) fn fill(&mut self, data: &str, color: &str, opacity: f64) {
        let opacity = self.number(opacity);
        let _ =
            writeln!(self.body, "<path d=\"{data}\" fill=\"{color}\" fill-opacity=\"{opacity}\"/>");
    }

    /// Like [`fill`](Self::fill), opaque and with hard edges, so that neighbouring cells touch
    /// without a seam.
    pub(crate) fn mosaic(&mut self, data: &str, color: &str) {
        let _ = writeln!(
            self.body,
            "<path d=\"{data}\" fill=\"{color}\" shape-rendering=\"crispEdges\"/>"
        );
    }

    /// Fills a closed path and draws its outline.
    pub(crate) fn shape(&mut self, data: &str, fill: &str, outline: Pen) {
        let (color, width) = (outline.color, self.number(outline.width));
        let _ = writeln!(
            self.body,
            "<path d=\"{data}\" fill=\"{fill}\" stroke=\"{color}\" stroke-width=\"{width}\"/>"
        );
    }

    pub(crate) fn circle(&mut self, center: (f64, f64), radius: f64, fill: &str, outline: Pen) {
        let [x, y, r, width] = [center.0, center.1, radius, outline.width].map(|v| self.number(v));
        let color = outline.color;
        let _ = writeln!(
            self.body,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"{fill}\" stroke=\"{color}\" \
             stroke-width=\"{width}\"/>"
        );
    }

    /// One line of text with its baseline at `at`; if `turned`, it reads upwards.
    pub(crate) fn text(&mut self, at: (f64, f64), text: &str, how: TextStyle, turned: bool) {
        let [x, y, size] = [at.0, at.1, how.size].map(|v| self.number(v));
        let weight = match how.weight {
            Weight::Regular => "",
            Weight::Bold => " font-weight=\"700\"",
        };
        let anchor = match how.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let turn =
            if turned { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
        let (color, text) = (how.color, escaped(text));
        let _ = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{weight} fill=\"{color}\" text-anchor=\"{anchor}\"{turn}>{text}</text>"
        );
    }

    /// Starts a group that is clipped to the rectangle. [`Self::end`] ends it.
    pub(crate) fn begin_clip(&mut self, x: f64, y: f64, width: f64, height: f64) {
        self.clips += 1;
        let n = self.clips;
        let [x, y, width, height] = [x, y, width, height].map(|v| self.number(v));
        let _ = writeln!(
            self.body,
            "<clipPath id=\"plot{n}\"><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" \
             height=\"{height}\"/></clipPath>\n<g clip-path=\"url(#plot{n})\">"
        );
    }

    /// Starts a group that is not drawn here, but wherever [`Self::reuse`] says.
    pub(crate) fn begin_shared(&mut self, name: &str) {
        let _ = writeln!(self.body, "<defs><g id=\"{name}\">");
    }

    /// Ends the shared group.
    pub(crate) fn end_shared(&mut self) {
        self.body.push_str("</g></defs>\n");
    }

    /// Draws a shared group, moved by `(x, y)`.
    pub(crate) fn reuse(&mut self, name: &str, (x, y): Point) {
        let [x, y] = [x, y].map(|v| self.number(v));
        let _ =
            writeln!(self.body, "<use xlink:href=\"#{name}\" transform=\"translate({x} {y})\"/>");
    }

    /// Ends the last group.
    pub(crate) fn end(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// A point as path data.
    pub(crate) fn point(&self, (x, y): (f64, f64)) -> String {
        format!("{} {}", self.number(x), self.number(y))
    }

    /// The complete SVG on a white sheet, for readers and for the renderer.
    ///
    /// # Errors
    /// If a coordinate is not finite.
    pub(crate) fn finish(
        &self,
        title: &str,
        description: &str,
        sheet: Sheet,
    ) -> Result<String, ViewError> {
        let [x, y, w, h] =
            [sheet.corner.0, sheet.corner.1, sheet.size.0, sheet.size.1].map(|v| self.number(v));
        if !self.all_finite.get() {
            return Err(ViewError::Renderer {
                title: title.to_owned(),
                reason: "a coordinate is not finite".to_owned(),
            });
        }
        let at = if sheet.corner == (0.0, 0.0) {
            String::new()
        } else {
            format!(" x=\"{x}\" y=\"{y}\"")
        };
        let used = if self.body.contains("<use ") {
            " xmlns:xlink=\"http://www.w3.org/1999/xlink\""
        } else {
            ""
        };
        let (title, description) = (escaped(title), escaped(description));
        let body = &self.body;
        Ok(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\"{used} width=\"{w}\" height=\"{h}\" \
             viewBox=\"{x} {y} {w} {h}\" font-family=\"{FALLBACKS}\" role=\"img\" \
             aria-label=\"{title}\">\n<title>{title}</title><desc>{description}</desc>\n\
             <rect{at} width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n{body}</svg>\n"
        ))
    }
}

/// The part of the canvas that a picture shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sheet {
    corner: Point,
    size: (f64, f64),
}

/// How much of the usual margin a picture of a given width keeps: a page has margins of its own.
const KEPT_MARGIN: f64 = 2.0;

impl Sheet {
    /// A sheet for a drawing of this size with [`MARGIN`] around it. If a width was asked for, the
    /// sheet has exactly that width and nearly no margin; the drawing must have been laid out for
    /// [`Self::room`].
    pub(crate) fn around((width, height): (f64, f64), asked: Option<f64>) -> Self {
        match asked {
            None => Self { corner: (0.0, 0.0), size: (width.ceil(), height.ceil()) },
            Some(asked) => {
                let cut = MARGIN - KEPT_MARGIN;
                let height = (height - 2.0 * cut).ceil().max(1.0);
                // A drawing that is narrower than its sheet is in the middle.
                let slack = (Self::room(asked) - width).max(0.0) / 2.0;
                Self { corner: (cut - slack, cut), size: (asked, height) }
            }
        }
    }

    /// How wide a drawing may be, margins included, to fit a sheet of the width `asked`.
    pub(crate) fn room(asked: f64) -> f64 {
        asked + 2.0 * (MARGIN - KEPT_MARGIN)
    }
}

/// Text that is safe inside an element or an attribute. Characters that XML does not allow become
/// U+FFFD.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\r' | '\t' => safe.push(' '),
            c if c.is_control() || c == '\u{fffe}' || c == '\u{ffff}' => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_nan() {
        let canvas = Canvas::new();
        assert_eq!(canvas.number(12.0), "12");
        assert_eq!(canvas.number(-0.001), "0");
        assert_eq!(canvas.number(1.005_9), "1.01");
        assert_eq!(canvas.number(f64::NAN), "0");
        let sheet = Sheet::around((1.0, 1.0), None);
        assert!(matches!(canvas.finish("t", "", sheet), Err(ViewError::Renderer { .. })));
    }

    #[test]
    fn hostile_text_stays_text() {
        assert_eq!(escaped("a<b & \"c\"\u{1}\n"), "a&lt;b &amp; &quot;c&quot;\u{fffd} ");
    }
}
