//! The list of experiments with their progress and the remaining time on this machine.

use std::collections::BTreeMap;
use std::time::Instant;

use consort_data::catalogue::Entry as DatasetEntry;
use consort_model::{Engine, Isa, ModelSpec, zoo};
use consort_reproduce::{Cell, Ledger, experiments};

use super::consensus;
use crate::arguments::ReproduceOptions;
use crate::commands::consensus::all_cores;
use crate::failure::{Blame, Failure};
use crate::table;
use crate::training::duration;

/// The time of a run divided by the time of its gradients.
const BESIDE_GRADIENTS: f64 = 1.2;

pub(super) fn text(ledger: &Ledger, options: &ReproduceOptions) -> Result<String, Failure> {
    let threads = options.threads.map_or_else(all_cores, |threads| threads as usize);
    let mut speeds = Speeds::new(threads);
    let mut rows = Vec::new();
    for experiment in experiments().or_work()? {
        let wanted = options.experiments.is_empty();
        if !wanted && !options.experiments.contains(&experiment.name) {
            continue;
        }
        let (mut done, mut all, mut seconds) = (0, 0, 0.0);
        if experiment.consensus.is_some() {
            (done, all) = consensus::progress(&experiment, ledger)?;
            seconds = consensus::SECONDS_OF_A_RUN * (all - done) as f64;
        }
        for cell in experiment.cells_of(&options.rows, options.scale).or_input()? {
            let cost = speeds.seconds(&cell);
            for seed in 1..=options.seeds {
                all += 1;
                match ledger.find(&cell.trial(seed)) {
                    Some(_) => done += 1,
                    None => seconds += cost,
                }
            }
        }
        let left = if done == all { "–".into() } else { duration(seconds) };
        let name = experiment.name;
        rows.push(vec![name, experiment.paper, format!("{done} of {all}"), left, experiment.title]);
    }
    let header = ["name", "in the paper", "trials done", "time left", "title"];
    let scale = if options.scale == 1.0 {
        "full length".to_string()
    } else {
        format!("at {} of the paper's epochs", options.scale)
    };
    Ok(format!(
        "{}\n{} seeds, {scale}, {threads} threads; times are estimates from a few training steps.\n\
         `consort reproduce NAME` runs the missing trials.\n",
        table::render(&header, &rows),
        options.seeds
    ))
}

/// The expected times of trials of these cells, in seconds.
pub(super) fn costs<'a>(cells: impl Iterator<Item = &'a Cell>, threads: usize) -> Vec<f64> {
    let mut speeds = Speeds::new(threads);
    cells.map(|cell| speeds.seconds(cell)).collect()
}

/// Seconds per image of every model, measured once.
struct Speeds {
    threads: usize,
    known: BTreeMap<(String, String), f64>,
}

impl Speeds {
    fn new(threads: usize) -> Self {
        Speeds { threads, known: BTreeMap::new() }
    }

    fn seconds(&mut self, cell: &Cell) -> f64 {
        let config = &cell.config;
        let Some(data) = DatasetEntry::find(&config.data) else { return 1.0 };
        let threads = self.threads;
        let an_image =
            *self.known.entry((config.model.clone(), config.data.clone())).or_insert_with(|| {
                let spec = zoo::for_input(&config.model, data.input, data.classes.len());
                spec.map_or(0.0, |spec| seconds_for_an_image(&spec) / threads as f64)
            });
        BESIDE_GRADIENTS * config.epochs.unwrap_or(1.0) * data.train as f64 * an_image
    }
}

#[allow(clippy::disallowed_methods, reason = "an estimate of the time needs a clock")]
fn seconds_for_an_image(spec: &ModelSpec) -> f64 {
    const BATCH: usize = 32;
    let Ok(mut engine) =
        Engine::new(spec, Engine::default_micro_batch(spec).min(BATCH), Isa::detect())
    else {
        return 0.0;
    };
    let flat = engine.parameters().initial(1);
    let pixels = BATCH * spec.input.iter().product::<usize>();
    let images: Vec<f32> = (0..pixels).map(|i| ((i * 7919) % 255) as f32 / 127.5 - 1.0).collect();
    let labels: Vec<u32> = (0..BATCH).map(|i| (i % spec.classes) as u32).collect();
    let mut grad = vec![0.0; flat.len()];
    let mut best = f64::INFINITY;
    let start = Instant::now();
    // The first step touches all memory.
    while best.is_infinite() || start.elapsed().as_secs_f64() < 0.15 {
        let at = Instant::now();
        if engine.loss_and_grad(&flat, &images, &labels, &mut grad).is_err() {
            return 0.0;
        }
        best = best.min(at.elapsed().as_secs_f64());
    }
    best / BATCH as f64
}
