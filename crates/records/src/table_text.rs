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
//! a column `Its RMSE`, in the unit of the target. If it was measured what averaging the agents' models
//! gains, a column tells it, in percentage points of accuracy. If samples are set apart for validation,
//! so are there columns for them; and if methods differ in what a round costs, columns say what.

use crate::csv::quoted;
use crate::float_text::shortest;
use crate::quality::Quality;
use crate::summary::{MeanStd, MethodCost, MethodRow, MethodTable};
use crate::table_columns::{Column, ShownColumn};
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

/// The heading of the column for regressions alone, before [`OWN_HEADINGS`].
pub const RMSE_HEADING: &str = "Its RMSE";

/// The heading of the column with what averaging the agents' models gains: the averaged model's
/// accuracy minus the mean of the agents' own.
pub const GAIN_HEADING: &str = "Gain of averaging (points)";

/// The header line of [`to_csv`] without regressions.
pub const CSV_HEADER: &str = "method,label,seeds,diverged,accuracy_mean,accuracy_std,\
    best_accuracy_mean,best_accuracy_std,loss_mean,loss_std,agents_accuracy_mean,\
    agents_accuracy_std,agents_loss_mean,agents_loss_std,averaging_gain_mean,\
    averaging_gain_std,consensus_distance_mean,consensus_distance_std,bytes_sent_mean,\
    bytes_sent_std,seconds_mean,seconds_std,unfinished,least_done,data,collapsed,\
    validation_accuracy_mean,validation_accuracy_std,validation_loss_mean,validation_loss_std,\
    gradients_per_round,memory_bytes,graphs";

/// The headings of the columns of `table`.
pub fn headings(table: &MethodTable) -> Vec<&'static str> {
    Column::usual(table).into_iter().map(|column| column.heading(table)).collect()
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
    Column::usual(table).into_iter().map(|column| column.cell(table, row)).collect()
}

/// Plain text with aligned columns; a star marks the best accuracy.
pub fn to_text(table: &MethodTable) -> String {
    TableView::usual(table).to_text()
}

/// A Markdown table; the best accuracy is bold.
pub fn to_markdown(table: &MethodTable) -> String {
    TableView::usual(table).to_markdown()
}

/// A LaTeX `tabular` with the rules of booktabs; the best accuracy is bold.
pub fn to_latex(table: &MethodTable) -> String {
    TableView::usual(table).to_latex()
}

/// A table with chosen columns, and notes below it.
#[derive(Debug, Clone)]
pub struct TableView<'a> {
    table: &'a MethodTable,
    columns: Vec<ShownColumn<'a>>,
    notes: Vec<String>,
}

impl<'a> TableView<'a> {
    /// The table with its usual columns.
    pub fn usual(table: &'a MethodTable) -> Self {
        let columns = Column::usual(table).into_iter().map(ShownColumn::Own).collect();
        Self::new(table, columns, Vec::new())
    }

    /// The table with these columns, in this order, and notes, one a line.
    pub fn new(
        table: &'a MethodTable,
        columns: Vec<ShownColumn<'a>>,
        mut notes: Vec<String>,
    ) -> Self {
        let own = [Column::Agents, Column::AgentsLoss].map(ShownColumn::Own);
        if table.shows_own() && columns.iter().any(|column| own.contains(column)) {
            notes.insert(0, OWN_NOTE.to_owned());
        }
        Self { table, columns, notes }
    }

    fn headings(&self) -> Vec<&str> {
        self.columns.iter().map(|column| column.heading(self.table)).collect()
    }

    /// The cells of row `i`; `mark` changes the accuracy of the best row.
    fn cells(&self, i: usize, mark: impl Fn(&str) -> String) -> Vec<String> {
        let cell = |column: &ShownColumn<'_>| {
            let text = column.cell(self.table, i);
            let best = *column == ShownColumn::Own(Column::Accuracy) && self.table.is_best(i);
            if best { mark(&text) } else { text }
        };
        self.columns.iter().map(cell).collect()
    }

    /// Headings and rows as [`to_text`](Self::to_text) has them, and the notes below, for whoever
    /// aligns them.
    pub fn to_cells(&self) -> (Vec<&str>, Vec<Vec<String>>, &[String]) {
        let rows = 0..self.table.rows.len();
        let rows = rows.map(|i| self.cells(i, |text| format!("{text} *"))).collect();
        (self.headings(), rows, &self.notes)
    }

    /// Plain text with aligned columns; a star marks the best accuracy.
    pub fn to_text(&self) -> String {
        let (headings, rows, _) = self.to_cells();
        let mut lines = vec![headings.into_iter().map(str::to_owned).collect::<Vec<_>>()];
        lines.extend(rows);
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
        for note in &self.notes {
            let _ = writeln!(text, "{note}");
        }
        text
    }

    /// A Markdown table; the best accuracy is bold.
    pub fn to_markdown(&self) -> String {
        let headings = self.headings();
        let aligned: String =
            self.columns.iter().map(|c| if is_text(c) { "---|" } else { "--:|" }).collect();
        let mut text = format!("| {} |\n|{aligned}\n", headings.join(" | "));
        for i in 0..self.table.rows.len() {
            // The marks stay marks, and the text of a cell stays text.
            let plain = self.cells(i, str::to_owned);
            let marked = self.cells(i, |text| format!("**{}**", markdown_escaped(text)));
            let cells: Vec<String> = plain
                .iter()
                .zip(marked)
                .map(
                    |(plain, marked)| {
                        if *plain == marked { markdown_escaped(plain) } else { marked }
                    },
                )
                .collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        for note in &self.notes {
            let _ = writeln!(text, "\n{}", markdown_escaped(note));
        }
        text
    }

    /// A LaTeX `tabular` with the rules of booktabs; the best accuracy is bold. Notes are comments.
    pub fn to_latex(&self) -> String {
        let columns: String =
            self.columns.iter().map(|c| if is_text(c) { 'l' } else { 'r' }).collect();
        let line: Vec<String> = self.headings().into_iter().map(latex_escaped).collect();
        let mut text = format!(
            "% \\usepackage{{booktabs}}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n{} \\\\\n\\midrule\n",
            line.join(" & ")
        );
        for i in 0..self.table.rows.len() {
            let plain = self.cells(i, str::to_owned);
            let best = self.cells(i, |text| format!("{text} *"));
            let cells =
                self.columns.iter().zip(plain.iter().zip(best)).map(|(column, (cell, marked))| {
                    let mut safe = latex_escaped(cell);
                    if !is_text(column) {
                        // A paper writes 1.20e-3 as a power of ten.
                        safe = safe
                            .split(" $\\pm$ ")
                            .map(power_of_ten)
                            .collect::<Vec<_>>()
                            .join(" $\\pm$ ");
                    }
                    if *cell == marked { safe } else { format!("\\textbf{{{safe}}}") }
                });
            let _ = writeln!(text, "{} \\\\", cells.collect::<Vec<_>>().join(" & "));
        }
        text.push_str("\\bottomrule\n\\end{tabular}\n");
        for note in &self.notes {
            let _ = writeln!(text, "% {note}");
        }
        text
    }

    /// CSV of the chosen columns, with every digit.
    pub fn to_csv(&self) -> String {
        let mut text = String::new();
        for i in 0..self.table.rows.len() {
            let fields: Vec<(String, String)> =
                self.columns.iter().flat_map(|column| column.csv(self.table, i)).collect();
            if i == 0 {
                let names: Vec<String> = fields.iter().map(|(name, _)| quoted(name)).collect();
                let _ = writeln!(text, "{}", names.join(","));
            }
            let values: Vec<String> = fields.iter().map(|(_, value)| quoted(value)).collect();
            let _ = writeln!(text, "{}", values.join(","));
        }
        text
    }
}

/// Whether a column has words, which are aligned to the left.
fn is_text(column: &ShownColumn<'_>) -> bool {
    [Column::Method, Column::Graphs].map(ShownColumn::Own).contains(column)
}

/// CSV with every digit. Accuracies are from 0 to 1; a missing deviation is an empty field.
/// `accuracy`, `best_accuracy` and `loss` are of the averaged model, `agents_...` of the agents'
/// own models. Regressions have columns `r2` in place of `accuracy`, and `rmse`; both stand there
/// only if there are both. What was not measured or is not known of validation and costs is empty.
pub fn to_csv(table: &MethodTable) -> String {
    type Figure = (&'static str, fn(&MethodRow) -> MeanStd, bool, bool);
    let columns: [Figure; 13] = [
        ("accuracy", |row| row.accuracy, true, false),
        ("r2", |row| row.r2, false, true),
        ("best_accuracy", |row| row.best_accuracy, true, false),
        ("best_r2", |row| row.best_r2, false, true),
        ("loss", |row| row.loss, true, true),
        ("rmse", |row| row.rmse, false, true),
        ("agents_accuracy", |row| row.agents_accuracy, true, false),
        ("agents_r2", |row| row.agents_r2, false, true),
        ("agents_loss", |row| row.agents_loss, true, true),
        ("averaging_gain", |row| row.averaging_gain, true, false),
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
    text.push_str(",unfinished,least_done,data,collapsed");
    if others {
        text.push_str(
            ",validation_accuracy_mean,validation_accuracy_std,validation_loss_mean,validation_loss_std",
        );
    }
    text.push_str(",gradients_per_round,memory_bytes,graphs\n");
    for row in &table.rows {
        let (method, label) = (quoted(&row.method), quoted(&row.label));
        let _ = write!(text, "{method},{label},{},{}", row.seeds, row.diverged);
        for (_, figure, ..) in &columns {
            let figure = figure(row);
            let std = figure.std.map(shortest).unwrap_or_default();
            let _ = write!(text, ",{},{std}", shortest(figure.mean));
        }
        let (least, data) = (shortest(row.least_done), quoted(&row.data));
        let _ = write!(text, ",{},{least},{data},{}", row.unfinished, row.collapsed);
        // Only classifications have validation samples.
        for figure in [row.validation_accuracy, row.validation_loss].iter().filter(|_| others) {
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
            'β' => safe.push_str("$\\beta$"),
            'γ' => safe.push_str("$\\gamma$"),
            'η' => safe.push_str("$\\eta$"),
            'λ' => safe.push_str("$\\lambda$"),
            '−' => safe.push_str("$-$"),
            '×' => safe.push_str("$\\times$"),
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
    use crate::summary::tests::{outcome, own_outcome, regression_outcome};
    use crate::table_columns::ExtraColumn;

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
        assert!(csv.lines().all(|line| line.split(',').count() == 41), "{csv}");
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
        assert!(latex.contains("\\begin{tabular}{lrrrrrrrrr}\n\\toprule"), "{latex}");
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
                "% \\usepackage{booktabs}\n\\begin{tabular}{lrrrrrrr}\n\\toprule\nMethod & Averaged model (\\%) &"
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
        assert!(fields.iter().all(|f| f.len() == 33), "{text}");
        assert_eq!(fields[1][4..6], ["0.625", "0.1767766952966369"]); // 1 / (4 √2)
        assert_eq!(fields[2][4..6], ["0.25", ""]);
        assert_eq!(fields[2][10..14], ["0.125", "", "NaN", ""]);
        assert_eq!(fields[3][2..6], ["1", "1", "NaN", ""]);
    }

    #[test]
    fn columns_are_chosen_and_ordered_and_computed_ones_are_like_all_others() {
        let table = table();
        let extra = ExtraColumn {
            key: "rounds-to".into(),
            heading: "Rounds to 85 %".into(),
            cells: ["300", "–", "–"].map(str::to_owned).to_vec(),
            csv: vec![("rounds".into(), ["300", "", ""].map(str::to_owned).to_vec())],
        };
        let columns = vec![
            ShownColumn::Own(Column::Seeds),
            ShownColumn::Own(Column::Method),
            ShownColumn::Extra(&extra),
            ShownColumn::Own(Column::Accuracy),
        ];
        let view = TableView::new(&table, columns, vec!["A note.".into()]);
        let text = view.to_text();
        assert!(
            text.starts_with("Seeds            Method         Rounds to 85 %  Averaged"),
            "{text}"
        );
        assert!(
            text.contains("2                gut:mu=0.5     300             62.50 ± 17.68 *"),
            "{text}"
        );
        assert!(text.ends_with("\nA note.\n"), "{text}");
        let latex = view.to_latex();
        assert!(latex.contains("{rlrr}") && latex.contains("Rounds to 85 \\%"), "{latex}");
        assert!(latex.contains("\\bottomrule") && latex.ends_with("% A note.\n"), "{latex}");
        assert!(view.to_markdown().contains("|--:|---|--:|--:|"));
        let csv = view.to_csv();
        assert_eq!(
            csv.lines().next(),
            Some(
                "seeds,diverged,collapsed,unfinished,method,label,rounds,accuracy_mean,accuracy_std"
            )
        );
        assert!(csv.contains("\n2,0,0,0,gut:mu=0.5,gut:mu=0.5,300,0.625,"), "{csv}");
        let keys: Vec<&str> = Column::ALL.into_iter().map(Column::key).collect();
        assert!(keys.iter().all(|key| keys.iter().filter(|k| k == &key).count() == 1));
        // `outcome` has agents at the accuracy and a quarter below it.
        assert_eq!(Column::Spread.cell(&table, &table.rows[0]), "37.50 to 62.50");
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
