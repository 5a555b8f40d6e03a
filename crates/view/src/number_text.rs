//! Numbers as text for axes: 0.25, −3, 10 000, 2.5×10⁻⁷, 10⁻³.
//!
//! All labels of an axis have the same number of decimals and the same power of ten, so that they
//! can be compared digit by digit.

const MINUS: char = '−';
const THIN_SPACE: char = '\u{2009}';

/// `exponent` in superscripts.
pub(crate) fn superscript(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    exponent
        .to_string()
        .chars()
        .map(|c| c.to_digit(10).map_or('⁻', |d| DIGITS[d as usize]))
        .collect()
}

/// A power of ten: 10⁻³.
pub(crate) fn power_of_ten(exponent: i32) -> String {
    format!("10{}", superscript(exponent))
}

/// One digit times a power of ten: 0.02, 500, 2×10⁻⁹.
pub(crate) fn digit_times_power(digit: i32, exponent: i32) -> String {
    match exponent {
        -3..=5 => fixed(f64::from(digit) * 10f64.powi(exponent), (-exponent).max(0) as usize),
        _ => format!("{digit}×{}", power_of_ten(exponent)),
    }
}

/// The labels of evenly spaced ticks `step` apart.
pub(crate) fn labels(ticks: &[f64], step: f64) -> Vec<String> {
    let largest = ticks.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let exponent = order(largest);
    if largest == 0.0 || (-3..=6).contains(&exponent) {
        let decimals = (-order(step)).max(0) as usize;
        return ticks.iter().map(|v| fixed(*v, decimals)).collect();
    }
    let decimals = (exponent - order(step)).max(0) as usize;
    ticks
        .iter()
        .map(|v| match fixed(scaled(*v, -exponent), decimals) {
            zero if *v == 0.0 || zero.chars().all(|c| "0.".contains(c)) => "0".to_owned(),
            mantissa => format!("{mantissa}×10{}", superscript(exponent)),
        })
        .collect()
}

/// The exponent of the leading digit, with a tolerance for rounding errors.
pub(crate) fn order(value: f64) -> i32 {
    if value > 0.0 { (value.log10() + 1e-9).floor() as i32 } else { 0 }
}

/// `value · 10^exponent` in two steps, because 10^exponent alone may overflow.
fn scaled(value: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    value * 10f64.powi(half) * 10f64.powi(exponent - half)
}

/// Fixed decimals, a real minus sign, and thin spaces in numbers of five or more digits.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut out = String::new();
    if value < 0.0 && text.chars().any(|c| ('1'..='9').contains(&c)) {
        out.push(MINUS);
    }
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && whole.len() > 4 && (whole.len() - i).is_multiple_of(3) {
            out.push(THIN_SPACE);
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_share_decimals_and_exponent() {
        assert_eq!(labels(&[0.0, 0.5, 1.0], 0.5), ["0.0", "0.5", "1.0"]);
        assert_eq!(labels(&[-2.0, 0.0, 2.0], 2.0), ["−2", "0", "2"]);
        assert_eq!(labels(&[0.0, 10_000.0], 10_000.0), ["0", "10\u{2009}000"]);
        assert_eq!(labels(&[0.0, 5e-7, 1e-6], 5e-7), ["0", "0.5×10⁻⁶", "1.0×10⁻⁶"]);
        assert_eq!(labels(&[2e200, 4e200], 2e200), ["2×10²⁰⁰", "4×10²⁰⁰"]);
        assert_eq!(labels(&[0.0], 1.0), ["0"]);
    }

    #[test]
    fn powers_are_true_superscripts() {
        assert_eq!(power_of_ten(-13), "10⁻¹³");
        assert_eq!(power_of_ten(0), "10⁰");
    }
}
