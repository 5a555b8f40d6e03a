//! The typeface, which is compiled into the crate, and the widths of texts.
//!
//! A picture must show its text on a machine without fonts, and look the same on every machine. So
//! the renderer uses only these two files, never fonts of the system. Widths are sums of the
//! advances without kerning. They are slightly too wide, so texts do not overlap.

use resvg::usvg::fontdb::{Database, Source};
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};
use std::sync::{Arc, LazyLock};

/// The name by which the renderer finds the typeface.
pub(crate) const FAMILY: &str = "DejaVu Sans";

/// What a file names where its reader has the fonts: the typeface, and others of the same widths.
pub(crate) const FALLBACKS: &str =
    "'DejaVu Sans', 'Bitstream Vera Sans', Verdana, Geneva, sans-serif";

const REGULAR: &[u8] = include_bytes!("../fonts/DejaVuSans.subset.ttf");
const BOLD: &[u8] = include_bytes!("../fonts/DejaVuSans-Bold.subset.ttf");

/// The font database of the renderer, with only the embedded typeface.
pub(crate) static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    for file in Weight::BOTH.map(Weight::file) {
        fonts.load_font_source(Source::Binary(Arc::new(file)));
    }
    Arc::new(fonts)
});

/// The two weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

impl Weight {
    /// Both, in the order in which they are in [`FONTS`].
    pub(crate) const BOTH: [Weight; 2] = [Weight::Regular, Weight::Bold];

    /// The file of this weight: TrueType.
    pub(crate) fn file(self) -> &'static [u8] {
        match self {
            Weight::Regular => REGULAR,
            Weight::Bold => BOLD,
        }
    }
}

/// The width of `text` in one line at `size`.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let Ok(font) = FontRef::new(weight.file()) else {
        // The file is part of the crate and a test reads it, so this never happens.
        return text.chars().count() as f64 * size * 0.6;
    };
    let glyphs = font.charmap();
    let metrics = font.glyph_metrics(Size::new(size as f32), LocationRef::default());
    let advance = |c: char| {
        let glyph = glyphs.map(c).unwrap_or_default();
        f64::from(metrics.advance_width(glyph).unwrap_or(0.0))
    };
    text.chars().map(advance).sum()
}

/// Breaks `text` at spaces into lines no wider than `room`. A wider word is cut with an ellipsis.
/// All white space counts as one space. The lines have about the same length, so the last line is
/// not a single word.
pub(crate) fn wrapped(text: &str, size: f64, weight: Weight, room: f64) -> Vec<String> {
    let lines = filled(text, size, weight, room);
    let narrower = (1..20).map(|step| room * (1.0 - 0.05 * f64::from(step)));
    narrower
        .map(|room| filled(text, size, weight, room))
        .take_while(|tried| tried.len() == lines.len() && !cut_short(tried, &lines))
        .last()
        .unwrap_or(lines)
}

/// Whether an ellipsis cuts a word in `tried` that is complete in `lines`.
fn cut_short(tried: &[String], lines: &[String]) -> bool {
    let letters = |lines: &[String]| lines.iter().map(|l| l.chars().count() + 1).sum::<usize>();
    letters(tried) != letters(lines)
}

/// Fills each line as far as possible.
fn filled(text: &str, size: f64, weight: Weight, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size, weight) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(shortened(word, size, weight, room)),
        }
    }
    lines
}

/// `text` in one line no wider than `room`, cut with an ellipsis if necessary.
pub(crate) fn shortened(text: &str, size: f64, weight: Weight, room: f64) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if width(&text, size, weight) <= room {
        return text;
    }
    let mut kept: Vec<char> = text.chars().collect();
    loop {
        kept.pop();
        let candidate: String = kept.iter().chain(&['…']).collect();
        if kept.is_empty() || width(&candidate, size, weight) <= room {
            return candidate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_weights_are_read_and_bold_is_wider() {
        let regular = width("Consensus error", 10.0, Weight::Regular);
        let bold = width("Consensus error", 10.0, Weight::Bold);
        assert!(regular > 60.0 && regular < bold && bold < 110.0, "{regular} {bold}");
        assert_eq!(FONTS.len(), 2);
    }

    #[test]
    fn every_sign_a_chart_writes_is_in_the_typeface() {
        for file in [REGULAR, BOLD] {
            let glyphs = FontRef::new(file).unwrap().charmap();
            for c in "0123456789−⁻⁰¹²³⁴⁵⁶⁷⁸⁹×±…\u{2009}µμαβγηλσ≤≥≈∞→–—‖ABCxyz()".chars()
            {
                assert!(glyphs.map(c).is_some(), "{c:?}");
            }
        }
    }

    #[test]
    fn lines_fit_their_room() {
        let lines =
            wrapped("a title of  many\nwords Donaudampfschifffahrt", 10.0, Weight::Bold, 70.0);
        assert!(lines.len() > 2);
        for line in &lines {
            assert!(width(line, 10.0, Weight::Bold) <= 70.0, "{line}");
        }
        assert!(lines.last().unwrap().ends_with('…'));
        let balanced = wrapped("one two three four five six seven", 10.0, Weight::Regular, 150.0);
        assert_eq!(balanced, ["one two three four", "five six seven"]);
        assert!(wrapped(" \n", 10.0, Weight::Regular, 70.0).is_empty());
    }
}
