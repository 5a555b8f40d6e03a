//! The results of a sweep: its table in every format, the best of each method, and the commands
//! that run the best on all training samples.

use consort_records::{MeanStd, SweepRow, SweepTable, sweep_text};
use consort_train::{Config, MethodEntry};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::RunFolder;
use super::sweep::SweepPlan;
use super::train_command::train_command;
use crate::failure::{Blame, Failure};
use crate::provenance::Provenance;

/// The most commands that are shown.
const SHOWN: usize = 12;

/// The file with the best of all methods.
const BEST: &str = "best.toml";

/// The result of the command, for the terminal and for `sweep.json`.
#[derive(Serialize)]
pub(crate) struct SweepSummary {
    provenance: Provenance,
    folder: String,
    data: String,
    /// Samples that agents trained on, and samples that decided.
    training_samples: usize,
    validation_samples: usize,
    partition: String,
    graph: String,
    model: String,
    seeds: Vec<u64>,
    keys: Vec<String>,
    combinations: Vec<Value>,
    best: Vec<Best>,
    /// Runs the best of all methods, if one configuration can.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    warnings: Vec<String>,
    #[serde(skip)]
    table: SweepTable,
}

/// The best combination of a method.
#[derive(Serialize)]
struct Best {
    method: String,
    values: Map<String, Value>,
    accuracy: f64,
    /// Runs it on all training samples.
    command: String,
}

impl SweepSummary {
    /// True if no combination of any method can be recommended.
    pub(crate) fn found_nothing(&self) -> bool {
        self.best.is_empty()
    }

    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "{}, {}, {}, {}; trained on {} samples, compared on {} others of the training set\n\n{}",
            self.data,
            self.partition,
            self.graph,
            self.model,
            self.training_samples,
            self.validation_samples,
            sweep_text::to_text(&self.table)
        );
        text += "* the best of its method; the test set was not used\n";
        for warning in &self.warnings {
            text += &format!("warning: {warning}\n");
        }
        // More commands than anybody reads are in the file only.
        if (1..=SHOWN).contains(&self.best.len()) {
            text += "\nThe best of each method, on all training samples:\n";
            text += &self.best.iter().map(|b| format!("  {}\n", b.command)).collect::<String>();
        } else if !self.best.is_empty() {
            text += "\nsweep.json has the command of the best of each method.\n";
        }
        if let Some(command) = &self.command {
            text += &format!("All of them in one run:\n  {command}\n");
        }
        text + &format!("\ntables and records are in {}\n", self.folder)
    }
}

/// Writes all results of a sweep whose trials have finished.
pub(super) fn write(
    sweep: &SweepPlan,
    table: SweepTable,
    folder: &RunFolder,
) -> Result<SweepSummary, Failure> {
    let output = folder.output();
    let mut best = Vec::new();
    let mut configs = Vec::new();
    for place in table.best() {
        let (row, config) = (&table.rows[place], on_all_samples(sweep, place));
        let command = train_command(&config)?;
        let accuracy = row.accuracy.mean;
        best.push(Best {
            method: row.method.clone(),
            values: values(&table, row),
            accuracy,
            command,
        });
        configs.push(config);
    }
    let command = match in_one(&configs) {
        Some(config) if configs.len() > 1 => {
            let path = output.write(BEST, config.to_toml().or_work()?).or_work()?;
            let path = crate::provenance::quoted(path.display().to_string());
            Some(format!("consort train {path}"))
        }
        _ => None,
    };
    let is_best = table.best();
    let rows = table.rows.iter().enumerate();
    let combinations = rows.map(|(k, row)| as_json(&table, row, is_best.contains(&k))).collect();
    let config = &sweep.config;
    let summary = SweepSummary {
        provenance: Provenance::current(),
        folder: folder.path().display().to_string(),
        data: sweep.dataset.name.clone(),
        training_samples: sweep.dataset.train.len(),
        validation_samples: sweep.dataset.validation.len(),
        partition: config.partition.clone(),
        graph: config.graph.clone(),
        model: config.model.clone(),
        seeds: config.seeds.clone(),
        keys: table.keys.clone(),
        combinations,
        best,
        command,
        warnings: warnings(&table),
        table,
    };
    let text = serde_json::to_string_pretty(&summary).or_work()? + "\n";
    output.write("sweep.json", text).or_work()?;
    output.write("table.txt", sweep_text::to_text(&summary.table)).or_work()?;
    output.write("table.md", sweep_text::to_markdown(&summary.table)).or_work()?;
    output.write("table.tex", sweep_text::to_latex(&summary.table)).or_work()?;
    output.write("table.csv", sweep_text::to_csv(&summary.table)).or_work()?;
    Ok(summary)
}

/// The configuration of combination `place` on all training samples, named as the user named it.
fn on_all_samples(sweep: &SweepPlan, place: usize) -> Config {
    let combination = &sweep.candidates[place].combination;
    let mut config = combination.config.clone();
    config.validation = None;
    if let [only] = &mut config.methods[..] {
        only.label = sweep.config.methods[combination.method].label.clone();
    }
    config
}

/// One configuration with the methods of all; none if they differ in more than their methods.
fn in_one(configs: &[Config]) -> Option<Config> {
    let without_methods = |config: &Config| Config { methods: Vec::new(), ..config.clone() };
    let first = configs.first()?;
    let alike = configs.iter().all(|config| without_methods(config) == without_methods(first));
    let methods: Vec<MethodEntry> = configs.iter().flat_map(|c| c.methods.clone()).collect();
    alike.then(|| Config { methods, ..first.clone() })
}

/// What the user should know before trusting the best.
fn warnings(table: &SweepTable) -> Vec<String> {
    let edges = table.edges();
    let mut told = Vec::new();
    for key in &table.keys {
        for (largest, which, more) in [(true, "largest", "larger"), (false, "smallest", "smaller")]
        {
            let there = edges.iter().filter(|edge| edge.key == *key && edge.largest == largest);
            let there: Vec<String> =
                there.map(|edge| format!("{} ({})", edge.method, edge.value)).collect();
            if !there.is_empty() {
                told.push(format!(
                    "the {which} {key} that was tried is the best of {}: a {more} one may be better",
                    there.join(", ")
                ));
            }
        }
    }
    let lost = table.without_best().into_iter().map(|method| {
        format!("{method}: no combination learned anything for every seed; try a smaller eta or mu")
    });
    told.into_iter().chain(lost).collect()
}

fn values(table: &SweepTable, row: &SweepRow) -> Map<String, Value> {
    let pairs = table.keys.iter().zip(&row.values);
    pairs.filter_map(|(key, value)| Some((key.clone(), json!(value.as_ref()?)))).collect()
}

fn as_json(table: &SweepTable, row: &SweepRow, best: bool) -> Value {
    let number = |value: f64| if value.is_finite() { json!(value) } else { Value::Null };
    let figure = |MeanStd { mean, std, .. }: MeanStd| json!({ "mean": number(mean), "std": std.map(number) });
    json!({
        "method": row.method,
        "values": values(table, row),
        "accuracy": figure(row.accuracy),
        "loss": figure(row.loss),
        "bytes_sent": number(row.bytes_sent.mean),
        "seconds": number(row.seconds.mean),
        "seeds": row.seeds,
        "diverged": row.diverged,
        "collapsed": row.collapsed,
        "refused": row.refused,
        "best": best,
    })
}
