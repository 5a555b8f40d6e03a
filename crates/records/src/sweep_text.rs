//! The table of a sweep as plain text, Markdown, LaTeX or CSV.
//!
//! ```text
//!   Method   eta   mu   Validation (%)  Validation loss  Time (s)  Seeds
//!   dsgd     0.03       81.94           0.7123           1.2       1
//!   dsgd     0.1        88.19 *         0.4231           1.2       1
//!   gut      0.1   0.9  89.58 *         0.4011           1.4       1
//! ```
//!
//! The best combination of each method is marked.

use std::fmt::Write;

use crate::csv::quoted;
use crate::float_text::shortest;
use crate::summary::MeanStd;
use crate::sweep_table::{SweepRow, SweepTable};
use crate::table_columns::{loss, outcomes, shown};
use crate::table_text::{latex_escaped, markdown_escaped};

/// The headings after those of the method and the keys.
const RESULTS: [&str; 4] = ["Validation (%)", "Validation loss", "Time (s)", "Seeds"];

/// The names of the columns of the CSV after those of the method and the keys.
const CSV_RESULTS: &str = "accuracy_mean,accuracy_std,loss_mean,loss_std,bytes_sent,seconds,seeds,\
    diverged,collapsed,refused,best";

/// Plain text with aligned columns; a star marks the best of each method.
pub fn to_text(table: &SweepTable) -> String {
    let mut lines = vec![headings(table)];
    for (cells, best) in marked(table) {
        let star = |cell: String| if best { cell + " *" } else { cell };
        lines.push(with_result(table, cells, star));
    }
    let letters = |text: &str| text.chars().count();
    let mut text = String::new();
    for line in &lines {
        let mut out = String::new();
        for (column, cell) in line.iter().enumerate() {
            let widest = lines.iter().map(|line| letters(&line[column])).max().unwrap_or(0);
            let _ = write!(out, "{cell}{}", " ".repeat(widest - letters(cell) + 2));
        }
        let _ = writeln!(text, "{}", out.trim_end());
    }
    text
}

/// A Markdown table; the best of each method is bold.
pub fn to_markdown(table: &SweepTable) -> String {
    let escaped = |cells: Vec<String>| -> Vec<String> {
        cells.iter().map(|cell| markdown_escaped(cell)).collect()
    };
    let headings = escaped(headings(table));
    let aligned = "--:|".repeat(headings.len() - 1);
    let mut text = format!("| {} |\n|---|{aligned}\n", headings.join(" | "));
    for (cells, best) in marked(table) {
        let bold = |cell: String| if best { format!("**{cell}**") } else { cell };
        let _ = writeln!(text, "| {} |", with_result(table, escaped(cells), bold).join(" | "));
    }
    text
}

/// A LaTeX `tabular` that needs no package; the best of each method is bold.
pub fn to_latex(table: &SweepTable) -> String {
    let escaped = |cells: Vec<String>| -> Vec<String> {
        cells.iter().map(|cell| latex_escaped(cell)).collect()
    };
    let headings = escaped(headings(table));
    let columns = "r".repeat(headings.len() - 1);
    let mut text = format!(
        "\\begin{{tabular}}{{l{columns}}}\n\\hline\n{} \\\\\n\\hline\n",
        headings.join(" & ")
    );
    for (cells, best) in marked(table) {
        let bold = |cell: String| if best { format!("\\textbf{{{cell}}}") } else { cell };
        let _ = writeln!(text, "{} \\\\", with_result(table, escaped(cells), bold).join(" & "));
    }
    text + "\\hline\n\\end{tabular}\n"
}

/// CSV with every digit. Accuracies are from 0 to 1; what is missing is an empty field.
pub fn to_csv(table: &SweepTable) -> String {
    let keys: String = table.keys.iter().map(|key| format!(",{}", quoted(key))).collect();
    let mut text = format!("method{keys},{CSV_RESULTS}\n");
    let best = table.best();
    for (place, row) in table.rows.iter().enumerate() {
        let _ = write!(text, "{}", quoted(&row.method));
        for value in &row.values {
            let _ = write!(text, ",{}", quoted(value.as_deref().unwrap_or_default()));
        }
        for MeanStd { mean, std, n } in [row.accuracy, row.loss] {
            let mean = if n == 0 { String::new() } else { shortest(mean) };
            let _ = write!(text, ",{mean},{}", std.map(shortest).unwrap_or_default());
        }
        for MeanStd { mean, n, .. } in [row.bytes_sent, row.seconds] {
            let _ = write!(text, ",{}", if n == 0 { String::new() } else { shortest(mean) });
        }
        let refused = quoted(row.refused.as_deref().unwrap_or_default());
        let SweepRow { seeds, diverged, collapsed, .. } = row;
        let best = best.contains(&place);
        let _ = writeln!(text, ",{seeds},{diverged},{collapsed},{refused},{best}");
    }
    text
}

fn headings(table: &SweepTable) -> Vec<String> {
    let names = std::iter::once("Method").chain(table.keys.iter().map(String::as_str));
    names.chain(RESULTS).map(str::to_owned).collect()
}

/// The cells of every row, and whether it is the best of its method.
fn marked(table: &SweepTable) -> impl Iterator<Item = (Vec<String>, bool)> {
    let best = table.best();
    table.rows.iter().enumerate().map(move |(place, row)| (cells(row), best.contains(&place)))
}

fn cells(row: &SweepRow) -> Vec<String> {
    let mut cells = vec![row.method.clone()];
    cells.extend(row.values.iter().map(|value| value.clone().unwrap_or_default()));
    let seconds = MeanStd { std: None, ..row.seconds };
    cells.extend([
        shown(row.accuracy, |share| format!("{:.2}", 100.0 * share)),
        shown(row.loss, loss),
        shown(seconds, |seconds| format!("{seconds:.1}")),
        match row.refused {
            Some(_) => "refused".to_owned(),
            None => outcomes(row.seeds, row.diverged, row.collapsed),
        },
    ]);
    cells
}

/// `cells` with the accuracy as `mark` writes it.
fn with_result(
    table: &SweepTable,
    mut cells: Vec<String>,
    mark: impl FnOnce(String) -> String,
) -> Vec<String> {
    let place = 1 + table.keys.len();
    cells[place] = mark(std::mem::take(&mut cells[place]));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep_table::tests::combination;

    fn table() -> SweepTable {
        let refused = SweepRow::refused("my_own", vec![None], "needs a tree, says it".into());
        SweepTable {
            keys: vec!["eta".into()],
            rows: vec![
                combination("gut", "0.1", &[Some(0.5), Some(0.75)]),
                combination("gut", "0.3", &[Some(0.25), None]),
                refused,
            ],
        }
    }

    #[test]
    fn a_terminal_sees_every_combination_and_the_best() {
        let expected = "\
Method  eta  Validation (%)   Validation loss  Time (s)  Seeds
gut     0.1  62.50 ± 17.68 *  0.3750 ± 0.1768  20.0      2
gut     0.3  25.00            0.7500           20.0      2, 1 diverged
my_own       –                –                –         refused
";
        assert_eq!(to_text(&table()), expected);
    }

    #[test]
    fn papers_and_readmes_see_the_same_numbers() {
        let markdown = to_markdown(&table());
        assert!(markdown.contains("| gut | 0.1 | **62.50 ± 17.68** | 0.3750"), "{markdown}");
        assert!(markdown.contains("| my\\_own |  | – |") && markdown.matches("**").count() == 2);
        let latex = to_latex(&table());
        assert!(latex.contains("gut & 0.1 & \\textbf{62.50 $\\pm$ 17.68} &"), "{latex}");
        assert!(latex.starts_with("\\begin{tabular}{lrrrrr}"), "{latex}");
    }

    #[test]
    fn csv_has_every_digit_and_the_reasons() {
        let text = to_csv(&table());
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("method,eta,accuracy_mean,") && lines[0].ends_with(",best"));
        assert!(lines[1].starts_with("gut,0.1,0.625,0.1767766952966369,0.375,"), "{text}");
        assert!(lines[1].ends_with(",2,0,0,,true") && lines[2].ends_with(",2,1,0,,false"));
        assert_eq!(lines[3], "my_own,,,,,,,,0,0,0,\"needs a tree, says it\",false");
    }
}
