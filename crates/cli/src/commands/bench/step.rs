//! `consort bench step`: how fast agents train a model: loss, gradient, plain SGD update.
//!
//! One agent per thread, each with its own engine and its own images: agents share
//! nothing, so this is what a simulated round costs on every core.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

use consort_kernel::linear::{Gradient, Linear};
use consort_kernel::peak;
use consort_model::{Engine, Isa, ModelSpec, zoo};
use serde::Serialize;

use super::super::consensus::all_cores;
use super::super::print_text;
use super::profile;
use crate::arguments::StepOptions;
use crate::failure::{Blame, Failure};
use crate::table;

/// What the paper trains.
pub(super) const PAPER_MODELS: [&str; 4] = ["lenet5", "vgg11", "resnet20", "mobilenet-v2"];

#[derive(Serialize)]
struct StepResult {
    model: String,
    parameters: usize,
    isa: String,
    convolution: String,
    threads: usize,
    batch: usize,
    micro_batch: usize,
    images_per_s: f64,
    step_ms_min: f64,
    step_ms_median: f64,
    /// As the definition counts: Winograd's method does with fewer.
    gflop_per_s: f64,
    peak_gflop_per_s: f64,
    share_of_peak: f64,
    memory_bytes_per_agent: usize,
}

pub(crate) fn run(options: &StepOptions) -> Result<(), Failure> {
    super::check_seconds(options.seconds)?;
    let names: Vec<&str> = match &options.model {
        Some(name) => vec![name],
        None => PAPER_MODELS.to_vec(),
    };
    let specs = names
        .iter()
        .map(|name| zoo::by_name_or_file(name, 10))
        .collect::<Result<Vec<_>, _>>()
        .or_input()?;
    if options.profile {
        return specs.iter().try_for_each(|spec| profile::run(spec, options));
    }
    let threads = options.threads.map_or_else(all_cores, |threads| threads as usize);
    let isa = isa_of(options)?;
    let peak = peak_gflop_per_s(isa, threads);
    let mut results = Vec::new();
    for spec in &specs {
        let result = measure(spec, options, isa, threads, peak)?;
        if options.json {
            let line = serde_json::to_string(&result).or_work()?;
            print_text(&(line + "\n"))?;
        }
        results.push(result);
    }
    if options.json { Ok(()) } else { print_text(&report(&results, options)) }
}

fn report(results: &[StepResult], options: &StepOptions) -> String {
    let Some(first) = results.first() else { return String::new() };
    let row = |result: &StepResult| {
        vec![
            result.model.clone(),
            result.parameters.to_string(),
            format!("{:.0}", result.images_per_s),
            format!("{:.2}", result.step_ms_min),
            format!("{:.2}", result.step_ms_median),
            format!("{:.1}", result.gflop_per_s),
            format!("{:.0} %", 100.0 * result.share_of_peak),
            format!("{:.1}", result.memory_bytes_per_agent as f64 / 1e6),
            result.micro_batch.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = results.iter().map(row).collect();
    let header = [
        "model",
        "parameters",
        "images/s",
        "ms/step best",
        "median",
        "GFLOP/s",
        "of peak",
        "MB/agent",
        "micro-batch",
    ];
    format!(
        "loss, gradient and SGD update, batch {}, f32, one agent on each of {} threads, {} instructions, \
         convolution {}, peak {:.1} GFLOP/s\n\n{}\n\
         GFLOP/s count the multiplications and additions of the definition; Winograd's method \
         needs fewer.\n",
        options.batch,
        first.threads,
        first.isa,
        first.convolution,
        first.peak_gflop_per_s,
        table::render(&header, &rows)
    )
}

fn measure(
    spec: &ModelSpec,
    options: &StepOptions,
    isa: Isa,
    threads: usize,
    peak_gflop_per_s: f64,
) -> Result<StepResult, Failure> {
    let batch = options.batch as usize;
    let mut agents = Agents::new(spec, threads, || engine(spec, options, isa), batch)?;
    let engine = agents.engine();
    let (parameters, micro_batch) = (engine.parameters().len(), engine.micro_batch());
    let memory_bytes_per_agent = engine.memory_bytes();
    let flops = engine.flops_per_image() as f64;
    let mut times = agents.run(options.seconds);
    if times.is_empty() {
        return Err(Failure::input("no step finished; give more --seconds"));
    }
    times.sort_by(f64::total_cmp);
    let busy: f64 = times.iter().sum::<f64>() / threads as f64;
    let images_per_s = (batch * times.len()) as f64 / busy;
    let gflop_per_s = images_per_s * flops / 1e9;
    Ok(StepResult {
        model: spec.name.clone(),
        parameters,
        isa: isa.to_string(),
        convolution: options.convolution.to_string(),
        threads,
        batch,
        micro_batch,
        images_per_s,
        step_ms_min: 1e3 * times[0],
        step_ms_median: 1e3 * times[times.len() / 2],
        gflop_per_s,
        peak_gflop_per_s,
        share_of_peak: gflop_per_s / peak_gflop_per_s,
        memory_bytes_per_agent,
    })
}

/// The instructions asked for, or the widest.
pub(super) fn isa_of(options: &StepOptions) -> Result<Isa, Failure> {
    options.isa.as_deref().map_or_else(|| Ok(Isa::detect()), |name| name.parse().or_input())
}

/// An engine as the options ask for it.
pub(super) fn engine(spec: &ModelSpec, options: &StepOptions, isa: Isa) -> Result<Engine, Failure> {
    let micro_batch = match options.micro_batch {
        Some(images) => images as usize,
        None => Engine::default_micro_batch(spec),
    };
    let micro_batch = micro_batch.min(options.batch as usize);
    Engine::with_algorithm(spec, micro_batch, isa, options.convolution.into()).or_input()
}

/// A batch for a benchmark: parameters, images, labels.
pub(super) fn operands(
    engine: &Engine,
    spec: &ModelSpec,
    batch: usize,
) -> (Vec<f32>, Vec<f32>, Vec<u32>) {
    let pixels = batch * spec.input.iter().product::<usize>();
    let images: Vec<f32> = (0..pixels).map(|i| ((i * 7919) % 255) as f32 / 127.5 - 1.0).collect();
    let labels: Vec<u32> = (0..batch).map(|i| (i % spec.classes) as u32).collect();
    (engine.parameters().initial(1), images, labels)
}

/// Agents at their steps, one on each thread.
pub(super) struct Agents(Vec<Stepper>);

struct Stepper {
    engine: Engine,
    flat: Vec<f32>,
    images: Vec<f32>,
    labels: Vec<u32>,
    grad: Vec<f32>,
}

impl Agents {
    /// Agents with engines of their own, all with the same images.
    pub(super) fn new(
        spec: &ModelSpec,
        threads: usize,
        engine: impl Fn() -> Result<Engine, Failure>,
        batch: usize,
    ) -> Result<Self, Failure> {
        let stepper = |_| {
            let engine = engine()?;
            let (flat, images, labels) = operands(&engine, spec, batch);
            let grad = vec![0.0; flat.len()];
            let mut stepper = Stepper { engine, flat, images, labels, grad };
            stepper.step(); // touches every page, so that no later step waits for memory
            Ok(stepper)
        };
        Ok(Agents((0..threads).map(stepper).collect::<Result<_, _>>()?))
    }

    fn engine(&self) -> &Engine {
        &self.0[0].engine
    }

    /// Seconds of every step of every agent, for so long.
    pub(super) fn run(&mut self, seconds: f64) -> Vec<f64> {
        let start = Barrier::new(self.0.len());
        std::thread::scope(|scope| {
            let steppers = self.0.iter_mut();
            let at_work: Vec<_> =
                steppers.map(|one| scope.spawn(|| one.time_steps(seconds, &start))).collect();
            at_work.into_iter().flat_map(|agent| agent.join().unwrap_or_default()).collect()
        })
    }
}

impl Stepper {
    fn step(&mut self) {
        let Stepper { engine, flat, images, labels, grad } = self;
        let loss = engine.loss_and_grad(flat, images, &*labels, grad);
        assert!(black_box(loss).is_ok(), "a benchmark's step is finite");
        // So small that the same numbers are measured all the time.
        descend(engine.isa(), flat, grad, 1e-6);
    }

    #[allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
    fn time_steps(&mut self, seconds: f64, start: &Barrier) -> Vec<f64> {
        self.step(); // another thread may have run this engine before
        start.wait();
        let mut times = Vec::new();
        let begin = Instant::now();
        while begin.elapsed().as_secs_f64() < seconds {
            let at = Instant::now();
            self.step();
            times.push(at.elapsed().as_secs_f64());
        }
        times
    }
}

/// x <- x - eta g.
///
/// This is what a linear layer of one output adds to its weights x for inputs g and an output
/// gradient of -eta: so the update runs with the instructions of the kernels, without `unsafe`.
fn descend(isa: Isa, x: &mut [f32], g: &[f32], eta: f32) {
    let layer = Linear { inputs: x.len(), outputs: 1 };
    layer.weight_gradient(isa, 1, g, &[-eta], x, &mut [0.0], Gradient::Accumulate);
}

/// The fastest that all threads together can multiply and add, measured here and now.
#[allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn peak_gflop_per_s(isa: Isa, threads: usize) -> f64 {
    const ROUNDS: usize = 200_000;
    let start = Barrier::new(threads);
    let best_of = || {
        start.wait();
        let time = |_| {
            let at = Instant::now();
            black_box(peak::multiply_adds(isa, black_box(ROUNDS)));
            at.elapsed().as_secs_f64()
        };
        (0..200).map(time).fold(f64::INFINITY, f64::min)
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(best_of)).collect();
        let rate = |seconds: f64| peak::flops(ROUNDS) as f64 / seconds / 1e9;
        workers.into_iter().filter_map(|worker| worker.join().ok()).map(rate).sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_moves_against_its_gradient() {
        for isa in Isa::available() {
            let mut x: Vec<f32> = (0..19).map(|i| i as f32).collect();
            let g: Vec<f32> = (0..19).map(|i| 2.0 * i as f32 - 8.0).collect();
            descend(isa, &mut x, &g, 0.25);
            for (i, x) in x.into_iter().enumerate() {
                assert_eq!(x, 0.5 * i as f32 + 2.0);
            }
        }
    }
}
