//! Markers on curves: which curve is which, also in grey and where curves overlap.
//!
//! A curve has few of them, and the curves of a panel have theirs at different places, so that
//! equal curves do not hide each other's.

use crate::canvas::{Canvas, Pen, Point};

/// The form of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
    TriangleDown,
    Plus,
    Cross,
    Asterisk,
}

/// A form, filled with the curve's colour or with white.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Marker {
    pub(crate) shape: Shape,
    pub(crate) filled: bool,
}

/// A filled marker.
pub(crate) const fn filled(shape: Shape) -> Marker {
    Marker { shape, filled: true }
}

/// A hollow marker.
pub(crate) const fn hollow(shape: Shape) -> Marker {
    Marker { shape, filled: false }
}

/// All markers, those that differ most first.
pub(crate) const MARKERS: [Marker; 13] = [
    filled(Shape::Circle),
    filled(Shape::Square),
    filled(Shape::Triangle),
    filled(Shape::Diamond),
    filled(Shape::TriangleDown),
    hollow(Shape::Circle),
    hollow(Shape::Square),
    hollow(Shape::Triangle),
    hollow(Shape::Diamond),
    hollow(Shape::TriangleDown),
    filled(Shape::Cross),
    filled(Shape::Plus),
    filled(Shape::Asterisk),
];

/// The radius of a circle; the others look as large.
const RADIUS: f64 = 2.9;
/// The line of hollow markers and of crosses.
const LINE: f64 = 1.2;

impl Marker {
    /// Draws the marker around `at`, with a thin white border that parts it from other curves.
    pub(crate) fn draw(self, canvas: &mut Canvas, (x, y): Point, color: &str) {
        let corners: &[(f64, f64)] = match self.shape {
            Shape::Circle => {
                let (fill, pen) = self.inks(color);
                let radius = if self.filled { RADIUS } else { RADIUS - 0.3 };
                canvas.circle((x, y), radius, fill, pen);
                return;
            }
            Shape::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Shape::Triangle => &[(0.0, -1.25), (1.15, 0.85), (-1.15, 0.85)],
            Shape::TriangleDown => &[(0.0, 1.25), (1.15, -0.85), (-1.15, -0.85)],
            Shape::Diamond => &[(0.0, -1.35), (1.2, 0.0), (0.0, 1.35), (-1.2, 0.0)],
            Shape::Plus => return self.strokes(canvas, (x, y), color, &[(1.2, 0.0), (0.0, 1.2)]),
            Shape::Cross => return self.strokes(canvas, (x, y), color, &[(1.0, 1.0), (1.0, -1.0)]),
            Shape::Asterisk => {
                let arms = [(0.0, 1.25), (1.08, 0.62), (1.08, -0.62)];
                return self.strokes(canvas, (x, y), color, &arms);
            }
        };
        let shrunk = if self.filled { RADIUS } else { RADIUS * 0.92 };
        let mut data = String::new();
        for (k, (dx, dy)) in corners.iter().enumerate() {
            data.push(if k == 0 { 'M' } else { 'L' });
            data.push_str(&canvas.point((x + shrunk * dx, y + shrunk * dy)));
        }
        data.push('Z');
        let (fill, pen) = self.inks(color);
        canvas.shape(&data, fill, pen);
    }

    /// Lines through the centre, on wider white ones.
    fn strokes(self, canvas: &mut Canvas, (x, y): Point, color: &str, arms: &[(f64, f64)]) {
        let mut data = String::new();
        for (dx, dy) in arms {
            let [from, to] = [-RADIUS, RADIUS].map(|r| canvas.point((x + r * dx, y + r * dy)));
            data.push_str(&format!("M{from}L{to}"));
        }
        canvas.stroke(&data, Pen::solid("#ffffff", 2.0 * LINE));
        canvas.stroke(&data, Pen::solid(color, LINE * 1.15));
    }

    fn inks(self, color: &str) -> (&str, Pen<'_>) {
        if self.filled {
            (color, Pen::solid("#ffffff", 0.6))
        } else {
            ("#ffffff", Pen::solid(color, LINE))
        }
    }
}
