//! The numbers beside the dots, as in a table: with as many decimals as the paper has, aligned at
//! the decimal point and at the ±.

use super::{ComparisonPlot, Estimate};
use crate::canvas::{Anchor, Canvas, TextStyle, ink};
use crate::number_text::{labels, order};
use crate::typeface::{Weight, width};

/// An estimate as text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FormattedEstimate {
    mean: String,
    /// With the sign: "± 0.36".
    std: Option<String>,
}

/// All numbers of a comparison, and their widths.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// The paper's number and ours of every row, all groups in one list.
    pub(crate) rows: Vec<[Option<FormattedEstimate>; 2]>,
    /// Whether they are drawn; a narrow picture has no room for them.
    pub(crate) drawn: bool,
    mean_width: f64,
    std_width: f64,
    size: f64,
}

/// The headings of the two columns.
pub(crate) const HEADS: [&str; 2] = ["Paper", "Ours"];
const ABSENT: &str = "–";
/// The gap to the left of the numbers, and on both sides of the line between them.
const GAP: f64 = 9.0;

impl Numbers {
    pub(crate) fn new(comparison: &ComparisonPlot, size: f64) -> Self {
        let rows = || comparison.groups.iter().flat_map(|g| &g.rows);
        let parts = |e: Option<Estimate>| e.into_iter().flat_map(|e| [Some(e.mean), e.std]);
        let papers: Vec<f64> = rows().flat_map(|r| parts(r.paper)).flatten().collect();
        let all: Vec<f64> =
            rows().flat_map(|r| parts(r.paper).chain(parts(r.ours))).flatten().collect();
        let mut texts = labels(&all, last_digit(&papers, &all)).into_iter();

        let mut write = |estimate: Option<Estimate>| {
            let estimate = estimate?;
            let mean = texts.next()?;
            let std = estimate.std.and_then(|_| texts.next()).map(|text| format!("± {text}"));
            Some(FormattedEstimate { mean, std })
        };
        let rows: Vec<[Option<FormattedEstimate>; 2]> =
            rows().map(|r| [write(r.paper), write(r.ours)]).collect();
        let wide = |text: &str| width(text, size, Weight::Regular);
        let written = || rows.iter().flatten().flatten();
        Self {
            mean_width: written().map(|w| wide(&w.mean)).fold(0.0, f64::max),
            std_width: written().flat_map(|w| &w.std).map(|s| wide(s)).fold(0.0, f64::max),
            drawn: true,
            rows,
            size,
        }
    }

    /// The width of both columns with the gap to their left.
    pub(crate) fn width(&self) -> f64 {
        if !self.drawn {
            return 0.0;
        }
        GAP + 2.0 * self.column() + 2.0 * GAP
    }

    /// The position of the line between the columns, from the right edge of the plot area.
    pub(crate) fn rule(&self) -> f64 {
        GAP + self.column() + GAP
    }

    /// The middles of the two columns, from the right edge of the plot area.
    pub(crate) fn middles(&self) -> [f64; 2] {
        [GAP + self.column() / 2.0, self.rule() + GAP + self.column() / 2.0]
    }

    /// Writes the numbers of a row to the right of `left`.
    pub(crate) fn draw(
        &self,
        canvas: &mut Canvas,
        (left, baseline): (f64, f64),
        both: &[Option<FormattedEstimate>; 2],
    ) {
        if !self.drawn {
            return;
        }
        let colors = [ink::QUIET, ink::TEXT];
        for ((written, middle), color) in both.iter().zip(self.middles()).zip(colors) {
            let how =
                |anchor| TextStyle { size: self.size, weight: Weight::Regular, color, anchor };
            let Some(FormattedEstimate { mean, std }) = written else {
                canvas.text((left + middle, baseline), ABSENT, how(Anchor::Middle), false);
                continue;
            };
            let start = left + middle - self.text_width() / 2.0;
            let end = start + self.mean_width;
            canvas.text((end, baseline), mean, how(Anchor::End), false);
            if let Some(std) = std {
                canvas.text((end + self.space(), baseline), std, how(Anchor::Start), false);
            }
        }
    }

    fn column(&self) -> f64 {
        let heads = HEADS.map(|head| width(head, self.size, Weight::Regular));
        heads.into_iter().fold(self.text_width(), f64::max)
    }

    fn text_width(&self) -> f64 {
        let std = if self.std_width > 0.0 { self.space() + self.std_width } else { 0.0 };
        self.mean_width + std
    }

    fn space(&self) -> f64 {
        width(" ", self.size, Weight::Regular)
    }
}

/// "86.44 ± 0.36", or a dash.
pub(crate) fn in_a_line(written: &Option<FormattedEstimate>) -> String {
    match written {
        None => ABSENT.to_owned(),
        Some(FormattedEstimate { mean, std: None }) => mean.clone(),
        Some(FormattedEstimate { mean, std: Some(std) }) => format!("{mean} {std}"),
    }
}

/// The value of the last digit: that of the paper's numbers, but at least four and at most six
/// digits of the largest number (round numbers do not show how many decimals the paper has).
fn last_digit(papers: &[f64], all: &[f64]) -> f64 {
    let largest = all.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let four_digits = 3 - order(largest);
    let given = papers.iter().map(|v| {
        let text = v.to_string();
        text.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32)
    });
    let given = given.max().unwrap_or(0);
    10f64.powi(-given.clamp(four_digits, four_digits + 2))
}

#[cfg(test)]
mod tests {
    use super::super::{PlotGroup, PlotRow};
    use super::*;

    fn lines(paper: (f64, Option<f64>), ours: (f64, Option<f64>)) -> [String; 2] {
        let [paper, ours] = [paper, ours].map(|(mean, std)| Some(Estimate { mean, std }));
        let row = PlotRow { label: String::new(), method: String::new(), paper, ours };
        let group = PlotGroup { title: String::new(), rows: vec![row] };
        let comparison =
            ComparisonPlot { title: String::new(), quantity: String::new(), groups: vec![group] };
        Numbers::new(&comparison, 11.0).rows[0].each_ref().map(in_a_line)
    }

    #[test]
    fn ours_are_printed_with_the_papers_decimals() {
        let ours = (86.123_456, Some(0.5));
        assert_eq!(lines((86.44, Some(0.36)), ours), ["86.44 ± 0.36", "86.12 ± 0.50"]);
        assert_eq!(lines((86.0, None), ours), ["86.00", "86.12 ± 0.50"]);
        assert_eq!(lines((86.0 / 0.97, None), ours), ["88.6598", "86.1235 ± 0.5000"]);
        assert_eq!(lines((100.25, None), ours), ["100.25", "86.12 ± 0.50"]);
        assert_eq!(lines((-2e-8, Some(1e-9)), (0.0, None))[0], "−2.000×10⁻⁸ ± 0.100×10⁻⁸");
    }
}
