//! A comparison as plain text, Markdown and LaTeX, with the layout of the paper's table: one table
//! per block, one row per method, and for every column the paper's number and ours.

use std::fmt::Write;

use crate::comparison::{Comparison, ComparisonRow, Ours};

/// One block, ready to print.
struct Sheet<'a> {
    title: &'a str,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Plain text for a terminal.
pub fn to_text(comparison: &Comparison) -> String {
    let mut text = heading(comparison);
    for sheet in sheets(comparison, " ± ") {
        let widths: Vec<usize> = (0..sheet.header.len())
            .map(|k| {
                let cells = sheet.rows.iter().map(|row| row[k].chars().count());
                cells.max().unwrap_or(0).max(sheet.header[k].chars().count())
            })
            .collect();
        let line = |cells: &[String]| {
            let padded = cells.iter().zip(&widths);
            let padded: Vec<String> =
                padded.map(|(cell, width)| format!("{cell:<width$}")).collect();
            padded.join("  ").trim_end().to_string()
        };
        let _ = writeln!(text, "\n{}\n{}", sheet.title, line(&sheet.header));
        for row in &sheet.rows {
            let _ = writeln!(text, "{}", line(row));
        }
    }
    text
}

/// Markdown without a heading.
pub fn to_markdown(comparison: &Comparison) -> String {
    let mut text = String::new();
    for sheet in sheets(comparison, " ± ") {
        let first = format!("{} ", sheet.title);
        let mut header = sheet.header.clone();
        header[0] = first.trim().to_string();
        let _ = writeln!(text, "| {} |", header.join(" | "));
        let _ = writeln!(text, "|{}", "---|".repeat(header.len()));
        for row in &sheet.rows {
            let _ = writeln!(text, "| {} |", row.join(" | "));
        }
        text.push('\n');
    }
    text.trim_end().to_string() + "\n"
}

/// LaTeX with `booktabs`.
pub fn to_latex(comparison: &Comparison) -> String {
    let escape = |cell: &String| cell.replace('%', "\\%").replace('_', "\\_").replace('–', "--");
    let mut text = format!("% {}\n", heading(comparison).trim());
    for sheet in sheets(comparison, " $\\pm$ ") {
        let columns = sheet.header.len();
        let _ = writeln!(text, "\\begin{{tabular}}{{l{}}}", "c".repeat(columns - 1));
        let _ = writeln!(text, "\\toprule");
        let _ = writeln!(text, "\\multicolumn{{{columns}}}{{l}}{{{}}} \\\\", sheet.title);
        let line = |cells: &[String]| cells.iter().map(escape).collect::<Vec<_>>().join(" & ");
        let _ = writeln!(text, "{} \\\\\n\\midrule", line(&sheet.header));
        for row in &sheet.rows {
            let _ = writeln!(text, "{} \\\\", line(row));
        }
        let _ = writeln!(text, "\\bottomrule\n\\end{{tabular}}");
    }
    text
}

fn heading(comparison: &Comparison) -> String {
    let Comparison { title, paper, .. } = comparison;
    format!("{title} ({paper}): test accuracy in %, {}\n", comparison.length())
}

fn sheets<'a>(comparison: &'a Comparison, plus_minus: &str) -> Vec<Sheet<'a>> {
    let mut sheets: Vec<Sheet<'_>> = Vec::new();
    let mut blocks: Vec<&str> = Vec::new();
    for row in &comparison.rows {
        if !blocks.contains(&row.block.as_str()) {
            blocks.push(&row.block);
        }
    }
    for block in blocks {
        let rows: Vec<&ComparisonRow> =
            comparison.rows.iter().filter(|row| row.block == block).collect();
        // A row that spans all columns has the column `all` and is shown in the first.
        let mut columns: Vec<&str> = Vec::new();
        let mut labels: Vec<&str> = Vec::new();
        for row in &rows {
            if row.column != "all" && !columns.contains(&row.column.as_str()) {
                columns.push(&row.column);
            }
            if !labels.contains(&row.label.as_str()) {
                labels.push(&row.label);
            }
        }
        let published = rows.iter().any(|row| row.paper.is_some());
        let mut header = vec!["Method".to_string()];
        for column in &columns {
            let heading = |whose: &str| format!("{column} {whose}").trim().to_string();
            if published {
                header.push(heading("paper"));
            }
            header.push(heading("ours"));
        }
        let line = |label: &&str| {
            let mut cells = vec![label.to_string()];
            for (k, column) in columns.iter().enumerate() {
                let found = rows.iter().find(|row| {
                    let spans = row.column == "all" && k == 0;
                    row.label == **label && (row.column == **column || spans)
                });
                if published {
                    let paper = found.and_then(|row| row.paper);
                    let shown = |(mean, std)| format!("{mean:.2}{plus_minus}{std:.2}");
                    cells.push(paper.map_or("–".into(), shown));
                }
                cells.push(found.map_or("–".into(), |row| ours(&row.ours, plus_minus)));
            }
            cells
        };
        let rows = labels.iter().map(line).collect();
        sheets.push(Sheet { title: block, header, rows });
    }
    sheets
}

/// Our result as text, for example `86.40 ± 0.31 (3)` for three seeds.
fn ours(ours: &Ours, plus_minus: &str) -> String {
    if ours.count() == 0 {
        return "–".into();
    }
    let accuracy = ours.accuracy();
    let mut words = Vec::new();
    if accuracy.n > 0 {
        let std = accuracy.std.map_or(String::new(), |std| format!("{plus_minus}{std:.2}"));
        words.push(format!("{:.2}{std} ({})", accuracy.mean, accuracy.n));
    }
    if ours.diverged > 0 {
        words.push(format!("{} diverged", ours.diverged));
    }
    if ours.collapsed > 0 {
        words.push(format!("{} collapsed", ours.collapsed));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(column: &str, label: &str, paper: Option<(f64, f64)>, seeds: &[f64]) -> ComparisonRow {
        let seeds = seeds.iter().enumerate().map(|(k, &a)| (k as u64 + 1, a)).collect();
        ComparisonRow {
            path: String::new(),
            block: "VGG-11".into(),
            column: column.into(),
            x: None,
            label: label.into(),
            method: label.to_lowercase(),
            paper,
            ours: Ours { seeds, ..Ours::default() },
        }
    }

    fn table() -> Comparison {
        let mut lost = row("alpha = 1", "Printed", None, &[]);
        lost.ours.diverged = 2;
        Comparison {
            name: "t".into(),
            title: "T".into(),
            paper: "Table 9".into(),
            scale: 0.25,
            rows: vec![
                row("all", "IID", Some((89.0, 0.5)), &[88.5]),
                row("alpha = 1", "GUT", Some((80.0, 1.0)), &[79.0, 80.0, 81.0]),
                row("alpha = 0.1", "GUT", Some((70.0, 1.0)), &[]),
                lost,
            ],
        }
    }

    #[test]
    fn a_table_is_laid_out_like_the_papers_and_says_its_length() {
        let text = to_text(&table());
        assert!(text.contains("scaled down: 0.25"), "{text}");
        assert!(text.contains("80.00 ± 1.00     80.00 ± 1.00 (3)"), "{text}");
        assert!(text.contains("2 diverged"), "{text}");
        let markdown = to_markdown(&table());
        let head = "| VGG-11 | alpha = 1 paper | alpha = 1 ours | alpha = 0.1 paper";
        assert!(markdown.starts_with(head), "{markdown}");
        assert!(markdown.contains("| IID | 89.00 ± 0.50 | 88.50 (1) | – | – |"), "{markdown}");
        let latex = to_latex(&table());
        assert!(latex.contains("80.00 $\\pm$ 1.00 & 80.00 $\\pm$ 1.00 (3)"), "{latex}");
    }

    #[test]
    fn two_standard_deviations_of_the_paper_decide() {
        let near = |ours: &[f64]| row("", "GUT", Some((80.0, 1.0)), ours).within_two_std();
        assert_eq!((near(&[81.5]), near(&[82.5]), near(&[])), (Some(true), Some(false), None));
    }
}
