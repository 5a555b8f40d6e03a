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
//! `Agents' own (%)`, `Their loss`. Regressions have R² where classifications have an accuracy, and
//! a column `Its RMSE`, in the unit of the target.

use crate::csv::quoted;
use crate::float_text::shortest;
use crate::quality::Quality;
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

/// The first column of [`OWN_HEADINGS`], after the columns of the averaged model.
const OWN_COLUMN: usize = 4;

/// The heading of the column for regressions alone, before [`OWN_HEADINGS`].
pub const RMSE_HEADING: &str = "Its RMSE";

/// The header line of [`to_csv`] without regressions.
pub const CSV_HEADER: &str = "method,label,seeds,diverged,accuracy_mean,accuracy_std,\
    best_accuracy_mean,best_accuracy_std,loss_mean,loss_std,agents_accuracy_mean,\
    agents_accuracy_std,agents_loss_mean,agents_loss_std,consensus_distance_mean,\
    consensus_distance_std,bytes_sent_mean,bytes_sent_std,seconds_mean,seconds_std,unfinished,\
    least_done,data,collapsed";

/// The headings of the columns of `table`.
pub fn headings(table: &MethodTable) -> Vec<&'static str> {
    let mut all = HEADINGS.to_vec();
    let mut own = OWN_HEADINGS;
    match table.tasks() {
        (false, _) => {}
        (true, false) => {
            (all[1], all[2], own[0]) = ("Averaged model (R²)", "Its best (R²)", "Agents' own (R²)")
        }
        (true, true) => {
            (all[1], all[2]) = ("Averaged model (% or R²)", "Its best (% or R²)");
            own[0] = "Agents' own (% or R²)";
        }
    }
    if table.shows_own() {
        all.splice(OWN_COLUMN..OWN_COLUMN, own);
    }
    if table.tasks().0 {
        all.insert(OWN_COLUMN, RMSE_HEADING);
    }
    all
}

/// What a cell shows of an accuracy or R²; next to accuracies R² says what it is.
pub fn score_text(table: &MethodTable, quality: Quality) -> String {
    match (quality, table.tasks().1) {
        (Quality::Accuracy(share), _) => format!("{:.2}", 100.0 * share),
        (Quality::R2(value), false) => format!("{value:.4}"),
        (quality @ Quality::R2(_), true) => quality.to_string(),
    }
}

/// One row of `table`, in the order of its [`headings`]: rounded, with "±" if there are several
/// seeds, and "–" if there is no value.
pub fn cells(table: &MethodTable, row: &MethodRow) -> Vec<String> {
    let score = |figure: MeanStd| {
        let mixed = table.tasks() == (true, true);
        match row.is_regression {
            false => shown(figure, |v| format!("{:.2}", 100.0 * v)),
            true if mixed && figure.n > 0 => format!("R² {}", shown(figure, |v| format!("{v:.4}"))),
            true => shown(figure, |v| format!("{v:.4}")),
        }
    };
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
        score(row.score()),
        score(row.best_score()),
        shown(row.loss, loss),
        shown(row.consensus_distance, scientific),
        // Traffic depends on the method and time on the machine, so they have no ±.
        shown(alone(row.bytes_sent), megabytes),
        shown(alone(row.seconds), |v| format!("{v:.1}")),
        seeds,
    ];
    if table.shows_own() {
        let own = [score(row.own_score()), shown(row.agents_loss, loss)];
        cells.splice(OWN_COLUMN..OWN_COLUMN, own);
    }
    if table.tasks().0 {
        cells.insert(OWN_COLUMN, shown(row.rmse, four_digits));
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
/// own models. Regressions have columns `r2` in place of `accuracy`, and `rmse`; both stand there
/// only if there are both.
pub fn to_csv(table: &MethodTable) -> String {
    type Figure = (&'static str, fn(&MethodRow) -> MeanStd, bool, bool);
    let columns: [Figure; 12] = [
        ("accuracy", |row| row.accuracy, true, false),
        ("r2", |row| row.r2, false, true),
        ("best_accuracy", |row| row.best_accuracy, true, false),
        ("best_r2", |row| row.best_r2, false, true),
        ("loss", |row| row.loss, true, true),
        ("rmse", |row| row.rmse, false, true),
        ("agents_accuracy", |row| row.agents_accuracy, true, false),
        ("agents_r2", |row| row.agents_r2, false, true),
        ("agents_loss", |row| row.agents_loss, true, true),
        ("consensus_distance", |row| row.consensus_distance, true, true),
        ("bytes_sent", |row| row.bytes_sent, true, true),
        ("seconds", |row| row.seconds, true, true),
    ];
    let (regressions, others) = table.tasks();
    // A table without rows has the usual header.
    let others = others || !regressions;
    let shown = |column: &&Figure| (column.2 && others) || (column.3 && regressions);
    let columns: Vec<&Figure> = columns.iter().filter(shown).collect();
    let mut text = "method,label,seeds,diverged".to_owned();
    for (name, ..) in &columns {
        let _ = write!(text, ",{name}_mean,{name}_std");
    }
    text.push_str(",unfinished,least_done,data,collapsed\n");
    for row in &table.rows {
        let (method, label) = (quoted(&row.method), quoted(&row.label));
        let _ = write!(text, "{method},{label},{},{}", row.seeds, row.diverged);
        for (_, figure, ..) in &columns {
            let figure = figure(row);
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

/// Four digits, as a quantity with any unit needs.
fn four_digits(value: f64) -> String {
    match value.abs() {
        size if size != 0.0 && !(1e-3..1e6).contains(&size) => format!("{value:.3e}"),
        size => format!("{value:.0$}", 3_usize.saturating_sub(size.max(1e-3).log10() as usize)),
    }
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
    use crate::summary::tests::{outcome, own_outcome, regression_outcome};

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
    fn a_regression_has_r2_and_its_error_and_no_accuracy() {
        let regressions = [regression_outcome("gut", 1, 0.75), regression_outcome("dsgd", 1, 0.5)];
        let table = MethodTable::new(&regressions);
        let text = to_text(&table);
        let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
        assert!(text.contains("Averaged model (R²)") && text.contains("Its RMSE"), "{text}");
        assert!(!text.contains('%') && !text.contains("ccuracy"), "{text}");
        assert_eq!(lines[1][..6], ["gut", "0.7500", "*", "0.8750", "0.7500", "50.00"], "{text}");
        assert!(to_latex(&table).contains("Averaged model (R$^2$)"));
        let csv = to_csv(&table);
        assert!(csv.starts_with("method,label,seeds,diverged,r2_mean,r2_std,best_r2_mean,"));
        assert!(!csv.contains("accuracy"), "{csv}");
        let mixed = MethodTable::new(&[regressions[0].clone(), outcome("d2", 1, Some(0.5))]);
        let text = to_text(&mixed);
        assert!(text.contains("(% or R²)") && text.contains("R² 0.7500"), "{text}");
        let csv = to_csv(&mixed);
        assert!(csv.contains(",accuracy_mean,accuracy_std,r2_mean,r2_std,"), "{csv}");
        assert!(csv.lines().all(|line| line.split(',').count() == 32), "{csv}");
        // Without regressions the header is what it always was.
        let csv = to_csv(&MethodTable::new(&[outcome("d2", 1, Some(0.5))]));
        assert_eq!(csv.lines().next(), Some(CSV_HEADER));
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
        assert!(fields.iter().all(|f| f.len() == 24), "{text}");
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
