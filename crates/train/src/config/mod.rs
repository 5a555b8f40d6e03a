//! What a run is to do, as the user writes it: TOML, every key with a default.
//!
//! ```
//! use consort_train::Config;
//!
//! let config = Config::from_toml("graph = 'ring:8'\nepochs = 10", &["eta=0.2".into()])?;
//! assert_eq!((config.graph.as_str(), config.eta), ("ring:8", 0.2));
//! let error = Config::from_toml("epoch = 10", &[]).unwrap_err().to_string();
//! assert!(error.contains("did you mean `epochs`?"), "{error}");
//! # Ok::<(), consort_train::ConfigError>(())
//! ```

mod differences;
mod error;
mod key_probe;
mod keys;
mod mix;
mod reference;
mod schedule;
mod schema;
mod sweep;
mod sweep_flag;

pub use error::ConfigError;
pub use keys::check_keys;
pub use mix::{GraphChange, Mix, MixShape};
pub use reference::config_markdown;
pub use schedule::{Schedule, Shape};
pub use schema::config_schema;
pub use sweep::{Combination, Sweep};
pub use sweep_flag::sweep_override;

use serde::{Deserialize, Serialize};

/// A run: one model, one graph, one way to share out the data; several methods and seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The stem of the run's folder.
    pub name: String,
    /// A dataset by name, `folder:PATH` or `csv:PATH`.
    pub data: String,
    /// How the training samples are shared out: `dirichlet:0.1`, `iid`, ...
    pub partition: String,
    /// The seed of the partition; without one, each seed of the run makes its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition_seed: Option<u64>,
    /// Who talks to whom: `ring:16`, `dyck`, `file:PATH`, ...
    pub graph: String,
    /// The seed of a random graph.
    pub graph_seed: u64,
    /// The mixing weights: `auto`, `metropolis`, ...
    pub weights: String,
    /// A model by name, or a TOML file that describes one.
    pub model: String,
    /// The methods to compare.
    pub methods: Vec<MethodEntry>,
    /// One trial of every method per seed.
    pub seeds: Vec<u64>,
    /// How often every agent passes over its own data. Not together with `rounds`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epochs: Option<f64>,
    /// How many rounds of communication. Not together with `epochs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u64>,
    /// Samples in an agent's mini-batch.
    pub batch: usize,
    /// The step size at the start.
    pub eta: f64,
    /// How much of the model is added to its gradient.
    pub weight_decay: f64,
    /// The longest gradient of an agent, over all parameters together: a longer one is shortened
    /// to it. Without a number, none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip_norm: Option<f64>,
    /// SAM: how far uphill of the model its gradient is taken (rho), at the cost of a second
    /// gradient. Without a number or with 0, at the model itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sam: Option<f64>,
    /// How the step size changes.
    pub schedule: Schedule,
    /// What is measured, and how often.
    pub evaluation: Evaluation,
    /// When the state of the run is saved.
    pub checkpoint: Checkpoint,
    /// Also write event files for TensorBoard.
    pub tensorboard: bool,
    /// The share of the training samples of every class that is set apart: nobody trains on them,
    /// and models are measured on them too. A sweep sets a tenth apart, and measures models on
    /// these samples alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<f64>,
    /// Values to try, every combination of them.
    #[serde(skip_serializing_if = "Sweep::is_empty")]
    pub sweep: Sweep,
}

/// A method by name, or a table with settings of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "MethodText", into = "MethodText")]
pub struct MethodEntry {
    /// The method with its parameters, as in `gut:mu=0.9`.
    pub method: String,
    /// Its name in tables and legends.
    pub label: Option<String>,
    /// Its own step size.
    pub eta: Option<f64>,
    /// Its own weight decay.
    pub weight_decay: Option<f64>,
    /// Its own longest gradient.
    pub clip_norm: Option<f64>,
    /// Its own rho of SAM.
    pub sam: Option<f64>,
    /// How its models are mixed over the run, in place of `schedule.mix`.
    pub mix: Option<Mix>,
}

impl MethodEntry {
    /// A method without settings of its own.
    pub fn plain(method: impl Into<String>) -> Self {
        MethodEntry { method: method.into(), ..MethodEntry::default() }
    }
}

/// Both ways to write a method.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum MethodText {
    Name(String),
    Table(MethodTable),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct MethodTable {
    method: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    eta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight_decay: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clip_norm: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sam: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mix: Option<Mix>,
}

impl From<MethodText> for MethodEntry {
    fn from(text: MethodText) -> Self {
        match text {
            MethodText::Name(method) => MethodEntry::plain(method),
            MethodText::Table(table) => {
                let MethodTable { method, label, eta, weight_decay, clip_norm, sam, mix } = table;
                MethodEntry { method, label, eta, weight_decay, clip_norm, sam, mix }
            }
        }
    }
}

impl From<MethodEntry> for MethodText {
    fn from(entry: MethodEntry) -> Self {
        if entry == MethodEntry::plain(&entry.method) {
            return MethodText::Name(entry.method);
        }
        let MethodEntry { method, label, eta, weight_decay, clip_norm, sam, mix } = entry;
        MethodText::Table(MethodTable { method, label, eta, weight_decay, clip_norm, sam, mix })
    }
}

/// What is measured, and how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Evaluation {
    /// Epochs between two evaluations of the averaged model on the whole test set.
    pub every: f64,
    /// Test samples on which each agent's own model is evaluated; 0: none. Without a number,
    /// 16,000 shared among the agents, but at least 100 each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_samples: Option<usize>,
}

/// When the state of the run is saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Checkpoint {
    /// Seconds between two checkpoints; 0: only at Ctrl-C.
    pub every_seconds: f64,
    /// Rounds between two checkpoints, instead of seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_rounds: Option<u64>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            name: String::new(),
            data: "digits".into(),
            partition: "dirichlet:alpha=0.1".into(),
            partition_seed: None,
            graph: "ring:16".into(),
            graph_seed: 1,
            weights: "auto".into(),
            model: "mlp".into(),
            methods: ["dsgd", "gut", "qg-dsgdm", "qg-gutm"].map(MethodEntry::plain).into(),
            seeds: vec![1, 2, 3],
            epochs: None,
            rounds: None,
            batch: 32,
            eta: 0.1,
            weight_decay: 0.0,
            clip_norm: None,
            sam: None,
            schedule: Schedule::default(),
            evaluation: Evaluation::default(),
            checkpoint: Checkpoint::default(),
            tensorboard: false,
            validation: None,
            sweep: Sweep::default(),
        }
    }
}

impl Default for Evaluation {
    fn default() -> Self {
        Evaluation { every: 1.0, agent_samples: None }
    }
}

impl Default for Checkpoint {
    fn default() -> Self {
        Checkpoint { every_seconds: 30.0, every_rounds: None }
    }
}

/// The share of the training samples that a sweep sets apart, unless the user says another one.
const USUAL_VALIDATION: f64 = 0.1;

/// Epochs, if neither epochs nor rounds are given.
const USUAL_EPOCHS: f64 = 30.0;

impl Config {
    /// Reads TOML, then lets `overrides` (`key=value`, keys as in `schedule.factor`) replace
    /// what it says.
    ///
    /// # Errors
    /// Names the key and its line: unknown (with what was probably meant), of another kind, or out
    /// of range.
    pub fn from_toml(text: &str, overrides: &[String]) -> Result<Self, ConfigError> {
        let mut table: toml::Table = text.parse().map_err(ConfigError::toml)?;
        for pair in overrides {
            keys::set(&mut table, pair)?;
        }
        Self::from_table(table).map_err(|error| {
            match error.key().and_then(|key| keys::line_of(text, key, overrides)) {
                Some(line) => ConfigError::OnLine { line, error: Box::new(error) },
                None => error,
            }
        })
    }

    /// Reads what has been taken apart as TOML already.
    ///
    /// # Errors
    /// As [`from_toml`](Self::from_toml).
    pub fn from_table(mut table: toml::Table) -> Result<Self, ConfigError> {
        // Its keys are those of others, and need the methods to be understood.
        let sweep = table.remove("sweep").map(Sweep::from_value).transpose()?;
        keys::check(&table)?;
        let mut config = Config::deserialize(table).map_err(ConfigError::toml)?;
        config.sweep = sweep.unwrap_or_default();
        if !config.sweep.is_empty() && config.validation.is_none() {
            config.validation = Some(USUAL_VALIDATION);
        }
        if config.epochs.is_none() && config.rounds.is_none() {
            config.epochs = Some(USUAL_EPOCHS);
        }
        config.check()?;
        Ok(config)
    }

    /// The same as TOML, every key written out.
    ///
    /// # Errors
    /// If a number is too large for TOML.
    pub fn to_toml(&self) -> Result<String, ConfigError> {
        toml::to_string(self).map_err(|error| ConfigError::Written { reason: error.to_string() })
    }

    /// The same as a table of TOML.
    ///
    /// # Errors
    /// If a number is too large for TOML.
    pub fn as_table(&self) -> Result<toml::Table, ConfigError> {
        toml::Table::try_from(self)
            .map_err(|error| ConfigError::Written { reason: error.to_string() })
    }

    /// How many rounds a trial has, whose data are passed over once in `rounds_per_epoch`.
    pub(crate) fn rounds_of(&self, rounds_per_epoch: f64) -> u64 {
        match (self.rounds, self.epochs) {
            (Some(rounds), _) => rounds,
            (None, epochs) => (epochs.unwrap_or(1.0) * rounds_per_epoch).round().max(1.0) as u64,
        }
    }

    fn check(&self) -> Result<(), ConfigError> {
        let range = |key: &str, fits: bool, expected: &str, got: String| {
            let (key, expected) = (key.to_string(), expected.to_string());
            if fits { Ok(()) } else { Err(ConfigError::Range { key, expected, got }) }
        };
        if let (Some(_), Some(_)) = (self.epochs, self.rounds) {
            return Err(ConfigError::Both { first: "epochs", second: "rounds" });
        }
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let not_negative = |x: f64| x.is_finite() && x >= 0.0;
        if let Some(epochs) = self.epochs {
            let fits = positive(epochs) && epochs <= 1e6;
            range("epochs", fits, "more than 0, up to 1000000", epochs.to_string())?;
        }
        if let Some(rounds) = self.rounds {
            range("rounds", rounds > 0, "at least 1", rounds.to_string())?;
        }
        range("batch", (1..=1 << 20).contains(&self.batch), "at least 1", self.batch.to_string())?;
        range("eta", positive(self.eta), "more than 0", self.eta.to_string())?;
        let decay = self.weight_decay;
        range("weight-decay", not_negative(decay), "0 or more", decay.to_string())?;
        let clip = self.clip_norm.unwrap_or(1.0);
        range("clip-norm", positive(clip), "more than 0", clip.to_string())?;
        let sam = self.sam.unwrap_or(0.0);
        range("sam", not_negative(sam), "0 or more", sam.to_string())?;
        let every = self.evaluation.every;
        range("evaluation.every", positive(every), "more than 0", every.to_string())?;
        let seconds = self.checkpoint.every_seconds;
        range("checkpoint.every-seconds", not_negative(seconds), "0 or more", seconds.to_string())?;
        let every_rounds = self.checkpoint.every_rounds;
        range("checkpoint.every-rounds", every_rounds != Some(0), "at least 1", "0".into())?;
        let share = self.validation.unwrap_or(USUAL_VALIDATION);
        let fits = share > 0.0 && share < 1.0;
        range("validation", fits, "a share, above 0 and below 1", share.to_string())?;
        range("methods", !self.methods.is_empty(), "at least one method", "none".into())?;
        range("seeds", !self.seeds.is_empty(), "at least one seed", "none".into())?;
        let twice = |k: usize| self.seeds[..k].contains(&self.seeds[k]);
        if let Some(k) = (0..self.seeds.len()).find(|&k| twice(k)) {
            range("seeds", false, "different seeds", format!("{} twice", self.seeds[k]))?;
        }
        for entry in &self.methods {
            let (eta, decay) = (entry.eta.unwrap_or(1.0), entry.weight_decay.unwrap_or(0.0));
            range("methods.eta", positive(eta), "more than 0", eta.to_string())?;
            range("methods.weight-decay", not_negative(decay), "0 or more", decay.to_string())?;
            let clip = entry.clip_norm.unwrap_or(1.0);
            range("methods.clip-norm", positive(clip), "more than 0", clip.to_string())?;
            let sam = entry.sam.unwrap_or(0.0);
            range("methods.sam", not_negative(sam), "0 or more", sam.to_string())?;
            if let Some(mix) = &entry.mix {
                mix.check("methods.mix")?;
            }
        }
        let plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
        let fits = self.name.chars().all(plain) && !self.name.starts_with('.');
        range("name", fits, "letters, digits, - _ .", format!("\"{}\"", self.name))?;
        self.schedule.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_survive_a_round_trip() {
        let config = Config::from_toml("", &[]).unwrap();
        assert_eq!(config.epochs, Some(USUAL_EPOCHS));
        let again = Config::from_toml(&config.to_toml().unwrap(), &[]).unwrap();
        assert_eq!(config, again);
    }

    #[test]
    fn a_method_may_have_settings_of_its_own() {
        let text = "methods = ['gut', { method = 'dsgd', eta = 0.5, label = 'D-SGD' }]";
        let config = Config::from_toml(text, &[]).unwrap();
        assert_eq!(config.methods[0], MethodEntry::plain("gut"));
        assert_eq!(config.methods[1].eta, Some(0.5));
        let again = Config::from_toml(&config.to_toml().unwrap(), &[]).unwrap();
        assert_eq!(config, again);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_key() {
        let told = |text: &str| Config::from_toml(text, &[]).unwrap_err().to_string();
        for (text, parts) in [
            ("btach = 3", &["btach", "did you mean `batch`?"][..]),
            ("[schedule]\nfacter = 0.1", &["schedule.facter", "did you mean `schedule.factor`?"]),
            ("xyzzy = 1", &["xyzzy", "known here:", "graph"]),
            ("epochs = -1", &["epochs", "more than 0", "-1"]),
            ("epochs = 1\nrounds = 2", &["epochs", "rounds"]),
            ("batch = 'many'", &["line 1: batch: expected a whole number, got \"many\""]),
            ("\n\neta = 'abc'", &["line 3: eta: expected a number, got \"abc\""]),
            ("batch = 3.5", &["batch: expected a whole number, got 3.5"]),
            ("batch = -1", &["batch: expected a whole number, got -1"]),
            ("methods = 'gut'", &["methods: expected a list, as in [\"gut\"], got \"gut\""]),
            ("methods = [3]", &["methods: expected names of methods", "[\"gut\"]", "got 3"]),
            ("methods = [{ eta = 1 }]", &["methods: expected a method, as in method = \"gut\""]),
            ("methods = [{ method = 'gut', labl = 'x' }]", &["did you mean `methods.label`?"]),
            ("[[methods]]\nmethod = 'gut'\neta = 'a'", &["line 3: methods.eta: expected a number"]),
            ("seeds = ['a']", &["seeds: expected a list of whole numbers, as in [1, 2, 3]"]),
            ("tensorboard = 1", &["tensorboard: expected true or false, got 1"]),
            ("schedule = 3", &["schedule: expected a table of its own", "[schedule]", "got 3"]),
            ("[eta]\nx = 3", &["eta: expected a number, got a table"]),
            ("[schedule]\nshape = 'cosin'", &["line 2", "\"milestones\"", "mean \"cosine\"?"]),
            ("[schedul]\nfactor = 0.1", &["schedul", "did you mean `schedule`?"]),
            ("schedul = 0.1", &["line 1: unknown key `schedul`, did you mean `schedule`?"]),
            ("factor = 0.1", &["factor", "did you mean `schedule.factor`?"]),
            ("\nbatch = 0", &["line 2: batch: expected at least 1, got 0"]),
            ("methods = []", &["methods", "at least one"]),
            ("seeds = [1, 1]", &["seeds", "1 twice"]),
            ("name = '../x'", &["name", "letters"]),
            ("graph = 3", &["graph: expected text in quotes, as in \"ring:16\", got 3"]),
            ("[schedule]\nmilestones = [0.5, 1.5]", &["schedule.milestones"]),
            ("epochs = ", &["line 1"]),
        ] {
            let message = told(text);
            for part in parts {
                assert!(message.contains(part), "{text}: {message}");
            }
        }
    }

    #[test]
    fn overrides_win_and_bare_words_are_text() {
        let set = ["graph=torus:4x8", "eta = 0.3", "seeds=[7]", "schedule.shape=cosine"];
        let set: Vec<String> = set.map(String::from).into();
        let config = Config::from_toml("graph = 'ring:4'\neta = 0.1", &set).unwrap();
        assert_eq!((config.graph.as_str(), config.eta), ("torus:4x8", 0.3));
        assert_eq!(config.seeds, [7]);
        assert_eq!(config.schedule.shape, Shape::Cosine);
        let one = Config::from_toml("", &["methods=gut:mu=0.5".into(), "seeds=4".into()]).unwrap();
        assert_eq!((one.methods, one.seeds), (vec![MethodEntry::plain("gut:mu=0.5")], vec![4]));
        for bad in ["graph", "=3", "graph.x=3", "a.b.c=1"] {
            Config::from_toml("", &[bad.into()]).unwrap_err();
        }
        // What an override says stands on no line of the file.
        let error = Config::from_toml("eta = 0.1", &["eta=abc".into()]).unwrap_err().to_string();
        assert_eq!(error, "eta: expected a number, got \"abc\"");
    }
}
