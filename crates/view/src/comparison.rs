//! Published numbers beside ours, as a dot plot with a table.
//!
//! ```text
//!                          title
//!                group title           Paper        Ours
//!     D-SGD ┌─────────────────────┐
//!           │  ├─○─┤              │ 84.10 ± 0.4 │ 84.31 ± 0.2    hollow and grey: the paper
//!           │   ├─●─┤             │                              filled, in the colour of the
//!       GUT │          ├─○─┤      │ 86.44 ± 0.3 │      –         method: ours, just below
//!           └─────────────────────┘
//!             84     86    88
//!               quantity
//!                   legend, note
//! ```
//!
//! Bars would have to start at zero, and accuracies of 86 and 87 would look the same; dots need
//! not. All panels share the axis, so that they are easy to compare, and the numbers are beside the
//! dots.

use crate::axis::{Axis, AxisScale, padded_range};
use crate::canvas::{Anchor, Canvas, Sheet, TextStyle, ink};
use crate::chart::{ChartStyle, LegendPlace, check_style, too_narrow, x_axis};
use crate::error::ViewError;
use crate::layout::{LEADING, MARGIN, TICK, TICK_GAP, TextSizes, x_overhang};
use crate::palette::looks;
use crate::picture::Picture;
use crate::trace::PlotArea;
use crate::typeface::{Weight, width, wrapped};
use numbers::Numbers;
use panel::{ComparisonPanel, INSET, LABEL_GAP};

mod key;
mod numbers;
mod panel;

/// A published table with our numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonPlot {
    /// The title of the picture.
    pub title: String,
    /// The quantity with its unit: the label of the axis.
    pub quantity: String,
    /// The panels, in reading order.
    pub groups: Vec<PlotGroup>,
}

/// One panel: rows that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct PlotGroup {
    /// The title of the panel; may be empty.
    pub title: String,
    /// The rows from top to bottom.
    pub rows: Vec<PlotRow>,
}

/// One line of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct PlotRow {
    /// The label on the left.
    pub label: String,
    /// The method, which decides the colour, the same in every figure.
    pub method: String,
    /// The published number.
    pub paper: Option<Estimate>,
    /// Our number.
    pub ours: Option<Estimate>,
}

/// A mean and its standard deviation over seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean over seeds.
    pub mean: f64,
    /// The standard deviation over seeds; `None` for a single seed.
    pub std: Option<f64>,
}

/// The gaps between two panels side by side, and between two rows of panels.
const GAPS: (f64, f64) = (34.0, 10.0);
/// The height of a row, as a multiple of the font size: there must be room for two dots with bars.
const PITCH: f64 = 2.1;
/// Dots in a narrower area cannot be told apart.
const LEAST_AREA: f64 = 90.0;
/// Longer labels are cut, as a multiple of the font size.
const LONGEST_LABEL: f64 = 20.0;

/// Draws `comparison`.
///
/// The panel size of the style is the size of the plot area with the most rows; it grows if labels
/// would overlap. The y range of the style is the range of the quantity; a dot beyond it becomes an
/// arrow at the edge. Up to three groups are in one column, up to eight in two, more in three; fewer
/// if the style has a width, and if that leaves no room for dots, the numbers beside them are left
/// out.
///
/// # Errors
/// If no row has a number, a number is not finite, a deviation is negative, or a size of the style
/// is out of range.
pub fn comparison_svg(
    comparison: &ComparisonPlot,
    style: &ChartStyle,
) -> Result<Picture, ViewError> {
    check_style(style, false)?;
    check(comparison)?;
    let groups = &comparison.groups;
    let sizes = TextSizes::from_base(style.font_size);
    let columns = match groups.len() {
        0..=3 => 1,
        4..=8 => 2,
        _ => 3,
    };
    let mut numbers = Numbers::new(comparison, sizes.tick);
    let mut columns = style.columns.min(columns).min(groups.len().max(1));
    let usual = |columns: usize| {
        style.panel_size.unwrap_or(match columns {
            1 => (380.0, 0.0),
            2 => (250.0, 0.0),
            _ => (200.0, 0.0),
        })
    };
    let mut area = usual(columns);
    if let (Some(asked), None) = (style.width, style.panel_size) {
        // What is left beside labels and numbers, in as many columns as leave room for dots.
        loop {
            let axes = axes(comparison, style, area.0, sizes)?;
            let (_, right) = column_lefts(groups, &axes, &numbers, columns, (area.0, sizes.tick));
            let over = right + MARGIN - Sheet::room(asked);
            area.0 = ((area.0 - over / columns as f64) * 100.0).floor() / 100.0;
            if area.0 >= LEAST_AREA {
                break;
            }
            match (columns, numbers.drawn) {
                (1, true) => numbers.drawn = false,
                (1, false) => return Err(too_narrow(asked)),
                _ => columns -= 1,
            }
            area = usual(columns);
        }
    }
    let axes = axes(comparison, style, area.0, sizes)?;
    let titles: Vec<Vec<String>> =
        groups.iter().map(|g| wrapped(&g.title, sizes.label, Weight::Regular, area.0)).collect();
    let title_lines = titles.iter().map(Vec::len).max().unwrap_or(0).max(1);

    // The positions of the panels.
    let most = groups.iter().map(|g| g.rows.len()).max().unwrap_or(0).max(1);
    let usual = if style.panel_size.is_some() { LEADING } else { PITCH };
    let pitch = (area.1 / most as f64).max(sizes.tick * usual);
    let (lefts, right) = column_lefts(groups, &axes, &numbers, columns, (area.0, sizes.tick));
    let sheet_width = right + MARGIN;
    let middle = sheet_width / 2.0;
    let title = if style.title { &comparison.title } else { "" };
    let title = wrapped(title, sizes.title, Weight::Bold, sheet_width - 2.0 * MARGIN);
    let title_height = match title.len() {
        0 => 0.0,
        lines => lines as f64 * sizes.title * LEADING + 6.0,
    };
    let mut canvas = Canvas::new();
    draw_lines(&mut canvas, &title, (middle, MARGIN), (sizes.title, Weight::Bold, ink::TEXT));

    let methods: Vec<&str> =
        groups.iter().flat_map(|g| &g.rows).map(|r| r.method.as_str()).collect();
    let looks = looks(&methods);
    let mut bottom = MARGIN + title_height;
    let (mut first, mut top) = (0, 0.0);
    for (r, in_row) in groups.chunks(columns).enumerate() {
        let panel_top = bottom + title_lines as f64 * sizes.label * LEADING + 6.0;
        top = if r == 0 { panel_top } else { top };
        for (c, group) in in_row.iter().enumerate() {
            let i = r * columns + c;
            let height = group.rows.len().max(1) as f64 * pitch;
            let rows = first..first + group.rows.len();
            let panel = ComparisonPanel {
                rows: &group.rows,
                looks: &looks[rows.clone()],
                written: &numbers.rows[rows.clone()],
                title: &titles[i],
                axis: &axes[i],
                // If both have the same axis, only the panel below has labels.
                labelled: !style.share_y || i + columns >= groups.len(),
                frame: PlotArea { left: lefts[c], top: panel_top, width: area.0, height },
                pitch,
            };
            panel.draw(&mut canvas, &numbers, sizes);
            let below = if panel.labelled { TICK_GAP + sizes.tick * LEADING } else { 0.0 };
            bottom = bottom.max(panel.frame.bottom() + TICK + below);
            first = rows.end;
        }
        bottom += GAPS.1;
    }
    bottom -= GAPS.1;

    // Label, legend and note around them.
    let span = (lefts[0], lefts[columns.min(groups.len()) - 1] + area.0);
    let quantity = wrapped(&comparison.quantity, sizes.label, Weight::Regular, span.1 - span.0);
    let below = ((span.0 + span.1) / 2.0, bottom + 4.0);
    draw_lines(&mut canvas, &quantity, below, (sizes.label, Weight::Regular, ink::TEXT));
    bottom += 4.0 + quantity.len() as f64 * sizes.label * LEADING;
    let mut size = (sheet_width, bottom);
    match style.legend {
        LegendPlace::Below => {
            let room = sheet_width - 2.0 * MARGIN;
            size.1 +=
                10.0 + key::draw_below(&mut canvas, (middle, bottom + 10.0), room, sizes.tick);
        }
        LegendPlace::Right => {
            let drawn = key::draw_beside(&mut canvas, (right + GAPS.0, top), sizes.tick);
            size = (right + GAPS.0 + drawn.0 + MARGIN, bottom.max(top + drawn.1));
        }
    }
    let note = if style.band_note { note(comparison) } else { None };
    if let Some(note) = note {
        let lines = wrapped(note, sizes.note, Weight::Regular, sheet_width - 2.0 * MARGIN);
        let how = (sizes.note, Weight::Regular, ink::QUIET);
        draw_lines(&mut canvas, &lines, (middle, size.1 + 8.0), how);
        size.1 += 8.0 + lines.len() as f64 * sizes.note * LEADING;
    }
    let words = description(comparison, &numbers, note);
    let sheet = Sheet::around((size.0, size.1 + MARGIN), style.width);
    Picture::from_canvas(canvas, &comparison.title, &words, sheet)
}

/// Checks that all numbers can be drawn.
fn check(comparison: &ComparisonPlot) -> Result<(), ViewError> {
    let fits = |v: f64| v.abs() <= 1e299;
    for group in &comparison.groups {
        for row in &group.rows {
            for (whose, estimate) in [("the paper's", row.paper), ("our", row.ours)] {
                let Some(Estimate { mean, std }) = estimate else { continue };
                let of = format!("{whose} {:?} in {:?}", row.label, group.title);
                let bad = |what, got, expected| Err(ViewError::BadMeasure { what, got, expected });
                if !fits(mean) {
                    return bad("a mean", format!("{mean} ({of})"), "a finite number up to 1e299");
                }
                if let Some(std) = std.filter(|s| !(fits(*s) && *s >= 0.0)) {
                    let got = format!("{std} ({of})");
                    return bad("a standard deviation", got, "a finite number from 0 to 1e299");
                }
            }
        }
    }
    Ok(())
}

/// The axis of every panel: the same for all, unless the style asks for separate ones.
fn axes(
    comparison: &ComparisonPlot,
    style: &ChartStyle,
    panel_width: f64,
    sizes: TextSizes,
) -> Result<Vec<Axis>, ViewError> {
    let all = extent(comparison.groups.iter().flat_map(|g| &g.rows));
    let all = all.ok_or_else(|| ViewError::NothingToDraw {
        title: comparison.title.clone(),
        reason: "no row has a number; expected at least one, from the paper or ours",
    })?;
    let axis_of = |group: &PlotGroup| {
        let own = if style.share_y { None } else { extent(&group.rows) };
        let range =
            style.y_range.unwrap_or_else(|| padded_range(own.unwrap_or(all), AxisScale::Linear));
        x_axis(range, AxisScale::Linear, panel_width - 2.0 * INSET, sizes.tick)
    };
    Ok(comparison.groups.iter().map(axis_of).collect())
}

/// From the lowest end of a bar to the highest; `None` if there are no numbers.
fn extent<'a>(rows: impl IntoIterator<Item = &'a PlotRow>) -> Option<(f64, f64)> {
    let ends = rows.into_iter().flat_map(|row| [row.paper, row.ours]).flatten().map(|e| {
        let std = e.std.unwrap_or(0.0);
        (e.mean - std, e.mean + std)
    });
    ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// The left edges of the plot areas of each column of panels, and the right edge of the last
/// numbers.
fn column_lefts(
    groups: &[PlotGroup],
    axes: &[Axis],
    numbers: &Numbers,
    columns: usize,
    (panel_width, size): (f64, f64),
) -> (Vec<f64>, f64) {
    let mut lefts = Vec::with_capacity(columns);
    let mut x = MARGIN;
    for column in 0..columns.min(groups.len()) {
        let (mut before, mut after) = (0.0_f64, numbers.width());
        for (group, axis) in groups.iter().zip(axes).skip(column).step_by(columns) {
            let labels = group.rows.iter().map(|r| width(&r.label, size, Weight::Regular));
            let longest = labels.fold(0.0, f64::max).min(size * LONGEST_LABEL);
            let over = x_overhang(axis, panel_width - 2.0 * INSET, size);
            before = before.max(longest + LABEL_GAP).max(over.0 - INSET);
            after = after.max(over.1 - INSET);
        }
        // Up to a tenth of a pixel more, because labels are measured against this room again.
        lefts.push((10.0 * (x + before)).ceil() / 10.0);
        x = lefts[column] + panel_width + after + GAPS.0;
    }
    (lefts, x - GAPS.0)
}

/// Draws lines of text below each other, the first below `top`.
fn draw_lines(
    canvas: &mut Canvas,
    lines: &[String],
    (x, top): (f64, f64),
    (size, weight, color): (f64, Weight, &'static str),
) {
    let how = TextStyle { size, weight, color, anchor: Anchor::Middle };
    for (i, line) in lines.iter().enumerate() {
        canvas.text((x, top + size * (1.0 + i as f64 * LEADING)), line, how, false);
    }
}

/// The note that explains the bars; `None` if there are no bars.
fn note(comparison: &ComparisonPlot) -> Option<&'static str> {
    let rows = comparison.groups.iter().flat_map(|g| &g.rows);
    let bars: Vec<bool> =
        rows.flat_map(|r| [r.paper, r.ours]).flatten().map(|e| e.std.is_some()).collect();
    match (bars.contains(&true), bars.contains(&false)) {
        (false, _) => None,
        (true, false) => Some("Dots: mean over seeds. Bars: ± one standard deviation."),
        (true, true) => Some(
            "Dots: mean over seeds. Bars: ± one standard deviation; a dot without a bar is a \
             single seed.",
        ),
    }
}

/// The table as text, for screen readers.
fn description(comparison: &ComparisonPlot, numbers: &Numbers, note: Option<&str>) -> String {
    let mut text = format!("Dot plot of {}: the paper's | ours.", comparison.quantity);
    let mut written = numbers.rows.iter();
    for group in &comparison.groups {
        let rows: Vec<String> = group
            .rows
            .iter()
            .zip(&mut written)
            .map(|(row, both)| {
                let [paper, ours] = both.each_ref().map(numbers::in_a_line);
                format!("{} {paper} | {ours}", row.label)
            })
            .collect();
        let title = if group.title.is_empty() { "Rows" } else { &group.title };
        text.push_str(&format!(" {title}: {}.", rows.join("; ")));
    }
    if let Some(note) = note {
        text.push(' ');
        text.push_str(note);
    }
    text
}
