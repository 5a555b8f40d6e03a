//! The positions of the ticks of an axis.
//!
//! Linear axes have steps of 1, 2 or 5 times a power of ten. Logarithmic axes have a tick per
//! decade, or per two, three, five… decades if there are many. If that gives at most one tick,
//! there are ticks at 1, 2 and 5 times each power of ten. For less than two thirds of a decade, the
//! steps are linear.

use crate::number_text::{digit_times_power, labels, power_of_ten};

/// The ticks of an axis, all within its range.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ticks {
    /// Ticks with a label.
    pub(crate) major: Vec<(f64, String)>,
    /// Ticks without a label between them.
    pub(crate) minor: Vec<f64>,
}

/// At most about `most` evenly spaced ticks between `low` and `high`.
pub(crate) fn linear(low: f64, high: f64, most: usize) -> Ticks {
    let step = nice_step((high - low) / most.max(1) as f64);
    let first = (low / step - 1e-6).ceil() as i64;
    let last = (high / step + 1e-6).floor() as i64;
    let values: Vec<f64> = (first..=last).map(|k| k as f64 * step).collect();
    let major = values.iter().copied().zip(labels(&values, step)).collect();
    Ticks { major, minor: Vec::new() }
}

/// At most about `most` ticks with labels between the positive `low` and `high`.
pub(crate) fn log10(low: f64, high: f64, most: usize) -> Ticks {
    let (first, last) = (decade_above(low), decade_below(high));
    if last - first < 1 {
        return if high.log10() - low.log10() < 0.67 {
            linear(low, high, most.min(5))
        } else {
            one_two_five(low, high)
        };
    }
    let count = (last - first) as usize + 1;
    let stride = [1, 2, 3, 5, 10, 20, 50, 100]
        .into_iter()
        .find(|stride| count.div_ceil(*stride) <= most.max(2))
        .unwrap_or(100) as i32;
    let decade = |k: i32| 10f64.powi(k);
    let major = (first..=last)
        .filter(|k| k.rem_euclid(stride) == 0)
        .map(|k| (decade(k), power_of_ten(k)))
        .collect();
    let minor = if stride == 1 {
        (first - 1..=last)
            .flat_map(|k| (2..10).map(move |digit| f64::from(digit) * decade(k)))
            .filter(|v| (low..=high).contains(v))
            .collect()
    } else if count <= 60 {
        (first..=last).filter(|k| k.rem_euclid(stride) != 0).map(decade).collect()
    } else {
        Vec::new()
    };
    Ticks { major, minor }
}

/// Ticks at 1, 2 and 5 times each power of ten, for one to two decades.
fn one_two_five(low: f64, high: f64) -> Ticks {
    let (mut major, mut minor) = (Vec::new(), Vec::new());
    for k in decade_above(low) - 1..=decade_below(high) {
        for digit in 1..10 {
            let value = f64::from(digit) * 10f64.powi(k);
            if !(low..=high).contains(&value) {
                continue;
            }
            match digit {
                1 | 2 | 5 => major.push((value, digit_times_power(digit, k))),
                _ => minor.push(value),
            }
        }
    }
    Ticks { major, minor }
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `raw`.
fn nice_step(raw: f64) -> f64 {
    let power = 10f64.powf(raw.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|f| f * power >= raw * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

fn decade_above(value: f64) -> i32 {
    (value.log10() - 1e-9).ceil() as i32
}

fn decade_below(value: f64) -> i32 {
    (value.log10() + 1e-9).floor() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: &Ticks) -> Vec<&str> {
        ticks.major.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn linear_steps_are_one_two_or_five() {
        assert_eq!(texts(&linear(0.0, 1.0, 5)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(&linear(-1.2, 1.2, 5)), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(texts(&linear(37.2, 91.3, 6)), ["40", "50", "60", "70", "80", "90"]);
        assert_eq!(texts(&linear(0.0, 1000.0, 4)), ["0", "500", "1000"]);
    }

    #[test]
    fn linear_ticks_survive_huge_and_tiny_ranges() {
        assert_eq!(texts(&linear(0.0, 1e300, 4))[1], "0.5×10³⁰⁰");
        assert_eq!(texts(&linear(0.0, 1e-280, 2))[1], "0.5×10⁻²⁸⁰");
        let close = linear(1000.0, 1000.004, 4);
        assert_eq!(texts(&close)[0..2], ["1000.000", "1000.001"]);
    }

    #[test]
    fn log_ticks_are_decades_with_minor_ticks() {
        let ticks = log10(3e-4, 2.0, 8);
        assert_eq!(texts(&ticks), ["10⁻³", "10⁻²", "10⁻¹", "10⁰"]);
        assert!(ticks.minor.contains(&4e-4) && ticks.minor.contains(&2.0));
        assert!(ticks.minor.iter().all(|v| (3e-4..=2.0).contains(v)));
    }

    #[test]
    fn many_decades_are_thinned() {
        assert_eq!(texts(&log10(1e-14, 10.0, 6)), ["10⁻¹²", "10⁻⁹", "10⁻⁶", "10⁻³", "10⁰"]);
        let ticks = log10(1e-300, 1e300, 6);
        assert!(ticks.major.len() <= 7 && ticks.major.len() >= 4, "{:?}", texts(&ticks));
    }

    #[test]
    fn a_single_decade_is_marked_at_one_two_and_five() {
        assert_eq!(texts(&log10(0.012, 0.31, 5)), ["0.02", "0.05", "0.1", "0.2"]);
        assert_eq!(texts(&log10(1.5e-9, 9e-9, 5)), ["2×10⁻⁹", "5×10⁻⁹"]);
        assert_eq!(texts(&log10(900.0, 9000.0, 5)), ["1000", "2000", "5000"]);
    }

    #[test]
    fn less_than_a_decade_takes_even_steps() {
        assert_eq!(texts(&log10(0.23, 0.31, 5)), ["0.24", "0.26", "0.28", "0.30"]);
    }
}
