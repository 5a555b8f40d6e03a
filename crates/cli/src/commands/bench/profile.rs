//! `consort bench step --profile`: where the time of a step goes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use consort_model::{ModelSpec, Pass};

use super::super::print_text;
use super::step::{engine, isa_of, operands};
use crate::arguments::StepOptions;
use crate::failure::{Blame, Failure};
use crate::table;

/// Times of one kind of layer (or of one layer), by pass.
type Times = BTreeMap<Pass, Duration>;

/// Runs steps on one thread and prints what each kind of layer, then each layer, takes.
#[allow(clippy::disallowed_methods, reason = "a profiler reads the clock")]
pub(super) fn run(spec: &ModelSpec, options: &StepOptions) -> Result<(), Failure> {
    let mut engine = engine(spec, options, isa_of(options)?)?;
    let (flat, images, labels) = operands(&engine, spec, options.batch as usize);
    let mut grad = vec![0.0; flat.len()];
    let mut kinds: BTreeMap<String, Times> = BTreeMap::new();
    let mut layers: BTreeMap<String, Times> = BTreeMap::new();
    engine.loss_and_grad(&flat, &images, &labels, &mut grad).or_input()?; // touches every page
    let (begin, mut steps) = (Instant::now(), 0);
    while begin.elapsed().as_secs_f64() < options.seconds {
        let mut last = Instant::now();
        let mut watch = |moment: consort_model::Moment<'_>| {
            let now = Instant::now();
            for (key, times) in [
                (moment.kind.to_string(), &mut kinds),
                (format!("{} {}", moment.layer, moment.kind), &mut layers),
            ] {
                *times.entry(key).or_default().entry(moment.pass).or_default() += now - last;
            }
            last = Instant::now();
        };
        engine.loss_and_grad_watched(&flat, &images, &labels, &mut grad, &mut watch).or_input()?;
        steps += 1;
    }
    let whole = begin.elapsed();
    let watched: Duration = kinds.values().flat_map(Times::values).sum();
    let per_step = |time: Duration| 1e3 * time.as_secs_f64() / f64::from(steps);
    let mut text = format!(
        "{}, batch {}, one thread, {} instructions: {:.0} images/s, {:.2} ms a step, {:.2} of them \
         outside the layers\n\n",
        spec.name,
        options.batch,
        engine.isa(),
        options.batch as f64 * f64::from(steps) / whole.as_secs_f64(),
        per_step(whole),
        per_step(whole.saturating_sub(watched)),
    );
    let header = ["ms a step", "weights", "forward", "backward", "sum", "share"];
    for times in [&kinds, &layers] {
        let mut rows: Vec<(Duration, Vec<String>)> = times
            .iter()
            .map(|(name, times)| {
                let sum: Duration = times.values().sum();
                let of = |pass| per_step(times.get(&pass).copied().unwrap_or_default());
                let passes = [Pass::Weights, Pass::Forward, Pass::Backward];
                let mut row = vec![name.clone()];
                row.extend(passes.map(|pass| format!("{:.3}", of(pass))));
                row.push(format!("{:.3}", per_step(sum)));
                row.push(format!("{:.1} %", 100.0 * sum.as_secs_f64() / whole.as_secs_f64()));
                (sum, row)
            })
            .collect();
        rows.sort_by_key(|(sum, _)| std::cmp::Reverse(*sum));
        let rows: Vec<Vec<String>> = rows.into_iter().map(|(_, row)| row).collect();
        text += &(table::render(&header, &rows) + "\n");
    }
    print_text(&text)
}
