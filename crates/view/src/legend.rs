//! The legend. It is outside the plot areas, so that it never hides data.
//!
//! Below the panels its entries are in columns, read downwards, so that related entries stay
//! together. To the right of the panels they are in one column. A sample shows the line with its
//! dashes and its marker and, behind it, its band.

use crate::canvas::{Anchor, Canvas, Pen, TextStyle, ink};
use crate::palette::Look;
use crate::typeface::{Weight, shortened, width};

/// One entry of the legend.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LegendEntry {
    pub(crate) label: String,
    pub(crate) look: Look,
    pub(crate) band: bool,
    /// Whether its line has markers.
    pub(crate) marked: bool,
}

/// The line width of curves, here and in the panels.
pub(crate) const LINE_WIDTH: f64 = 1.6;
/// The opacity of bands.
pub(crate) const BAND_OPACITY: f64 = 0.16;

const SAMPLE: f64 = 30.0;
const SAMPLE_GAP: f64 = 7.0;
const COLUMN_GAP: f64 = 20.0;

/// A legend with its entries in rows and columns.
#[derive(Debug)]
pub(crate) struct Legend {
    entries: Vec<LegendEntry>,
    rows: usize,
    /// The width of each column.
    columns: Vec<f64>,
    size: f64,
}

impl Legend {
    /// Arranges the entries in as many columns as fit into `room`, column by column.
    pub(crate) fn in_columns(entries: Vec<LegendEntry>, size: f64, room: f64) -> Self {
        let most = entries.len().max(1);
        let mut legend = Self::in_a_column(entries, size, room);
        for rows in (1..most).rev() {
            // Each column is as wide as its own entries, so short labels leave no hole.
            let columns: Vec<f64> = legend.entries.chunks(rows).map(|c| widest(c, size)).collect();
            let narrower = Self { rows, columns, entries: legend.entries.clone(), size };
            if narrower.width() > room {
                break;
            }
            legend = narrower;
        }
        legend
    }

    /// Arranges the entries in one column no wider than `most`.
    pub(crate) fn in_a_column(entries: Vec<LegendEntry>, size: f64, most: f64) -> Self {
        let columns = vec![widest(&entries, size).min(most)];
        Self { rows: entries.len().max(1), columns, entries, size }
    }

    pub(crate) fn width(&self) -> f64 {
        self.columns.iter().map(|c| c + COLUMN_GAP).sum::<f64>() - COLUMN_GAP
    }

    pub(crate) fn height(&self) -> f64 {
        self.rows as f64 * self.row_height()
    }

    fn row_height(&self) -> f64 {
        (self.size * 1.6).round()
    }

    /// Draws the legend with its upper left corner at `(left, top)`.
    pub(crate) fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        for (i, entry) in self.entries.iter().enumerate() {
            let (column, row) = (i / self.rows, i % self.rows);
            let before: f64 = self.columns[..column].iter().map(|c| c + COLUMN_GAP).sum();
            let at = (left + before, top + (row as f64 + 0.5) * self.row_height());
            draw_entry(canvas, entry, at, self.columns[column], self.size);
        }
    }
}

/// Draws a sample of the line and its label, centred on `y`.
fn draw_entry(canvas: &mut Canvas, entry: &LegendEntry, (x, y): (f64, f64), room: f64, size: f64) {
    let color = entry.look.color.hex();
    if entry.band {
        let [high, low, from, to] = [y - 4.0, y + 4.0, x, x + SAMPLE].map(|v| canvas.number(v));
        canvas.fill(&format!("M{from} {high}H{to}V{low}H{from}Z"), &color, BAND_OPACITY);
    }
    let pen = Pen { dash: entry.look.dash, ..Pen::solid(&color, LINE_WIDTH) };
    canvas.line((x, y), (x + SAMPLE, y), pen);
    if entry.marked {
        entry.look.marker.draw(canvas, (x + SAMPLE / 2.0, y), &color);
    }
    // A tenth of a pixel more, because the room was computed as a sum.
    let room = room - SAMPLE - SAMPLE_GAP + 0.1;
    let label = shortened(&entry.label, size, Weight::Regular, room);
    let text_style =
        TextStyle { size, weight: Weight::Regular, color: ink::TEXT, anchor: Anchor::Start };
    canvas.text((x + SAMPLE + SAMPLE_GAP, y + size * 0.36), &label, text_style, false);
}

/// The width of the widest entry with its sample.
fn widest(entries: &[LegendEntry], size: f64) -> f64 {
    let labels = entries.iter().map(|e| width(&e.label, size, Weight::Regular));
    labels.fold(0.0, f64::max) + SAMPLE + SAMPLE_GAP
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::look;

    fn entries(n: usize) -> Vec<LegendEntry> {
        (0..n)
            .map(|i| LegendEntry {
                label: format!("method {i}"),
                look: look("gut"),
                band: true,
                marked: true,
            })
            .collect()
    }

    #[test]
    fn columns_fit_and_are_filled_in_turn() {
        let legend = Legend::in_columns(entries(10), 11.0, 500.0);
        assert!(legend.width() <= 500.0);
        assert_eq!((legend.rows, legend.columns.len()), (3, 4)); // 3 + 3 + 3 + 1
        assert_eq!(legend.height(), 3.0 * 18.0);
    }

    #[test]
    fn a_label_wider_than_the_figure_still_fits() {
        let mut long = entries(3);
        long[1].label = "a very long label ".repeat(20);
        assert!(Legend::in_columns(long, 11.0, 300.0).width() <= 300.0);
        assert_eq!(Legend::in_columns(entries(1), 11.0, 300.0).rows, 1);
    }
}
