//! Colours for amounts: white for zero, then darker and darker blue.
//!
//! Lightness decreases in equal steps of Oklab, so twice the amount looks twice as dark, also on a
//! black-and-white printer. There is only one hue, so colour-blind readers see the same ramp. The
//! middle of the ramp is more saturated than a straight line would be; that would look grey.

use crate::color::Color;

/// The number of colours; more would only make the file longer.
pub(crate) const LEVELS: usize = 64;

/// The colour of `share` of the full amount, 0 to 1.
pub(crate) fn shade(share: f64) -> Color {
    Color::from_oklab(oklab(share.clamp(0.0, 1.0)))
}

/// The level whose colour represents `share`: 0 only if the share is zero.
pub(crate) fn level(share: f64) -> usize {
    ((share * LEVELS as f64).ceil() as usize).min(LEVELS)
}

/// The colour of a level.
pub(crate) fn level_shade(level: usize) -> Color {
    shade(level as f64 / LEVELS as f64)
}

/// A Bézier curve in Oklab from white to dark blue, with linear lightness.
fn oklab(t: f64) -> [f64; 3] {
    const MIDDLE: [f64; 3] = [0.65, -0.05, -0.15];
    const END: [f64; 3] = [0.3, -0.01, -0.1];
    let (bend, end) = (2.0 * t * (1.0 - t), t * t);
    let white = (1.0 - t).powi(2);
    [
        white + bend * MIDDLE[0] + end * END[0],
        bend * MIDDLE[1] + end * END[1],
        bend * MIDDLE[2] + end * END[2],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_white_and_something_is_not() {
        assert_eq!(level_shade(level(0.0)).hex(), "#ffffff");
        assert_eq!(level(1e-9), 1);
        assert_ne!(level_shade(1).hex(), "#ffffff");
        assert_eq!(level(1.0), LEVELS);
    }

    #[test]
    fn every_step_is_darker_and_about_equally_far() {
        let steps: Vec<f64> = (0..LEVELS)
            .map(|i| {
                let [p, q] = [i, i + 1].map(|k| oklab(k as f64 / LEVELS as f64));
                assert!(q[0] < p[0]);
                (0..3).map(|k| (p[k] - q[k]).powi(2)).sum::<f64>().sqrt()
            })
            .collect();
        let mean = steps.iter().sum::<f64>() / LEVELS as f64;
        // Measured: 0.97 to 1.07 of the mean.
        for step in &steps {
            assert!((0.9..1.15).contains(&(step / mean)), "{}", step / mean);
        }
        let contrast: Vec<f64> = (0..=LEVELS).map(|l| level_shade(l).contrast_on_white()).collect();
        assert!(contrast.windows(2).all(|pair| pair[0] < pair[1]), "{contrast:?}");
    }
}
