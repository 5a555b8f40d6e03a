//! A model file, ready for use: its parameters, and what it says about itself.
//!
//! Files of older versions, and of other programs, say nothing. Then the run in whose folder the
//! file lies says which model it is and on what data it was trained; so may the user.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use consort_data::{DataDir, Dataset};
use consort_model::{Parameters, load_safetensors, read_metadata};
use consort_node::NetworkPlan;
use consort_train::{ModelCard, find_model};

use crate::arguments::SavedModelOptions;
use crate::commands::train::data_dir;
use crate::failure::{Blame, Failure};
use crate::training::read_config;

/// A saved model.
pub(crate) struct SavedModel {
    pub(crate) file: PathBuf,
    pub(crate) card: ModelCard,
    /// Its parameters, in the order of the flat vector.
    pub(crate) flat: Vec<f32>,
}

impl SavedModel {
    /// Reads a model file.
    pub(crate) fn open(options: &SavedModelOptions) -> Result<Self, Failure> {
        let bytes = read(&options.file)?;
        let card = match (card_in(&options.file, &bytes)?, &options.model, &options.data) {
            (Some(card), None, None) => card,
            (card, model, data) => card_of_user(options, card, model.as_ref(), data.as_ref())?,
        };
        Self::with_card(&options.file, &bytes, card)
    }

    /// The model of `bytes`, which has to be as its card says.
    pub(crate) fn with_card(file: &Path, bytes: &[u8], card: ModelCard) -> Result<Self, Failure> {
        let parameters = Parameters::new(&card.model).or_input()?;
        let flat = load_safetensors(&parameters, bytes)
            .map_err(|error| Failure::input(format!("{}: {error}", file.display())))?;
        Ok(SavedModel { file: file.into(), card, flat })
    }
}

/// The bytes of a model file.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(file).map_err(|error| {
        Failure::input(format!("cannot read the model {}: {error}", file.display()))
    })
}

/// What a model file says about itself, if it does.
pub(crate) fn card_in(file: &Path, bytes: &[u8]) -> Result<Option<ModelCard>, Failure> {
    let wrong = |error: String| Failure::input(format!("{}: {error}", file.display()));
    let texts = read_metadata(bytes).map_err(|error| wrong(error.to_string()))?;
    ModelCard::from_metadata(&texts).map_err(|error| wrong(error.to_string()))
}

/// A card from what the user says, what the file says and what its run says, in this order.
fn card_of_user(
    options: &SavedModelOptions,
    card: Option<ModelCard>,
    model: Option<&String>,
    data: Option<&String>,
) -> Result<ModelCard, Failure> {
    let origin = Origin::of(&options.file)?;
    let of_card = card.as_ref().map(|card| &card.data);
    let of_run = origin.as_ref().map(|origin| &origin.data);
    let data = data.or(of_card).or(of_run).ok_or_else(|| unsaid(&options.file, "--data DATA"))?;
    let dataset = load(data, &data_dir(&options.data_options)?)?;
    let spec = match (model.or(origin.as_ref().map(|origin| &origin.model)), &card) {
        (Some(name), _) if model.is_some() || card.is_none() => {
            find_model(name, &dataset).or_input()?
        }
        (_, Some(card)) => card.model.clone(),
        _ => return Err(unsaid(&options.file, "--model NAME")),
    };
    Ok(ModelCard::new(spec, &dataset, data))
}

/// A dataset that a model was trained on, or is tested on.
pub(crate) fn load(data: &str, data_dir: &DataDir) -> Result<Arc<Dataset>, Failure> {
    consort_data::load(data, data_dir).map(Arc::new).or_input()
}

/// What a file does not say, and how to say it.
pub(crate) fn unsaid(file: &Path, flag: &str) -> Failure {
    let what = if flag.starts_with("--model") {
        "which model it is"
    } else {
        "on what data it was trained, which decides the scaling of its inputs and its classes"
    };
    Failure::input(format!(
        "{} does not say {what} (a file of an older version, or of another program), and it is not \
         in the folder of a run; add {flag}",
        file.display()
    ))
}

/// The run in whose folder a file is: what it trained on what.
pub(crate) struct Origin {
    pub(crate) model: String,
    pub(crate) data: String,
}

impl Origin {
    /// The run of `train` or of a network plan around a file, if there is one.
    ///
    /// A damaged configuration is an error: the user would be told to say by flags what stands there.
    pub(crate) fn of(file: &Path) -> Result<Option<Self>, Failure> {
        const DEEPEST: usize = 3;
        let Ok(file) = fs::canonicalize(file) else { return Ok(None) };
        for folder in file.ancestors().skip(1).take(DEEPEST) {
            if folder.join("config.toml").is_file()
                && let Ok(config) = read_config(folder)
            {
                return Ok(Some(Origin { model: config.model, data: config.data }));
            }
            let plan = folder.join("plan.toml");
            if plan.is_file() {
                return Self::of_plan(&plan, &file).map(Some);
            }
        }
        Ok(None)
    }

    /// An agent's own data, if it has some; the averaged model has the scaling of agent 0.
    fn of_plan(path: &Path, file: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(path).or_input()?;
        let NetworkPlan { run, agents, .. } = NetworkPlan::from_toml(&text)
            .map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
        let folder = file.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        let agent = folder.and_then(|name| name.strip_prefix("agent-")?.parse().ok()).unwrap_or(0);
        let own = agents.into_iter().nth(agent).and_then(|agent| agent.data);
        Ok(Origin { model: run.model, data: own.unwrap_or(run.data) })
    }
}
