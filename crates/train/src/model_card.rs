//! What a model file says about its model, so that it can be used without the run that made it:
//! the layers, how inputs are scaled, what the outputs mean, where it comes from.
//!
//! All of it stands in the metadata of the safetensors file, which maps texts to texts:
//!
//! ```text
//!   consort   a sentence                        model    the layers, in TOML
//!   task      JSON: classification, or          input    JSON: how an image or the columns of a
//!             regression with its target                 table become numbers
//!   classes   JSON: names, in order             data     what to load to test it, by name or path
//!   dataset, method, graph, seed, version
//! ```

use std::collections::BTreeMap;

use consort_data::{Column, Dataset, Fit, Normalisation, Task};
use consort_model::ModelSpec;
use serde::{Deserialize, Serialize};

use crate::error::TrainError;

/// What a model file says about its model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCard {
    /// Where the model comes from, in a sentence.
    pub about: String,
    /// Its layers.
    pub model: ModelSpec,
    /// What it finds out.
    pub task: Task,
    /// The names of the classes, in the order of the outputs; none for a regression.
    pub classes: Vec<String>,
    /// How a sample becomes numbers.
    pub input: CardInput,
    /// The data it was trained on: what `consort_data::load` takes.
    pub data: String,
    /// Their name.
    pub dataset: String,
    /// How it was trained; none if that is not known.
    pub training: Option<CardTraining>,
}

/// How a sample becomes the numbers that a model sees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum CardInput {
    /// An image.
    Image {
        /// How it becomes as large as the input.
        fit: Fit,
        /// `(byte / unit - mean) / std`, channel by channel.
        #[serde(flatten)]
        normalisation: Normalisation,
    },
    /// A row of a table.
    Table {
        /// The columns that the model sees, in order.
        columns: Vec<Column>,
    },
}

/// How a model was trained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardTraining {
    /// The method, with its parameters.
    pub method: String,
    /// Who talked to whom.
    pub graph: String,
    /// The seed.
    pub seed: u64,
    /// The version of Consort.
    pub version: String,
}

impl ModelCard {
    /// The card of a model for these data, of whose training nothing is known.
    pub fn new(model: ModelSpec, dataset: &Dataset, data: &str) -> Self {
        let input = match dataset.image_reader() {
            Some(_) => {
                CardInput::Image { fit: dataset.fit, normalisation: dataset.normalisation.clone() }
            }
            None => CardInput::Table { columns: dataset.columns.clone() },
        };
        let classes = match dataset.task {
            Task::Classification => dataset.classes.clone(),
            _ => Vec::new(),
        };
        ModelCard {
            about: format!("{} for {}", model.name, dataset.name),
            model,
            task: dataset.task.clone(),
            classes,
            input,
            data: data.into(),
            dataset: dataset.name.clone(),
            training: None,
        }
    }

    /// The card as the metadata of a model file.
    ///
    /// # Errors
    /// If the model cannot be written as TOML.
    pub fn to_metadata(&self) -> Result<BTreeMap<String, String>, TrainError> {
        let mut texts = vec![
            ("consort", self.about.clone()),
            ("model", self.model.to_toml()?),
            ("task", to_json("task", &self.task)?),
            ("classes", to_json("classes", &self.classes)?),
            ("input", to_json("input", &self.input)?),
            ("data", self.data.clone()),
            ("dataset", self.dataset.clone()),
        ];
        if let Some(training) = &self.training {
            let CardTraining { method, graph, seed, version } = training.clone();
            texts.extend([("method", method), ("graph", graph)]);
            texts.extend([("seed", seed.to_string()), ("version", version)]);
        }
        Ok(texts.into_iter().map(|(key, text)| (key.to_string(), text)).collect())
    }

    /// The card in the metadata of a model file; none if the file has none: it was written by an
    /// older version, or by another program.
    ///
    /// # Errors
    /// If there is one that cannot be read.
    pub fn from_metadata(texts: &BTreeMap<String, String>) -> Result<Option<Self>, TrainError> {
        let keys = ["model", "task", "classes", "input"];
        if !keys.iter().all(|key| texts.contains_key(*key)) {
            return Ok(None);
        }
        let text = |key: &str| texts.get(key).cloned().unwrap_or_default();
        let model = ModelSpec::from_toml(&text("model")).map_err(|e| damaged("model", e))?;
        let training = match (texts.get("method"), texts.get("seed")) {
            (Some(method), Some(seed)) => Some(CardTraining {
                method: method.clone(),
                graph: text("graph"),
                seed: seed.parse().map_err(|e| damaged("seed", e))?,
                version: text("version"),
            }),
            _ => None,
        };
        let card = ModelCard {
            about: text("consort"),
            model,
            task: from_json("task", &text("task"))?,
            classes: from_json("classes", &text("classes"))?,
            input: from_json("input", &text("input"))?,
            data: text("data"),
            dataset: text("dataset"),
            training,
        };
        card.check()?;
        Ok(Some(card))
    }

    /// Whether its parts fit each other.
    fn check(&self) -> Result<(), TrainError> {
        let wrong = |key, expected: usize, what: &str, got: usize| {
            Err(damaged(key, format!("the model has {expected} {what}, got {got}")))
        };
        let outputs = self.model.classes;
        match &self.task {
            Task::Classification if self.classes.len() != outputs => {
                wrong("classes", outputs, "classes", self.classes.len())
            }
            Task::Regression(_) if outputs != 1 => wrong("task", outputs, "outputs", 1),
            _ => Ok(()),
        }?;
        let [height, width, channels] = self.model.input;
        match &self.input {
            CardInput::Image { normalisation, .. } => {
                let Normalisation { mean, std, .. } = normalisation;
                match [mean.len(), std.len()].into_iter().find(|&count| count != channels) {
                    Some(got) => wrong("input", channels, "channels", got),
                    None => Ok(()),
                }
            }
            CardInput::Table { columns } => {
                let inputs = height * width * channels;
                match columns.iter().map(Column::width).sum() {
                    got if got != inputs => wrong("input", inputs, "inputs", got),
                    _ => Ok(()),
                }
            }
        }
    }
}

fn to_json(key: &'static str, value: &impl Serialize) -> Result<String, TrainError> {
    serde_json::to_string(value).map_err(|error| damaged(key, error))
}

fn from_json<T: for<'a> Deserialize<'a>>(key: &'static str, text: &str) -> Result<T, TrainError> {
    serde_json::from_str(text).map_err(|error| damaged(key, error))
}

fn damaged(key: &'static str, problem: impl std::fmt::Display) -> TrainError {
    TrainError::Card { key, problem: problem.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consort_data::DataDir;
    use consort_model::zoo;

    fn digits() -> ModelCard {
        let data_dir = DataDir::find(Some(std::path::Path::new("."))).unwrap();
        let dataset = consort_data::load("digits", &data_dir).unwrap();
        let model = zoo::for_input("digits-cnn", dataset.input, 10).unwrap();
        ModelCard::new(model, &dataset, "digits")
    }

    #[test]
    fn a_card_comes_back_from_the_metadata() {
        let training = CardTraining {
            method: "gut:mu=0.9".into(),
            graph: "ring:4".into(),
            seed: u64::MAX,
            version: "1".into(),
        };
        for training in [None, Some(training)] {
            let card = ModelCard { training, ..digits() };
            let texts = card.to_metadata().unwrap();
            assert_eq!(ModelCard::from_metadata(&texts).unwrap(), Some(card));
        }
    }

    #[test]
    fn a_file_of_another_program_has_none_and_a_damaged_one_is_told() {
        let texts = BTreeMap::from([("format".to_string(), "pt".to_string())]);
        assert_eq!(ModelCard::from_metadata(&texts).unwrap(), None);
        for (key, text, told) in [
            ("classes", "[\"a\"]", "'classes': the model has 10 classes, got 1"),
            ("input", "{}", "'input': missing field `kind`"),
            ("input", r#"{"kind":"table","columns":[]}"#, "64 inputs, got 0"),
            ("model", "name = 1", "'model': not a model"),
            ("task", r#"{"task":"poetry"}"#, "'task': unknown variant"),
        ] {
            let mut texts = digits().to_metadata().unwrap();
            texts.insert(key.into(), text.into());
            let message = ModelCard::from_metadata(&texts).unwrap_err().to_string();
            assert!(message.contains(told), "{message}");
        }
    }
}
