//! An axis: a range of values, its ticks, and the position of a value between its ends.

use crate::ticks::{self, Ticks};

/// Linear or logarithmic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AxisScale {
    Linear,
    Log10,
}

impl AxisScale {
    /// Whether such an axis can show `value`.
    pub(crate) fn can_show(self, value: f64) -> bool {
        value.is_finite() && (self == AxisScale::Linear || value > 0.0)
    }
}

/// Larger values are clamped before a range is computed, so that every range is finite.
const LARGEST: f64 = 1e300;
/// Smaller values count as zero on a linear axis: the steps between them would underflow.
const SMALLEST: f64 = 1e-290;

/// A range with its ticks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) scale: AxisScale,
    pub(crate) ticks: Ticks,
}

impl Axis {
    /// An axis from exactly `low` to `high`. [`padded_range`] or the caller has checked them.
    pub(crate) fn new((low, high): (f64, f64), scale: AxisScale, most_ticks: usize) -> Self {
        let ticks = match scale {
            AxisScale::Linear => ticks::linear(low, high, most_ticks),
            AxisScale::Log10 => ticks::log10(low, high, most_ticks),
        };
        Self { low, high, scale, ticks }
    }

    /// The position of `value`: 0 at the low end, 1 at the high end, `None` if the axis cannot show
    /// it. Positions far outside are clamped to ±1000; after clipping there is no difference.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        if !self.scale.can_show(value) {
            return None;
        }
        let share = match self.scale {
            // Divide before subtracting: the difference of two large values may overflow.
            AxisScale::Linear => {
                let span = self.high - self.low;
                value / span - self.low / span
            }
            AxisScale::Log10 => {
                let low = self.low.log10();
                (value.log10() - low) / (self.high.log10() - low)
            }
        };
        if share.is_nan() { None } else { Some(share.clamp(-1000.0, 1000.0)) }
    }
}

/// The range of an axis for data with this range: a little padding at both ends, and some width if
/// all data are equal.
pub(crate) fn padded_range((low, high): (f64, f64), scale: AxisScale) -> (f64, f64) {
    let (low, high) = (low.clamp(-LARGEST, LARGEST), high.clamp(-LARGEST, LARGEST));
    match scale {
        AxisScale::Log10 => {
            let (low, high) = (low.max(1e-300), high.max(1e-300));
            let decades = high.log10() - low.log10();
            // Less than 5 % is one value and its noise.
            let padding = if decades < 0.02 { 0.1 } else { (0.04 * decades).clamp(0.02, 3.0) };
            let padding = 10f64.powf(padding);
            ((low / padding).max(1e-305), high * padding)
        }
        AxisScale::Linear => {
            let largest = low.abs().max(high.abs());
            if largest < SMALLEST {
                return (-1.0, 1.0);
            }
            if high - low < 1e-6 * largest {
                return (low - 0.1 * largest, high + 0.1 * largest);
            }
            let padding = 0.04 * (high - low);
            // An axis for values that are never negative does not begin below 0.
            let floor = if low >= 0.0 { (low - padding).max(0.0) } else { low - padding };
            (floor, high + padding)
        }
    }
}

/// The range of an x axis: the data fill it from edge to edge, and a single position gets room on
/// both sides.
pub(crate) fn tight_range((low, high): (f64, f64), scale: AxisScale) -> (f64, f64) {
    let (low, high) = (low.clamp(-LARGEST, LARGEST), high.clamp(-LARGEST, LARGEST));
    if scale == AxisScale::Log10 {
        let (low, high) = (low.max(1e-300), high.max(1e-300));
        return if high / low < 1.01 { (low / 2.0, high * 2.0) } else { (low, high) };
    }
    let largest = low.abs().max(high.abs());
    if largest < SMALLEST {
        (-1.0, 1.0)
    } else if high - low < 1e-6 * largest {
        (low - 0.5 * largest, high + 0.5 * largest)
    } else {
        (low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_curve_gets_a_range_around_it() {
        for value in [0.0, 3.5, -2.0, 1e-300, 1e300, 1e17, 5e-324] {
            let range = padded_range((value, value), AxisScale::Linear);
            let axis = Axis::new(range, AxisScale::Linear, 5);
            let place = axis.place(value).unwrap();
            assert!((0.2..=0.8).contains(&place), "{value}: {range:?} {place}");
            assert!(axis.ticks.major.len() >= 2, "{value}: {:?}", axis.ticks);
        }
        for value in [3.5, 1e-300, 1e300, 1.0] {
            let axis =
                Axis::new(padded_range((value, value), AxisScale::Log10), AxisScale::Log10, 5);
            let place = axis.place(value).unwrap();
            assert!((0.2..=0.8).contains(&place), "{value}: {place}");
            assert!(axis.ticks.major.len() >= 2, "{value}: {:?}", axis.ticks);
        }
    }

    #[test]
    fn the_largest_ranges_stay_finite() {
        let axis =
            Axis::new(padded_range((-f64::MAX, f64::MAX), AxisScale::Linear), AxisScale::Linear, 5);
        assert!((axis.place(0.0).unwrap() - 0.5).abs() < 1e-9);
        let axis =
            Axis::new(padded_range((5e-324, f64::MAX), AxisScale::Log10), AxisScale::Log10, 5);
        assert!((0.4..0.6).contains(&axis.place(1.0).unwrap()));
        assert!((3..=7).contains(&axis.ticks.major.len()), "{:?}", axis.ticks.major);
    }

    #[test]
    fn what_has_no_place_has_none() {
        let axis = Axis::new((1e-3, 1.0), AxisScale::Log10, 5);
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(axis.place(value), None);
        }
        assert!((axis.place(1e-2).unwrap() - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn air_never_makes_a_positive_quantity_negative() {
        assert_eq!(padded_range((0.0, 1.0), AxisScale::Linear).0, 0.0);
        assert!(padded_range((-0.1, 1.0), AxisScale::Linear).0 < -0.1);
    }
}
