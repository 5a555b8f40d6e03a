//! One table or figure of the paper as a preset.
//!
//! ```toml
//! title = "CIFAR-10 on rings"
//! paper = "Table 1"
//! [config]                                  # keys of a configuration, shared by all cells
//! data = "cifar10"
//! epochs = 200
//! [[columns]]
//! name = "alpha-0.1"
//! set = { partition = "dirichlet:0.1" }
//! [[blocks]]
//! name = "vgg11-16"
//! title = "VGG-11, 16 agents"
//! set = { model = "vgg11", graph = "ring:16" }
//! rows = [
//!   { label = "QG-GUTm", method = "qg-gutm:mu={mu}", mu = [0.08], paper = [[83.05, 0.48]] },
//! ]
//! ```
//!
//! A cell is a row of a block in a column: one number of the paper. Its configuration is `config`,
//! overridden by `set` of the block, of the column and of the row, in this order.

use consort_train::{Config, ConfigError, MethodEntry};
use serde::Deserialize;

use crate::error::ReproduceError;
use crate::trial_key::TrialKey;

/// One table or figure.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Experiment {
    /// The name on the command line.
    #[serde(skip)]
    pub name: String,
    /// The title.
    pub title: String,
    /// The table or figure of the paper.
    pub paper: String,
    /// Differences from the paper, and other explanations.
    #[serde(default)]
    pub about: String,
    /// If present, the results are drawn as curves along the columns.
    pub figure: Option<Figure>,
    /// If present, this is the average-consensus task, not training.
    pub consensus: Option<Consensus>,
    /// The configuration that all cells share.
    #[serde(default)]
    pub config: toml::Table,
    /// The columns; if there are none, there is one column without a name.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// The groups of rows.
    #[serde(default)]
    pub blocks: Vec<Block>,
}

/// How a figure is drawn.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Figure {
    /// The quantity along x.
    pub x_label: String,
}

/// The average-consensus task.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Consensus {
    /// The graphs, one panel each.
    pub graphs: Vec<String>,
    /// The methods, with the names of `consort consensus`.
    pub methods: Vec<String>,
    /// The number of coordinates.
    pub dim: usize,
    /// The number of rounds.
    pub rounds: usize,
    /// The seeds; every method runs once per seed.
    pub seeds: Vec<u64>,
}

/// A column.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Column {
    /// The name on the command line, for example `alpha-0.1`.
    pub name: String,
    /// The heading.
    #[serde(default)]
    pub title: String,
    /// The x position in a figure.
    pub x: Option<f64>,
    /// The settings of this column.
    #[serde(default)]
    pub set: toml::Table,
}

/// Rows that belong together.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Block {
    /// The name on the command line, for example `vgg11-16`.
    pub name: String,
    /// The heading.
    pub title: String,
    /// The settings of this block.
    #[serde(default)]
    pub set: toml::Table,
    /// The rows.
    pub rows: Vec<TableRow>,
}

/// A row: one method.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TableRow {
    /// The name in the paper.
    pub label: String,
    /// The method; `{mu}` is replaced with the mu of the column.
    pub method: String,
    /// mu for each column.
    #[serde(default)]
    pub mu: Vec<f64>,
    /// The settings of this row.
    #[serde(default)]
    pub set: toml::Table,
    /// The paper's mean and standard deviation in percent, for each column.
    #[serde(default)]
    pub paper: Vec<[f64; 2]>,
    /// Whether the row has one number for all columns.
    #[serde(default)]
    pub spans: bool,
    /// Whether the row is ours and not in the paper.
    #[serde(default)]
    pub ours: bool,
}

/// One number of the paper, and the configuration of its trials.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// `block/column/row`.
    pub path: String,
    /// The heading of the block.
    pub block: String,
    /// The heading of the column; may be empty.
    pub column: String,
    /// The x position of the column.
    pub x: Option<f64>,
    /// The label of the row.
    pub label: String,
    /// The method with its parameters.
    pub method: String,
    /// The paper's mean and standard deviation, in percent.
    pub paper: Option<(f64, f64)>,
    /// The configuration, with one method and without seeds.
    pub config: Config,
    /// The length as a share of the paper's length.
    pub scale: f64,
}

impl Experiment {
    /// Reads a preset.
    ///
    /// # Errors
    /// If the text is not a valid preset.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, ReproduceError> {
        let bad = |reason| ReproduceError::Preset { experiment: name.into(), reason };
        let read: Experiment = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
        let experiment = Experiment { name: name.into(), ..read };
        for block in &experiment.blocks {
            for row in &block.rows {
                let cells = if row.spans { 1 } else { experiment.columns.len().max(1) };
                let fits = |given: usize| given == 0 || given == cells;
                if !fits(row.paper.len()) || !fits(row.mu.len()) {
                    let name = format!("{}, {}", block.name, row.label);
                    return Err(bad(format!(
                        "{name}: expected {cells} numbers in `mu` and in `paper`, or none"
                    )));
                }
                if row.method.contains("{mu}") == row.mu.is_empty() {
                    return Err(bad(format!(
                        "{}: `mu` needs {{mu}} in `method`, and {{mu}} needs `mu`",
                        row.label
                    )));
                }
            }
        }
        Ok(experiment)
    }

    /// All cells, with `scale` times the paper's epochs. Milestones are shares of a run, so they
    /// scale too.
    ///
    /// # Errors
    /// If the settings of a cell are not a valid configuration.
    pub fn cells(&self, scale: f64) -> Result<Vec<Cell>, ReproduceError> {
        let nameless = [Column::default()];
        let columns = if self.columns.is_empty() { &nameless[..] } else { &self.columns };
        let mut cells = Vec::new();
        for block in &self.blocks {
            for row in &block.rows {
                let all = Column { name: "all".into(), ..Column::default() };
                let spanned = [all];
                let own = if row.spans { &spanned[..] } else { columns };
                for (k, column) in own.iter().enumerate() {
                    cells.push(self.cell(block, row, column, k, scale)?);
                }
            }
        }
        Ok(cells)
    }

    /// The cells that match one of `patterns`: `gut` matches every block, column or row of this
    /// name, `vgg11-16/alpha-0.1` the beginning of a path. Without patterns: all cells.
    ///
    /// # Errors
    /// If a pattern matches no cell, or the settings of a cell are not a valid configuration.
    pub fn cells_of(&self, patterns: &[String], scale: f64) -> Result<Vec<Cell>, ReproduceError> {
        let all = self.cells(scale)?;
        for pattern in patterns {
            if !all.iter().any(|cell| cell.matches(pattern)) {
                let known: Vec<&str> = all.iter().map(|cell| cell.path.as_str()).collect();
                let (experiment, got) = (self.name.clone(), pattern.clone());
                return Err(ReproduceError::NoRow { experiment, got, known: known.join(", ") });
            }
        }
        let wanted = |cell: &Cell| patterns.is_empty() || patterns.iter().any(|p| cell.matches(p));
        Ok(all.into_iter().filter(wanted).collect())
    }

    fn cell(
        &self,
        block: &Block,
        row: &TableRow,
        column: &Column,
        k: usize,
        scale: f64,
    ) -> Result<Cell, ReproduceError> {
        let path: Vec<&str> =
            [block.name.as_str(), &column.name].into_iter().filter(|p| !p.is_empty()).collect();
        let path = format!("{}/{}", path.join("/"), plain(&row.label));
        let mut table = self.config.clone();
        for set in [&block.set, &column.set, &row.set] {
            merge(&mut table, set);
        }
        let method = match row.mu.get(k) {
            Some(mu) => row.method.replace("{mu}", &mu.to_string()),
            None => row.method.clone(),
        };
        let failed = |source: ConfigError| {
            let (experiment, cell) = (self.name.clone(), path.clone());
            ReproduceError::Config { experiment, cell, source: Box::new(source) }
        };
        let mut config = Config::from_table(table).map_err(failed)?;
        config.methods = vec![MethodEntry::plain(&method)];
        config.seeds = Vec::new();
        config.epochs = config.epochs.map(|epochs| epochs * scale);
        config.rounds = config.rounds.map(|rounds| (rounds as f64 * scale).ceil() as u64);
        Ok(Cell {
            path,
            block: block.title.clone(),
            column: if column.title.is_empty() {
                column.name.clone()
            } else {
                column.title.clone()
            },
            x: column.x,
            label: row.label.clone(),
            method,
            paper: row.paper.get(k).map(|&[mean, std]| (mean, std)),
            config,
            scale,
        })
    }
}

impl Cell {
    /// The key of the trial with this seed.
    pub fn trial(&self, seed: u64) -> TrialKey {
        TrialKey::from_config(&self.config, seed)
    }

    fn matches(&self, pattern: &str) -> bool {
        if pattern.contains('/') {
            let rest = self.path.strip_prefix(pattern.trim_end_matches('/'));
            return rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        }
        self.path.split('/').any(|part| part == pattern)
    }
}

/// Merges two tables; values of `over` win.
fn merge(table: &mut toml::Table, over: &toml::Table) {
    for (key, value) in over {
        match (table.get_mut(key), value) {
            (Some(toml::Value::Table(old)), toml::Value::Table(new)) => merge(old, new),
            _ => {
                table.insert(key.clone(), value.clone());
            }
        }
    }
}

/// `QG-GUTm (ours)` as `qg-gutm-ours`.
fn plain(label: &str) -> String {
    let dashed: String = label
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' })
        .collect();
    let words: Vec<&str> = dashed.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "
        title = 't'
        paper = 'Table 9'
        [config]
        epochs = 8
        [[columns]]
        name = 'alpha-1'
        set = { partition = 'dirichlet:1' }
        [[columns]]
        name = 'alpha-0.1'
        set = { partition = 'dirichlet:0.1' }
        [[blocks]]
        name = 'small'
        title = 'Small'
        set = { graph = 'ring:4', evaluation = { every = 2 } }
        rows = [
            { label = 'DSGDm (IID)', method = 'dsgdm', spans = true, set = { partition = 'iid' } },
            { label = 'GUT', method = 'gut:mu={mu}', mu = [0.9, 0.8], paper = [[1, 2], [3, 4]] },
        ]";

    #[test]
    fn a_cell_is_a_row_of_a_block_in_a_column() {
        let experiment = Experiment::from_toml("small", SMALL).unwrap();
        let cells = experiment.cells(0.25).unwrap();
        let paths: Vec<&str> = cells.iter().map(|cell| cell.path.as_str()).collect();
        assert_eq!(paths, ["small/all/dsgdm-iid", "small/alpha-1/gut", "small/alpha-0.1/gut"]);
        assert_eq!(cells[0].config.partition, "iid");
        assert_eq!(cells[2].config.partition, "dirichlet:0.1");
        assert_eq!(cells[2].config.evaluation.every, 2.0);
        assert_eq!((cells[2].method.as_str(), cells[2].paper), ("gut:mu=0.8", Some((3.0, 4.0))));
        assert_eq!(cells[2].config.epochs, Some(2.0));
    }

    #[test]
    fn rows_are_chosen_by_any_part_of_their_path() {
        let experiment = Experiment::from_toml("small", SMALL).unwrap();
        let count = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|p| p.to_string()).collect();
            experiment.cells_of(&patterns, 1.0).map(|cells| cells.len())
        };
        assert_eq!(count(&[]).unwrap(), 3);
        assert_eq!(count(&["gut"]).unwrap(), 2);
        assert_eq!(count(&["small/alpha-1"]).unwrap(), 1);
        assert_eq!(count(&["alpha-1", "dsgdm-iid"]).unwrap(), 2);
        let told = count(&["gutt"]).unwrap_err().to_string();
        assert!(told.contains("small/alpha-0.1/gut"), "{told}");
    }

    #[test]
    fn a_wrong_preset_is_named() {
        for (wrong, with) in [("mu = [0.9, 0.8]", "mu = [0.9]"), ("gut:mu={mu}", "gut")] {
            let text = SMALL.replace(wrong, with);
            let told = Experiment::from_toml("small", &text).unwrap_err().to_string();
            assert!(told.contains("small") && told.contains("GUT"), "{told}");
        }
        let text = SMALL.replace("epochs = 8", "epoch = 8");
        let told = Experiment::from_toml("small", &text).unwrap().cells(1.0).unwrap_err();
        assert!(told.to_string().contains("did you mean `epochs`?"), "{told}");
    }
}
