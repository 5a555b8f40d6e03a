//! Curves as CSV in long form: one line per value, which pandas, R and spreadsheets can group
//! directly.
//!
//! The text is a pure function of the curves: the order of the columns is fixed, lines end with
//! `\n`, and floats are the shortest that read back to the same bits. So two equal runs give equal
//! files.

use crate::curves::CurveSet;
use crate::float_text::shortest;
use std::fmt::Write;

/// The header line.
pub const HEADER: &str = "panel,method,label,seed,x,y";

/// All values of `set`, in the order panel, curve, seed, position.
pub fn to_csv(set: &CurveSet) -> String {
    let mut text = format!("{HEADER}\n");
    for panel in &set.panels {
        for curve in &panel.curves {
            let [title, method, label] =
                [&panel.title, &curve.method, &curve.label].map(|t| quoted(t));
            for (run, seed) in curve.runs.iter().zip(&curve.seeds) {
                for (x, y) in curve.x.iter().zip(run) {
                    let (x, y) = (shortest(*x), shortest(*y));
                    // Writing to a String cannot fail.
                    let _ = writeln!(text, "{title},{method},{label},{seed},{x},{y}");
                }
            }
        }
    }
    text
}

/// A field as RFC 4180 defines it: in quotes only if it needs them.
pub(crate) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curves::{Curve, Panel};

    #[test]
    fn long_form_quotes_and_short_floats() {
        let set = CurveSet {
            title: "t".into(),
            x_label: "x".into(),
            y_label: "y".into(),
            log_y: true,
            panels: vec![Panel {
                title: "ring, 16".into(),
                curves: vec![Curve {
                    method: "gut".into(),
                    label: "the \"GUT\"".into(),
                    x: vec![0.0, 100.0],
                    runs: vec![vec![0.1, 1e-30], vec![f64::INFINITY, 2.5]],
                    seeds: vec![7, 8],
                }],
            }],
        };
        let expected = r#"panel,method,label,seed,x,y
"ring, 16",gut,"the ""GUT""",7,0,0.1
"ring, 16",gut,"the ""GUT""",7,100,1e-30
"ring, 16",gut,"the ""GUT""",8,0,inf
"ring, 16",gut,"the ""GUT""",8,100,2.5
"#;
        assert_eq!(to_csv(&set), expected);
    }
}
