//! The columns of a table of methods: their names for `--columns`, headings and cells.
//!
//! The columns of [`Column`] come from the summaries alone. What needs more than these (the way to a
//! target, tests against another method) is computed by the caller and added as an
//! [`ExtraColumn`], which is shown like all others.

use crate::float_text::shortest;
use crate::summary::{MeanStd, MethodCost, MethodRow, MethodTable};
use crate::table_text::{
    COST_HEADINGS, GAIN_HEADING, HEADINGS, OWN_HEADINGS, RMSE_HEADING, VALIDATION_HEADINGS,
};

/// A column that every table can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// The name of the method.
    Method,
    /// The averaged model's final test accuracy, or R² of a regression.
    Accuracy,
    /// The averaged model's best test accuracy.
    Best,
    /// The averaged model's final test loss.
    Loss,
    /// The averaged model's final root mean squared error, of a regression.
    Rmse,
    /// The averaged model's final accuracy on the samples set apart for validation.
    Validation,
    /// The averaged model's final loss on them.
    ValidationLoss,
    /// The mean of the agents' own test accuracies.
    Agents,
    /// The mean of the agents' own test losses.
    AgentsLoss,
    /// What averaging the agents' models gains, in points of accuracy.
    Gain,
    /// The worst and the best of the agents' own test accuracies.
    Spread,
    /// The distance of the agents' models from their average.
    Consensus,
    /// Bytes that one agent sent.
    Bytes,
    /// Gradients that an agent takes in a round.
    Gradients,
    /// Bytes that an agent keeps.
    Memory,
    /// The graphs that the method accepts.
    Graphs,
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
    pub const ALL: [Column; 18] = [
        Column::Method,
        Column::Accuracy,
        Column::Best,
        Column::Loss,
        Column::Rmse,
        Column::Validation,
        Column::ValidationLoss,
        Column::Agents,
        Column::AgentsLoss,
        Column::Gain,
        Column::Spread,
        Column::Consensus,
        Column::Bytes,
        Column::Gradients,
        Column::Memory,
        Column::Graphs,
        Column::Seconds,
        Column::Seeds,
    ];

    /// The columns of a table if nobody chooses: those of the agents' own models only where some
    /// row has nothing else, those of validation samples where there are some, and what a round
    /// costs where methods differ in it.
    pub fn usual(table: &MethodTable) -> Vec<Column> {
        let own = table.shows_own();
        let is_shown = |column: &Column| match column {
            Column::Agents | Column::AgentsLoss => own,
            Column::Spread => false,
            Column::Rmse => table.tasks().0,
            Column::Gain => table.shows_averaging_gain(),
            Column::Validation | Column::ValidationLoss => table.shows_validation(),
            Column::Gradients | Column::Memory | Column::Graphs => table.shows_cost(),
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
            Column::Rmse => "rmse",
            Column::Validation => "validation",
            Column::ValidationLoss => "validation-loss",
            Column::Agents => "agents",
            Column::AgentsLoss => "agents-loss",
            Column::Gain => "gain",
            Column::Spread => "spread",
            Column::Consensus => "consensus",
            Column::Bytes => "bytes",
            Column::Gradients => "gradients",
            Column::Memory => "memory",
            Column::Graphs => "graphs",
            Column::Seconds => "seconds",
            Column::Seeds => "seeds",
        }
    }

    /// Its heading in `table`; accuracies and losses are on the test set.
    pub fn heading(self, table: &MethodTable) -> &'static str {
        let by_task = |accuracy, r2, both| match table.tasks() {
            (false, _) => accuracy,
            (true, false) => r2,
            (true, true) => both,
        };
        match self {
            Column::Method => HEADINGS[0],
            Column::Accuracy => {
                by_task(HEADINGS[1], "Averaged model (R²)", "Averaged model (% or R²)")
            }
            Column::Best => by_task(HEADINGS[2], "Its best (R²)", "Its best (% or R²)"),
            Column::Loss => HEADINGS[3],
            Column::Rmse => RMSE_HEADING,
            Column::Validation => VALIDATION_HEADINGS[0],
            Column::ValidationLoss => VALIDATION_HEADINGS[1],
            Column::Agents => by_task(OWN_HEADINGS[0], "Agents' own (R²)", "Agents' own (% or R²)"),
            Column::AgentsLoss => OWN_HEADINGS[1],
            Column::Gain => GAIN_HEADING,
            Column::Spread => "Worst to best agent (%)",
            Column::Consensus => HEADINGS[4],
            Column::Bytes => HEADINGS[5],
            Column::Gradients => COST_HEADINGS[0],
            Column::Memory => COST_HEADINGS[1],
            Column::Graphs => COST_HEADINGS[2],
            Column::Seconds => HEADINGS[6],
            Column::Seeds => HEADINGS[7],
        }
    }

    /// Its cell in `row` of `table`: rounded, with "±" if there are several seeds, and "–" if there
    /// is no value.
    pub fn cell(self, table: &MethodTable, row: &MethodRow) -> String {
        let percent = |v: f64| format!("{:.2}", 100.0 * v);
        let score = |figure: MeanStd| {
            let mixed = table.tasks() == (true, true);
            match row.is_regression {
                false => shown(figure, percent),
                true if mixed && figure.n > 0 => {
                    format!("R² {}", shown(figure, |v| format!("{v:.4}")))
                }
                true => shown(figure, |v| format!("{v:.4}")),
            }
        };
        let of_cost = |text: fn(&MethodCost) -> String| {
            row.cost.as_ref().map_or_else(|| "–".to_owned(), text)
        };
        match self {
            Column::Method => row.label.clone(),
            Column::Accuracy => score(row.score()),
            Column::Best => score(row.best_score()),
            Column::Loss => shown(row.loss, loss),
            Column::Rmse => shown(row.rmse, four_digits),
            Column::Validation => shown(row.validation_accuracy, percent),
            Column::ValidationLoss => shown(row.validation_loss, loss),
            Column::Agents => score(row.own_score()),
            Column::AgentsLoss => shown(row.agents_loss, loss),
            Column::Gain => {
                let plus = if row.averaging_gain.mean > 0.0 { "+" } else { "" };
                format!("{plus}{}", shown(row.averaging_gain, percent))
            }
            Column::Spread => match (row.worst_agent, row.best_agent) {
                (worst, best) if worst.mean.is_finite() && best.mean.is_finite() => {
                    format!("{} to {}", percent(worst.mean), percent(best.mean))
                }
                _ => "–".to_owned(),
            },
            Column::Consensus => shown(row.consensus_distance, scientific),
            // Traffic depends on the method and time on the machine, so they have no ±.
            Column::Bytes => shown(alone(row.bytes_sent), megabytes),
            Column::Gradients => of_cost(|cost| cost.gradients_per_round.to_string()),
            Column::Memory => of_cost(|cost| megabytes(cost.memory_bytes as f64)),
            Column::Graphs => of_cost(|cost| cost.graphs.clone()),
            Column::Seconds => shown(alone(row.seconds), |v| format!("{v:.1}")),
            Column::Seeds => seeds(row),
        }
    }

    /// Its columns in CSV: names and values, with every digit; accuracies from 0 to 1. Regressions
    /// have R² in place of accuracies; both stand there only if there are both.
    pub fn csv(self, table: &MethodTable, row: &MethodRow) -> Vec<(String, String)> {
        let both = |name: &str, figure: MeanStd| {
            let std = figure.std.map(shortest).unwrap_or_default();
            vec![(format!("{name}_mean"), shortest(figure.mean)), (format!("{name}_std"), std)]
        };
        let (regressions, others) = table.tasks();
        let by_task = |(name, accuracy): (&str, MeanStd), (r2_name, r2): (&str, MeanStd)| {
            let mut all = Vec::new();
            if others || !regressions {
                all.extend(both(name, accuracy));
            }
            if regressions {
                all.extend(both(r2_name, r2));
            }
            all
        };
        let of_cost = |name: &str, text: fn(&MethodCost) -> String| {
            vec![(name.to_owned(), row.cost.as_ref().map(text).unwrap_or_default())]
        };
        match self {
            Column::Method => vec![
                ("method".to_owned(), row.method.clone()),
                ("label".to_owned(), row.label.clone()),
            ],
            Column::Accuracy => by_task(("accuracy", row.accuracy), ("r2", row.r2)),
            Column::Best => by_task(("best_accuracy", row.best_accuracy), ("best_r2", row.best_r2)),
            Column::Loss => both("loss", row.loss),
            Column::Rmse => both("rmse", row.rmse),
            Column::Validation => both("validation_accuracy", row.validation_accuracy),
            Column::ValidationLoss => both("validation_loss", row.validation_loss),
            Column::Agents => {
                by_task(("agents_accuracy", row.agents_accuracy), ("agents_r2", row.agents_r2))
            }
            Column::AgentsLoss => both("agents_loss", row.agents_loss),
            Column::Gain => both("averaging_gain", row.averaging_gain),
            Column::Spread => {
                [both("worst_agent", row.worst_agent), both("best_agent", row.best_agent)].concat()
            }
            Column::Consensus => both("consensus_distance", row.consensus_distance),
            Column::Bytes => both("bytes_sent", row.bytes_sent),
            Column::Gradients => {
                of_cost("gradients_per_round", |cost| cost.gradients_per_round.to_string())
            }
            Column::Memory => of_cost("memory_bytes", |cost| cost.memory_bytes.to_string()),
            Column::Graphs => of_cost("graphs", |cost| cost.graphs.clone()),
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
    /// Its heading in `table`.
    pub fn heading(&self, table: &MethodTable) -> &str {
        match self {
            ShownColumn::Own(column) => column.heading(table),
            ShownColumn::Extra(extra) => &extra.heading,
        }
    }

    /// Its cell in row `i` of `table`.
    pub(crate) fn cell(&self, table: &MethodTable, i: usize) -> String {
        match self {
            ShownColumn::Own(column) => column.cell(table, &table.rows[i]),
            ShownColumn::Extra(extra) => extra.cells.get(i).cloned().unwrap_or_default(),
        }
    }

    pub(crate) fn csv(&self, table: &MethodTable, i: usize) -> Vec<(String, String)> {
        match self {
            ShownColumn::Own(column) => column.csv(table, &table.rows[i]),
            ShownColumn::Extra(extra) => {
                let value = |values: &Vec<String>| values.get(i).cloned().unwrap_or_default();
                extra.csv.iter().map(|(name, values)| (name.clone(), value(values))).collect()
            }
        }
    }
}

/// The number of seeds, how many of them were lost, and how far the unfinished ones are.
fn seeds(row: &MethodRow) -> String {
    let seeds = outcomes(row.seeds, row.diverged, row.collapsed);
    match unfinished(row) {
        Some(mark) => format!("{seeds}, {mark}"),
        None => seeds,
    }
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
pub(crate) fn loss(value: f64) -> String {
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
pub fn megabytes(bytes: f64) -> String {
    let megabytes = bytes / 1e6;
    if megabytes < 10.0 { format!("{megabytes:.3}") } else { format!("{megabytes:.1}") }
}

fn alone(figure: MeanStd) -> MeanStd {
    MeanStd { std: None, ..figure }
}
