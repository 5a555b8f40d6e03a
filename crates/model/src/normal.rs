//! Normal random numbers with the same bits on every machine.
//!
//! The logarithm of a mathematical library differs in the last bit between platforms, so
//! this one is a series of additions and multiplications, which do not.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A number from the standard normal distribution (Marsaglia's polar method; the second
/// number of the pair is left unused, so that every draw stands alone).
pub(crate) fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    loop {
        let u = random.random::<f64>() * 2.0 - 1.0;
        let v = random.random::<f64>() * 2.0 - 1.0;
        let s = u * u + v * v;
        if s > 0.0 && s < 1.0 {
            return u * (-2.0 * ln(s) / s).sqrt();
        }
    }
}

/// The natural logarithm of a positive normal number: exponent and mantissa apart, the
/// mantissa by `ln m = 2 artanh((m - 1)/(m + 1))`.
fn ln(x: f64) -> f64 {
    const LN_2: f64 = std::f64::consts::LN_2;
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) as i64 - 1023) as f64;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1.0;
    }
    let t = (mantissa - 1.0) / (mantissa + 1.0); // |t| < 0.172
    let square = t * t;
    let mut series = 0.0;
    for k in (0..12).rev() {
        series = series * square + 1.0 / f64::from(2 * k + 1);
    }
    exponent * LN_2 + 2.0 * t * series
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn the_logarithm_is_the_logarithm() {
        for k in 1..2000 {
            let x = f64::from(k) / 2000.0;
            assert!((ln(x) - x.ln()).abs() <= 4e-16 * (1.0 + x.ln().abs()), "{x}");
        }
        assert!((ln(1e-300) - 1e-300_f64.ln()).abs() < 1e-12);
    }

    /// Moments of 100,000 draws; the tolerances are four standard errors.
    #[test]
    fn the_numbers_are_normal() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let n = 100_000;
        let draws: Vec<f64> = (0..n).map(|_| normal(&mut random)).collect();
        let moment = |power: i32| draws.iter().map(|x| x.powi(power)).sum::<f64>() / f64::from(n);
        let error = |variance: f64| 4.0 * (variance / f64::from(n)).sqrt();
        assert!(moment(1).abs() < error(1.0));
        assert!((moment(2) - 1.0).abs() < error(2.0));
        assert!(moment(3).abs() < error(15.0));
        assert!((moment(4) - 3.0).abs() < error(96.0));
    }
}
