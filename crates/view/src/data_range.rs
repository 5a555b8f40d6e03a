//! The range of the data that an axis must show.
//!
//! A diverging curve must be visible, but must not flatten all others. So a curve does not count if
//! it grows tenfold in its second half and its peak is more than a hundred times above all other
//! curves. The axis then ends a little above the other curves, and the diverging curve leaves the
//! plot at the top.
//!
//! If one seed of several fails, the mean may stay in sight while the band explodes. So the ends of
//! bands count only up to some distance from the lines; beyond it the band is cut.

use crate::axis::AxisScale;
use crate::trace::Series;

/// The x range of all positions with a value; `None` if there is none.
pub(crate) fn along_x<'a>(
    series: impl Iterator<Item = &'a Series>,
    scale_x: AxisScale,
    scale: AxisScale,
) -> Option<ValueRange> {
    let mut range = None;
    for s in series {
        for (x, (mean, ..)) in s.x.iter().zip(&s.band) {
            if scale_x.can_show(*x) && scale.can_show(*mean) {
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
    let all = lines(series.clone(), scale)?;
    let steady = lines(series.clone().filter(|s| !keeps_growing(s, scale)), scale);
    let size = |(low, high): ValueRange| f64::max(low.abs(), high.abs());
    let range = match steady {
        None => return Some(all),
        Some(steady) if size(all) <= 100.0 * size(steady) => all,
        Some(steady) => match scale {
            AxisScale::Log10 => (all.0, all.1.min(steady.1 * 20.0)),
            AxisScale::Linear => {
                let room = 0.3 * (steady.1 - steady.0).max(0.1 * size(steady));
                (all.0.max(steady.0 - room), all.1.min(steady.1 + room))
            }
        },
    };
    Some(with_bands(range, series, scale))
}

/// The range of the lines alone.
fn lines<'a>(series: impl Iterator<Item = &'a Series>, scale: AxisScale) -> Option<ValueRange> {
    let mut range = None;
    for s in series {
        for (x, (mean, ..)) in s.x.iter().zip(&s.band) {
            if x.is_finite() && scale.can_show(*mean) {
                widen(&mut range, *mean);
            }
        }
    }
    range
}

/// The range with the ends of the bands of the lines in it, as far as they are near the lines: half
/// the extent of the lines, or four times as wide as the usual band, whichever is more.
fn with_bands<'a>(
    lines: ValueRange,
    series: impl Iterator<Item = &'a Series>,
    scale: AxisScale,
) -> ValueRange {
    let on_axis = |v: f64| if scale == AxisScale::Log10 { v.log10() } else { v };
    let back = |v: f64| if scale == AxisScale::Log10 { 10f64.powf(v) } else { v };
    let (low, high) = (on_axis(lines.0), on_axis(lines.1));
    // Mean, and how far the band reaches below and above it.
    let mut ends: Vec<(f64, f64, f64)> = Vec::new();
    for s in series {
        for (x, (mean, from, to)) in s.x.iter().zip(&s.band) {
            let seen = x.is_finite() && scale.can_show(*mean);
            if seen && (lines.0..=lines.1).contains(mean) {
                let shown = |end: f64| if scale.can_show(end) { on_axis(end) } else { f64::NAN };
                let [down, up] = [on_axis(*mean) - shown(*from), shown(*to) - on_axis(*mean)]
                    .map(|v| if v.is_nan() { 0.0 } else { v.max(0.0) });
                ends.push((on_axis(*mean), down, up));
            }
        }
    }
    let mut widths: Vec<f64> = ends.iter().map(|(_, down, up)| down.max(*up)).collect();
    widths.sort_by(f64::total_cmp);
    let usual = widths.get(widths.len() / 2).copied().unwrap_or(0.0);
    // Three quarters of the bands are always in sight.
    let most_of_them = widths.get(widths.len() * 3 / 4).copied().unwrap_or(0.0);
    let room = (0.5 * (high - low)).max(4.0 * usual).max(most_of_them);
    let wanted_low = ends.iter().map(|(mean, down, _)| mean - down).fold(low, f64::min);
    let wanted_high = ends.iter().map(|(mean, _, up)| mean + up).fold(high, f64::max);
    let (wanted_low, wanted_high) = (wanted_low.max(low - room), wanted_high.min(high + room));
    // What is not moved keeps its bits.
    let low = if wanted_low < low { back(wanted_low) } else { lines.0 };
    let high = if wanted_high > high { back(wanted_high) } else { lines.1 };
    (low, high)
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
    fn one_exploding_band_does_not_flatten_the_lines() {
        let mut one = series((0..50).map(|i| 1.0 + 0.9f64.powi(i)));
        for b in &mut one.band {
            (b.1, b.2) = (b.0 - 0.05, b.0 + 0.05);
        }
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        let (low, high) = along_y([&one].into_iter(), AxisScale::Linear).unwrap();
        assert!(near(low, one.band[49].1) && near(high, one.band[0].2), "all bands: {low} {high}");
        one.band[40] = (1.2, -1e6, 1e6);
        let (low, high) = along_y([&one].into_iter(), AxisScale::Linear).unwrap();
        let lines = (one.band[49].0, one.band[0].0);
        // Half of the extent of the lines is 0.497 beyond them.
        assert!(near(low, lines.0 - (lines.1 - lines.0) / 2.0), "{low}");
        assert!(near(high, lines.1 + (lines.1 - lines.0) / 2.0), "{high}");
        let constant = |half: f64| Series {
            band: vec![(5.0, 5.0 - half, 5.0 + half); 9],
            ..series((0..9).map(|_| 5.0))
        };
        assert_eq!(along_y([&constant(2.0)].into_iter(), AxisScale::Linear), Some((3.0, 7.0)));
    }

    #[test]
    fn nothing_drawable_has_no_range() {
        let none = series([f64::NAN, f64::INFINITY].into_iter());
        assert_eq!(along_y([&none].into_iter(), AxisScale::Linear), None);
        let negative = series([-1.0, 0.0].into_iter());
        assert_eq!(along_y([&negative].into_iter(), AxisScale::Log10), None);
        assert_eq!(
            along_x([&negative].into_iter(), AxisScale::Linear, AxisScale::Linear),
            Some((0.0, 1.0))
        );
    }
}
