//! From the values of a curve to lines, bands and markers in a plot area.
//!
//! Values that the axis cannot show (not finite, or not positive on a log axis) leave gaps. Long
//! curves are thinned to columns of half a pixel: each column keeps its first, lowest, highest and
//! last point, so no extreme is lost (the M4 rule of Jugel et al. 2014). Lines are cut where they
//! leave the plot area. Bands are clamped to it, and end where their line leaves it: the band of a
//! diverging curve would cover everything else.

use crate::axis::Axis;
use crate::canvas::Point;
use crate::palette::Look;

/// A curve ready to be drawn.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub(crate) x: Vec<f64>,
    /// (mean, low, high) at every position.
    pub(crate) band: Vec<(f64, f64, f64)>,
    /// The number of runs behind the band.
    pub(crate) seeds: usize,
    pub(crate) look: Look,
}

/// The rectangle in which the data are drawn, in pixels with y down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlotArea {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl PlotArea {
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// The drawing of one curve.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// Lines within the area. They go a little beyond its top and bottom, where the clip cuts them.
    pub(crate) lines: Vec<Vec<Point>>,
    /// Closed outlines of bands, never outside the area.
    pub(crate) bands: Vec<Vec<Point>>,
    /// Single points: centre, and top and bottom of the band.
    pub(crate) points: Vec<(Point, f64, f64)>,
    /// Where the line has its markers.
    pub(crate) marks: Vec<Point>,
}

/// The place of a curve among those of its panel, so that their markers are at different places.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    /// Which curve, from 0.
    pub(crate) place: usize,
    /// Of how many.
    pub(crate) of: usize,
}

/// The distance of the markers of a curve, in pixels.
const BETWEEN_MARKS: f64 = 62.0;
/// A curve with at most this many positions has a marker at each.
const FEW: usize = 8;

/// A point of a curve in pixels: x, and y of the mean and of both ends of the band.
#[derive(Debug, Clone, Copy)]
struct Spot {
    x: f64,
    mean: f64,
    low: f64,
    high: f64,
}

/// How far lines go beyond the area before the clip cuts them: more than the width of any line.
const OVERSHOOT: f64 = 4.0;
/// The width of a column when curves are thinned: one pixel at scale 2.
const COLUMN: f64 = 0.5;

/// Draws `series` into `frame`.
pub(crate) fn trace(
    series: &Series,
    x_axis: &Axis,
    y_axis: &Axis,
    frame: PlotArea,
    turn: Turn,
) -> Trace {
    let mut trace = Trace::default();
    let segments = segments(series, x_axis, y_axis, frame);
    trace.marks = marks(&segments, frame, turn);
    for segment in segments {
        if let [only] = segment[..] {
            if (frame.top - 0.01..=frame.bottom() + 0.01).contains(&only.mean) {
                let held = |y: f64| y.clamp(frame.top, frame.bottom());
                trace.points.push(((only.x, only.mean), held(only.high), held(only.low)));
            }
            continue;
        }
        let line = thinned(&segment);
        let (top, bottom) = (frame.top - OVERSHOOT, frame.bottom() + OVERSHOOT);
        trace.lines.extend(cut(&line, top, bottom));
        if series.seeds < 2 {
            continue;
        }
        let within = |s: &Spot| (frame.top - 0.01..=frame.bottom() + 0.01).contains(&s.mean);
        for part in segment.split(|s| !within(s)).filter(|part| part.len() > 1) {
            if part.iter().all(|s| s.low == s.high) {
                continue;
            }
            let (low, high) = envelope(part);
            let mut outline = held(&high, frame.top, frame.bottom());
            outline.extend(held(&low, frame.top, frame.bottom()).into_iter().rev());
            trace.bands.push(outline);
        }
    }
    trace
}

/// Few places along the curve, at its own positions. Those of the other curves of the panel are in
/// between.
fn marks(segments: &[Vec<Spot>], frame: PlotArea, turn: Turn) -> Vec<Point> {
    let inside = |s: &&Spot| (frame.top..=frame.bottom()).contains(&s.mean);
    let spots: Vec<&Spot> =
        segments.iter().filter(|s| s.len() > 1).flatten().filter(inside).collect();
    if spots.len() <= FEW {
        return spots.iter().map(|s| (s.x, s.mean)).collect();
    }
    let count = (frame.width / BETWEEN_MARKS).round().clamp(2.0, 8.0) as usize;
    let step = frame.width / count as f64;
    let offset = (turn.place as f64 + 0.5) / turn.of.max(1) as f64;
    let mut marks: Vec<Point> = Vec::new();
    for k in 0..count {
        let wanted = frame.left + (k as f64 + offset) * step;
        let away = |s: &&&Spot| (s.x - wanted).abs();
        let nearest = spots.iter().min_by(|a, b| away(a).total_cmp(&away(b)));
        let Some(spot) = nearest.filter(|s| away(s) <= step / 2.0) else { continue };
        if !marks.contains(&(spot.x, spot.mean)) {
            marks.push((spot.x, spot.mean));
        }
    }
    marks
}

/// The parts of the curve between the gaps.
fn segments(series: &Series, x_axis: &Axis, y_axis: &Axis, frame: PlotArea) -> Vec<Vec<Spot>> {
    let mut segments = vec![Vec::new()];
    for (x, (mean, low, high)) in series.x.iter().zip(&series.band) {
        let y = |value: f64| y_axis.place(value).map(|p| frame.bottom() - p * frame.height);
        let Some((x, mean)) = x_axis.place(*x).zip(y(*mean)) else {
            segments.push(Vec::new());
            continue;
        };
        let x = frame.left + x * frame.width;
        // An end of the band that the axis cannot show is clamped to the edge.
        let low = y(*low).unwrap_or(frame.bottom());
        let high = y(*high).unwrap_or(if high.is_nan() { mean } else { frame.top });
        if let Some(segment) = segments.last_mut() {
            segment.push(Spot { x, mean, low, high });
        }
    }
    segments.retain(|segment| !segment.is_empty());
    segments
}

/// Groups of neighbouring points in the same column.
fn columns(segment: &[Spot]) -> impl Iterator<Item = &[Spot]> {
    let column = |s: &Spot| (s.x / COLUMN).floor();
    segment.chunk_by(move |a, b| column(a) == column(b))
}

/// The means, at most four per column.
fn thinned(segment: &[Spot]) -> Vec<Point> {
    let mut line = Vec::new();
    for group in columns(segment) {
        let by_mean = |a: &usize, b: &usize| group[*a].mean.total_cmp(&group[*b].mean);
        let last = group.len() - 1;
        let lowest = (0..group.len()).min_by(by_mean).unwrap_or(0);
        let highest = (0..group.len()).max_by(by_mean).unwrap_or(last);
        let mut kept = [0, lowest, highest, last];
        kept.sort_unstable();
        for (i, k) in kept.iter().enumerate() {
            if i == 0 || kept[i - 1] != *k {
                line.push((group[*k].x, group[*k].mean));
            }
        }
    }
    line
}

/// The low and high edges of the band, the widest of each column.
fn envelope(segment: &[Spot]) -> (Vec<Point>, Vec<Point>) {
    let (mut low, mut high) = (Vec::new(), Vec::new());
    let spots = segment.len();
    for group in columns(segment) {
        let lowest = group.iter().fold(f64::MIN, |m, s| m.max(s.low));
        let highest = group.iter().fold(f64::MAX, |m, s| m.min(s.high));
        // A band within one column needs two points to have an area.
        let ends = if group.len() == spots { vec![0, group.len() - 1] } else { vec![0] };
        for k in ends {
            low.push((group[k].x, lowest));
            high.push((group[k].x, highest));
        }
    }
    // The last column ends at its last point.
    if let (Some(end), Some(l), Some(h)) = (segment.last(), low.last_mut(), high.last_mut()) {
        (l.0, h.0) = (end.x, end.x);
    }
    (low, high)
}

/// The points of the line, and the points where it crosses `top` or `bottom`.
fn with_crossings(line: &[Point], top: f64, bottom: f64) -> Vec<Point> {
    let mut out = Vec::with_capacity(line.len());
    for (i, &(x, y)) in line.iter().enumerate() {
        if i > 0 {
            let (x0, y0) = line[i - 1];
            let mut shares: Vec<(f64, f64)> = [top, bottom]
                .into_iter()
                .filter(|edge| (y0 < *edge) != (y < *edge) && y0 != *edge && y != *edge)
                .map(|edge| ((edge - y0) / (y - y0), edge))
                .collect();
            shares.sort_by(|a, b| a.0.total_cmp(&b.0));
            out.extend(shares.iter().map(|(share, edge)| (x0 + share * (x - x0), *edge)));
        }
        out.push((x, y));
    }
    out
}

/// The parts of a line between `top` and `bottom`.
fn cut(line: &[Point], top: f64, bottom: f64) -> Vec<Vec<Point>> {
    with_crossings(line, top, bottom)
        .split(|(_, y)| *y < top || *y > bottom)
        .filter(|part| part.len() > 1)
        .map(<[Point]>::to_vec)
        .collect()
}

/// The line with points outside moved to the edge.
fn held(line: &[Point], top: f64, bottom: f64) -> Vec<Point> {
    with_crossings(line, top, bottom).iter().map(|(x, y)| (*x, y.clamp(top, bottom))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::AxisScale;
    use crate::palette::look;

    const FRAME: PlotArea = PlotArea { left: 10.0, top: 20.0, width: 200.0, height: 100.0 };

    fn drawn(band: Vec<(f64, f64, f64)>, scale: AxisScale, range: (f64, f64)) -> Trace {
        let n = band.len();
        let x = (0..n).map(|i| i as f64).collect();
        let series = Series { x, band, seeds: 3, look: look("gut") };
        let x_axis = Axis::new((0.0, (n - 1).max(1) as f64), AxisScale::Linear, 5);
        let turn = Turn { place: 0, of: 2 };
        trace(&series, &x_axis, &Axis::new(range, scale, 5), FRAME, turn)
    }

    fn flat(v: f64) -> (f64, f64, f64) {
        (v, v, v)
    }

    #[test]
    fn missing_values_leave_gaps_and_single_points_become_markers() {
        let values = [1.0, 1.0, f64::NAN, 1.0, 0.0, 1.0, 1.0, f64::INFINITY];
        let t = drawn(values.map(flat).to_vec(), AxisScale::Log10, (0.1, 10.0));
        assert_eq!((t.lines.len(), t.points.len()), (2, 1));
    }

    #[test]
    fn bands_stay_in_the_frame() {
        let band = (0..50).map(|i| (0.5, -1e300, f64::from(i) * 0.1)).collect();
        for (scale, range) in [(AxisScale::Linear, (0.0, 1.0)), (AxisScale::Log10, (0.1, 1.0))] {
            let t = drawn(Vec::clone(&band), scale, range);
            assert_eq!(t.bands.len(), 1);
            for (_, y) in t.bands.iter().flatten() {
                assert!((FRAME.top..=FRAME.bottom()).contains(y), "{y}");
            }
        }
    }

    #[test]
    fn a_diverging_line_is_cut_at_the_top() {
        let t =
            drawn((0..60).map(|i| flat(10f64.powi(5 * i))).collect(), AxisScale::Log10, (0.1, 1e7));
        let points: Vec<_> = t.lines.iter().flatten().collect();
        assert!(points.iter().all(|p| p.1 >= FRAME.top - OVERSHOOT - 1e-9), "{points:?}");
        assert!(points.iter().any(|p| p.1 < FRAME.top));
    }

    #[test]
    fn the_band_of_a_diverging_line_ends_where_the_line_leaves_the_frame() {
        let band = (0..60).map(|i| 10f64.powi(i)).map(|v| (v, 0.5, 2.0 * v)).collect();
        let t = drawn(band, AxisScale::Log10, (0.1, 1e7));
        let farthest = t.bands.iter().flatten().map(|p| p.0).fold(0.0, f64::max);
        // Position 7 of 59 is the last within the range: 10 + 200 * 7 / 59.
        assert!((farthest - 33.73).abs() < 0.01, "{farthest}");
    }

    #[test]
    fn markers_are_few_on_the_line_and_not_where_others_are() {
        let series = |k: usize| Series {
            x: (0..500).map(f64::from).collect(),
            band: vec![flat(0.5); 500],
            seeds: 1,
            look: look(["gut", "dsgd", "gt"][k]),
        };
        let x_axis = Axis::new((0.0, 499.0), AxisScale::Linear, 5);
        let y_axis = Axis::new((0.0, 1.0), AxisScale::Linear, 5);
        let of = |place| {
            let turn = Turn { place, of: 3 };
            trace(&series(place), &x_axis, &y_axis, FRAME, turn).marks
        };
        let all: Vec<Vec<Point>> = (0..3).map(of).collect();
        for marks in &all {
            assert_eq!(marks.len(), 3);
            assert!(marks.iter().all(|m| (m.1 - 70.0).abs() < 1e-9));
        }
        let mut x: Vec<f64> = all.iter().flatten().map(|m| m.0).collect();
        x.sort_by(f64::total_cmp);
        // A ninth of 200 pixels apart, up to the distance of two positions.
        assert!(x.windows(2).all(|pair| pair[1] - pair[0] > 21.0), "{x:?}");
        let few = drawn(vec![flat(0.5); 4], AxisScale::Linear, (0.0, 1.0));
        assert_eq!(few.marks.len(), 4);
    }

    #[test]
    fn thinning_keeps_the_extremes() {
        let mut band: Vec<_> = (0..200_000).map(|i| flat(0.5 + 1e-3 * f64::from(i % 7))).collect();
        band[77_777] = flat(0.9);
        band[123_456] = flat(0.1);
        let t = drawn(band, AxisScale::Linear, (0.0, 1.0));
        let points: Vec<_> = t.lines.iter().flatten().collect();
        assert!(points.len() < 2000, "{}", points.len());
        assert!(points.iter().any(|p| (p.1 - 30.0).abs() < 1e-9));
        assert!(points.iter().any(|p| (p.1 - 110.0).abs() < 1e-9));
    }
}
