//! Line charts with bands, as in a paper.
//!
//! Panels are side by side and share their labels, so that they are easy to compare. The legend is
//! outside the plot areas, and the grid is light.
//!
//! ```text
//!   curves ─► series (mean, band, look) ─► axes (range, ticks) ─► layout ─► canvas ─► Picture
//! ```

use crate::axis::{Axis, AxisScale, padded_range, tight_range};
use crate::canvas::{Anchor, Canvas, TextStyle, ink};
use crate::data_range;
use crate::error::ViewError;
use crate::layout::{ChartLayout, LEADING, MARGIN, PanelAxes, Surroundings, TextSizes, layout};
use crate::legend::{Legend, LegendEntry};
use crate::palette::looks;
use crate::picture::Picture;
use crate::trace::Series;
use crate::typeface::{Weight, width, wrapped};
use consort_records::{Curve, CurveSet, Panel};

mod panel;

/// The position of the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegendPlace {
    /// Below the panels, in columns.
    Below,
    /// To the right of the panels, in one column.
    Right,
    /// Below each panel, with the curves of this panel alone: for more curves than one legend can
    /// keep apart.
    EachPanel,
}

/// The style of a chart. `ChartStyle::default()` is suitable for a paper.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartStyle {
    /// Width and height of a plot area in pixels; `None` chooses by the number of panels.
    pub panel_size: Option<(f64, f64)>,
    /// The font size of tick labels in pixels; all other font sizes are multiples of it.
    pub font_size: f64,
    /// The largest number of panels in a row.
    pub columns: usize,
    /// The position of the legend.
    pub legend: LegendPlace,
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
            panel_size: None,
            font_size: 11.0,
            columns: 4,
            legend: LegendPlace::Below,
            share_y: true,
            y_range: None,
            band_note: true,
        }
    }
}

/// Draws `set`.
///
/// Values that are not finite, or not positive on a log axis, leave gaps. A diverging curve leaves
/// the plot at the top instead of flattening the others.
///
/// # Errors
/// If no curve has a value that can be drawn, the counts of a curve do not match, or a size of the
/// style is out of range.
pub fn chart_svg(set: &CurveSet, style: &ChartStyle) -> Result<Picture, ViewError> {
    set.check()?;
    check_style(style, set.log_y)?;
    let scale = if set.log_y { AxisScale::Log10 } else { AxisScale::Linear };
    let (panels, entries) = prepared(set);
    let nothing = |reason| ViewError::NothingToDraw { title: set.title.clone(), reason };
    if entries.is_empty() {
        return Err(nothing("it has no curve; expected at least one"));
    }
    let size = style.panel_size.unwrap_or(match panels.len().min(style.columns) {
        1 => (430.0, 270.0),
        2 => (300.0, 220.0),
        _ => (230.0, 190.0),
    });
    let sizes = TextSizes::from_base(style.font_size);
    let axes = panel_axes(&panels, style, scale, size, sizes).ok_or_else(|| {
        nothing("no value is finite (and positive, on a log axis); expected at least one")
    })?;

    let columns = style.columns.min(panels.len());
    let panels_width = columns as f64 * size.0;
    let rows = panels.len().div_ceil(columns) as f64;
    let [x_label, y_label] = [(&set.x_label, panels_width), (&set.y_label, rows * size.1)]
        .map(|(text, room)| wrapped(text, sizes.label, Weight::Regular, room));
    let title = wrapped(&set.title, sizes.title, Weight::Bold, panels_width);
    let panel_titles: Vec<Vec<String>> = set
        .panels
        .iter()
        .map(|p| wrapped(&p.title, sizes.label, Weight::Regular, size.0))
        .collect();
    let panel_legends: Vec<Legend> = match style.legend {
        LegendPlace::EachPanel => {
            let own = panel_entries(set, &panels);
            own.into_iter().map(|own| Legend::in_columns(own, sizes.tick, size.0)).collect()
        }
        LegendPlace::Below | LegendPlace::Right => Vec::new(),
    };
    let around = Surroundings {
        title_lines: title.len(),
        panel_title_lines: panel_titles.iter().map(Vec::len).max().unwrap_or(0),
        y_label_lines: y_label.len(),
        x_label_lines: x_label.len(),
        panel_legends: panel_legends.iter().map(Legend::height).collect(),
    };
    let places = layout(&axes, &around, sizes, columns, size);

    let mut canvas = Canvas::new();
    for (i, (series, axes)) in panels.iter().zip(&axes).enumerate() {
        panel::draw(&mut canvas, series, axes, places.frames[i], &panel_titles[i], sizes);
    }
    for (legend, frame) in panel_legends.iter().zip(&places.frames) {
        legend.draw(&mut canvas, frame.left, places.legend_top(frame, sizes));
    }
    let note = if style.band_note { band_note(&panels, scale) } else { None };
    let canvas_size = draw_surroundings(
        &mut canvas,
        &places,
        [&title, &x_label, &y_label],
        entries,
        &note,
        style,
    );
    Picture::from_canvas(canvas, &set.title, &description(set, &note), canvas_size)
}

/// The series of the panels and the entries of the legend. A method has the same look in all
/// panels.
fn prepared(set: &CurveSet) -> (Vec<Vec<Series>>, Vec<LegendEntry>) {
    let curves: Vec<&Curve> = set.panels.iter().flat_map(|p| &p.curves).collect();
    let methods: Vec<&str> = curves.iter().map(|c| c.method.as_str()).collect();
    let mut looks = looks(&methods).into_iter();
    let mut entries: Vec<LegendEntry> = Vec::new();
    let mut panels = Vec::with_capacity(set.panels.len());
    for panel in &set.panels {
        let mut series = Vec::with_capacity(panel.curves.len());
        for (curve, look) in panel.curves.iter().zip(&mut looks) {
            let band = if set.log_y { curve.log_mean_and_band() } else { curve.mean_and_band() };
            let label = curve.shown_label().to_owned();
            let many = curve.runs.len() > 1;
            match entries.iter_mut().find(|e| e.label == label && e.look == look) {
                Some(entry) => entry.band |= many,
                None => entries.push(LegendEntry { label, look, band: many }),
            }
            series.push(Series { x: curve.x.clone(), band, seeds: curve.runs.len(), look });
        }
        panels.push(series);
    }
    (panels, entries)
}

/// The entries of the legend of each panel.
fn panel_entries(set: &CurveSet, panels: &[Vec<Series>]) -> Vec<Vec<LegendEntry>> {
    let entry = |(curve, series): (&Curve, &Series)| LegendEntry {
        label: curve.shown_label().to_owned(),
        look: series.look,
        band: series.seeds > 1,
    };
    let panel = |(panel, series): (&Panel, &Vec<Series>)| {
        panel.curves.iter().zip(series).map(entry).collect()
    };
    set.panels.iter().zip(panels).map(panel).collect()
}

/// The axes of all panels; `None` if nothing can be drawn.
fn panel_axes(
    panels: &[Vec<Series>],
    style: &ChartStyle,
    scale: AxisScale,
    size: (f64, f64),
    sizes: TextSizes,
) -> Option<Vec<PanelAxes>> {
    let all_x = data_range::along_x(panels.iter().flatten(), scale)?;
    let all_y = data_range::along_y(panels.iter().flatten(), scale)?;
    let most_y = ((size.1 / (sizes.tick * 2.9)) as usize).max(2);
    let axes = panels.iter().enumerate().map(|(i, series)| {
        let own_y = if style.share_y { None } else { data_range::along_y(series.iter(), scale) };
        let y_range = style.y_range.unwrap_or_else(|| padded_range(own_y.unwrap_or(all_y), scale));
        let x_range = tight_range(data_range::along_x(series.iter(), scale).unwrap_or(all_x));
        PanelAxes {
            x: x_axis(x_range, size.0, sizes.tick),
            y: Axis::new(y_range, scale, most_y),
            y_labelled: !style.share_y || i % style.columns == 0,
        }
    });
    Some(axes.collect())
}

/// An x axis with as many ticks as fit with a space between their labels.
pub(crate) fn x_axis(range: (f64, f64), room: f64, size: f64) -> Axis {
    let fits = |axis: &Axis| {
        let places = axis.ticks.major.iter().map(|(value, text)| {
            let middle = axis.place(*value).unwrap_or(0.0) * room;
            let half = width(text, size, Weight::Regular) / 2.0;
            (middle - half, middle + half)
        });
        let places: Vec<_> = places.collect();
        places.windows(2).all(|pair| pair[1].0 - pair[0].1 >= size * 0.8)
    };
    let axes = (2..=8).rev().map(|most| Axis::new(range, AxisScale::Linear, most));
    axes.into_iter().find(fits).unwrap_or_else(|| Axis::new(range, AxisScale::Linear, 1))
}

/// Draws title, labels, legend and note. Returns the size of the figure.
fn draw_surroundings(
    canvas: &mut Canvas,
    places: &ChartLayout,
    [title, x_label, y_label]: [&[String]; 3],
    entries: Vec<LegendEntry>,
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
    match style.legend {
        LegendPlace::Below => {
            // Centred below the plot areas, with the same room on both sides.
            let room = 2.0 * (middle - MARGIN).min(right - middle);
            let legend = Legend::in_columns(entries, sizes.tick, room);
            legend.draw(canvas, middle - legend.width() / 2.0, bottom + 10.0);
            bottom += 10.0 + legend.height();
        }
        LegendPlace::EachPanel => {}
        LegendPlace::Right => {
            let legend = Legend::in_a_column(entries, sizes.tick, 320.0);
            legend.draw(canvas, right + 18.0, tops);
            right += 18.0 + legend.width();
            bottom = bottom.max(tops + legend.height());
        }
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

/// The note that explains lines and bands; `None` if every curve is a single run.
fn band_note(panels: &[Vec<Series>], scale: AxisScale) -> Option<String> {
    let counts = || panels.iter().flatten().map(|s| s.seeds);
    let (least, most) = (counts().min()?, counts().max()?);
    if most < 2 {
        return None;
    }
    let seeds = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    Some(match scale {
        AxisScale::Linear => {
            format!("Lines: mean over {seeds} seeds. Bands: ± one standard deviation.")
        }
        AxisScale::Log10 => format!(
            "Lines: geometric mean over {seeds} seeds. Bands: ± one standard deviation of log₁₀."
        ),
    })
}

/// The chart as text, for screen readers.
fn description(set: &CurveSet, note: &Option<String>) -> String {
    let scale = if set.log_y { "logarithmic" } else { "linear" };
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
