//! The legend: which mark is the paper's and which is ours. Methods need no entry, because their
//! names are beside their rows.

use super::panel::Mark;
use crate::canvas::{Anchor, Canvas, TextStyle, ink};
use crate::typeface::{Weight, shortened, width};

const ENTRIES: [(&str, bool); 2] = [("Paper", false), ("Ours, in the method's colour", true)];
const SAMPLE: f64 = 26.0;
const SAMPLE_GAP: f64 = 7.0;
const ENTRY_GAP: f64 = 22.0;

/// Draws the entries in one line around `middle`, or below each other if that is too wide. Returns
/// their height.
pub(crate) fn draw_below(
    canvas: &mut Canvas,
    (middle, top): (f64, f64),
    room: f64,
    size: f64,
) -> f64 {
    let widths = ENTRIES.map(|(label, _)| entry_width(label, size));
    let in_line = widths[0] + ENTRY_GAP + widths[1];
    if in_line > room {
        let widest = widths[0].max(widths[1]).min(room);
        return draw_column(canvas, (middle - widest / 2.0, top), widest, size);
    }
    let left = middle - in_line / 2.0;
    for (i, x) in [left, left + widths[0] + ENTRY_GAP].into_iter().enumerate() {
        draw_entry(canvas, ENTRIES[i], (x, top + row_height(size) / 2.0), widths[i], size);
    }
    row_height(size)
}

/// Draws the entries below each other from the corner `at`. Returns their width and height.
pub(crate) fn draw_beside(canvas: &mut Canvas, at: (f64, f64), size: f64) -> (f64, f64) {
    let widest = ENTRIES.iter().map(|(label, _)| entry_width(label, size)).fold(0.0, f64::max);
    (widest, draw_column(canvas, at, widest, size))
}

fn draw_column(canvas: &mut Canvas, (left, top): (f64, f64), room: f64, size: f64) -> f64 {
    for (i, entry) in ENTRIES.into_iter().enumerate() {
        let y = top + (i as f64 + 0.5) * row_height(size);
        draw_entry(canvas, entry, (left, y), room, size);
    }
    ENTRIES.len() as f64 * row_height(size)
}

fn draw_entry(
    canvas: &mut Canvas,
    (label, ours): (&str, bool),
    (x, y): (f64, f64),
    room: f64,
    size: f64,
) {
    let color = if ours { ink::TEXT } else { ink::QUIET };
    let mark = Mark { radius: 3.3, color, filled: ours };
    mark.draw_bar(canvas, (x, x + SAMPLE), y, [true, true]);
    mark.draw_dot(canvas, (x + SAMPLE / 2.0, y));
    let weight = Weight::Regular;
    // A tenth of a pixel more, because the room was computed as a sum.
    let label = shortened(label, size, weight, room - SAMPLE - SAMPLE_GAP + 0.1);
    let how = TextStyle { size, weight, color: ink::TEXT, anchor: Anchor::Start };
    canvas.text((x + SAMPLE + SAMPLE_GAP, y + size * 0.36), &label, how, false);
}

fn entry_width(label: &str, size: f64) -> f64 {
    SAMPLE + SAMPLE_GAP + width(label, size, Weight::Regular)
}

fn row_height(size: f64) -> f64 {
    (size * 1.6).round()
}
