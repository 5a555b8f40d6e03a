//! The square root, which `core` does not have.

/// `sqrt(v)` for `v >= 0`, to about two roundings. The same bits on every machine, and no branch, so
/// that a loop around it is vectorised.
#[inline(always)]
pub(super) fn square_root(v: f32) -> f32 {
    // 1/sqrt(v): half the exponent, then Newton's method.
    let mut inverse = f32::from_bits(0x5f37_59df - (v.to_bits() >> 1));
    for _ in 0..3 {
        inverse *= 1.5 - (0.5 * v * inverse) * inverse;
    }
    v * inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of what its square is off, relatively, is what it is off itself.
    #[test]
    fn it_is_the_square_root() {
        assert_eq!(square_root(0.0), 0.0);
        let mut v = 1e-37_f32;
        while v < 1e37 {
            let root = f64::from(square_root(v));
            let off = 0.5 * (root * root / f64::from(v) - 1.0);
            assert!(off.abs() < 3e-7, "{v}: {off:.1e}"); // measured: 1.8e-7
            v *= 1.0137;
        }
    }
}
