//! Line charts with bands, as in a paper.
//!
//! Panels are side by side and share their labels, so that they are easy to compare. The legend is
//! outside the plot areas, and the grid is light. With more curves than can be told apart in one
//! panel, every curve has a panel of its own, with the others in grey behind it.
//!
//! ```text
//!   curves ─► series (mean, band, look) ─► axes (range, ticks) ─► layout ─► canvas ─► Picture
//! ```

use crate::axis::{Axis, AxisScale, padded_range, tight_range};
use crate::canvas::{Anchor, Canvas, Sheet, TextStyle, ink};
use crate::data_range;
use crate::error::ViewError;
use crate::layout::{ChartLayout, LEADING, MARGIN, PanelAxes, Surroundings, TextSizes, layout};
use crate::legend::Legend;
use crate::picture::Picture;
use crate::typeface::{Weight, width, wrapped};
use consort_records::{Curve, CurveSet};
use series::{Bands, Prepared};

mod panel;
mod series;

/// The position of the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegendPlace {
    /// Below the panels, in columns.
    Below,
    /// To the right of the panels, in one column.
    Right,
}

/// Whether the curves of a chart share a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrangement {
    /// Together, unless a single panel has more curves than a reader can tell apart.
    #[default]
    Auto,
    /// Together, however many there are.
    Together,
    /// Each curve in a panel of its own, with the others in grey behind it. Charts that have
    /// several panels already stay as they are.
    Each,
}

/// The style of a chart. `ChartStyle::default()` is suitable for a screen and for a page of its own;
/// with a `width` it is suitable for a column of a paper.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartStyle {
    /// The width of the whole picture in pixels (96 to an inch): plot areas become as wide as they
    /// can be, and text keeps its size. `None` lets the plot areas decide.
    pub width: Option<f64>,
    /// Width and height of a plot area in pixels; `None` chooses by the number of panels.
    pub panel_size: Option<(f64, f64)>,
    /// The font size of tick labels in pixels; all other font sizes are multiples of it.
    pub font_size: f64,
    /// The largest number of panels in a row.
    pub columns: usize,
    /// The position of the legend.
    pub legend: LegendPlace,
    /// Whether the title is drawn. Without it, it is still what screen readers read.
    pub title: bool,
    /// Whether many curves get a panel each.
    pub arrangement: Arrangement,
    /// Whether the y axis is logarithmic; `None` leaves it to the curves.
    pub log_y: Option<bool>,
    /// Whether the x axis is logarithmic; positions that are not positive are then left out.
    pub log_x: bool,
    /// Whether all panels have the same y range; then only the leftmost has labels.
    pub share_y: bool,
    /// The y range; `None` fits the data.
    pub y_range: Option<(f64, f64)>,
    /// Whether a note below the chart explains lines and bands, if there are bands.
    pub band_note: bool,
}

impl Default for ChartStyle {
    fn default() -> Self {
        Self {
            width: None,
            panel_size: None,
            font_size: 11.0,
            columns: 4,
            legend: LegendPlace::Below,
            title: true,
            arrangement: Arrangement::Auto,
            log_y: None,
            log_x: false,
            share_y: true,
            y_range: None,
            band_note: true,
        }
    }
}

/// More curves than this in a single panel get a panel each, unless the style says otherwise.
pub const MOST_TOGETHER: usize = 13;
/// A narrower plot area shows nothing; a row then has fewer of them.
const LEAST_PANEL: f64 = 104.0;
/// The same if every curve has its own panel.
const LEAST_OWN_PANEL: f64 = 62.0;
/// With at most this many panels, a picture of given width has one or two in a row if they fit.
const GAP_OF_PANELS: f64 = 24.0;

/// Draws `set`.
///
/// Values that are not finite, or not positive on a log axis, leave gaps. A diverging curve leaves
/// the plot at the top instead of flattening the others.
///
/// # Errors
/// If no curve has a value that can be drawn, the counts of a curve do not match, or a size of the
/// style is out of range.
pub fn chart_svg(set: &CurveSet, style: &ChartStyle) -> Result<Picture, ViewError> {
    draw(set, Bands::OverSeeds, style)
}

/// Draws `set` with bands that the caller computed: `bands[panel][curve]` has the low and the high
/// end at every position. `meaning` completes the note: "Lines: mean over 3 seeds. Bands: …".
///
/// # Errors
/// As [`chart_svg`], and if a curve has no band or one of another length.
pub fn band_chart_svg(
    set: &CurveSet,
    bands: &[Vec<Vec<(f64, f64)>>],
    meaning: &str,
    style: &ChartStyle,
) -> Result<Picture, ViewError> {
    let lengths = |curves: &[Curve]| curves.iter().map(|c| c.x.len()).collect::<Vec<_>>();
    let wanted: Vec<Vec<usize>> = set.panels.iter().map(|p| lengths(&p.curves)).collect();
    let given: Vec<Vec<usize>> =
        bands.iter().map(|panel| panel.iter().map(Vec::len).collect()).collect();
    if wanted != given {
        return Err(ViewError::BadMeasure {
            what: "the number of bands",
            got: format!("{given:?} positions for curves of {wanted:?}"),
            expected: "one for every curve, with one pair for every position",
        });
    }
    draw(set, Bands::Given { ends: bands, meaning }, style)
}

fn draw(set: &CurveSet, bands: Bands<'_>, style: &ChartStyle) -> Result<Picture, ViewError> {
    set.check()?;
    let scale_of = |log| if log { AxisScale::Log10 } else { AxisScale::Linear };
    let log_y = style.log_y.unwrap_or(set.log_y);
    let (scale_x, scale_y) = (scale_of(style.log_x), scale_of(log_y));
    check_style(style, log_y)?;
    let prepared = Prepared::new(set, bands, scale_y, style);
    let nothing = |reason| ViewError::NothingToDraw { title: set.title.clone(), reason };
    if prepared.entries.is_empty() {
        return Err(nothing("it has no curve; expected at least one"));
    }
    let Prepared { panels, .. } = &prepared;
    let sizes = TextSizes::from_base(style.font_size);
    let columns = columns(&prepared, style);
    let usual = match (prepared.own_panels, columns) {
        (true, _) => (132.0, 92.0),
        (false, 1) => (430.0, 270.0),
        (false, 2) => (300.0, 220.0),
        (false, _) => (230.0, 190.0),
    };
    let mut size = style.panel_size.unwrap_or(usual);
    let shape = size.1 / size.0;
    let mut arranged = Arranged::new(set, &prepared, style, (scale_x, scale_y), columns, size);
    if let (Some(asked), None) = (style.width, style.panel_size) {
        // The labels decide how much room is left, and they depend a little on the width.
        for _ in 0..4 {
            let Some(now) = &arranged else { break };
            let over = now.width(&prepared, style) - Sheet::room(asked);
            if over.abs() < 0.01 {
                break;
            }
            size.0 = ((size.0 - over / columns as f64) * 100.0).floor() / 100.0;
            if size.0 < 40.0 {
                return Err(too_narrow(asked));
            }
            size.1 = (size.0 * shape).max(60.0);
            arranged = Arranged::new(set, &prepared, style, (scale_x, scale_y), columns, size);
        }
    }
    let Arranged { axes, places, title, x_label, y_label, panel_titles } =
        arranged.ok_or_else(|| {
            nothing("no value is finite (and positive, on a log axis); expected at least one")
        })?;

    let mut canvas = Canvas::new();
    let first = places.frames.first().copied();
    if let Some(frame) = first.filter(|_| prepared.own_panels) {
        canvas.begin_shared("others");
        panel::draw_quiet_lines(&mut canvas, &panels.concat(), &axes[0], frame);
        canvas.end_shared();
    }
    for (i, (series, axes)) in panels.iter().zip(&axes).enumerate() {
        let frame = places.frames[i];
        let shift = first.map(|first| (frame.left - first.left, frame.top - first.top));
        let extras = panel::Extras {
            marked: prepared.marked,
            behind: shift.filter(|_| prepared.own_panels).map(|shift| ("others", shift)),
        };
        panel::draw(&mut canvas, series, axes, frame, &panel_titles[i], (sizes, extras));
    }
    let note = if style.band_note { prepared.note.clone() } else { None };
    let texts = [&title[..], &x_label, &y_label];
    let size = draw_surroundings(&mut canvas, &places, texts, &prepared, &note, style);
    let sheet = Sheet::around(size, style.width);
    Picture::from_canvas(canvas, &set.title, &description(set, log_y, &note), sheet)
}

pub(crate) fn too_narrow(asked: f64) -> ViewError {
    ViewError::BadMeasure {
        what: "the width of a picture",
        got: format!("{asked:.0} pixels"),
        expected: "room for the labels and a plot: more, or a smaller font",
    }
}

/// How many panels are in a row.
fn columns(prepared: &Prepared, style: &ChartStyle) -> usize {
    let panels = prepared.panels.len();
    let most = if prepared.own_panels && style.columns == ChartStyle::default().columns {
        // More and smaller ones, about as wide as high together.
        (panels as f64).sqrt().ceil().clamp(2.0, 6.0) as usize
    } else {
        style.columns
    };
    let Some(asked) = style.width else { return most.min(panels) };
    let least = if prepared.own_panels { LEAST_OWN_PANEL } else { LEAST_PANEL };
    let fit = ((asked - 4.0 * style.font_size) / (least + GAP_OF_PANELS)).floor().max(1.0);
    let most = most.min(fit as usize).min(panels);
    // Equal rows: four panels are two and two, not three and one.
    panels.div_ceil(panels.div_ceil(most))
}

/// Axes, texts and places for one size of the plot areas.
struct Arranged {
    axes: Vec<PanelAxes>,
    places: ChartLayout,
    title: Vec<String>,
    x_label: Vec<String>,
    y_label: Vec<String>,
    panel_titles: Vec<Vec<String>>,
}

impl Arranged {
    /// `None` if nothing can be drawn.
    fn new(
        set: &CurveSet,
        prepared: &Prepared,
        style: &ChartStyle,
        scales: (AxisScale, AxisScale),
        columns: usize,
        size: (f64, f64),
    ) -> Option<Self> {
        let sizes = TextSizes::from_base(style.font_size);
        let axes = panel_axes(prepared, style, scales, columns, (size, sizes))?;
        let panels_width = columns as f64 * size.0;
        let rows = axes.len().div_ceil(columns) as f64;
        let [x_label, y_label] = [(&set.x_label, panels_width), (&set.y_label, rows * size.1)]
            .map(|(text, room)| wrapped(text, sizes.label, Weight::Regular, room));
        let title = if style.title { &set.title } else { "" };
        let title = wrapped(title, sizes.title, Weight::Bold, panels_width);
        let titled = if prepared.own_panels { sizes.tick } else { sizes.label };
        let panel_titles: Vec<Vec<String>> =
            prepared.titles.iter().map(|t| wrapped(t, titled, Weight::Regular, size.0)).collect();
        let around = Surroundings {
            title_lines: title.len(),
            panel_title_lines: panel_titles.iter().map(Vec::len).max().unwrap_or(0),
            y_label_lines: y_label.len(),
            x_label_lines: x_label.len(),
        };
        let places = layout(&axes, &around, sizes, columns, size);
        Some(Self { axes, places, title, x_label, y_label, panel_titles })
    }

    /// The width of the picture with its margins.
    fn width(&self, prepared: &Prepared, style: &ChartStyle) -> f64 {
        self.places.right + beside(prepared, style).map_or(0.0, |l| 18.0 + l.width()) + MARGIN
    }
}

/// The legend to the right, if it is there.
fn beside(prepared: &Prepared, style: &ChartStyle) -> Option<Legend> {
    let room = style.width.map_or(320.0, |asked| 0.4 * asked);
    (style.legend == LegendPlace::Right && !prepared.own_panels)
        .then(|| Legend::in_a_column(prepared.entries.clone(), style.font_size, room))
}

/// The axes of all panels; `None` if nothing can be drawn.
fn panel_axes(
    Prepared { panels, own_panels, .. }: &Prepared,
    style: &ChartStyle,
    (scale_x, scale): (AxisScale, AxisScale),
    columns: usize,
    (size, sizes): ((f64, f64), TextSizes),
) -> Option<Vec<PanelAxes>> {
    let all_x = data_range::along_x(panels.iter().flatten(), scale_x, scale)?;
    let all_y = data_range::along_y(panels.iter().flatten(), scale)?;
    // Small plot areas need closer ticks to have any.
    let apart = if size.1 < 180.0 { 2.1 } else { 2.9 };
    let most_y = ((size.1 / (sizes.tick * apart)) as usize).max(2);
    let axes = panels.iter().enumerate().map(|(i, series)| {
        let own_y = if style.share_y || *own_panels {
            None
        } else {
            data_range::along_y(series.iter(), scale)
        };
        let y_range = style.y_range.unwrap_or_else(|| padded_range(own_y.unwrap_or(all_y), scale));
        // Curves that are behind others need the same axes everywhere.
        let own_x =
            if *own_panels { None } else { data_range::along_x(series.iter(), scale_x, scale) };
        PanelAxes {
            x: x_axis(tight_range(own_x.unwrap_or(all_x), scale_x), scale_x, size.0, sizes.tick),
            y: Axis::new(y_range, scale, most_y),
            y_labelled: !(style.share_y || *own_panels) || i % columns == 0,
        }
    });
    Some(axes.collect())
}

/// An x axis with as many ticks as fit with a space between their labels.
pub(crate) fn x_axis(range: (f64, f64), scale: AxisScale, room: f64, size: f64) -> Axis {
    let fits = |axis: &Axis| {
        let places = axis.ticks.major.iter().map(|(value, text)| {
            let middle = axis.place(*value).unwrap_or(0.0) * room;
            let half = width(text, size, Weight::Regular) / 2.0;
            (middle - half, middle + half)
        });
        let places: Vec<_> = places.collect();
        places.windows(2).all(|pair| pair[1].0 - pair[0].1 >= size * 0.8)
    };
    let axes = (2..=8).rev().map(|most| Axis::new(range, scale, most));
    axes.into_iter().find(fits).unwrap_or_else(|| Axis::new(range, scale, 1))
}

/// Draws title, labels, legend and note. Returns the size of the figure.
fn draw_surroundings(
    canvas: &mut Canvas,
    places: &ChartLayout,
    [title, x_label, y_label]: [&[String]; 3],
    prepared: &Prepared,
    note: &Option<String>,
    style: &ChartStyle,
) -> (f64, f64) {
    let sizes = TextSizes::from_base(style.font_size);
    let middle = (places.span.0 + places.span.1) / 2.0;
    let text_style =
        |size, weight, color| TextStyle { size, weight, color, anchor: Anchor::Middle };
    let titled = text_style(sizes.title, Weight::Bold, ink::TEXT);
    let labelled = text_style(sizes.label, Weight::Regular, ink::TEXT);
    let noted = text_style(sizes.note, Weight::Regular, ink::QUIET);
    let step = |how: TextStyle, i: usize| i as f64 * how.size * LEADING;
    for (i, line) in title.iter().enumerate() {
        canvas.text((middle, places.title_baseline + step(titled, i)), line, titled, false);
    }
    for (i, line) in x_label.iter().enumerate() {
        canvas.text((middle, places.x_label_baseline + step(labelled, i)), line, labelled, false);
    }
    let tops = places.frames.iter().map(|f| f.top).fold(f64::MAX, f64::min);
    let bottoms = places.frames.iter().map(|f| f.bottom()).fold(0.0, f64::max);
    for (i, line) in y_label.iter().enumerate() {
        let at = (places.y_label_baseline + step(labelled, i), (tops + bottoms) / 2.0);
        canvas.text(at, line, labelled, true);
    }

    let (mut bottom, mut right) = (places.bottom, places.right);
    if let Some(legend) = beside(prepared, style) {
        legend.draw(canvas, right + 18.0, tops);
        right += 18.0 + legend.width();
        bottom = bottom.max(tops + legend.height());
    } else if !prepared.own_panels && prepared.has_legend() {
        // Centred below the plot areas with the same room on both sides; in a column of a paper,
        // below the whole picture.
        let (middle, room) = match style.width {
            Some(_) => ((MARGIN + right) / 2.0, right - MARGIN),
            None => (middle, 2.0 * (middle - MARGIN).min(right - middle)),
        };
        let legend = Legend::in_columns(prepared.entries.clone(), sizes.tick, room);
        legend.draw(canvas, middle - legend.width() / 2.0, bottom + 10.0);
        bottom += 10.0 + legend.height();
    }
    if let Some(note) = note {
        let lines = wrapped(note, sizes.note, Weight::Regular, places.span.1 - places.span.0);
        for (i, line) in lines.iter().enumerate() {
            canvas.text((middle, bottom + 8.0 + sizes.note + step(noted, i)), line, noted, false);
        }
        bottom += 8.0 + step(noted, lines.len());
    }
    (right + MARGIN, bottom + MARGIN)
}

/// The chart as text, for screen readers.
fn description(set: &CurveSet, log_y: bool, note: &Option<String>) -> String {
    let scale = if log_y { "logarithmic" } else { "linear" };
    let mut text =
        format!("Line chart of {} against {}, {scale} y axis.", set.y_label, set.x_label);
    for panel in &set.panels {
        let labels: Vec<&str> = panel.curves.iter().map(Curve::shown_label).collect();
        let title = if panel.title.is_empty() { "Curves" } else { &panel.title };
        text.push_str(&format!(" {title}: {}.", labels.join(", ")));
    }
    if let Some(note) = note {
        text.push(' ');
        text.push_str(note);
    }
    text
}

pub(crate) fn check_style(style: &ChartStyle, log_y: bool) -> Result<(), ViewError> {
    let bad = |what, got: String, expected| Err(ViewError::BadMeasure { what, got, expected });
    check_width(style.width)?;
    if let Some((wide, high)) = style.panel_size
        && !((40.0..=1e4).contains(&wide) && (40.0..=1e4).contains(&high))
    {
        return bad("the panel size", format!("{wide} × {high}"), "40 to 10000 pixels each way");
    }
    if !(4.0..=100.0).contains(&style.font_size) {
        return bad("the font size", style.font_size.to_string(), "4 to 100 pixels");
    }
    if style.columns == 0 {
        return bad("the number of columns", "0".to_owned(), "at least 1");
    }
    if let Some((low, high)) = style.y_range {
        let fits = low < high && low.abs() <= 1e300 && high.abs() <= 1e300;
        let resolved = high - low > 1e-9 * low.abs().max(high.abs());
        if !(fits && resolved && (!log_y || low >= 1e-300)) {
            return bad(
                "the y range",
                format!("{low} to {high}"),
                "two rising values, positive on a log axis",
            );
        }
    }
    Ok(())
}

/// Checks the width of a picture, of any kind.
pub(crate) fn check_width(width: Option<f64>) -> Result<(), ViewError> {
    match width.filter(|w| !(100.0..=10_000.0).contains(w)) {
        None => Ok(()),
        Some(width) => Err(ViewError::BadMeasure {
            what: "the width of a picture",
            got: format!("{width} pixels"),
            expected: "100 to 10000 pixels (96 to an inch)",
        }),
    }
}
