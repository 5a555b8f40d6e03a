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
//! `Agents' own (%)`, `Their loss`. If samples are set apart for validation, so are there columns for
//! them; and if methods differ in what a round costs, columns say what.

use crate::csv::quoted;
use crate::float_text::shortest;
use crate::summary::{MeanStd, MethodCost, MethodRow, MethodTable};
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

/// The headings of the columns with results of the averaged model on validation samples.
pub const VALIDATION_HEADINGS: [&str; 2] = ["Validation (%)", "Validation loss"];

/// The headings of the columns with what a method costs, and where it runs.
pub const COST_HEADINGS: [&str; 3] = ["Gradients a round", "Memory (MB)", "Graphs"];

/// The note under a table with [`OWN_HEADINGS`].
pub const OWN_NOTE: &str = "Agents' own: the mean result of the agents' own models. It is not the \
    averaged model's, and is not ranked.";

/// The first column of [`OWN_HEADINGS`], after the columns of the averaged model.
const OWN_COLUMN: usize = 4;

/// The first column of [`COST_HEADINGS`], if there are no other columns than [`HEADINGS`].
const COST_COLUMN: usize = 6;

/// The header line of [`to_csv`].
pub const CSV_HEADER: &str = "method,label,seeds,diverged,accuracy_mean,accuracy_std,\
    best_accuracy_mean,best_accuracy_std,loss_mean,loss_std,agents_accuracy_mean,\
    agents_accuracy_std,agents_loss_mean,agents_loss_std,consensus_distance_mean,\
    consensus_distance_std,bytes_sent_mean,bytes_sent_std,seconds_mean,seconds_std,unfinished,\
    least_done,data,collapsed,validation_accuracy_mean,validation_accuracy_std,validation_loss_mean,\
    validation_loss_std,gradients_per_round,memory_bytes,graphs";

/// The headings of the columns of `table`.
pub fn headings(table: &MethodTable) -> Vec<&'static str> {
    let mut all = HEADINGS.to_vec();
    // From the right, so that each place is still where it was.
    if table.shows_cost() {
        all.splice(COST_COLUMN..COST_COLUMN, COST_HEADINGS);
    }
    if table.shows_own() {
        all.splice(OWN_COLUMN..OWN_COLUMN, OWN_HEADINGS);
    }
    if table.shows_validation() {
        all.splice(OWN_COLUMN..OWN_COLUMN, VALIDATION_HEADINGS);
    }
    all
}

/// One row of `table`, in the order of its [`headings`]: rounded, with "±" if there are several
/// seeds, and "–" if there is no value.
pub fn cells(table: &MethodTable, row: &MethodRow) -> Vec<String> {
    let percent = |v: f64| format!("{:.2}", 100.0 * v);
    let mut seeds = outcomes(row.seeds, row.diverged, row.collapsed);
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
    if table.shows_cost() {
        let cost = row.cost.as_ref().map(|cost| {
            let memory = megabytes(cost.memory_bytes as f64);
            [cost.gradients_per_round.to_string(), memory, cost.graphs.clone()]
        });
        cells.splice(COST_COLUMN..COST_COLUMN, cost.unwrap_or(["–"; 3].map(str::to_owned)));
    }
    if table.shows_own() {
        let own = [shown(row.agents_accuracy, percent), shown(row.agents_loss, loss)];
        cells.splice(OWN_COLUMN..OWN_COLUMN, own);
    }
    if table.shows_validation() {
        let validation =
            [shown(row.validation_accuracy, percent), shown(row.validation_loss, loss)];
        cells.splice(OWN_COLUMN..OWN_COLUMN, validation);
    }
    cells
}

/// `3`, `3, 1 diverged`, `1, collapsed`: how many seeds, and how many of them learned nothing.
pub(crate) fn outcomes(all: usize, diverged: usize, collapsed: usize) -> String {
    let seeds = match diverged {
        0 => all.to_string(),
        every if every == all => format!("{all}, all diverged"),
        some => format!("{all}, {some} diverged"),
    };
    match collapsed {
        0 => seeds,
        1 if all == 1 => seeds + ", collapsed",
        every if every == all => seeds + ", all collapsed",
        some => format!("{seeds}, {some} collapsed"),
    }
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
            row.consensus_distance,
            row.bytes_sent,
            row.seconds,
        ] {
            let std = figure.std.map(shortest).unwrap_or_default();
            let _ = write!(text, ",{},{std}", shortest(figure.mean));
        }
        let (least, data) = (shortest(row.least_done), quoted(&row.data));
        let _ = write!(text, ",{},{least},{data},{}", row.unfinished, row.collapsed);
        for figure in [row.validation_accuracy, row.validation_loss] {
            let mean = if figure.n == 0 { String::new() } else { shortest(figure.mean) };
            let _ = write!(text, ",{mean},{}", figure.std.map(shortest).unwrap_or_default());
        }
        let _ = match &row.cost {
            Some(MethodCost { gradients_per_round, memory_bytes, graphs, .. }) => {
                writeln!(text, ",{gradients_per_round},{memory_bytes},{}", quoted(graphs))
            }
            None => writeln!(text, ",,,"),
        };
    }
    text
}

/// "mean ± std", only the mean for a single seed, and "–" if there is no value.
pub(crate) fn shown(figure: MeanStd, text: impl Fn(f64) -> String) -> String {
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
pub(crate) fn loss(value: f64) -> String {
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
pub(crate) fn markdown_escaped(text: &str) -> String {
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
pub(crate) fn latex_escaped(text: &str) -> String {
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
            'λ' => safe.push_str("$\\lambda$"),
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
    use crate::record::Measured;
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
        assert!(fields.iter().all(|f| f.len() == 31), "{text}");
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
        assert!(to_csv(&MethodTable::new(&trials)).ends_with(",2,,,,,,,\n"));
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
        assert!(to_csv(&MethodTable::new(&trials[1..])).ends_with(",1,0.129,,0,,,,,,,\n"));
        assert!(to_latex(&MethodTable::new(&trials[1..])).contains("at 12 \\%"));
    }

    #[test]
    fn validation_has_columns_where_it_was_measured_and_costs_where_they_differ() {
        let cost = |gradients_per_round| MethodCost {
            gradients_per_round,
            bytes_per_round: 8,
            memory_bytes: 2_500_000,
            graphs: "any, directed".into(),
        };
        let mut trials = [outcome("gut", 1, Some(0.5)), outcome("cga", 1, Some(0.25))];
        trials[0].validation = Some(Measured { accuracy: 0.625, loss: 1.5 });
        trials[0].cost = Some(cost(1));
        trials[1].cost = Some(cost(1));
        let alike = MethodTable::new(&trials);
        assert_eq!(headings(&alike)[4..6], VALIDATION_HEADINGS);
        assert_eq!(headings(&alike).len(), 10, "what costs the same is not said");
        trials[1].cost = Some(cost(3));
        let table = MethodTable::new(&trials);
        assert_eq!(headings(&table)[8..11], COST_HEADINGS);
        assert_eq!(cells(&table, &table.rows[0])[4..6], ["62.50", "1.5000"]);
        assert_eq!(cells(&table, &table.rows[1])[4..6], ["–", "–"]);
        assert_eq!(cells(&table, &table.rows[1])[8..11], ["3", "2.500", "any, directed"]);
        assert!(to_csv(&table).contains(",0.625,,1.5,,1,2500000,\"any, directed\"\n"));
        for text in [to_text(&table), to_markdown(&table), to_latex(&table)] {
            assert!(text.contains("Gradients a round") && text.contains("any, directed"), "{text}");
        }
    }
}
