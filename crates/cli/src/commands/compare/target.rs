//! The columns of `--target`: rounds, epochs, bytes and seconds to an accuracy.

use consort_records::table_columns::{ExtraColumn, megabytes, shown};
use consort_records::{MeanStd, TimeToTarget, TrialRecords, times_to_target};

/// Four columns for every target.
pub(super) fn columns(trials: &[TrialRecords], targets: &[f64]) -> Vec<ExtraColumn> {
    targets
        .iter()
        .flat_map(|target| columns_of(&times_to_target(trials, *target), *target))
        .collect()
}

/// Name, heading, value, text.
type Part = (&'static str, &'static str, fn(&TimeToTarget) -> MeanStd, fn(f64) -> String);

const PARTS: [Part; 4] = [
    ("rounds", "Rounds", |time| time.rounds, |v| format!("{v:.0}")),
    ("epochs", "Epochs", |time| time.epochs, |v| format!("{v:.1}")),
    ("bytes", "MB", |time| time.bytes, megabytes),
    ("seconds", "Seconds", |time| time.seconds, |v| format!("{v:.1}")),
];

fn columns_of(times: &[TimeToTarget], target: f64) -> [ExtraColumn; 4] {
    // 0.85 and 0.8512 as people write them.
    let percent = format!("{:.4}", 100.0 * target);
    let percent = percent.trim_end_matches('0').trim_end_matches('.');
    PARTS.map(|(key, heading, value, text)| {
        let cell = |time: &TimeToTarget| {
            // Time depends on the machine, so it has no ±.
            let figure = match key {
                "seconds" => MeanStd { std: None, ..value(time) },
                _ => value(time),
            };
            let number = shown(figure, text);
            match time.reached {
                some if some == time.seeds => number,
                some => format!("{number} ({some} of {})", time.seeds),
            }
        };
        let values = |pick: fn(MeanStd) -> Option<f64>| {
            let text = |time| pick(value(time)).map_or(String::new(), |v| v.to_string());
            times.iter().map(text).collect::<Vec<String>>()
        };
        let name = format!("{key}_to_{target}");
        ExtraColumn {
            key: format!("{key}-to"),
            heading: format!("{heading} to {percent} %"),
            cells: times.iter().map(cell).collect(),
            csv: vec![
                (format!("{name}_mean"), values(|f| (f.n > 0).then_some(f.mean))),
                (format!("{name}_std"), values(|f| f.std)),
                (
                    format!("{name}_reached"),
                    times.iter().map(|time| time.reached.to_string()).collect(),
                ),
            ],
        }
    })
}
