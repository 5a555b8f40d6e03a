//! `consort bench step`: how fast agents compute loss and gradient of a model.
//!
//! One agent per thread, each with its own engine and its own images: agents share
//! nothing, so this is what a simulated round costs on every core.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

use consort_kernel::Path;
use consort_model::{Engine, ModelSpec, zoo};
use serde::Serialize;

use super::super::consensus::all_cores;
use super::super::{print_json, print_text};
use crate::arguments::StepOptions;
use crate::failure::{Blame, Failure};

#[derive(Serialize)]
struct StepResult {
    model: String,
    parameters: usize,
    path: String,
    threads: usize,
    batch: usize,
    piece: usize,
    images_per_s: f64,
    step_ms_min: f64,
    step_ms_median: f64,
    memory_bytes_per_agent: usize,
}

pub(crate) fn run(options: &StepOptions) -> Result<(), Failure> {
    super::check_seconds(options.seconds)?;
    let spec = zoo::by_name(&options.model, 10).or_input()?;
    let result = measure(&spec, options)?;
    if options.json {
        return print_json(&result);
    }
    print_text(&format!(
        "{} ({} parameters), batch {}, {} threads, {} path\n\
         {:.0} images/s; a step takes {:.2} ms at best, {:.2} ms in the middle\n\
         {:.1} MB an agent, {} images at a time\n",
        result.model,
        result.parameters,
        result.batch,
        result.threads,
        result.path,
        result.images_per_s,
        result.step_ms_min,
        result.step_ms_median,
        result.memory_bytes_per_agent as f64 / 1e6,
        result.piece
    ))
}

fn measure(spec: &ModelSpec, options: &StepOptions) -> Result<StepResult, Failure> {
    let path = Path::detect();
    let threads = options.threads.map_or_else(all_cores, |threads| threads as usize);
    let (batch, piece) = (options.batch as usize, options.piece as usize);
    let engines = (0..threads)
        .map(|_| Engine::new(spec, piece, path))
        .collect::<Result<Vec<Engine>, _>>()
        .or_input()?;
    let parameters = engines[0].parameters().len();
    let memory_bytes_per_agent = engines[0].memory_bytes();
    let start = Barrier::new(threads);
    let mut times: Vec<f64> = std::thread::scope(|scope| {
        let agents: Vec<_> = engines
            .into_iter()
            .map(|engine| scope.spawn(|| time_steps(engine, spec, batch, options.seconds, &start)))
            .collect();
        agents.into_iter().flat_map(|agent| agent.join().unwrap_or_default()).collect()
    });
    if times.is_empty() {
        return Err(Failure::input("no step finished; give more --seconds"));
    }
    times.sort_by(f64::total_cmp);
    let busy: f64 = times.iter().sum::<f64>() / threads as f64;
    Ok(StepResult {
        model: spec.name.clone(),
        parameters,
        path: path.to_string(),
        threads,
        batch,
        piece,
        images_per_s: (batch * times.len()) as f64 / busy,
        step_ms_min: 1e3 * times[0],
        step_ms_median: 1e3 * times[times.len() / 2],
        memory_bytes_per_agent,
    })
}

/// Seconds of every step of one agent.
#[allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn time_steps(
    mut engine: Engine,
    spec: &ModelSpec,
    batch: usize,
    seconds: f64,
    start: &Barrier,
) -> Vec<f64> {
    let flat = engine.parameters().initial(1);
    let pixels = batch * spec.input.iter().product::<usize>();
    let images: Vec<f32> = (0..pixels).map(|i| ((i * 7919) % 255) as f32 / 127.5 - 1.0).collect();
    let labels: Vec<u32> = (0..batch).map(|i| (i % spec.classes) as u32).collect();
    let mut grad = vec![0.0; flat.len()];
    black_box(engine.loss_and_grad(&flat, &images, &labels, &mut grad)); // pages are touched
    start.wait();
    let mut times = Vec::new();
    let begin = Instant::now();
    while begin.elapsed().as_secs_f64() < seconds {
        let step = Instant::now();
        black_box(engine.loss_and_grad(&flat, &images, &labels, &mut grad));
        times.push(step.elapsed().as_secs_f64());
    }
    times
}
