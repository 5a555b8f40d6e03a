//! `consort eval`: a saved model on the test set of a dataset.

use std::path::Path;
use std::sync::Arc;

use consort_data::{ColumnKind, Dataset, Samples};
use consort_model::{Parameters, load_safetensors};
use consort_train::{CardInput, Evaluated, ModelCard, evaluate, find_model};
use serde::Serialize;

use super::{print_json, print_text};
use crate::arguments::EvalOptions;
use crate::failure::{Blame, Failure};
use crate::saved_model::{self, Origin, unsaid};
use crate::training;

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
    let file = &options.file;
    let bytes = saved_model::read(file)?;
    let card = saved_model::card_in(file, &bytes)?;
    let origin = match (&card, &options.data, &options.model) {
        (None, data, model) if data.is_none() || model.is_none() => Origin::of(file)?,
        _ => None,
    };
    let of_card = card.as_ref().map(|card| &card.data);
    let data = options.data.as_ref().or(of_card);
    let data = data.or(origin.as_ref().map(|origin| &origin.data));
    let data = data.ok_or_else(|| unsaid(file, "--data DATA"))?;
    let data_dir = super::train::data_dir(&options.data_options)?;
    let said_by_user = options.data.is_some();
    let dataset = consort_data::load(data, &data_dir).map(Arc::new).map_err(|error| match said_by_user {
        true => Failure::input(error.to_string()),
        false => Failure::input(format!(
            "{error}\n  {} was trained on {data}; --data DATA says where the data are now, or names \
             others",
            file.display()
        )),
    })?;
    let of_run = origin.as_ref().map(|origin| &origin.model);
    let spec = match (options.model.as_ref().or(of_run), &card) {
        (Some(name), _) => find_model(name, &dataset).or_input()?,
        (None, Some(card)) => card.model.clone(),
        (None, None) => return Err(unsaid(file, "--model NAME")),
    };
    let dataset = match &card {
        Some(card) => as_trained(file, dataset, card)?,
        None => dataset,
    };
    let parameters = Parameters::new(&spec).or_input()?;
    let flat = load_safetensors(&parameters, &bytes)
        .map_err(|error| Failure::input(format!("{}: {error}", file.display())))?;
    let threads = training::threads(&options.work);
    let Evaluated { quality, loss, rmse, collapse } =
        evaluate(&spec, &dataset, &flat, threads).or_work()?;
    let answer = Answer {
        file: file.display().to_string(),
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

/// The dataset with the classes and the scaling that the model was trained with: a table scales
/// itself by its own rows, and counts the classes that occur in it.
fn as_trained(
    file: &Path,
    dataset: Arc<Dataset>,
    card: &ModelCard,
) -> Result<Arc<Dataset>, Failure> {
    let unfit = |what: String| {
        Failure::input(format!("{} does not fit {}: {what}", dataset.name, file.display()))
    };
    if dataset.input != card.model.input {
        let [shape, trained] =
            [dataset.input, card.model.input].map(|[h, w, c]| format!("{h}x{w}x{c}"));
        return Err(unfit(format!(
            "its samples are {shape}, the model takes {trained}; a folder of images takes a size, as \
             in folder:PATH:size={}",
            card.model.input[0]
        )));
    }
    let mut changed = Dataset::clone(&dataset);
    match (dataset.task.target(), card.task.target()) {
        (Some(own), Some(trained)) if own != trained => {
            for target in &mut changed.test.targets {
                *target = trained.scaled(own.unscaled(*target));
            }
            changed.task = card.task.clone();
        }
        (own, trained) if own.is_some() != trained.is_some() => {
            return Err(unfit("one is a regression, the other has classes".into()));
        }
        _ => {}
    }
    if card.task.target().is_none() && dataset.classes != card.classes {
        changed = with_classes(changed, &card.classes).map_err(unfit)?;
    }
    if let CardInput::Table { columns } = &card.input
        && *columns != dataset.columns
    {
        changed = with_columns(changed, columns).map_err(unfit)?;
    }
    Ok(Arc::new(changed))
}

/// The same samples, their labels counted as the model counts its classes.
fn with_classes(mut dataset: Dataset, classes: &[String]) -> Result<Dataset, String> {
    let place = |class: &String| {
        let found = classes.iter().position(|known| known == class);
        found.map(|place| place as u32).ok_or_else(|| {
            format!("the model has no class `{class}`; it has {}", classes.join(", "))
        })
    };
    let places = dataset.classes.iter().map(place).collect::<Result<Vec<u32>, String>>()?;
    for samples in [&mut dataset.train, &mut dataset.test] {
        for label in &mut samples.labels {
            *label = places[*label as usize];
        }
    }
    dataset.classes = classes.to_vec();
    Ok(dataset)
}

/// The same samples, scaled as those that the model was trained on.
fn with_columns(mut dataset: Dataset, columns: &[consort_data::Column]) -> Result<Dataset, String> {
    let names = |columns: &[consort_data::Column]| {
        columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>().join(", ")
    };
    let same = columns.len() == dataset.columns.len()
        && columns.iter().zip(&dataset.columns).all(|(a, b)| a.name == b.name);
    if !same {
        return Err(format!(
            "its columns are {}; the model takes {}",
            names(&dataset.columns),
            names(columns)
        ));
    }
    // One input each, or its categories would differ: the lengths of the samples are equal.
    let mut rescale = Vec::new();
    for (trained, here) in columns.iter().zip(&dataset.columns) {
        match (&trained.kind, &here.kind) {
            (ColumnKind::Number { mean, std }, ColumnKind::Number { mean: own, std: unit }) => {
                rescale.push((unit / std, (own - mean) / std));
            }
            (ColumnKind::Category { values }, ColumnKind::Category { values: own })
                if values == own =>
            {
                rescale.extend(values.iter().map(|_| (1.0, 0.0)));
            }
            _ => return Err(format!("column `{}` has other categories", trained.name)),
        }
    }
    let mut inputs = vec![0.0; dataset.test.len() * dataset.sample_len()];
    let (labels, targets) = (dataset.test.labels.clone(), dataset.test.targets.clone());
    for (index, row) in inputs.chunks_exact_mut(dataset.sample_len()).enumerate() {
        dataset.write_test(index, row).map_err(|error| error.to_string())?;
        for (value, (factor, offset)) in row.iter_mut().zip(&rescale) {
            *value = (f64::from(*value) * factor + offset) as f32;
        }
    }
    dataset.test = Samples::numbers(labels, inputs).with_targets(targets);
    dataset.columns = columns.to_vec();
    Ok(dataset)
}
