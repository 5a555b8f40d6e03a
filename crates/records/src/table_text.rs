//! A table of methods as plain text, Markdown, LaTeX or CSV.
//!
//! The first three show the same rounded numbers and mark the best method; CSV has every digit.
//!
//! ```text
//!   Method  Averaged model (%)  Its best (%)  Its loss         Consensus  MB sent  Seconds  Seeds
//!   GUT     71.20 ± 0.31        71.90 ± 0.20  0.8123 ± 0.0040  1.2e-3     512.0    63.1     3
//! ```
//!
//! If some row has only results of the agents' own models, all rows have columns for them too:
//! `Agents' own (%)`, `Their loss`. If it was measured what averaging the agents' models gains, a
//! column tells it, in percentage points of accuracy.

use crate::csv::quoted;
use crate::float_text::shortest;
use crate::summary::{MeanStd, MethodRow, MethodTable};
use std::fmt::Write;

/// The headings of the columns of every table; accuracies and losses are on the test set.
pub const HEADINGS: [&str; 8] = [
    "Method",
    "Averaged model (%)",
    "Its best (%)",
    "Its loss",
    "Consensus distance",
    "Sent per agent (MB)",
    "Time (s)",
    "Seeds",
];

/// The headings of the columns with results of the agents' own models.
pub const OWN_HEADINGS: [&str; 2] = ["Agents' own (%)", "Their loss"];

/// The note under a table with [`OWN_HEADINGS`].
pub const OWN_NOTE: &str = "Agents' own: the mean result of the agents' own models. It is not the \
    averaged model's, and is not ranked.";

/// The heading of the column with what averaging the agents' models gains: the averaged model's
/// accuracy minus the mean of the agents' own.
pub const GAIN_HEADING: &str = "Gain of averaging (points)";

/// The first column of [`OWN_HEADINGS`], after the columns of the averaged model.
const OWN_COLUMN: usize = 4;

/// The header line of [`to_csv`].
pub const CSV_HEADER: &str = "method,label,seeds,diverged,accuracy_mean,accuracy_std,\
    best_accuracy_mean,best_accuracy_std,loss_mean,loss_std,agents_accuracy_mean,\
    agents_accuracy_std,agents_loss_mean,agents_loss_std,averaging_gain_mean,\
    averaging_gain_std,consensus_distance_mean,consensus_distance_std,bytes_sent_mean,bytes_sent_std,seconds_mean,seconds_std,unfinished,\
    least_done,data,collapsed";

/// The headings of the columns of `table`.
pub fn headings(table: &MethodTable) -> Vec<&'static str> {
    let mut all = HEADINGS.to_vec();
    if table.shows_averaging_gain() {
        all.insert(OWN_COLUMN, GAIN_HEADING);
    }
    if table.shows_own() {
        all.splice(OWN_COLUMN..OWN_COLUMN, OWN_HEADINGS);
    }
    all
}

/// One row of `table`, in the order of its [`headings`]: rounded, with "±" if there are several
/// seeds, and "–" if there is no value.
pub fn cells(table: &MethodTable, row: &MethodRow) -> Vec<String> {
    let percent = |v: f64| format!("{:.2}", 100.0 * v);
    let mut seeds = match row.diverged {
        0 => row.seeds.to_string(),
        all if all == row.seeds => format!("{all}, all diverged"),
        some => format!("{}, {some} diverged", row.seeds),
    };
    match row.collapsed {
        0 => {}
        all if all == row.seeds && all == 1 => seeds.push_str(", collapsed"),
        all if all == row.seeds => seeds.push_str(", all collapsed"),
        some => seeds = format!("{seeds}, {some} collapsed"),
    }
    if let Some(mark) = unfinished(row) {
        seeds = format!("{seeds}, {mark}");
    }
    let mut cells = vec![
        row.label.clone(),
        shown(row.accuracy, percent),
        shown(row.best_accuracy, percent),
        shown(row.loss, loss),
        shown(row.consensus_distance, scientific),
        // Traffic depends on the method and time on the machine, so they have no ±.
        shown(alone(row.bytes_sent), megabytes),
        shown(alone(row.seconds), |v| format!("{v:.1}")),
        seeds,
    ];
    if table.shows_averaging_gain() {
        let plus = if row.averaging_gain.mean > 0.0 { "+" } else { "" };
        cells.insert(OWN_COLUMN, format!("{plus}{}", shown(row.averaging_gain, percent)));
    }
    if table.shows_own() {
        let own = [shown(row.agents_accuracy, percent), shown(row.agents_loss, loss)];
        cells.splice(OWN_COLUMN..OWN_COLUMN, own);
    }
    cells
}

/// The progress of an unfinished row: `at 12 %`, with the number of unfinished seeds.
fn unfinished(row: &MethodRow) -> Option<String> {
    let percent = (100.0 * row.least_done).floor();
    let how_far = match row.unfinished {
        0 => return None,
        _ if row.least_done == 0.0 => "unfinished".to_owned(),
        1 => format!("at {percent} %"),
        _ => format!("at {percent} % or more"),
    };
    let some = row.unfinished < row.seeds;
    Some(if some { format!("{} {how_far}", row.unfinished) } else { how_far })
}

/// Plain text with aligned columns; a star marks the best accuracy.
pub fn to_text(table: &MethodTable) -> String {
    let mut lines = vec![headings(table).into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for (i, row) in table.rows.iter().enumerate() {
        let mut cells = cells(table, row);
        if table.is_best(i) {
            cells[1].push_str(" *");
        }
        lines.push(cells);
    }
    let letters = |text: &str| text.chars().count();
    let mut text = String::new();
    for line in &lines {
        let mut out = String::new();
        for (column, cell) in line.iter().enumerate() {
            let widest = lines.iter().map(|l| letters(&l[column])).max().unwrap_or(0);
            let _ = write!(out, "{cell}{}", " ".repeat(widest - letters(cell) + 2));
        }
        let _ = writeln!(text, "{}", out.trim_end());
    }
    if table.shows_own() {
        let _ = writeln!(text, "{OWN_NOTE}");
    }
    text
}

/// A Markdown table; the best accuracy is bold.
pub fn to_markdown(table: &MethodTable) -> String {
    let headings = headings(table);
    let aligned = "--:|".repeat(headings.len() - 1);
    let mut text = format!("| {} |\n|---|{aligned}\n", headings.join(" | "));
    for (i, row) in table.rows.iter().enumerate() {
        let mut cells: Vec<String> =
            cells(table, row).iter().map(|cell| markdown_escaped(cell)).collect();
        if table.is_best(i) {
            cells[1] = format!("**{}**", cells[1]);
        }
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// A LaTeX `tabular` that needs no package; the best accuracy is bold.
pub fn to_latex(table: &MethodTable) -> String {
    let headings = headings(table);
    let columns = "r".repeat(headings.len() - 1);
    let line = headings.iter().map(|text| latex_escaped(text)).collect::<Vec<_>>().join(" & ");
    let mut text = format!("\\begin{{tabular}}{{l{columns}}}\n\\hline\n{line} \\\\\n\\hline\n");
    for (i, row) in table.rows.iter().enumerate() {
        let cells = cells(table, row).into_iter().zip(&headings).map(|(cell, heading)| {
            let cell = latex_escaped(&cell);
            if *heading != HEADINGS[4] {
                return cell;
            }
            // A paper writes 1.20e-3 as a power of ten.
            cell.split(" $\\pm$ ").map(power_of_ten).collect::<Vec<_>>().join(" $\\pm$ ")
        });
        let mut cells: Vec<String> = cells.collect();
        if table.is_best(i) {
            cells[1] = format!("\\textbf{{{}}}", cells[1]);
        }
        let _ = writeln!(text, "{} \\\\", cells.join(" & "));
    }
    text + "\\hline\n\\end{tabular}\n"
}

/// CSV with every digit. Accuracies are from 0 to 1; a missing deviation is an empty field.
/// `accuracy`, `best_accuracy` and `loss` are of the averaged model, `agents_...` of the agents'
/// own models.
pub fn to_csv(table: &MethodTable) -> String {
    let mut text = format!("{CSV_HEADER}\n");
    for row in &table.rows {
        let (method, label) = (quoted(&row.method), quoted(&row.label));
        let _ = write!(text, "{method},{label},{},{}", row.seeds, row.diverged);
        for figure in [
            row.accuracy,
            row.best_accuracy,
            row.loss,
            row.agents_accuracy,
            row.agents_loss,
            row.averaging_gain,
            row.consensus_distance,
            row.bytes_sent,
            row.seconds,
        ] {
            let std = figure.std.map(shortest).unwrap_or_default();
            let _ = write!(text, ",{},{std}", shortest(figure.mean));
        }
        let (least, data) = (shortest(row.least_done), quoted(&row.data));
        let _ = writeln!(text, ",{},{least},{data},{}", row.unfinished, row.collapsed);
    }
    text
}

/// "mean ± std", only the mean for a single seed, and "–" if there is no value.
fn shown(figure: MeanStd, text: impl Fn(f64) -> String) -> String {
    match (figure.n, figure.std) {
        (0, _) => "–".to_owned(),
        _ if figure.mean.is_nan() => "–".to_owned(),
        (_, Some(std)) => format!("{} ± {}", text(figure.mean), text(std)),
        (_, None) => text(figure.mean),
    }
}

/// Two decimals and a power of ten: `1.20e-3`.
fn scientific(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:.2e}") }
}

/// Four decimals; a power of ten for very large losses.
fn loss(value: f64) -> String {
    if value.abs() < 1e4 { format!("{value:.4}") } else { scientific(value) }
}

/// One decimal, or three below 10 MB.
fn megabytes(bytes: f64) -> String {
    let megabytes = bytes / 1e6;
    if megabytes < 10.0 { format!("{megabytes:.3}") } else { format!("{megabytes:.1}") }
}

fn alone(figure: MeanStd) -> MeanStd {
    MeanStd { std: None, ..figure }
}

/// Text escaped for Markdown.
fn markdown_escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => safe.push(' '),
            '<' => safe.push_str("&lt;"),
            '&' => safe.push_str("&amp;"),
            c => {
                if "\\`*_[]|#~$".contains(c) {
                    safe.push('\\');
                }
                safe.push(c);
            }
        }
    }
    safe
}

/// Text escaped for LaTeX.
fn latex_escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => safe.push_str("\\textbackslash{}"),
            '~' => safe.push_str("\\textasciitilde{}"),
            '^' => safe.push_str("\\textasciicircum{}"),
            '<' => safe.push_str("$<$"),
            '>' => safe.push_str("$>$"),
            '|' => safe.push_str("$|$"),
            '±' => safe.push_str("$\\pm$"),
            'µ' | 'μ' => safe.push_str("$\\mu$"),
            'γ' => safe.push_str("$\\gamma$"),
            '²' => safe.push_str("$^2$"),
            '–' => safe.push_str("--"),
            '\n' | '\r' | '\t' => safe.push(' '),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                safe.push('\\');
                safe.push(c);
            }
            c => safe.push(c),
        }
    }
    safe
}

/// `1.20e-3` as a LaTeX power of ten; any other text unchanged.
fn power_of_ten(number: &str) -> String {
    match number.split_once('e') {
        Some((digits, exponent)) if exponent.parse::<i32>().is_ok() => {
            format!("${digits} \\times 10^{{{exponent}}}$")
        }
        _ => number.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::{outcome, own_outcome};

    fn table() -> MethodTable {
        MethodTable::new(&[
            outcome("gut:mu=0.5", 1, Some(0.5)),
            outcome("gut:mu=0.5", 2, Some(0.75)),
            outcome("my_own|<rule>", 1, Some(0.25)),
            outcome("d2", 1, None),
        ])
    }

    #[test]
    fn a_terminal_sees_even_columns_and_the_best() {
        let expected = "\
Method         Averaged model (%)  Its best (%)   Its loss         Consensus distance  \
Sent per agent (MB)  Time (s)  Seeds
gut:mu=0.5     62.50 ± 17.68 *     75.00 ± 17.68  0.8750 ± 0.1768  1.00e-3 ± 0         \
200.0                20.0      2
my_own|<rule>  25.00               37.50          1.2500           1.00e-3             \
200.0                20.0      1
d2             –                   –              –                –                   \
–                    –         1, all diverged
";
        assert_eq!(to_text(&table()), expected);
    }

    #[test]
    fn own_results_have_columns_of_their_own_and_no_mark() {
        let table = MethodTable::new(&[
            outcome("gut", 1, Some(0.5)),
            outcome("dsgd", 1, Some(0.25)),
            own_outcome("gt", 0.9375),
        ]);
        let text = to_text(&table);
        let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
        assert!(
            text.starts_with("Method  Averaged model (%)  Its best (%)  Its loss  Agents' own")
        );
        // The accuracies of the agents of `outcome` differ by a quarter.
        assert_eq!(lines[1][..6], ["gut", "50.00", "*", "62.50", "1.0000", "37.50"], "{text}");
        assert_eq!(lines[3][..6], ["gt", "–", "–", "–", "93.75", "0.5625"], "{text}");
        assert!(text.ends_with(&format!("{OWN_NOTE}\n")), "{text}");
        let markdown = to_markdown(&table);
        assert!(markdown.contains("| gt | – | – | – | 93.75 | 0.5625 |"), "{markdown}");
        assert!(markdown.contains("**50.00**") && markdown.matches("**").count() == 2);
        let latex = to_latex(&table);
        assert!(latex.starts_with("\\begin{tabular}{lrrrrrrrrr}"), "{latex}");
        assert!(latex.contains("gt & -- & -- & -- & 93.75 & 0.5625 & $1.00 \\times"), "{latex}");
    }

    #[test]
    fn what_averaging_gains_has_a_column_if_it_was_measured() {
        let mut trials = [outcome("gut", 1, Some(0.5)), outcome("dsgd", 1, Some(0.25))];
        assert!(!to_text(&MethodTable::new(&trials)).contains(GAIN_HEADING));
        trials[0].averaging_gain = Some(0.125);
        let markdown = to_markdown(&MethodTable::new(&trials));
        assert!(markdown.contains(&format!("| Its loss | {GAIN_HEADING} | Consensus")));
        assert!(markdown.contains("| 1.0000 | +12.50 |"), "{markdown}");
        assert!(markdown.contains("| 1.2500 | – |"), "{markdown}");
        trials[1].averaging_gain = Some(-0.01);
        let table = MethodTable::new(&trials);
        assert_eq!(cells(&table, &table.rows[1])[4], "-1.00");
        assert!(to_csv(&table).contains(",0.125,,"));
    }

    #[test]
    fn markdown_shows_names_as_they_are() {
        let text = to_markdown(&table());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5);
        assert!(lines[2].starts_with("| gut:mu=0.5 | **62.50 ± 17.68** | 75.00"), "{}", lines[2]);
        assert!(lines[3].starts_with("| my\\_own\\|&lt;rule> | 25.00 |"), "{}", lines[3]);
        assert_eq!(lines[1].matches('|').count(), 9);
    }

    #[test]
    fn latex_is_escaped() {
        let text = to_latex(&table());
        assert!(
            text.starts_with(
                "\\begin{tabular}{lrrrrrrr}\n\\hline\nMethod & Averaged model (\\%) &"
            )
        );
        assert!(text.contains("gut:mu=0.5 & \\textbf{62.50 $\\pm$ 17.68} &"), "{text}");
        assert!(text.contains("my\\_own$|$$<$rule$>$ & 25.00 &"), "{text}");
        assert!(text.contains("$1.00 \\times 10^{-3}$ $\\pm$ 0"), "{text}");
        assert_eq!(
            latex_escaped("\\a{b}_c%d&e#f$g^h~i"),
            "\\textbackslash{}a\\{b\\}\\_c\\%d\\&e\\#f\\$g\\textasciicircum{}h\\textasciitilde{}i"
        );
    }

    #[test]
    fn csv_has_every_digit_and_names_what_is_missing() {
        let text = to_csv(&table());
        let fields: Vec<Vec<&str>> = text.lines().map(|l| l.split(',').collect()).collect();
        assert!(fields.iter().all(|f| f.len() == 26), "{text}");
        assert_eq!(fields[1][4..6], ["0.625", "0.1767766952966369"]); // 1 / (4 √2)
        assert_eq!(fields[2][4..6], ["0.25", ""]);
        assert_eq!(fields[2][10..14], ["0.125", "", "NaN", ""]);
        assert_eq!(fields[3][2..6], ["1", "1", "NaN", ""]);
    }

    #[test]
    fn what_collapsed_is_named() {
        let mut trials = [outcome("gut", 1, Some(0.5)), outcome("gut", 2, Some(0.1))];
        trials[1].collapsed = Some("at chance level".into());
        let seeds = |trials: &[_]| {
            let table = MethodTable::new(trials);
            cells(&table, &table.rows[0])[7].clone()
        };
        assert_eq!(seeds(&trials), "2, 1 collapsed");
        assert_eq!(seeds(&trials[1..]), "1, collapsed");
        trials[0] = trials[1].clone();
        assert_eq!(seeds(&trials), "2, all collapsed");
        assert!(to_csv(&MethodTable::new(&trials)).ends_with(",2\n"));
    }

    #[test]
    fn a_loss_beyond_all_use_does_not_stretch_the_table() {
        let mut trial = outcome("gut", 1, Some(0.5));
        trial.final_loss = Some(123_456_789_012.5);
        let table = MethodTable::new(&[trial]);
        assert_eq!(cells(&table, &table.rows[0])[3], "1.23e11");
    }

    #[test]
    fn what_has_not_ended_says_how_far_it_is() {
        let mut trials = [outcome("gut", 1, Some(0.5)), outcome("gut", 2, Some(0.75))];
        trials[1].unfinished = Some(0.129);
        let seeds = |trials: &[_]| {
            let table = MethodTable::new(trials);
            cells(&table, &table.rows[0])[7].clone()
        };
        assert_eq!(seeds(&trials), "2, 1 at 12 %");
        assert_eq!(seeds(&trials[1..]), "1, at 12 %");
        trials[0].unfinished = Some(0.5);
        assert_eq!(seeds(&trials), "2, at 12 % or more");
        trials[0].unfinished = Some(0.0);
        assert_eq!(seeds(&trials), "2, unfinished");
        assert!(to_csv(&MethodTable::new(&trials[1..])).ends_with(",1,0.129,,0\n"));
        assert!(to_latex(&MethodTable::new(&trials[1..])).contains("at 12 \\%"));
    }
}
