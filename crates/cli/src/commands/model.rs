//! `consort model`: the built-in models, one model in detail, a template for one's own.

use std::path::Path;

use consort_model::{Engine, Extent, Isa, LayerFacts, ModelSpec, Parameters, TEMPLATE, zoo};
use consort_train::{ModelCard, find_model};
use serde_json::{Value, json};

use super::{print_json, print_text};
use crate::arguments::{ModelAction, ModelOptions};
use crate::failure::{Blame, Failure};
use crate::{saved_model, table};

/// The classes of a model that is shown for no data in particular.
const CLASSES: usize = 10;

pub(crate) fn run(options: &ModelOptions) -> Result<(), Failure> {
    match &options.action {
        ModelAction::List { json } => list(*json),
        ModelAction::Template => print_text(TEMPLATE),
        ModelAction::Show { model, toml, json, .. } => {
            let (spec, card) = find(model, &options.action)?;
            if *toml {
                let head = "# consort model show OWN.toml says what is wrong with a changed copy\n";
                return print_text(&(head.to_string() + &spec.to_toml().or_work()?));
            }
            let facts = Facts::of(&spec)?;
            if *json {
                print_json(&facts.json(card.as_ref()))
            } else {
                print_text(&facts.text(card.as_ref()))
            }
        }
    }
}

/// The model that is to be shown, and what its file says if it is a saved one.
fn find(name: &str, show: &ModelAction) -> Result<(ModelSpec, Option<ModelCard>), Failure> {
    let ModelAction::Show { data, input, classes, data_options, .. } = show else {
        return Err(Failure::input("there is no model to show"));
    };
    if name.ends_with(".safetensors") {
        let path = Path::new(name);
        let bytes = saved_model::read(path)?;
        let card = saved_model::card_in(path, &bytes)?;
        let card = card.ok_or_else(|| {
            Failure::input(format!(
                "{name} does not say which model it is (a file of an older version, or of another \
                 program); `consort model show NAME` shows a model by its name"
            ))
        })?;
        // Its parameters have to fit.
        let saved = saved_model::SavedModel::with_card(path, &bytes, card)?;
        return Ok((saved.card.model.clone(), Some(saved.card)));
    }
    if let Some(data) = data {
        let dataset = saved_model::load(data, &super::train::data_dir(data_options)?)?;
        return Ok((find_model(name, &dataset).or_input()?, None));
    }
    if zoo::is_file(name) {
        if input.is_some() || classes.is_some() {
            return Err(Failure::input(format!(
                "--input and --classes are for built-in models; {name} says its own"
            )));
        }
        let spec = ModelSpec::read(Path::new(name)).map_err(|error| match error {
            error @ (consort_model::ModelError::NoFile { .. }
            | consort_model::ModelError::File { .. }) => Failure::input(error.to_string()),
            error => Failure::input(format!("{name}: {error}")),
        });
        return Ok((spec?, None));
    }
    let classes = classes.map_or(CLASSES, |classes| classes as usize);
    let usual = match name.strip_prefix("mlp:") {
        Some(_) => zoo::by_name("mlp", classes),
        None => zoo::by_name(name, classes),
    };
    let shape = match input {
        Some(input) => input.0,
        None => usual.or_input()?.input,
    };
    Ok((zoo::for_input(name, shape, classes).or_input()?, None))
}

fn list(as_json: bool) -> Result<(), Failure> {
    let mut all = Vec::new();
    for entry in &zoo::CATALOGUE {
        let spec = zoo::by_name(entry.name, CLASSES).or_work()?;
        let layers = LayerFacts::of(&spec).or_work()?;
        let parameters: usize = layers.iter().map(|layer| layer.parameters).sum();
        let flops: u64 = layers.iter().map(|layer| layer.flops).sum();
        all.push((entry, spec, parameters, flops));
    }
    if as_json {
        let row = |(entry, spec, parameters, flops): &(&zoo::ZooEntry, ModelSpec, usize, u64)| {
            json!({
                "name": entry.name,
                "what": entry.what,
                "input": spec.input,
                "classes": spec.classes,
                "parameters": parameters,
                "flops_per_image": flops,
            })
        };
        return print_json(&all.iter().map(row).collect::<Vec<_>>());
    }
    let row = |(entry, spec, parameters, flops): &(&zoo::ZooEntry, ModelSpec, usize, u64)| {
        vec![
            entry.name.to_string(),
            shape(spec.input),
            parameters.to_string(),
            millions(*flops),
            entry.what.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    let header = ["name", "usual input", "parameters", "MFLOP", "what"];
    print_text(&format!(
        "{}\nInputs are height x width x channels; every model takes other inputs and numbers of \
         classes, as far\nas they fit. MFLOP: millions of operations of an image, forward. Your own: \
         `consort model template`.\n",
        table::render(&header, &rows)
    ))
}

/// All that is known about a model.
struct Facts<'a> {
    spec: &'a ModelSpec,
    layers: Vec<LayerFacts>,
    parameters: usize,
    /// Operations of one image: forward, and of a step of training.
    flops: [u64; 2],
    micro_batch: usize,
    /// Bytes of a thread's engine.
    memory: usize,
}

impl<'a> Facts<'a> {
    fn of(spec: &'a ModelSpec) -> Result<Self, Failure> {
        let layers = LayerFacts::of(spec).or_input()?;
        let micro_batch = Engine::default_micro_batch(spec);
        let engine = Engine::new(spec, micro_batch, Isa::detect()).or_input()?;
        Ok(Facts {
            spec,
            parameters: Parameters::new(spec).or_input()?.len(),
            flops: [layers.iter().map(|layer| layer.flops).sum(), engine.flops_per_image()],
            layers,
            micro_batch,
            memory: engine.memory_bytes(),
        })
    }

    fn text(&self, card: Option<&ModelCard>) -> String {
        let Facts { spec, parameters, flops, micro_batch, memory, .. } = self;
        let what = zoo::CATALOGUE.iter().find(|entry| entry.name == spec.name);
        let what = match (card, what) {
            (Some(card), _) => format!(": {}", card.about),
            (None, Some(entry)) => format!(": {}", entry.what),
            (None, None) => String::new(),
        };
        let size = |bytes: usize| match bytes {
            0..1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
            _ => format!("{:.1} MB", bytes as f64 / 1e6),
        };
        let init = match spec.init {
            consort_model::Init::Torch => "torch",
            consort_model::Init::HeFanOut => "he-fan-out",
        };
        let mut text = format!(
            "{}{what}\n  input       {} (height x width x channels)\n  outputs     {}\n  \
             parameters  {parameters} ({}), initialised as {init}\n  \
             operations  {} MFLOP for an image forward, {} for loss and gradient\n  \
             memory      {} for activations, gradients and packed weights on each thread, {} images \
             at a time\n",
            spec.name,
            shape(spec.input),
            spec.classes,
            size(4 * parameters),
            millions(flops[0]),
            millions(flops[1]),
            size(*memory),
            micro_batch,
        );
        if let Some(card) = card {
            text += &card_text(card);
        }
        let row = |layer: &LayerFacts| {
            vec![
                layer.name.clone(),
                layer.kind.to_string(),
                extent(layer.input),
                extent(layer.output),
                if layer.parameters > 0 { layer.parameters.to_string() } else { "-".into() },
                if layer.flops > 0 { millions(layer.flops) } else { "-".into() },
            ]
        };
        let rows: Vec<Vec<String>> = self.layers.iter().map(row).collect();
        let header = ["layer", "kind", "input", "output", "parameters", "MFLOP"];
        text + "\n" + &table::render(&header, &rows)
    }

    fn json(&self, card: Option<&ModelCard>) -> Value {
        let layer = |layer: &LayerFacts| {
            json!({
                "layer": layer.name,
                "kind": layer.kind,
                "input": extent(layer.input),
                "output": extent(layer.output),
                "parameters": layer.parameters,
                "flops": layer.flops,
            })
        };
        let mut value = json!({
            "name": self.spec.name,
            "input": self.spec.input,
            "classes": self.spec.classes,
            "parameters": self.parameters,
            "parameter_bytes": 4 * self.parameters,
            "flops_per_image": self.flops[0],
            "training_flops_per_image": self.flops[1],
            "micro_batch": self.micro_batch,
            "memory_bytes_per_thread": self.memory,
            "layers": self.layers.iter().map(layer).collect::<Vec<_>>(),
        });
        if let Some(card) = card {
            value["about"] = json!(card.about);
            value["class_names"] = json!(card.classes);
            value["data"] = json!(card.data);
        }
        value
    }
}

/// What a saved model says of itself.
fn card_text(card: &ModelCard) -> String {
    let mut text = String::new();
    if !card.classes.is_empty() {
        text += &format!("  classes     {}\n", card.classes.join(", "));
    }
    match &card.input {
        consort_train::CardInput::Image { normalisation, .. } => {
            let numbers = |numbers: &[f32]| {
                numbers.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(", ")
            };
            text += &format!(
                "  scaling     (pixel - mean) / std for pixels from 0 to 1: mean {}, std {}\n",
                numbers(&normalisation.mean),
                numbers(&normalisation.std)
            );
        }
        consort_train::CardInput::Table { columns } => {
            let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
            text += &format!("  columns     {}\n", names.join(", "));
        }
    }
    if let Some(training) = &card.training {
        text += &format!("  written by  consort {}\n", training.version);
    }
    text + &format!("  data        {}\n", card.data)
}

fn shape([height, width, channels]: [usize; 3]) -> String {
    format!("{height}x{width}x{channels}")
}

fn extent(extent: Extent) -> String {
    match extent {
        Extent::Image { height, width, channels } => shape([height, width, channels]),
        Extent::Row { len } => len.to_string(),
    }
}

/// Millions, with three digits or more.
fn millions(flops: u64) -> String {
    let value = flops as f64 / 1e6;
    let digits = match value {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        value if value >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}
