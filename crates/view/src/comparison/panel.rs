//! One panel: grid, axis, labels on the left, dots with error bars, numbers on the right.

use super::numbers::{FormattedEstimate, HEADS, Numbers};
use super::{LONGEST_LABEL, PlotRow};
use crate::axis::Axis;
use crate::canvas::{Anchor, Canvas, Pen, TextStyle, ink};
use crate::layout::{LEADING, TICK, TICK_GAP, TextSizes};
use crate::palette::Look;
use crate::trace::PlotArea;
use crate::typeface::{Weight, shortened};

/// The distance of the ends of the axis from the edges of the plot area, so that a dot there fits
/// in.
pub(crate) const INSET: f64 = 7.0;
/// The gap between a label and the plot area.
pub(crate) const LABEL_GAP: f64 = 8.0;

/// The contents of a panel and its position.
#[derive(Debug)]
pub(crate) struct ComparisonPanel<'a> {
    pub(crate) rows: &'a [PlotRow],
    pub(crate) looks: &'a [Look],
    pub(crate) written: &'a [[Option<FormattedEstimate>; 2]],
    pub(crate) title: &'a [String],
    pub(crate) axis: &'a Axis,
    /// Whether the axis has labels.
    pub(crate) labelled: bool,
    pub(crate) frame: PlotArea,
    /// The height of a row.
    pub(crate) pitch: f64,
}

impl ComparisonPanel<'_> {
    pub(crate) fn draw(&self, canvas: &mut Canvas, numbers: &Numbers, sizes: TextSizes) {
        let frame = self.frame;
        self.draw_grid(canvas, sizes);
        let middle = frame.left + frame.width / 2.0;
        let above = frame.top - 8.0;
        for (i, line) in self.title.iter().rev().enumerate() {
            let at = (middle, above - i as f64 * sizes.label * LEADING);
            canvas.text(at, line, text_style(sizes.label, ink::TEXT, Anchor::Middle), false);
        }
        if self.rows.is_empty() {
            let at = (middle, frame.top + self.pitch / 2.0 + sizes.tick * 0.36);
            let quiet = text_style(sizes.tick, ink::QUIET, Anchor::Middle);
            canvas.text(at, "no values to show", quiet, false);
            return;
        }
        if numbers.drawn {
            let heads = numbers.middles().into_iter().zip(HEADS).zip([ink::QUIET, ink::TEXT]);
            for ((x, head), color) in heads {
                let how = text_style(sizes.tick, color, Anchor::Middle);
                canvas.text((frame.right() + x, above), head, how, false);
            }
            let rule = frame.right() + numbers.rule();
            let pen = Pen::solid(ink::GRID, 1.0);
            canvas.line((rule, frame.top), (rule, frame.bottom()), pen);
        }

        for (i, ((row, look), both)) in
            self.rows.iter().zip(self.looks).zip(self.written).enumerate()
        {
            let y = frame.top + (i as f64 + 0.5) * self.pitch;
            let baseline = y + sizes.tick * 0.36;
            let room = sizes.tick * LONGEST_LABEL;
            let label = shortened(&row.label, sizes.tick, Weight::Regular, room);
            let how = text_style(sizes.tick, ink::TEXT, Anchor::End);
            canvas.text((frame.left - LABEL_GAP, baseline), &label, how, false);
            numbers.draw(canvas, (frame.right(), baseline), both);

            let radius = (self.pitch * 0.155).min(3.3);
            let apart = self.pitch * 0.21;
            let color = look.color.hex();
            let paper = Mark { radius, color: ink::QUIET, filled: false };
            let ours = Mark { radius, color: &color, filled: true };
            for (estimate, mark, y) in [(row.paper, paper, y - apart), (row.ours, ours, y + apart)]
            {
                let Some(estimate) = estimate else { continue };
                let place = |value: f64| self.axis.place(value);
                let std = estimate.std.unwrap_or(0.0);
                let ends = place(estimate.mean - std).zip(place(estimate.mean + std));
                let bar = ends.filter(|_| estimate.std.is_some());
                if let Some(mean) = place(estimate.mean) {
                    self.draw_estimate(canvas, mean, bar, y, mark);
                }
            }
        }
    }

    /// A dot and its error bar, at positions from 0 to 1 on the axis. A bar is cut at the ends of
    /// the axis; a dot beyond them becomes an arrow.
    fn draw_estimate(
        &self,
        canvas: &mut Canvas,
        mean: f64,
        bar: Option<(f64, f64)>,
        y: f64,
        mark: Mark,
    ) {
        let within = 0.0..=1.0;
        if let Some((low, high)) = bar.filter(|(low, high)| *low <= 1.0 && *high >= 0.0) {
            let [from, to] = [low, high].map(|end| self.x_at(end.clamp(0.0, 1.0)));
            mark.draw_bar(canvas, (from, to), y, [low, high].map(|end| within.contains(&end)));
        }
        if within.contains(&mean) {
            mark.draw_dot(canvas, (self.x_at(mean), y));
        } else {
            let outwards = if mean < 0.0 { -1.0 } else { 1.0 };
            mark.draw_arrow(canvas, (self.x_at(mean.clamp(0.0, 1.0)), y), outwards);
        }
    }

    fn x_at(&self, share: f64) -> f64 {
        self.frame.left + INSET + share * (self.frame.width - 2.0 * INSET)
    }

    fn draw_grid(&self, canvas: &mut Canvas, sizes: TextSizes) {
        let frame = self.frame;
        let (grid, axis) = (Pen::solid(ink::GRID, 0.8), Pen::solid(ink::AXIS, 1.0));
        for i in 1..self.rows.len() {
            let y = frame.top + i as f64 * self.pitch;
            canvas.line((frame.left, y), (frame.right(), y), grid);
        }
        for (value, text) in &self.axis.ticks.major {
            let Some(x) = self.axis.place(*value).map(|share| self.x_at(share)) else { continue };
            canvas.line((x, frame.top), (x, frame.bottom()), grid);
            canvas.line((x, frame.bottom()), (x, frame.bottom() + TICK), axis);
            if self.labelled {
                let at = (x, frame.bottom() + TICK + TICK_GAP + sizes.tick * 0.8);
                canvas.text(at, text, text_style(sizes.tick, ink::TEXT, Anchor::Middle), false);
            }
        }
        let corners = [
            (frame.left, frame.top),
            (frame.left, frame.bottom()),
            (frame.right(), frame.bottom()),
        ];
        let [a, b, c] = corners.map(|corner| canvas.point(corner));
        canvas.stroke(&format!("M{a}L{b}L{c}"), axis);
    }
}

/// The style of the paper's marks or of ours, in panels and in the legend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark<'a> {
    pub(crate) radius: f64,
    pub(crate) color: &'a str,
    pub(crate) filled: bool,
}

impl Mark<'_> {
    pub(crate) fn draw_dot(&self, canvas: &mut Canvas, at: (f64, f64)) {
        let (fill, outline) = self.inks();
        canvas.circle(at, self.radius, fill, outline);
    }

    /// A horizontal bar, with a cap at each end that is not cut.
    pub(crate) fn draw_bar(
        &self,
        canvas: &mut Canvas,
        (from, to): (f64, f64),
        y: f64,
        capped: [bool; 2],
    ) {
        let pen = Pen::solid(self.color, 1.2);
        canvas.line((from, y), (to, y), pen);
        let half = self.radius * 0.8;
        for (x, _) in [from, to].into_iter().zip(capped).filter(|(_, capped)| *capped) {
            canvas.line((x, y - half), (x, y + half), pen);
        }
    }

    fn draw_arrow(&self, canvas: &mut Canvas, (x, y): (f64, f64), outwards: f64) {
        let r = self.radius;
        let [tip, high, low] = [(x + outwards * 1.3 * r, y), (x, y - r), (x, y + r)]
            .map(|corner| canvas.point(corner));
        let data = format!("M{tip}L{high}L{low}Z");
        let (fill, outline) = self.inks();
        canvas.fill(&data, fill, 1.0);
        canvas.stroke(&data, outline);
    }

    /// Fill and outline. A hollow mark is filled with white, so that its bar does not show through.
    fn inks(&self) -> (&str, Pen<'_>) {
        let inside = if self.filled { self.color } else { "#ffffff" };
        (inside, Pen::solid(self.color, 1.2))
    }
}

fn text_style(size: f64, color: &'static str, anchor: Anchor) -> TextStyle {
    TextStyle { size, weight: Weight::Regular, color, anchor }
}
