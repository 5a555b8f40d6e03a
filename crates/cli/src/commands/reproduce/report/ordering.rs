//! Whether our results have the paper's ordering: how many points tracking adds in each cell.

use std::fmt::Write;

use consort_reproduce::{Comparison, ComparisonRow};

/// A method with tracking and the same without.
const PAIRS: [(&str, &str); 2] = [("GUT", "DSGD"), ("QG-GUTm", "QG-DSGDm")];

/// The points that tracking adds in one cell: the paper's and ours.
type Gain = (Option<f64>, Option<f64>);

/// A table of the points that tracking adds, and a sentence about the cells where it adds none.
/// Empty if the ledger has no pair.
pub(super) fn text(tables: &[Comparison]) -> String {
    let mut rows = String::new();
    let mut missing = Vec::new();
    for table in tables {
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for row in &table.rows {
            let cell = (row.block.as_str(), row.column.as_str());
            if !seen.contains(&cell) {
                seen.push(cell);
            }
        }
        for (block, column) in seen {
            let found = |label: &str| {
                table.rows.iter().find(|r| {
                    (r.block.as_str(), r.column.as_str(), r.label.as_str())
                        == (block, column, label)
                })
            };
            let gains = PAIRS.map(|(with, without)| gain(found(with), found(without)));
            if gains.iter().all(|(_, ours)| ours.is_none()) {
                continue;
            }
            let cells: Vec<String> =
                gains.iter().flat_map(|&(paper, ours)| [shown(paper), shown(ours)]).collect();
            let _ = writeln!(rows, "| {block} | {column} | {} |", cells.join(" | "));
            for ((with, without), (_, ours)) in PAIRS.iter().zip(&gains) {
                if ours.is_some_and(|ours| ours <= 0.0) {
                    missing.push(format!("{with} is not above {without} on {block}, {column}"));
                }
            }
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let verdict = if missing.is_empty() {
        "Our results have the paper's ordering in every cell: tracking improves accuracy."
            .to_string()
    } else {
        format!(
            "Our results do not have the paper's ordering everywhere: {}. The section \"What mu does \
             besides tracking\" below explains the reason for Fashion-MNIST.",
            missing.join("; ")
        )
    };
    format!(
        "\n### What tracking adds\n\n{verdict} The table shows points of test accuracy, means over all \
         seeds.\n\n| what | data | GUT over DSGD, paper | ours | QG-GUTm over QG-DSGDm, paper | ours \
         |\n|---|---|---|---|---|---|\n{rows}"
    )
}

fn gain(with: Option<&ComparisonRow>, without: Option<&ComparisonRow>) -> Gain {
    let (Some(with), Some(without)) = (with, without) else { return (None, None) };
    let paper = with.paper.zip(without.paper).map(|((a, _), (b, _))| a - b);
    let (a, b) = (with.ours.accuracy(), without.ours.accuracy());
    (paper, (a.n > 0 && b.n > 0).then_some(a.mean - b.mean))
}

fn shown(points: Option<f64>) -> String {
    points.map_or("–".into(), |points| format!("{points:+.2}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use consort_reproduce::Ours;

    fn row(label: &str, paper: f64, ours: &[f64]) -> ComparisonRow {
        ComparisonRow {
            path: String::new(),
            block: "VGG-11".into(),
            column: "alpha = 0.1".into(),
            x: None,
            label: label.into(),
            method: label.into(),
            paper: Some((paper, 1.0)),
            ours: Ours { seeds: ours.iter().map(|&a| (1, a)).collect(), ..Ours::default() },
        }
    }

    fn table(rows: Vec<ComparisonRow>) -> [Comparison; 1] {
        let (name, title, paper) = (String::new(), String::new(), String::new());
        [Comparison { name, title, paper, scale: 1.0, rows }]
    }

    #[test]
    fn a_gain_that_is_none_is_said_first() {
        let mut rows = vec![row("DSGD", 70.0, &[71.0]), row("GUT", 80.0, &[79.5])];
        let good = text(&table(rows.clone()));
        assert!(good.contains("ordering in every cell"), "{good}");
        assert!(good.contains("| VGG-11 | alpha = 0.1 | +10.00 | +8.50 | – | – |"), "{good}");
        rows.extend([row("QG-DSGDm", 82.0, &[84.0]), row("QG-GUTm", 83.0, &[83.5])]);
        let bad = text(&table(rows));
        assert!(bad.contains("QG-GUTm is not above QG-DSGDm on VGG-11, alpha = 0.1"), "{bad}");
        assert!(bad.contains("| +1.00 | -0.50 |"), "{bad}");
        assert_eq!(text(&table(vec![row("DSGD", 70.0, &[71.0])])), "");
    }
}
