//! The layout of a chart. All sizes are computed before anything is drawn, so that nothing
//! overlaps.
//!
//! ```text
//!            title
//!     panel title   panel title
//!   y ┌──────────┐ ┌──────────┐   legend
//!   l │          │ │          │   (right)
//!   a │  frame   │ │  frame   │
//!   b └──────────┘ └──────────┘
//!     0   50  100  0   50  100
//!             x label
//!         legend (below)
//!              note
//! ```

use crate::axis::Axis;
use crate::trace::PlotArea;
use crate::typeface::{Weight, width};

/// The sizes of the four kinds of text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextSizes {
    pub(crate) title: f64,
    pub(crate) label: f64,
    pub(crate) tick: f64,
    pub(crate) note: f64,
}

impl TextSizes {
    pub(crate) fn from_base(size: f64) -> Self {
        Self { title: size * 1.25, label: size * 1.09, tick: size, note: size * 0.86 }
    }
}

/// The margin around the figure.
pub(crate) const MARGIN: f64 = 14.0;
/// The length of a labelled tick.
pub(crate) const TICK: f64 = 4.0;
/// The gap between a tick and its label.
pub(crate) const TICK_GAP: f64 = 4.0;
/// The height of a line of text, as a multiple of the font size.
pub(crate) const LEADING: f64 = 1.3;

/// The gap between the labels of an x axis and the legend of its panel.
const PANEL_LEGEND_GAP: f64 = 4.0;

/// The axes of one panel.
#[derive(Debug)]
pub(crate) struct PanelAxes {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Whether the y axis has labels; false if the panel to the left has the same ones.
    pub(crate) y_labelled: bool,
}

/// The numbers of lines of the texts around the panels.
#[derive(Debug)]
pub(crate) struct Surroundings {
    pub(crate) title_lines: usize,
    pub(crate) panel_title_lines: usize,
    pub(crate) y_label_lines: usize,
    pub(crate) x_label_lines: usize,
    /// The height of the legend of each panel; empty if panels have none.
    pub(crate) panel_legends: Vec<f64>,
}

/// The positions of all parts of a chart.
#[derive(Debug)]
pub(crate) struct ChartLayout {
    pub(crate) frames: Vec<PlotArea>,
    /// From the left edge of the leftmost plot area to the right edge of the rightmost one.
    pub(crate) span: (f64, f64),
    /// The baseline of the first line of the title.
    pub(crate) title_baseline: f64,
    /// The x coordinate of the first line of the y label.
    pub(crate) y_label_baseline: f64,
    /// The baseline of the first line of the x label.
    pub(crate) x_label_baseline: f64,
    /// The bottom of all this.
    pub(crate) bottom: f64,
    /// The right edge of all this.
    pub(crate) right: f64,
}

impl ChartLayout {
    /// The top of the legend of the panel at `frame`.
    pub(crate) fn legend_top(&self, frame: &PlotArea, sizes: TextSizes) -> f64 {
        frame.bottom() + TICK + TICK_GAP + sizes.tick * LEADING + PANEL_LEGEND_GAP
    }
}

/// Arranges panels of `size` in rows of `columns`.
pub(crate) fn layout(
    panels: &[PanelAxes],
    around: &Surroundings,
    sizes: TextSizes,
    columns: usize,
    size: (f64, f64),
) -> ChartLayout {
    let label_line = sizes.label * LEADING;
    let title_height = match around.title_lines {
        0 => 0.0,
        lines => lines as f64 * sizes.title * LEADING + 6.0,
    };
    let panel_title_height = match around.panel_title_lines {
        0 => 6.0,
        lines => lines as f64 * label_line + 6.0,
    };
    let y_label_width = match around.y_label_lines {
        0 => 0.0,
        lines => lines as f64 * label_line + 5.0,
    };

    let gutters: Vec<f64> = (0..columns.min(panels.len()))
        .map(|column| gutter(panels, column, columns, (size.0, sizes.tick)))
        .collect();
    let row_height = panel_title_height + size.1 + TICK + TICK_GAP + sizes.tick * LEADING;
    // A row is as much higher as the highest of its legends.
    let legends = around.panel_legends.chunks(columns).map(|row| {
        let highest = row.iter().copied().fold(0.0, f64::max);
        PANEL_LEGEND_GAP + highest
    });
    let legends: Vec<f64> = legends.collect();
    let row_gap = 8.0;

    let mut frames = Vec::with_capacity(panels.len());
    for i in 0..panels.len() {
        let (row, column) = (i / columns, i % columns);
        let left = MARGIN
            + y_label_width
            + gutters[..=column].iter().sum::<f64>()
            + column as f64 * size.0;
        let above: f64 = legends.iter().take(row).sum();
        let top = MARGIN
            + title_height
            + panel_title_height
            + row as f64 * (row_height + row_gap)
            + above;
        frames.push(PlotArea { left, top, width: size.0, height: size.1 });
    }
    let rows = panels.len().div_ceil(columns) as f64;
    let panels_bottom = MARGIN
        + title_height
        + rows * row_height
        + (rows - 1.0) * row_gap
        + legends.iter().sum::<f64>();
    let right = frames.iter().map(PlotArea::right).fold(0.0, f64::max);
    let overhang =
        panels.iter().map(|p| x_overhang(&p.x, size.0, sizes.tick).1).fold(0.0, f64::max);
    let x_label_height = match around.x_label_lines {
        0 => 0.0,
        lines => lines as f64 * label_line + 4.0,
    };
    ChartLayout {
        span: (frames.first().map_or(MARGIN, |f| f.left), right),
        frames,
        title_baseline: MARGIN + sizes.title,
        y_label_baseline: MARGIN + sizes.label,
        x_label_baseline: panels_bottom + 4.0 + sizes.label,
        bottom: panels_bottom + x_label_height,
        right: right + overhang,
    }
}

/// The room to the left of a column of panels, for their y labels and for x labels that stick out.
fn gutter(panels: &[PanelAxes], column: usize, columns: usize, (frame, size): (f64, f64)) -> f64 {
    let mut room = if column == 0 { 0.0 } else { 14.0_f64 };
    for (i, panel) in panels.iter().enumerate().filter(|(i, _)| i % columns == column) {
        let own = x_overhang(&panel.x, frame, size).0;
        let labels = if panel.y_labelled { y_labels_width(&panel.y, size) } else { 0.0 };
        let neighbour = match i.checked_sub(1) {
            Some(left) if column > 0 => x_overhang(&panels[left].x, frame, size).1 + 13.0,
            _ => 0.0,
        };
        room = room.max(neighbour + own.max(labels));
    }
    room
}

/// The width of the y labels with their ticks.
fn y_labels_width(axis: &Axis, size: f64) -> f64 {
    let labels = axis.ticks.major.iter().map(|(_, text)| width(text, size, Weight::Regular));
    labels.fold(0.0, f64::max) + TICK + TICK_GAP
}

/// How far the first x label sticks out to the left of a plot area of width `frame`, and the last
/// one to the right.
pub(crate) fn x_overhang(axis: &Axis, frame: f64, size: f64) -> (f64, f64) {
    let reach = |tick: Option<&(f64, String)>, from_left: bool| -> f64 {
        tick.map_or(0.0, |(value, text)| {
            let place = axis.place(*value).unwrap_or(0.0);
            let inset = if from_left { place } else { 1.0 - place } * frame;
            (width(text, size, Weight::Regular) / 2.0 - inset).max(0.0)
        })
    };
    (reach(axis.ticks.major.first(), true), reach(axis.ticks.major.last(), false))
}
