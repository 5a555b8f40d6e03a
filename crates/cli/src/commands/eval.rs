//! `consort eval`: a saved model on the test set of a dataset.

use std::path::Path;

use consort_model::load_safetensors;
use consort_train::{Config, Evaluated, evaluate, find_model};
use serde::Serialize;

use super::{print_json, print_text};
use crate::arguments::EvalOptions;
use crate::failure::{Blame, Failure};
use crate::training::{self, read_config};

#[derive(Serialize)]
struct Answer {
    file: String,
    model: String,
    parameters: usize,
    data: String,
    test_samples: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    /// Of a regression, in place of the accuracy.
    #[serde(skip_serializing_if = "Option::is_none")]
    r2: Option<f64>,
    /// The root mean squared error of a regression, in the unit of its target.
    #[serde(skip_serializing_if = "Option::is_none")]
    rmse: Option<f64>,
    loss: f64,
    /// The evidence, if the model collapsed: it learned nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    collapsed: Option<String>,
}

pub(crate) fn run(options: &EvalOptions) -> Result<(), Failure> {
    let bytes = std::fs::read(&options.file).map_err(|error| {
        Failure::input(format!("cannot read the model {}: {error}", options.file.display()))
    })?;
    let of_run = config_around(&options.file);
    let from_run =
        |pick: fn(&Config) -> &String| of_run.as_ref().map(|config| pick(config).clone());
    let missing = |flag: &str| {
        Failure::input(format!(
            "{} is not in the folder of a run; add {flag}",
            options.file.display()
        ))
    };
    let data = options.data.clone().or_else(|| from_run(|config| &config.data));
    let data = data.ok_or_else(|| missing("--data NAME"))?;
    let model = options.model.clone().or_else(|| from_run(|config| &config.model));
    let model = model.ok_or_else(|| missing("--model NAME"))?;
    let data_dir = super::train::data_dir(&options.data_options)?;
    let dataset = std::sync::Arc::new(consort_data::load(&data, &data_dir).or_input()?);
    let spec = find_model(&model, &dataset).or_input()?;
    let parameters = consort_model::Parameters::new(&spec).or_input()?;
    let flat = load_safetensors(&parameters, &bytes)
        .map_err(|error| Failure::input(format!("{}: {error}", options.file.display())))?;
    let threads = training::threads(&options.work);
    let Evaluated { quality, loss, rmse, collapse } =
        evaluate(&spec, &dataset, &flat, threads).or_work()?;
    let answer = Answer {
        file: options.file.display().to_string(),
        model: spec.name.clone(),
        parameters: parameters.len(),
        data: dataset.name.clone(),
        test_samples: dataset.test.labels.len(),
        accuracy: quality.accuracy(),
        r2: quality.r2(),
        rmse,
        loss,
        collapsed: collapse.map(|collapse| collapse.to_string()),
    };
    if options.work.json {
        return print_json(&answer);
    }
    let collapsed =
        answer.collapsed.as_ref().map_or(String::new(), |how| format!("COLLAPSED, {how}\n"));
    let figures = match (dataset.task.target(), rmse) {
        (Some(target), Some(rmse)) => {
            format!("{quality}, RMSE {rmse:.4} of `{}`", target.name)
        }
        _ => format!("accuracy {quality}"),
    };
    print_text(&format!(
        "{}: {figures}, loss {:.4} on {} test samples of {}\n{collapsed}",
        answer.file, answer.loss, answer.test_samples, answer.data
    ))
}

/// The configuration of the run in whose folder the file is, if any.
fn config_around(file: &Path) -> Option<Config> {
    let file = std::fs::canonicalize(file).ok()?;
    file.ancestors().skip(1).take(3).find_map(|folder| read_config(folder).ok())
}
