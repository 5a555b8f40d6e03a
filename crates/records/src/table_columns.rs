//! The columns of a table of methods: their names for `--columns`, headings and cells.
//!
//! The columns of [`Column`] come from the summaries alone. What needs more than these (the way to a
//! target, tests against another method) is computed by the caller and added as an
//! [`ExtraColumn`], which is shown like all others.

use crate::float_text::shortest;
use crate::summary::{MeanStd, MethodRow, MethodTable};
use crate::table_text::{HEADINGS, OWN_HEADINGS};

/// A column that every table can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// The name of the method.
    Method,
    /// The averaged model's final test accuracy.
    Accuracy,
    /// The averaged model's best test accuracy.
    Best,
    /// The averaged model's final test loss.
    Loss,
    /// The mean of the agents' own test accuracies.
    Agents,
    /// The mean of the agents' own test losses.
    AgentsLoss,
    /// The worst and the best of the agents' own test accuracies.
    Spread,
    /// The distance of the agents' models from their average.
    Consensus,
    /// Bytes that one agent sent.
    Bytes,
    /// Seconds of training.
    Seconds,
    /// The number of seeds, and what happened to them.
    Seeds,
}

/// A column that the caller computed, one cell per row.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtraColumn {
    /// Its name for `--columns`.
    pub key: String,
    /// Its heading.
    pub heading: String,
    /// Its cells as people read them.
    pub cells: Vec<String>,
    /// Its columns in CSV: names, and every digit of the values.
    pub csv: Vec<(String, Vec<String>)>,
}

/// One column of a table as it is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ShownColumn<'a> {
    /// From the summaries.
    Own(Column),
    /// From the caller.
    Extra(&'a ExtraColumn),
}

impl Column {
    /// All columns, in the usual order.
    pub const ALL: [Column; 11] = [
        Column::Method,
        Column::Accuracy,
        Column::Best,
        Column::Loss,
        Column::Agents,
        Column::AgentsLoss,
        Column::Spread,
        Column::Consensus,
        Column::Bytes,
        Column::Seconds,
        Column::Seeds,
    ];

    /// The columns of a table if nobody chooses: those of the agents' own models only where some
    /// row has nothing else.
    pub fn usual(table: &MethodTable) -> Vec<Column> {
        let own = table.shows_own();
        let is_shown = |column: &Column| match column {
            Column::Agents | Column::AgentsLoss => own,
            Column::Spread => false,
            _ => true,
        };
        Column::ALL.into_iter().filter(is_shown).collect()
    }

    /// Its name for `--columns`.
    pub fn key(self) -> &'static str {
        match self {
            Column::Method => "method",
            Column::Accuracy => "accuracy",
            Column::Best => "best",
            Column::Loss => "loss",
            Column::Agents => "agents",
            Column::AgentsLoss => "agents-loss",
            Column::Spread => "spread",
            Column::Consensus => "consensus",
            Column::Bytes => "bytes",
            Column::Seconds => "seconds",
            Column::Seeds => "seeds",
        }
    }

    /// Its heading; accuracies and losses are on the test set.
    pub fn heading(self) -> &'static str {
        match self {
            Column::Method => HEADINGS[0],
            Column::Accuracy => HEADINGS[1],
            Column::Best => HEADINGS[2],
            Column::Loss => HEADINGS[3],
            Column::Agents => OWN_HEADINGS[0],
            Column::AgentsLoss => OWN_HEADINGS[1],
            Column::Spread => "Worst to best agent (%)",
            Column::Consensus => HEADINGS[4],
            Column::Bytes => HEADINGS[5],
            Column::Seconds => HEADINGS[6],
            Column::Seeds => HEADINGS[7],
        }
    }

    /// Its cell in `row`: rounded, with "±" if there are several seeds, and "–" if there is no
    /// value.
    pub fn cell(self, row: &MethodRow) -> String {
        let percent = |v: f64| format!("{:.2}", 100.0 * v);
        match self {
            Column::Method => row.label.clone(),
            Column::Accuracy => shown(row.accuracy, percent),
            Column::Best => shown(row.best_accuracy, percent),
            Column::Loss => shown(row.loss, loss),
            Column::Agents => shown(row.agents_accuracy, percent),
            Column::AgentsLoss => shown(row.agents_loss, loss),
            Column::Spread => match (row.worst_agent, row.best_agent) {
                (worst, best) if worst.mean.is_finite() && best.mean.is_finite() => {
                    format!("{} to {}", percent(worst.mean), percent(best.mean))
                }
                _ => "–".to_owned(),
            },
            Column::Consensus => shown(row.consensus_distance, scientific),
            // Traffic depends on the method and time on the machine, so they have no ±.
            Column::Bytes => shown(alone(row.bytes_sent), megabytes),
            Column::Seconds => shown(alone(row.seconds), |v| format!("{v:.1}")),
            Column::Seeds => seeds(row),
        }
    }

    /// Its columns in CSV: names and values, with every digit; accuracies from 0 to 1.
    pub fn csv(self, row: &MethodRow) -> Vec<(String, String)> {
        let both = |name: &str, figure: MeanStd| {
            let std = figure.std.map(shortest).unwrap_or_default();
            vec![(format!("{name}_mean"), shortest(figure.mean)), (format!("{name}_std"), std)]
        };
        match self {
            Column::Method => vec![
                ("method".to_owned(), row.method.clone()),
                ("label".to_owned(), row.label.clone()),
            ],
            Column::Accuracy => both("accuracy", row.accuracy),
            Column::Best => both("best_accuracy", row.best_accuracy),
            Column::Loss => both("loss", row.loss),
            Column::Agents => both("agents_accuracy", row.agents_accuracy),
            Column::AgentsLoss => both("agents_loss", row.agents_loss),
            Column::Spread => {
                [both("worst_agent", row.worst_agent), both("best_agent", row.best_agent)].concat()
            }
            Column::Consensus => both("consensus_distance", row.consensus_distance),
            Column::Bytes => both("bytes_sent", row.bytes_sent),
            Column::Seconds => both("seconds", row.seconds),
            Column::Seeds => vec![
                ("seeds".to_owned(), row.seeds.to_string()),
                ("diverged".to_owned(), row.diverged.to_string()),
                ("collapsed".to_owned(), row.collapsed.to_string()),
                ("unfinished".to_owned(), row.unfinished.to_string()),
            ],
        }
    }
}

impl ShownColumn<'_> {
    /// Its heading.
    pub fn heading(&self) -> &str {
        match self {
            ShownColumn::Own(column) => column.heading(),
            ShownColumn::Extra(extra) => &extra.heading,
        }
    }

    /// Its cell in row `i` of `table`.
    pub(crate) fn cell(&self, table: &MethodTable, i: usize) -> String {
        match self {
            ShownColumn::Own(column) => column.cell(&table.rows[i]),
            ShownColumn::Extra(extra) => extra.cells.get(i).cloned().unwrap_or_default(),
        }
    }

    pub(crate) fn csv(&self, table: &MethodTable, i: usize) -> Vec<(String, String)> {
        match self {
            ShownColumn::Own(column) => column.csv(&table.rows[i]),
            ShownColumn::Extra(extra) => {
                let value = |values: &Vec<String>| values.get(i).cloned().unwrap_or_default();
                extra.csv.iter().map(|(name, values)| (name.clone(), value(values))).collect()
            }
        }
    }
}

/// The number of seeds, how many of them were lost, and how far the unfinished ones are.
fn seeds(row: &MethodRow) -> String {
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
    seeds
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

/// "mean ± std", only the mean for a single seed, and "–" if there is no value.
pub fn shown(figure: MeanStd, text: impl Fn(f64) -> String) -> String {
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
pub fn megabytes(bytes: f64) -> String {
    let megabytes = bytes / 1e6;
    if megabytes < 10.0 { format!("{megabytes:.3}") } else { format!("{megabytes:.1}") }
}

fn alone(figure: MeanStd) -> MeanStd {
    MeanStd { std: None, ..figure }
}
