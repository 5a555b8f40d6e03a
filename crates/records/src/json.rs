//! Curves as JSON, from which every chart can be drawn again.
//!
//! Values that are not finite are written as the strings "inf", "-inf" and "NaN", because JSON has
//! no such numbers, and a diverging run is a result too.

use crate::curves::CurveSet;
use crate::error::RecordsError;

/// `set` as one line of JSON with a newline at the end.
///
/// # Errors
/// Never with the types of this crate; only if serde returns an error.
pub fn to_json(set: &CurveSet) -> Result<String, RecordsError> {
    Ok(serde_json::to_string(set)? + "\n")
}

/// Reads what [`to_json`] wrote, to the same bits.
///
/// # Errors
/// If `text` is not a curve set, or the counts of runs, positions and seeds of a curve do not
/// match.
pub fn from_json(text: &str) -> Result<CurveSet, RecordsError> {
    let set: CurveSet = serde_json::from_str(text)?;
    set.check()?;
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curves::{Curve, Panel};

    fn set(run: Vec<f64>) -> CurveSet {
        CurveSet {
            title: "Consensus error".into(),
            x_label: "round".into(),
            y_label: "‖x − x̄‖".into(),
            log_y: true,
            panels: vec![Panel {
                title: String::new(),
                curves: vec![Curve {
                    method: "gut".into(),
                    label: "GUT".into(),
                    x: (0..run.len()).map(|i| i as f64).collect(),
                    runs: vec![run],
                    seeds: vec![u64::MAX],
                }],
            }],
        }
    }

    #[test]
    fn every_finite_value_reads_back_to_the_same_bits() {
        let before = set(vec![0.1, 1.0 / 3.0, 5e-324, -0.0, 1.797e308, 62_514_083.123_456_79]);
        let after = from_json(&to_json(&before).unwrap()).unwrap();
        let bits = |s: &CurveSet| {
            s.panels[0].curves[0].runs[0].iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(bits(&before), bits(&after));
        assert_eq!(before, after);
    }

    #[test]
    fn divergence_survives() {
        let text = to_json(&set(vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN])).unwrap();
        let run = from_json(&text).unwrap().panels[0].curves[0].runs[0].clone();
        assert!(run[0] == f64::INFINITY && run[1] == f64::NEG_INFINITY && run[2].is_nan());
    }

    #[test]
    fn foreign_text_and_uneven_curves_are_refused() {
        assert!(matches!(from_json("{}"), Err(RecordsError::Json(_))));
        let mut uneven = set(vec![1.0]);
        uneven.panels[0].curves[0].seeds.clear();
        let text = to_json(&uneven).unwrap();
        assert!(matches!(from_json(&text), Err(RecordsError::UnevenCurve { .. })));
    }
}
