//! What a model is to find out about a sample: which class it is, or a number.

use serde::{Deserialize, Serialize};

/// What a dataset asks of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Task {
    /// Which of the classes a sample is: one output a class, cross-entropy, accuracy.
    #[default]
    Classification,
    /// A number: one output, mean squared error, R².
    Regression(Target),
}

/// The number that a regression predicts. Models see it scaled: `(value - mean) / std`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The name of its column.
    pub name: String,
    /// Its mean over the training samples.
    pub mean: f64,
    /// Its standard deviation over the training samples.
    pub std: f64,
}

impl Target {
    /// The target as a model sees it.
    pub fn scaled(&self, value: f64) -> f32 {
        ((value - self.mean) / self.std) as f32
    }

    /// A model's output, in the unit of the target.
    pub fn unscaled(&self, output: f32) -> f64 {
        f64::from(output) * self.std + self.mean
    }

    /// The root of a mean squared error of scaled targets, in the unit of the target.
    pub fn rmse(&self, loss: f64) -> f64 {
        self.std * loss.sqrt()
    }
}

impl Task {
    /// The target of a regression.
    pub fn target(&self) -> Option<&Target> {
        match self {
            Task::Classification => None,
            Task::Regression(target) => Some(target),
        }
    }
}
