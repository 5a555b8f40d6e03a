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
//! `Agents' own (%)`, `Their loss`.

use crate::csv::quoted;
use crate::float_text::shortest;
use crate::summary::{MethodRow, MethodTable};
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

/// The note under a table with [`OWN_HEADINGS`].
pub const OWN_NOTE: &str = "Agents' own: the mean result of the agents' own models. It is not the \
    averaged model's, and is not ranked.";

/// The header line of [`to_csv`].
pub const CSV_HEADER: &str = "method,label,seeds,diverged,accuracy_mean,accuracy_std,\
    best_accuracy_mean,best_accuracy_std,loss_mean,loss_std,agents_accuracy_mean,\
    agents_accuracy_std,agents_loss_mean,agents_loss_std,consensus_distance_mean,\
    consensus_distance_std,bytes_sent_mean,bytes_sent_std,seconds_mean,seconds_std,unfinished,\
    least_done,data,collapsed";

/// The headings of the columns of `table`.
pub fn headings(table: &MethodTable) -> Vec<&'static str> {
    Column::usual(table).into_iter().map(Column::heading).collect()
}

/// One row of `table`, in the order of its [`headings`]: rounded, with "±" if there are several
/// seeds, and "–" if there is no value.
pub fn cells(table: &MethodTable, row: &MethodRow) -> Vec<String> {
    Column::usual(table).into_iter().map(|column| column.cell(row)).collect()
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
        self.columns.iter().map(ShownColumn::heading).collect()
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

    /// Plain text with aligned columns; a star marks the best accuracy.
    pub fn to_text(&self) -> String {
        let mut lines = vec![self.headings().into_iter().map(str::to_owned).collect::<Vec<_>>()];
        for i in 0..self.table.rows.len() {
            lines.push(self.cells(i, |text| format!("{text} *")));
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
    *column == ShownColumn::Own(Column::Method)
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
        let _ = writeln!(text, ",{},{least},{data},{}", row.unfinished, row.collapsed);
    }
    text
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
            'β' => safe.push_str("$\\beta$"),
            'γ' => safe.push_str("$\\gamma$"),
            'η' => safe.push_str("$\\eta$"),
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
    use crate::summary::tests::{outcome, own_outcome};
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
        assert!(fields.iter().all(|f| f.len() == 24), "{text}");
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
        assert_eq!(Column::Spread.cell(&table.rows[0]), "37.50 to 62.50");
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
