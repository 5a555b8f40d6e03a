//! `consort bench train`: how fast a whole run trains, beside the steps alone.
//!
//! A step computes one agent's gradient again and again; its model and its images stay in cache.
//! A run has all agents in turn, mini-batches, the method's local step and mixing, threads that wait
//! for each other, and evaluations. Slices of both take turns, and what counts is the ratio of neighbours:
//! whatever else the machine does hits both.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use consort_data::{DataError, Dataset, Normalisation, Partition, Samples, catalogue};
use consort_model::{Engine, Isa, ModelSpec, zoo};
use consort_sim::{Part, Profiler};
use consort_train::{Config, Evaluation, MethodEntry, Plan, PlannedNetwork, Trial, partition_for};
use serde::Serialize;

use super::super::consensus::all_cores;
use super::super::print_text;
use super::step::{Agents, PAPER_MODELS};
use crate::arguments::BenchTrainOptions;
use crate::failure::{Blame, Failure, tell};
use crate::table;

/// Seconds until the other side has its turn.
const SLICE: f64 = 1.0;

#[derive(Serialize)]
struct TrainResult {
    model: String,
    parameters: usize,
    data: String,
    made_up: bool,
    method: String,
    agents: usize,
    threads: usize,
    batch: usize,
    epochs_between_evaluations: f64,
    steps_images_per_s: f64,
    /// Rounds without evaluations.
    rounds_images_per_s: f64,
    run_images_per_s: f64,
    /// Medians over pairs of neighbouring slices.
    rounds_share_of_steps: f64,
    run_share_of_steps: f64,
    /// The smallest and the largest share of a pair.
    pairs: [f64; 2],
    ms_per_batch: Split,
}

/// Where a thread's time goes, for each mini-batch of an agent.
#[derive(Serialize)]
struct Split {
    /// A whole step alone.
    step: f64,
    gradient: f64,
    batches: f64,
    /// Probe, norm of the gradient, local step, mixing.
    method: f64,
    /// An evaluation's time, shared among the mini-batches before it.
    evaluation: f64,
    /// Waiting for other threads, and what happens between the agents.
    rest: f64,
}

pub(crate) fn run(options: &BenchTrainOptions) -> Result<(), Failure> {
    super::check_seconds(options.seconds)?;
    if options.evaluate_every.is_some_and(|every| !every.is_finite() || every <= 0.0) {
        return Err(Failure::input("--evaluate-every has to be above 0 epochs"));
    }
    let names: Vec<&str> = match &options.model {
        Some(name) => vec![name],
        None => PAPER_MODELS.to_vec(),
    };
    let specs =
        names.iter().map(|name| zoo::by_name_or_file(name, 10)).collect::<Result<Vec<_>, _>>();
    let mut results = Vec::new();
    for (name, spec) in names.iter().zip(specs.or_input()?) {
        let result = measure(name, &spec, options)?;
        if options.json {
            let line = serde_json::to_string(&result).or_work()?;
            print_text(&(line + "\n"))?;
        }
        results.push(result);
    }
    if options.json { Ok(()) } else { print_text(&report(&results)) }
}

fn measure(
    name: &str,
    spec: &ModelSpec,
    options: &BenchTrainOptions,
) -> Result<TrainResult, Failure> {
    let threads = options.threads.map_or_else(all_cores, |threads| threads as usize);
    let (plan, made_up) = plan(name, spec, options)?;
    let partition = partition_for(&plan, 1).or_input()?;
    let method = &plan.network.methods[0];
    let mut clock = Clock::new(threads);
    let profiler = clock.profiler();
    let mut trial =
        Trial::start_profiled(&plan, method, 1, &partition, threads, profiler).or_input()?;
    let micro_batch = Engine::default_micro_batch(spec);
    let engine = || Engine::new(spec, micro_batch, Isa::detect()).or_input();
    let mut steps = Agents::new(spec, threads, engine, plan.config.batch)?;

    trial.round().or_work()?; // touches every page
    clock.reset();
    let (mut of_steps, mut of_rounds) = (Vec::new(), Vec::new());
    let (mut step_times, mut batches) = (Vec::new(), 0);
    while clock.seconds() < options.seconds {
        let times = steps.run(SLICE.min(options.seconds));
        let busy = times.iter().sum::<f64>() / threads as f64;
        of_steps.push((plan.config.batch * times.len()) as f64 / busy);
        step_times.extend(times);
        let (before, mut images) = (clock.seconds(), 0);
        while clock.seconds() < before + SLICE.min(options.seconds) {
            images += images_of(&partition, plan.config.batch, trial.rounds_done());
            batches += partition.agents();
            clock.time(|| trial.round()).or_work()?;
        }
        of_rounds.push(images as f64 / (clock.seconds() - before));
    }
    let evaluation = evaluation_seconds(&mut trial)?;

    let every = plan.config.evaluation.every;
    let rounds = every * plan.batches_per_epoch(&partition);
    let images = every * plan.dataset.train.len() as f64;
    let with_evaluation = |rate: f64| 1.0 / (1.0 / rate + evaluation / images);
    let shares: Vec<f64> = of_rounds.iter().zip(&of_steps).map(|(run, step)| run / step).collect();
    let run_shares =
        of_rounds.iter().zip(&of_steps).map(|(run, step)| with_evaluation(*run) / step);
    let (steps_images_per_s, rounds_images_per_s) = (median(&of_steps), median(&of_rounds));
    let per_batch = |seconds: f64| 1e3 * seconds / f64::from(batches as u32);
    let [gradient, made] = [Part::Gradient, Part::Batch].map(|part| clock.seconds_of(&[part]));
    let method_seconds = clock.seconds_of(&[Part::Probe, Part::Norm, Part::LocalStep, Part::Mix]);
    let rest = threads as f64 * clock.seconds() - gradient - made - method_seconds;
    Ok(TrainResult {
        model: spec.name.clone(),
        parameters: plan.parameters.len(),
        data: plan.dataset.name.clone(),
        made_up,
        method: method.analysis.method.clone(),
        agents: partition.agents(),
        threads,
        batch: plan.config.batch,
        epochs_between_evaluations: every,
        steps_images_per_s,
        rounds_images_per_s,
        run_images_per_s: with_evaluation(rounds_images_per_s),
        rounds_share_of_steps: median(&shares),
        run_share_of_steps: median(&run_shares.collect::<Vec<_>>()),
        pairs: [
            shares.iter().copied().fold(f64::INFINITY, f64::min),
            shares.iter().copied().fold(0.0, f64::max),
        ],
        ms_per_batch: Split {
            step: 1e3 * step_times.iter().sum::<f64>() / step_times.len().max(1) as f64,
            gradient: per_batch(gradient),
            batches: per_batch(made),
            method: per_batch(method_seconds),
            evaluation: 1e3 * evaluation * threads as f64 / (rounds * partition.agents() as f64),
            rest: per_batch(rest),
        },
    })
}

fn report(results: &[TrainResult]) -> String {
    let Some(first) = results.first() else { return String::new() };
    let row = |result: &TrainResult| {
        let split = &result.ms_per_batch;
        let mut row = vec![
            result.model.clone(),
            if result.made_up { format!("{} (made up)", result.data) } else { result.data.clone() },
            format!("{:.0}", result.steps_images_per_s),
            format!("{:.0}", result.rounds_images_per_s),
            format!("{:.0}", result.run_images_per_s),
            format!("{:.0} %", 100.0 * result.run_share_of_steps),
        ];
        let parts =
            [split.step, split.gradient, split.batches, split.method, split.evaluation, split.rest];
        row.extend(parts.map(|ms| format!("{ms:.3}")));
        row
    };
    let rows: Vec<Vec<String>> = results.iter().map(row).collect();
    let header = [
        "model",
        "data",
        "steps",
        "rounds",
        "run",
        "of steps",
        "step",
        "gradient",
        "batch",
        "method",
        "evaluation",
        "rest",
    ];
    format!(
        "{} agents, {}, batch {}, {} threads: images per second of steps alone, of rounds, and of \
         a run\nwith its evaluations; then ms of a thread for each mini-batch: a step alone, and \
         the parts of a run\n\n{}\n\
         \"of steps\" is the median over pairs of slices.\n",
        first.agents,
        first.method,
        first.batch,
        first.threads,
        table::render(&header, &rows)
    )
}

/// A run of the paper's kind with this model; true if its data are made up.
fn plan(
    name: &str,
    spec: &ModelSpec,
    options: &BenchTrainOptions,
) -> Result<(Plan, bool), Failure> {
    let (data, usual_every) = match spec.input {
        [28, 28, 1] => ("fashion-mnist", 1.0),
        [32, 32, 3] => ("cifar10", 2.0),
        [8, 8, 1] => ("digits", 1.0),
        _ => ("imagenette", 1.0),
    };
    let config = Config {
        data: data.into(),
        partition: "dirichlet:0.1".into(),
        graph: options.graph.clone(),
        model: name.into(),
        methods: vec![MethodEntry::plain(options.method.clone())],
        seeds: vec![1],
        epochs: Some(1000.0),
        batch: options.batch as usize,
        eta: 0.01, // made-up labels cannot be learned; a small step stays finite
        evaluation: Evaluation {
            every: options.evaluate_every.unwrap_or(usual_every),
            agent_samples: Some(0),
        },
        ..Config::default()
    };
    let network = PlannedNetwork::new(&config).or_input()?;
    let data_dir = super::super::train::data_dir(&options.data_options)?;
    let (dataset, made_up) = match consort_data::load(data, &data_dir) {
        Ok(dataset) => (dataset, false),
        Err(DataError::Missing { remedy, .. }) => {
            tell(&format!("{data} is not there, so images of its shape are made up; {remedy}"));
            (made_up_dataset(data).or_input()?, true)
        }
        Err(error) => return Err(error).or_input(),
    };
    let scheme = config.partition.parse().or_input()?;
    let plan = Plan::with_dataset(network, scheme, &config, Arc::new(dataset)).or_input()?;
    Ok((plan, made_up))
}

/// As many images as the dataset has, of its shape, as far as they are not too many.
fn made_up_dataset(name: &str) -> Result<Dataset, DataError> {
    const LARGEST: usize = 200_000_000;
    let entry = catalogue::CATALOGUE.iter().find(|entry| entry.name == name);
    let (input, train, test) =
        entry.map_or(([32, 32, 3], 50_000, 10_000), |entry| (entry.input, entry.train, entry.test));
    let numbers = input.iter().product::<usize>();
    let samples = |count: usize| {
        let count = count.min(LARGEST / numbers);
        let pixels = (0..count * numbers).map(|i| ((i * 7919) >> 7) as u8).collect();
        Samples::bytes((0..count).map(|i| (i % 10) as u32).collect(), pixels)
    };
    let classes = (0..10).map(|class| class.to_string()).collect();
    let normalisation = Normalisation::bytes(&vec![0.5; input[2]], &vec![0.25; input[2]]);
    let parts = (samples(train), samples(test));
    let dataset = Dataset::new(name, classes, input, parts, normalisation)?;
    Ok(match input[2] {
        3 => dataset.augmented(consort_data::Augmentation::FlipAndShift { pad: 4 }),
        _ => dataset,
    })
}

/// Images that all agents together see in a round: the last batch of an agent's epoch keeps what
/// is left.
fn images_of(partition: &Partition, batch: usize, round: u64) -> usize {
    let of_share = |share: &Vec<u32>| {
        let batches = share.len().div_ceil(batch) as u64;
        batch.min(share.len() - (round % batches) as usize * batch)
    };
    partition.shares().iter().map(of_share).sum()
}

#[allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn evaluation_seconds(trial: &mut Trial<'_>) -> Result<f64, Failure> {
    let start = Instant::now();
    trial.evaluate(0.0).or_work()?;
    Ok(start.elapsed().as_secs_f64())
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// How long rounds took, and each thread for the parts of a round.
struct Clock {
    rounds: Duration,
    threads: Arc<[Mutex<ThreadTimes>]>,
}

struct ThreadTimes {
    last: Instant,
    parts: Vec<(Part, Duration)>,
}

#[allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
impl Clock {
    fn new(threads: usize) -> Self {
        let times = |_| Mutex::new(ThreadTimes { last: Instant::now(), parts: Vec::new() });
        Clock { rounds: Duration::ZERO, threads: (0..threads).map(times).collect() }
    }

    /// Times the parts of a round, each on its own thread.
    fn profiler(&self) -> Profiler {
        let threads = self.threads.clone();
        Profiler::new(move |part| {
            let now = Instant::now();
            let own = rayon::current_thread_index().unwrap_or(0) % threads.len();
            let mut thread = threads[own].lock().unwrap_or_else(PoisonError::into_inner);
            let took = now - thread.last;
            thread.last = now;
            match thread.parts.iter_mut().find(|(known, _)| *known == part) {
                Some((_, sum)) => *sum += took,
                None => thread.parts.push((part, took)),
            }
        })
    }

    /// Forgets what was timed so far.
    fn reset(&mut self) {
        self.rounds = Duration::ZERO;
        self.each_thread(|thread| thread.parts.clear());
    }

    /// Seconds of all rounds.
    fn seconds(&self) -> f64 {
        self.rounds.as_secs_f64()
    }

    /// Seconds of all threads for these parts.
    fn seconds_of(&self, parts: &[Part]) -> f64 {
        let mut sum = Duration::ZERO;
        self.each_thread(|thread| {
            let own = thread.parts.iter().filter(|(part, _)| parts.contains(part));
            sum += own.map(|(_, time)| *time).sum::<Duration>();
        });
        sum.as_secs_f64()
    }

    /// Times a round.
    fn time<T>(&mut self, round: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        self.each_thread(|thread| thread.last = start);
        let answer = round();
        self.rounds += start.elapsed();
        answer
    }

    fn each_thread(&self, mut work: impl FnMut(&mut ThreadTimes)) {
        for thread in self.threads.iter() {
            work(&mut thread.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An epoch of an agent ends with what is left; after it all begins again.
    #[test]
    fn an_epoch_shows_every_sample_once() {
        let dataset = made_up_dataset("fashion-mnist").unwrap();
        assert_eq!((dataset.input, dataset.train.len()), ([28, 28, 1], 60_000));
        let labels: Vec<u32> = (0..70).map(|i| i % 10).collect();
        let scheme: consort_data::Scheme = "iid".parse().unwrap();
        let partition = scheme.partition(&labels, 10, 2, 1).unwrap(); // 35 samples each
        let of_rounds: Vec<usize> = (0..4).map(|round| images_of(&partition, 32, round)).collect();
        assert_eq!(of_rounds, [64, 6, 64, 6]);
    }
}
