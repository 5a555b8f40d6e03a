//! `consort bench` measures what a round costs: the gradient (`step`), the method (`method`), or a
//! whole run (`train`).

use std::hint::black_box;
use std::time::{Duration, Instant};

use consort_algo::{CATALOGUE, Inbox, Method};
use consort_theory::resolve;
use serde::Serialize;

use super::{print_json, print_text};
use crate::arguments::{BenchCommand, BenchMethodOptions, BenchOptions, WeightOptions};
use crate::failure::{Blame, Failure};
use crate::network::Network;
use crate::{methods_list, table};

mod profile;
mod step;
mod train;

pub(crate) fn run(options: &BenchOptions) -> Result<(), Failure> {
    match &options.what {
        BenchCommand::Method(options) => method(options),
        BenchCommand::Step(options) => step::run(options),
        BenchCommand::Train(options) => train::run(options),
    }
}

fn check_seconds(seconds: f64) -> Result<(), Failure> {
    if seconds.is_finite() && seconds > 0.0 {
        return Ok(());
    }
    Err(Failure::input(format!("--seconds {seconds}: has to be above 0")))
}

#[derive(Serialize)]
struct MethodResult {
    method: String,
    params: usize,
    senders: usize,
    local_step_ns: f64,
    mix_ns: f64,
    round_ns: f64,
    memory_bytes: usize,
}

fn method(options: &BenchMethodOptions) -> Result<(), Failure> {
    check_seconds(options.seconds)?;
    let names = match &options.methods {
        Some(list) => methods_list::split(list),
        None => CATALOGUE.iter().map(|info| info.name.to_string()).collect(),
    };
    let weights = WeightOptions { weights: "auto".into(), graph_seed: 1 };
    let spectrum = Network::build("ring:16", &weights)?.spectrum()?;
    let mut results = Vec::new();
    for name in names {
        let method: Method = name.parse().or_input()?;
        results.push(measure(&resolve(&method, &spectrum).method, &name, options)?);
    }
    if options.json {
        return print_json(&results);
    }
    let row = |result: &MethodResult| {
        vec![
            result.method.clone(),
            format!("{:.2}", result.local_step_ns),
            format!("{:.2}", result.mix_ns),
            format!("{:.2}", result.round_ns),
            format!("{:.1}", result.memory_bytes as f64 / 1e6),
        ]
    };
    let rows: Vec<Vec<String>> = results.iter().map(row).collect();
    let header = ["method", "local step", "mix", "round", "state MB"];
    let title = format!(
        "ns per parameter, {} parameters, {} messages mixed, one core, best of many rounds\n\n",
        options.params, options.senders
    );
    print_text(&(title + &table::render(&header, &rows)))
}

/// The fastest of many rounds: noise on a shared machine only ever adds.
#[allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn measure(
    method: &Method,
    name: &str,
    options: &BenchMethodOptions,
) -> Result<MethodResult, Failure> {
    let (n, senders) = (options.params as usize, options.senders as usize);
    let x0: Vec<f32> = (0..n).map(|i| (i % 101) as f32 * 1e-3).collect();
    let grad: Vec<f32> = (0..n).map(|i| (i % 89) as f32 * 1e-3 - 0.04).collect();
    let mut algorithm = method.build(&x0, senders).or_input()?;
    let mut inbox = Copies {
        weight: 1.0 / senders as f32,
        messages: vec![vec![0.0; algorithm.message_len()]; senders],
    };
    let (mut local, mut mix) = (Duration::MAX, Duration::MAX);
    let begin = Instant::now();
    while begin.elapsed().as_secs_f64() < options.seconds {
        let start = Instant::now();
        algorithm.local_step(black_box(&grad), 1e-3, &mut inbox.messages[0]);
        local = local.min(start.elapsed());
        let start = Instant::now();
        algorithm.mix(black_box(&inbox), 1e-3);
        mix = mix.min(start.elapsed());
    }
    let per_parameter = |time: Duration| time.as_secs_f64() * 1e9 / n as f64;
    let memory_bytes = algorithm.tensors().iter().map(|tensor| 4 * tensor.values.len()).sum();
    Ok(MethodResult {
        method: name.to_string(),
        params: n,
        senders,
        local_step_ns: per_parameter(local),
        mix_ns: per_parameter(mix),
        round_ns: per_parameter(local + mix),
        memory_bytes,
    })
}

/// An inbox of equal weights.
struct Copies {
    weight: f32,
    messages: Vec<Vec<f32>>,
}

impl Inbox for Copies {
    fn senders(&self) -> usize {
        self.messages.len()
    }

    fn own(&self) -> usize {
        0
    }

    fn weight(&self, _: usize) -> f32 {
        self.weight
    }

    fn message(&self, k: usize) -> &[f32] {
        &self.messages[k]
    }
}
