//! The range of the data that an axis must show.
//!
//! A diverging curve must be visible, but must not flatten all others. So a curve does not count if
//! it grows tenfold in its second half and its peak is more than a hundred times above all other
//! curves. The axis then ends a little above the other curves, and the diverging curve leaves the
//! plot at the top.

use crate::axis::AxisScale;
use crate::trace::Series;

/// The x range of all positions with a value; `None` if there is none.
pub(crate) fn along_x<'a>(
    series: impl Iterator<Item = &'a Series>,
    scale: AxisScale,
) -> Option<ValueRange> {
    let mut range = None;
    for s in series {
        for (x, (mean, ..)) in s.x.iter().zip(&s.band) {
            if x.is_finite() && scale.can_show(*mean) {
                widen(&mut range, *x);
            }
        }
    }
    range
}

/// The y range of means and bands, without diverging curves; `None` if there is no value.
pub(crate) fn along_y<'a>(
    series: impl Iterator<Item = &'a Series> + Clone,
    scale: AxisScale,
) -> Option<ValueRange> {
    let mut all = None;
    let mut steady = None;
    for s in series {
        let own = curve_range(s, scale);
        let Some((low, high)) = own else { continue };
        let ranges = if keeps_growing(s, scale) {
            [Some(&mut all), None]
        } else {
            [Some(&mut all), Some(&mut steady)]
        };
        for range in ranges.into_iter().flatten() {
            widen(range, low);
            widen(range, high);
        }
    }
    let (all, Some(steady)) = (all?, steady) else { return all };
    let size = |(low, high): ValueRange| f64::max(low.abs(), high.abs());
    if size(all) <= 100.0 * size(steady) {
        return Some(all);
    }
    Some(match scale {
        AxisScale::Log10 => (all.0, all.1.min(steady.1 * 20.0)),
        AxisScale::Linear => {
            let room = 0.3 * (steady.1 - steady.0).max(0.1 * size(steady));
            (all.0.max(steady.0 - room), all.1.min(steady.1 + room))
        }
    })
}

/// The low and the high end.
pub(crate) type ValueRange = (f64, f64);

/// Whether the peak of the second half of a curve is ten times the peak of its first half.
fn keeps_growing(series: &Series, scale: AxisScale) -> bool {
    let sizes: Vec<f64> =
        series.band.iter().map(|b| b.0).filter(|v| scale.can_show(*v)).map(f64::abs).collect();
    let (first, second) = sizes.split_at(sizes.len() / 2);
    let peak = |half: &[f64]| half.iter().fold(0.0, |m: f64, v| m.max(*v));
    first.len() > 1 && peak(second) >= 10.0 * peak(first)
}

/// The range of one curve with its band.
fn curve_range(series: &Series, scale: AxisScale) -> Option<ValueRange> {
    let mut range = None;
    for (x, (mean, low, high)) in series.x.iter().zip(&series.band) {
        if x.is_finite() && scale.can_show(*mean) {
            for value in [mean, low, high] {
                if scale.can_show(*value) {
                    widen(&mut range, *value);
                }
            }
        }
    }
    range
}

fn widen(range: &mut Option<ValueRange>, value: f64) {
    let (low, high) = range.unwrap_or((value, value));
    *range = Some((low.min(value), high.max(value)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::look;

    fn series(values: impl Iterator<Item = f64>) -> Series {
        let band: Vec<_> = values.map(|v| (v, v, v)).collect();
        let x = (0..band.len()).map(|i| i as f64).collect();
        Series { x, band, seeds: 1, look: look("gut") }
    }

    #[test]
    fn a_diverging_curve_does_not_flatten_the_others() {
        let good = series((0..50).map(|i| 0.9f64.powi(i)));
        let bad = series((0..50).map(|i| 3f64.powi(i)));
        let (_, high) = along_y([&good, &bad].into_iter(), AxisScale::Log10).unwrap();
        assert_eq!(high, 20.0);
        let (_, high) = along_y([&good, &bad].into_iter(), AxisScale::Linear).unwrap();
        assert!(high > 1.0 && high < 1.5);
        let (_, high) = along_y([&bad].into_iter(), AxisScale::Log10).unwrap();
        assert_eq!(high, 3f64.powi(49));
    }

    #[test]
    fn a_late_success_is_no_divergence() {
        let flat = series((0..20).map(|_| 0.02));
        let late = series((0..20).map(|i| if i < 15 { 0.02 } else { 0.98 }));
        assert_eq!(along_y([&flat, &late].into_iter(), AxisScale::Linear), Some((0.02, 0.98)));
    }

    #[test]
    fn nothing_drawable_has_no_range() {
        let none = series([f64::NAN, f64::INFINITY].into_iter());
        assert_eq!(along_y([&none].into_iter(), AxisScale::Linear), None);
        let negative = series([-1.0, 0.0].into_iter());
        assert_eq!(along_y([&negative].into_iter(), AxisScale::Log10), None);
        assert_eq!(along_x([&negative].into_iter(), AxisScale::Linear), Some((0.0, 1.0)));
    }
}
