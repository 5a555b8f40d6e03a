//! The line of an edge between the borders of two nodes, as path data.
//!
//! Coordinates are pixels with y *up*, as in mathematics, so that "left" and angles have their
//! usual meaning. The caller flips the picture.

use crate::canvas::{Canvas, Point};
use crate::network::PictureEdgeShape;
use std::f64::consts::{PI, TAU};

/// The control distance of TikZ's `to[out=…, in=…]` with looseness 1, as a share of the distance.
const TIKZ_LOOSENESS: f64 = 0.3915;

/// The line between two nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Route {
    Line {
        from: Point,
        to: Point,
    },
    /// An arc around `center`; `turn` is its signed angle.
    Arc {
        center: Point,
        radius: f64,
        start: f64,
        turn: f64,
    },
    Cubic {
        from: Point,
        out: Point,
        into: Point,
        to: Point,
    },
}

impl Route {
    /// The line from node `a` to node `b` between their borders, which are `radius` from their
    /// centres; `None` if the nodes touch. `center` is the centre of arcs.
    pub(crate) fn between(
        a: Point,
        b: Point,
        shape: PictureEdgeShape,
        radius: f64,
        center: Point,
    ) -> Option<Self> {
        let distance = (b.0 - a.0).hypot(b.1 - a.1);
        if distance <= 2.0 * radius || distance == 0.0 {
            return None;
        }
        let heading = (b.1 - a.1).atan2(b.0 - a.0);
        let toward =
            |p: Point, angle: f64, by: f64| (p.0 + by * angle.cos(), p.1 + by * angle.sin());
        match shape {
            PictureEdgeShape::Arc => Self::around(a, b, radius, center),
            PictureEdgeShape::Bend(degrees) if degrees != 0.0 => {
                let bend = degrees.to_radians();
                let (leave, arrive) = (heading + bend, heading + PI - bend);
                let (from, to) = (toward(a, leave, radius), toward(b, arrive, radius));
                let pull = TIKZ_LOOSENESS * (to.0 - from.0).hypot(to.1 - from.1);
                let (out, into) = (toward(from, leave, pull), toward(to, arrive, pull));
                Some(Self::Cubic { from, out, into, to })
            }
            PictureEdgeShape::Straight | PictureEdgeShape::Bend(_) => Some(Self::Line {
                from: toward(a, heading, radius),
                to: toward(b, heading, -radius),
            }),
        }
    }

    /// The shorter arc of the circle through both nodes; straight if they are not on one circle.
    fn around(a: Point, b: Point, radius: f64, center: Point) -> Option<Self> {
        let polar = |p: Point| {
            let (x, y) = (p.0 - center.0, p.1 - center.1);
            (x.hypot(y), y.atan2(x))
        };
        let ((ra, start), (rb, end)) = (polar(a), polar(b));
        if (ra - rb).abs() > 1e-3 * ra.max(rb) {
            return Self::between(a, b, PictureEdgeShape::Straight, radius, center);
        }
        let mut turn = (end - start).rem_euclid(TAU);
        if turn > PI + 1e-9 {
            turn -= TAU;
        }
        // The angle whose chord is the node's radius.
        let margin = 2.0 * (radius / (2.0 * ra)).min(1.0).asin() * turn.signum();
        let left = turn - 2.0 * margin;
        if left.signum() != turn.signum() {
            return None;
        }
        Some(Self::Arc { center, radius: ra, start: start + margin, turn: left })
    }

    /// Points along the line, both ends included, for measuring.
    pub(crate) fn samples(&self) -> Vec<Point> {
        let shares = (0..=16).map(|i| f64::from(i) / 16.0);
        match *self {
            Route::Line { from, to } => vec![from, to],
            Route::Arc { center, radius, start, turn } => shares
                .map(|s| start + s * turn)
                .map(|angle| (center.0 + radius * angle.cos(), center.1 + radius * angle.sin()))
                .collect(),
            Route::Cubic { from, out, into, to } => shares
                .map(|s| {
                    let r = 1.0 - s;
                    let weights = [r * r * r, 3.0 * r * r * s, 3.0 * r * s * s, s * s * s];
                    let sum = |pick: fn(Point) -> f64| {
                        weights.iter().zip([from, out, into, to]).map(|(w, p)| w * pick(p)).sum()
                    };
                    (sum(|p| p.0), sum(|p| p.1))
                })
                .collect(),
        }
    }

    /// The end of the line and its direction there.
    pub(crate) fn arrival(&self) -> (Point, f64) {
        match *self {
            Route::Line { from, to } => (to, (to.1 - from.1).atan2(to.0 - from.0)),
            Route::Cubic { into, to, .. } => (to, (to.1 - into.1).atan2(to.0 - into.0)),
            Route::Arc { center, radius, start, turn } => {
                let end = start + turn;
                let at = (center.0 + radius * end.cos(), center.1 + radius * end.sin());
                (at, end + turn.signum() * PI / 2.0)
            }
        }
    }

    /// The line as path data, with y down.
    pub(crate) fn path(&self, canvas: &Canvas) -> String {
        let p = |(x, y): Point| canvas.point((x, -y));
        match *self {
            Route::Line { from, to } => format!("M{}L{}", p(from), p(to)),
            Route::Cubic { from, out, into, to } => {
                format!("M{}C{} {} {}", p(from), p(out), p(into), p(to))
            }
            Route::Arc { center, radius, start, turn } => {
                let at = |angle: f64| {
                    p((center.0 + radius * angle.cos(), center.1 + radius * angle.sin()))
                };
                let r = canvas.number(radius);
                // With y down, counter-clockwise is SVG's sweep 0.
                let sweep = if turn > 0.0 { 0 } else { 1 };
                format!("M{}A{r} {r} 0 0 {sweep} {}", at(start), at(start + turn))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stop_at_the_border() {
        let route =
            Route::between((0.0, 0.0), (10.0, 0.0), PictureEdgeShape::Straight, 2.0, (0.0, 0.0));
        assert_eq!(route, Some(Route::Line { from: (2.0, 0.0), to: (8.0, 0.0) }));
        let touching =
            Route::between((0.0, 0.0), (3.0, 0.0), PictureEdgeShape::Straight, 2.0, (0.0, 0.0));
        assert_eq!(touching, None);
    }

    #[test]
    fn bend_left_goes_left_of_the_heading() {
        let route =
            Route::between((0.0, 0.0), (10.0, 0.0), PictureEdgeShape::Bend(30.0), 1.0, (0.0, 0.0))
                .unwrap();
        let middle = route.samples()[8];
        assert!((middle.0 - 5.0).abs() < 1e-9 && middle.1 > 0.5, "{middle:?}");
        let (end, heading) = route.arrival();
        assert!((end.0 - 10.0).hypot(end.1) - 1.0 < 1e-9);
        assert!((heading.to_degrees() + 30.0).abs() < 1e-6, "{heading}");
    }

    #[test]
    fn arcs_take_the_shorter_way_and_stop_at_the_border() {
        let at = |degrees: f64| {
            let angle = degrees.to_radians();
            (10.0 * angle.cos(), 10.0 * angle.sin())
        };
        let (a, b) = (at(170.0), at(-170.0));
        let route = Route::between(a, b, PictureEdgeShape::Arc, 0.5, (0.0, 0.0)).unwrap();
        let samples = route.samples();
        assert!(samples.iter().all(|p| p.0 < -9.0), "{samples:?}");
        let (first, last) = (samples[0], samples[16]);
        assert!(((first.0 - a.0).hypot(first.1 - a.1) - 0.5).abs() < 1e-9);
        assert!(((last.0 - b.0).hypot(last.1 - b.1) - 0.5).abs() < 1e-9);
    }
}
