//! Curves: the data from which every figure of a run is drawn.
//!
//! A curve keeps all seeds, not only their mean, so a band, a table or a test can be made later
//! from the same file. Means are computed here and not where they are drawn, because a table and a
//! chart must agree on them.

use crate::error::RecordsError;
use crate::float_text;
use serde::{Deserialize, Serialize};

/// One figure: panels side by side that share their axis labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurveSet {
    /// What the figure shows.
    pub title: String,
    /// The quantity along x, with its unit.
    pub x_label: String,
    /// The quantity along y, with its unit.
    pub y_label: String,
    /// Whether y is drawn on a logarithmic axis.
    pub log_y: bool,
    /// The panels from left to right.
    pub panels: Vec<Panel>,
}

/// One set of axes and the curves in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// What distinguishes this panel from the others; empty if there is only one.
    pub title: String,
    /// The curves in the order of the legend.
    pub curves: Vec<Curve>,
}

/// One method's values over all its seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The method, which decides the colour, for example "gut" or "gut:mu=0.5".
    pub method: String,
    /// The name in the legend; if empty, `method` is shown.
    pub label: String,
    /// The positions, shared by all runs.
    #[serde(with = "float_text::row")]
    pub x: Vec<f64>,
    /// The values: one run per seed, one value per position.
    #[serde(with = "float_text::rows")]
    pub runs: Vec<Vec<f64>>,
    /// The seed of each run.
    pub seeds: Vec<u64>,
}

impl CurveSet {
    /// Checks that every run has a seed and one value per position.
    ///
    /// # Errors
    /// Names the first curve whose counts differ.
    pub fn check(&self) -> Result<(), RecordsError> {
        for panel in &self.panels {
            for curve in &panel.curves {
                let uneven = |what, expected, got| RecordsError::UnevenCurve {
                    panel: panel.title.clone(),
                    label: curve.shown_label().to_owned(),
                    what,
                    expected,
                    got,
                };
                if curve.seeds.len() != curve.runs.len() {
                    return Err(uneven("seeds", curve.runs.len(), curve.seeds.len()));
                }
                if let Some(run) = curve.runs.iter().find(|run| run.len() != curve.x.len()) {
                    return Err(uneven("values in each run", curve.x.len(), run.len()));
                }
            }
        }
        Ok(())
    }
}

impl Curve {
    /// The name to show: the label, or the method if there is no label.
    pub fn shown_label(&self) -> &str {
        if self.label.is_empty() { &self.method } else { &self.label }
    }

    /// (mean, mean − std, mean + std) over the seeds at every position.
    ///
    /// The std is the *sample* standard deviation (divisor `n − 1`), because the seeds are a sample
    /// of all possible seeds. With one seed the band has zero width. If any seed is missing or not
    /// finite, all three are NaN: a mean over the other seeds would make the method look better
    /// than it is.
    pub fn mean_and_band(&self) -> Vec<(f64, f64, f64)> {
        self.positions(|v| v).map(|(mean, std)| (mean, mean - std, mean + std)).collect()
    }

    /// Like [`mean_and_band`](Self::mean_and_band), for a logarithmic axis: mean and std are those
    /// of `log10 y`. So the middle is the geometric mean, and the low end is always positive.
    ///
    /// If any seed is missing, not finite or not positive, all three are NaN.
    pub fn log_mean_and_band(&self) -> Vec<(f64, f64, f64)> {
        self.positions(|v| if v > 0.0 { v.log10() } else { f64::NAN })
            .map(|(mean, std)| (10f64.powf(mean), 10f64.powf(mean - std), 10f64.powf(mean + std)))
            .collect()
    }

    /// Mean and sample std over the seeds of `scale(y)`, position by position.
    fn positions(&self, scale: impl Fn(f64) -> f64) -> impl Iterator<Item = (f64, f64)> {
        (0..self.x.len()).map(move |i| {
            let n = self.runs.len() as f64;
            let at = |run: &Vec<f64>| match run.get(i) {
                Some(v) if v.is_finite() => scale(*v),
                _ => f64::NAN,
            };
            // Divide before summing: values near the largest float must not overflow.
            let mean = self.runs.iter().map(|run| at(run) / n).sum::<f64>();
            let mean = if self.runs.is_empty() { f64::NAN } else { mean };
            if self.runs.len() < 2 {
                return (mean, 0.0);
            }
            let square = self.runs.iter().map(|run| (at(run) - mean).powi(2)).sum::<f64>();
            (mean, (square / (n - 1.0)).sqrt())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(runs: &[&[f64]]) -> Curve {
        Curve {
            method: "gut".into(),
            label: String::new(),
            x: (0..runs[0].len()).map(|i| i as f64).collect(),
            runs: runs.iter().map(|run| run.to_vec()).collect(),
            seeds: (0..runs.len() as u64).collect(),
        }
    }

    #[test]
    fn band_is_mean_and_sample_std() {
        let band = curve(&[&[1.0, 5.0], &[3.0, 5.0]]).mean_and_band();
        let std = 2f64.sqrt(); // deviations -1 and 1, divisor n - 1 = 1
        assert_eq!(band, vec![(2.0, 2.0 - std, 2.0 + std), (5.0, 5.0, 5.0)]);
    }

    #[test]
    fn log_band_is_geometric_and_positive() {
        let (mean, low, high) = curve(&[&[1e-6], &[1e-2]]).log_mean_and_band()[0];
        assert!((mean / 1e-4 - 1.0).abs() < 1e-12);
        assert!(low > 0.0 && (low * high / (mean * mean) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_bad_seed_makes_the_position_missing() {
        let c = curve(&[&[1.0, f64::INFINITY, 0.0], &[1.0, 1.0, 1.0]]);
        assert!(c.mean_and_band()[1].0.is_nan());
        assert!(c.mean_and_band()[2].0 == 0.5);
        assert!(c.log_mean_and_band()[2].0.is_nan());
    }

    #[test]
    fn one_seed_has_a_band_without_width() {
        assert_eq!(curve(&[&[7.0]]).mean_and_band(), vec![(7.0, 7.0, 7.0)]);
    }

    #[test]
    fn no_seeds_are_all_missing() {
        let mut c = curve(&[&[7.0]]);
        c.runs.clear();
        assert!(c.mean_and_band()[0].0.is_nan());
    }

    #[test]
    fn uneven_curves_are_named() {
        let mut bad = curve(&[&[1.0, 2.0]]);
        bad.runs.push(vec![1.0]);
        bad.seeds.push(1);
        let set = CurveSet {
            title: String::new(),
            x_label: String::new(),
            y_label: String::new(),
            log_y: false,
            panels: vec![Panel { title: "ring".into(), curves: vec![bad] }],
        };
        let message = set.check().unwrap_err().to_string();
        assert!(message.contains("\"gut\" in panel \"ring\": expected 2"), "{message}");
    }
}
