//! One panel: grid, axes with ticks, bands, lines and markers, in this order, so that the data are
//! on top. Dashed lines are above solid ones: of two equal curves both are visible.

use crate::canvas::{Anchor, Canvas, Pen, Point, TextStyle, ink};
use crate::layout::{LEADING, PanelAxes, TICK, TICK_GAP, TextSizes};
use crate::legend::{BAND_OPACITY, LINE_WIDTH};
use crate::trace::{PlotArea, Series, Trace, Turn, trace};
use crate::typeface::Weight;

/// What a panel shows besides its own bands and lines.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extras<'a> {
    /// Whether lines have markers.
    pub(crate) marked: bool,
    /// A shared group behind the lines, and how far it is moved.
    pub(crate) behind: Option<(&'a str, Point)>,
}

/// Draws lines in a quiet colour, without axes.
pub(crate) fn draw_quiet_lines(
    canvas: &mut Canvas,
    series: &[Series],
    axes: &PanelAxes,
    frame: PlotArea,
) {
    for s in series {
        let lines = trace(s, &axes.x, &axes.y, frame, Turn { place: 0, of: 1 }).lines;
        for line in lines {
            let data = path(canvas, &line);
            canvas.stroke(&data, Pen::solid(ink::BEHIND, 0.6));
        }
    }
}

/// Draws `series` with its axes into `frame`.
pub(crate) fn draw(
    canvas: &mut Canvas,
    series: &[Series],
    axes: &PanelAxes,
    frame: PlotArea,
    title: &[String],
    (sizes, extras): (TextSizes, Extras<'_>),
) {
    draw_axes(canvas, axes, frame, sizes);
    let middle = frame.left + frame.width / 2.0;
    let titled = text_style(sizes.label, ink::TEXT, Anchor::Middle);
    for (i, line) in title.iter().rev().enumerate() {
        let baseline = frame.top - 8.0 - i as f64 * sizes.label * LEADING;
        canvas.text((middle, baseline), line, titled, false);
    }

    let turn = |place| Turn { place, of: series.len() };
    let traces: Vec<Trace> = series
        .iter()
        .enumerate()
        .map(|(i, s)| trace(s, &axes.x, &axes.y, frame, turn(i)))
        .collect();
    if traces.iter().all(|t| t.lines.is_empty() && t.points.is_empty()) {
        let quiet = text_style(sizes.tick, ink::QUIET, Anchor::Middle);
        canvas.text((middle, frame.top + frame.height / 2.0), "no values to show", quiet, false);
        return;
    }
    canvas.begin_clip(frame.left, frame.top, frame.width, frame.height);
    if let Some((name, shift)) = extras.behind {
        canvas.reuse(name, shift);
    }
    for (series, trace) in series.iter().zip(&traces) {
        for band in &trace.bands {
            let data = path(canvas, band) + "Z";
            canvas.fill(&data, &series.look.color.hex(), BAND_OPACITY);
        }
    }
    for dashed in [false, true] {
        for (series, trace) in series.iter().zip(&traces) {
            if series.look.dash.is_empty() == dashed {
                continue;
            }
            let color = series.look.color.hex();
            let pen = Pen { dash: series.look.dash, ..Pen::solid(&color, LINE_WIDTH) };
            for line in &trace.lines {
                let data = path(canvas, line);
                canvas.stroke(&data, pen);
            }
        }
    }
    canvas.end();
    // Markers at the edge of the plot area are not clipped.
    for (series, trace) in series.iter().zip(&traces) {
        let color = series.look.color.hex();
        for (at, high, low) in &trace.points {
            if series.seeds > 1 {
                canvas.line((at.0, *high), (at.0, *low), Pen::solid(&color, 1.2));
            }
            series.look.marker.draw(canvas, *at, &color);
        }
        for at in trace.marks.iter().filter(|_| extras.marked) {
            series.look.marker.draw(canvas, *at, &color);
        }
    }
}

fn draw_axes(canvas: &mut Canvas, axes: &PanelAxes, frame: PlotArea, sizes: TextSizes) {
    let grid = Pen::solid(ink::GRID, 0.8);
    let axis = Pen::solid(ink::AXIS, 1.0);
    let x_at = |v: f64| axes.x.place(v).map(|p| frame.left + p * frame.width);
    let y_at = |v: f64| axes.y.place(v).map(|p| frame.bottom() - p * frame.height);
    for x in axes.x.ticks.major.iter().filter_map(|t| x_at(t.0)) {
        canvas.line((x, frame.top), (x, frame.bottom()), grid);
    }
    for y in axes.y.ticks.major.iter().filter_map(|t| y_at(t.0)) {
        canvas.line((frame.left, y), (frame.right(), y), grid);
    }
    for y in axes.y.ticks.minor.iter().filter_map(|v| y_at(*v)) {
        canvas.line((frame.left - TICK * 0.55, y), (frame.left, y), Pen::solid(ink::AXIS, 0.6));
    }
    for x in axes.x.ticks.minor.iter().filter_map(|v| x_at(*v)) {
        let end = (x, frame.bottom() + TICK * 0.55);
        canvas.line((x, frame.bottom()), end, Pen::solid(ink::AXIS, 0.6));
    }
    for (value, text) in &axes.x.ticks.major {
        let Some(x) = x_at(*value) else { continue };
        canvas.line((x, frame.bottom()), (x, frame.bottom() + TICK), axis);
        let baseline = frame.bottom() + TICK + TICK_GAP + sizes.tick * 0.8;
        canvas.text((x, baseline), text, text_style(sizes.tick, ink::TEXT, Anchor::Middle), false);
    }
    for (value, text) in &axes.y.ticks.major {
        let Some(y) = y_at(*value) else { continue };
        canvas.line((frame.left - TICK, y), (frame.left, y), axis);
        if axes.y_labelled {
            let at = (frame.left - TICK - TICK_GAP, y + sizes.tick * 0.36);
            canvas.text(at, text, text_style(sizes.tick, ink::TEXT, Anchor::End), false);
        }
    }
    let corner = (frame.left, frame.bottom());
    let outline = [(frame.left, frame.top), corner, (frame.right(), frame.bottom())];
    let data = path(canvas, &outline);
    canvas.stroke(&data, axis);
}

fn text_style(size: f64, color: &'static str, anchor: Anchor) -> TextStyle {
    TextStyle { size, weight: Weight::Regular, color, anchor }
}

/// Points as path data.
fn path(canvas: &Canvas, points: &[Point]) -> String {
    let mut data = String::new();
    for (i, point) in points.iter().enumerate() {
        data.push(if i == 0 { 'M' } else { 'L' });
        data.push_str(&canvas.point(*point));
    }
    data
}
