//! Labels along the sides of a heat map, thinned out until they do not overlap.
//!
//! Every second, fifth, tenth… number is kept, so that the numbers are round. Words are horizontal
//! below their columns if all of them fit, and vertical otherwise.

use crate::canvas::{Anchor, Canvas, TextStyle, ink};
use crate::trace::PlotArea;
use crate::typeface::{Weight, shortened, width};

/// The labels of the cells along one side.
pub(super) enum Names<'a> {
    /// From 0 up to, not including, this number.
    Numbers(usize),
    Words(&'a [String]),
}

/// The labels that are shown.
pub(super) struct Labels {
    /// Index of the cell, and text.
    shown: Vec<(usize, String)>,
    /// Whether they are vertical.
    turned: bool,
    /// How much room they need beside the cells.
    pub(super) depth: f64,
}

/// The most room for a label.
const MOST_DEPTH: f64 = 120.0;

/// Labels beside rows that are `step` high.
pub(super) fn down(names: &Names, step: f64, size: f64) -> Labels {
    let shown = thinned(names, step, size * 1.15);
    let depth = widest(&shown, size);
    Labels { shown, turned: false, depth }
}

/// Labels below columns that are `step` wide.
pub(super) fn across(names: &Names, step: f64, size: f64) -> Labels {
    let all = names.all();
    let flat = widest(&all, size) + size * 0.6;
    match names {
        Names::Words(_) if flat > step => {
            let shown = thinned(names, step, size * 1.15);
            let depth = widest(&shown, size);
            Labels { shown, turned: true, depth }
        }
        _ => Labels { shown: thinned(names, step, flat), turned: false, depth: size },
    }
}

impl Names<'_> {
    fn all(&self) -> Vec<(usize, String)> {
        match self {
            Names::Numbers(count) => (0..*count).map(|i| (i, i.to_string())).collect(),
            Names::Words(words) => words.iter().cloned().enumerate().collect(),
        }
    }
}

/// Every, every second, every fifth… name, so that each has `room`.
fn thinned(names: &Names, step: f64, room: f64) -> Vec<(usize, String)> {
    let decades = std::iter::successors(Some(1usize), |d| d.checked_mul(10));
    let every = decades
        .flat_map(|decade| [1, 2, 5].map(|factor| decade.saturating_mul(factor)))
        .find(|every| *every as f64 * step >= room)
        .unwrap_or(usize::MAX);
    names.all().into_iter().filter(|(i, _)| i.is_multiple_of(every)).collect()
}

fn widest(labels: &[(usize, String)], size: f64) -> f64 {
    let widths = labels.iter().map(|(_, text)| width(text, size, Weight::Regular));
    widths.fold(0.0, f64::max).min(MOST_DEPTH)
}

impl Labels {
    pub(super) fn draw_down(&self, canvas: &mut Canvas, frame: PlotArea, step: f64, size: f64) {
        for (row, text) in &self.shown {
            let y = frame.top + (*row as f64 + 0.5) * step + size * 0.36;
            let text = shortened(text, size, Weight::Regular, MOST_DEPTH);
            canvas.text((frame.left - 6.0, y), &text, text_style(size, Anchor::End), false);
        }
    }

    pub(super) fn draw_across(&self, canvas: &mut Canvas, frame: PlotArea, step: f64, size: f64) {
        for (column, text) in &self.shown {
            let middle = frame.left + (*column as f64 + 0.5) * step;
            if self.turned {
                let text = shortened(text, size, Weight::Regular, MOST_DEPTH);
                let at = (middle + size * 0.36, frame.bottom() + 6.0);
                canvas.text(at, &text, text_style(size, Anchor::End), true);
            } else {
                let at = (middle, frame.bottom() + 6.0 + size * 0.8);
                canvas.text(at, text, text_style(size, Anchor::Middle), false);
            }
        }
    }
}

fn text_style(size: f64, anchor: Anchor) -> TextStyle {
    TextStyle { size, weight: Weight::Regular, color: ink::TEXT, anchor }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(labels: &Labels) -> Vec<usize> {
        labels.shown.iter().map(|(i, _)| *i).collect()
    }

    #[test]
    fn a_thousand_columns_keep_round_numbers_that_do_not_touch() {
        let labels = across(&Names::Numbers(1024), 1.0, 11.0);
        assert_eq!(shown(&labels)[..3], [0, 50, 100]);
        assert_eq!(shown(&across(&Names::Numbers(10), 40.0, 11.0)).len(), 10);
        assert_eq!(shown(&down(&Names::Numbers(16), 22.0, 11.0)).len(), 16);
        assert_eq!(shown(&down(&Names::Numbers(100), 4.0, 11.0))[1], 5);
    }

    #[test]
    fn long_words_stand_on_end_and_no_longer_than_they_may() {
        let words = ["automobile".to_owned(), "x".repeat(80)];
        let labels = across(&Names::Words(&words), 40.0, 11.0);
        assert!(labels.turned && labels.depth == MOST_DEPTH);
        assert!(!across(&Names::Words(&["cat".to_owned()]), 40.0, 11.0).turned);
    }
}
