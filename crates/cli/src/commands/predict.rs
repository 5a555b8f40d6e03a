//! `consort predict`: a saved model on images and tables that it has not seen.
//!
//! ```text
//!   files ─► samples: numbers as in training ─► engines, one per thread ─► outputs ─► text
//! ```
//!
//! A file or row that cannot be used is told, and costs no other its answer.

mod samples;
mod text;

use consort_model::{Engine, Isa};
use rayon::prelude::*;

use super::print_text;
use crate::arguments::{PredictFormat, PredictOptions};
use crate::commands::consensus::all_cores;
use crate::failure::{Blame, Failure, tell};
use crate::saved_model::SavedModel;
use samples::{Sample, Source};

/// Samples that a thread takes at a time.
const PORTION: usize = 64;

/// What a model says of a sample.
pub(super) struct Prediction {
    /// The file, and the line of a table.
    name: String,
    line: Option<u64>,
    /// Height and width of an image that was scaled.
    scaled_from: Option<[usize; 2]>,
    outputs: Vec<f32>,
}

pub(crate) fn run(options: &PredictOptions) -> Result<(), Failure> {
    let saved = SavedModel::open(&options.model)?;
    let source = Source::of(&saved.card, &options.files)?;
    let threads = options.threads.map_or_else(all_cores, |threads| threads as usize);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().or_work()?;
    let (predictions, problems) = pool.install(|| predict(&saved, &source))?;
    tell_scaling(&saved, &predictions);
    for problem in &problems {
        tell(&format!("error: {problem}"));
    }
    let printed = match options.format {
        PredictFormat::Table => text::table(&saved.card, &predictions, options.top as usize),
        PredictFormat::Csv => text::csv(&saved.card, &predictions, options.logits),
        PredictFormat::Json => {
            text::json(&saved, &predictions, options.top as usize, options.logits)?
        }
    };
    print_text(&printed)?;
    match problems.len() {
        0 => Ok(()),
        failed => Err(Failure::Work(anyhow::anyhow!(
            "{failed} of {} samples could not be used",
            failed + predictions.len()
        ))),
    }
}

/// The predictions in the order of the samples, and what is wrong with those that have none.
fn predict(saved: &SavedModel, source: &Source) -> Result<(Vec<Prediction>, Vec<String>), Failure> {
    let spec = &saved.card.model;
    let micro_batch = Engine::default_micro_batch(spec).min(PORTION);
    let engine = || Engine::new(spec, micro_batch, Isa::detect());
    engine().or_input()?; // the same error from every thread, told once
    let portions: Vec<usize> = (0..source.len()).step_by(PORTION).collect();
    let portion = |engine: &mut Result<Engine, _>, first: usize| {
        let samples: Vec<Result<Sample, String>> =
            (first..source.len().min(first + PORTION)).map(|index| source.sample(index)).collect();
        let Ok(engine) = engine else { return Vec::new() };
        with_outputs(engine, saved, samples)
    };
    let all: Vec<Vec<Result<Prediction, String>>> =
        portions.into_par_iter().map_init(engine, |engine, first| portion(engine, first)).collect();
    let (mut predictions, mut problems) = (Vec::new(), Vec::new());
    for outcome in all.into_iter().flatten() {
        match outcome {
            Ok(prediction) => predictions.push(prediction),
            Err(problem) => problems.push(problem),
        }
    }
    Ok((predictions, problems))
}

fn with_outputs(
    engine: &mut Engine,
    saved: &SavedModel,
    samples: Vec<Result<Sample, String>>,
) -> Vec<Result<Prediction, String>> {
    let inputs: Vec<f32> =
        samples.iter().flatten().flat_map(|s| s.inputs.iter().copied()).collect();
    let usable = samples.iter().flatten().count();
    let mut outputs = vec![0.0; usable * saved.card.model.classes];
    engine.predict(&saved.flat, &inputs, &mut outputs);
    let mut outputs = outputs.chunks_exact(saved.card.model.classes);
    let mut prediction = |sample: Sample| {
        let outputs = outputs.next().unwrap_or_default().to_vec();
        let Sample { name, line, scaled_from, .. } = sample;
        Prediction { name, line, scaled_from, outputs }
    };
    samples.into_iter().map(|sample| sample.map(&mut prediction)).collect()
}

/// Says that images were scaled, and how.
fn tell_scaling(saved: &SavedModel, predictions: &[Prediction]) {
    let scaled: Vec<&Prediction> =
        predictions.iter().filter(|prediction| prediction.scaled_from.is_some()).collect();
    let Some((first, [height, width])) =
        scaled.first().and_then(|first| Some((first, first.scaled_from?)))
    else {
        return;
    };
    let [to_height, to_width, _] = saved.card.model.input;
    tell(&format!(
        "{} of {} images scaled to {to_height}x{to_width} as in training ({}), such as {} of \
         {height}x{width}",
        scaled.len(),
        predictions.len(),
        samples::fit_text(&saved.card),
        first.name
    ));
}
