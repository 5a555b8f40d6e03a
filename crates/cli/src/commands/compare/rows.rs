//! The rows of a table over several runs, and their names.
//!
//! Trials that differ only in their seeds are one row. The name of a row is the paper's name of the
//! method. If several rows have the same method, the settings that differ are added, or the end of
//! the path if some settings are unknown.
//!
//! ```text
//!   GUT                 one row with this method
//!   GUT, η = 0.1        several rows with different settings
//!   GUT (p/exp)         several rows, some with unknown settings
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use consort_train::{Config, MethodEntry};
use serde_json::Value;

use crate::failure::{Blame, Failure};
use crate::method_names::{TypedMethod, parameter};

/// The settings on which the result of a trial depends, besides its seed.
pub(super) type TrialSettings = BTreeMap<String, String>;

/// The origin of a trial.
#[derive(Clone, Debug)]
pub(super) struct TrialOrigin {
    /// The folder of the run, links resolved.
    pub(super) path: PathBuf,
    /// The method as typed.
    pub(super) method: String,
    /// The name that the user gave it, or the method as typed.
    pub(super) label: String,
    pub(super) seed: u64,
    /// `None` if unknown; then the trial is not pooled with others.
    pub(super) settings: Option<TrialSettings>,
}

/// Keys that do not change the result of a trial.
const WITHOUT_EFFECT: [&str; 5] = ["name", "seeds", "methods", "checkpoint", "tensorboard"];

/// The settings of one method of a run.
pub(super) fn settings(config: &Config, entry: &MethodEntry) -> Result<TrialSettings, Failure> {
    let mut all = TrialSettings::new();
    if let Value::Object(map) = serde_json::to_value(config).or_work()? {
        for (key, value) in map.iter().filter(|(key, _)| !WITHOUT_EFFECT.contains(&key.as_str())) {
            flatten(key, value, &mut all);
        }
    }
    for (key, value) in TypedMethod::new(&entry.method).parameters {
        all.insert(key, value);
    }
    let own = [
        ("eta", entry.eta),
        ("weight-decay", entry.weight_decay),
        ("clip-norm", entry.clip_norm),
        ("sam", entry.sam),
    ];
    for (key, own) in own {
        if let Some(own) = own {
            all.insert(key.into(), Value::from(own).to_string());
        }
    }
    if let Some(mix) = &entry.mix {
        all.retain(|key, _| !key.starts_with("schedule.mix."));
        flatten("schedule.mix", &serde_json::to_value(mix).or_work()?, &mut all);
    }
    Ok(all)
}

fn flatten(key: &str, value: &Value, into: &mut TrialSettings) {
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(inner, value)| flatten(&format!("{key}.{inner}"), value, into));
        }
        Value::String(text) => drop(into.insert(key.into(), text.clone())),
        other => drop(into.insert(key.into(), other.to_string())),
    }
}

/// The name of the row of every trial, in order. Trials in the same row have the same name.
///
/// # Errors
/// If two trials have the same settings and the same seed: the result would count twice.
pub(super) fn row_names(origins: &[TrialOrigin]) -> Result<Vec<String>, Failure> {
    let mut rows: Vec<Vec<&TrialOrigin>> = Vec::new();
    let mut row_of = Vec::new();
    for origin in origins {
        let same = rows.iter().position(|row| one_row(row[0], origin));
        let index = same.unwrap_or(rows.len());
        if same.is_none() {
            rows.push(Vec::new());
        }
        if let Some(twin) = rows[index].iter().find(|other| other.seed == origin.seed) {
            return Err(Failure::input(format!(
                "{} and {} contain the same result: {} with seed {} and the same configuration. It \
                 would count twice; leave one of them out",
                twin.path.display(),
                origin.path.display(),
                origin.label,
                origin.seed
            )));
        }
        rows[index].push(origin);
        row_of.push(index);
    }
    let heads: Vec<&TrialOrigin> = rows.iter().map(|row| row[0]).collect();
    let data: BTreeSet<_> = heads.iter().filter_map(|head| value(head, "data")).collect();
    let names: Vec<String> = heads.iter().map(|head| name(head, &heads, data.len() > 1)).collect();
    Ok(row_of.into_iter().map(|index| names[index].clone()).collect())
}

fn one_row(a: &TrialOrigin, b: &TrialOrigin) -> bool {
    let same = a.settings.is_some() || a.path == b.path;
    same && a.method == b.method && a.label == b.label && a.settings == b.settings
}

fn value<'a>(origin: &'a TrialOrigin, key: &str) -> Option<&'a String> {
    origin.settings.as_ref().and_then(|settings| settings.get(key))
}

/// The name of a row. With `with_data` it always contains the dataset, because there are several.
fn name(own: &TrialOrigin, heads: &[&TrialOrigin], with_data: bool) -> String {
    let title = title(own);
    let alike: Vec<&TrialOrigin> =
        heads.iter().copied().filter(|head| self::title(head) == title).collect();
    let known: Option<Vec<&TrialSettings>> =
        alike.iter().map(|head| head.settings.as_ref()).collect();
    let Some(known) = known else {
        return match alike.len() {
            1 => title,
            _ => format!("{title} ({})", path_tail(own, &alike)),
        };
    };
    let keys: BTreeSet<&String> = known.iter().flat_map(|settings| settings.keys()).collect();
    let differs = |key: &str| alike.iter().any(|head| value(head, key) != value(own, key));
    let shown = keys.into_iter().filter(|key| differs(key) || (with_data && *key == "data"));
    let shown = shown.map(|key| setting(key, value(own, key).map_or("none", String::as_str)));
    std::iter::once(title).chain(shown).collect::<Vec<_>>().join(", ")
}

/// The user's name, or the paper's.
fn title(origin: &TrialOrigin) -> String {
    if origin.label == origin.method {
        TypedMethod::new(&origin.method).title
    } else {
        origin.label.clone()
    }
}

/// A setting in a name. These values say themselves what they are.
fn setting(key: &str, value: &str) -> String {
    match key {
        "data" | "graph" | "model" | "partition" if value != "none" => value.to_owned(),
        _ => parameter(&key.replace(['-', '.'], "_"), value),
    }
}

/// The shortest end of the path that distinguishes it from all others.
fn path_tail(own: &TrialOrigin, alike: &[&TrialOrigin]) -> String {
    let tail = |path: &Path, parts: usize| -> PathBuf {
        let all: Vec<_> = path.components().collect();
        all[all.len().saturating_sub(parts)..].iter().collect()
    };
    let longest = own.path.components().count();
    let alone = |parts: &usize| {
        let same = |other: &&TrialOrigin| tail(&other.path, *parts) == tail(&own.path, *parts);
        !alike.iter().any(|other| other.path != own.path && same(other))
    };
    tail(&own.path, (1..longest).find(alone).unwrap_or(longest)).display().to_string()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    /// A trial in `path`; `settings` are words such as `eta=0.1`, or `None` if unknown.
    fn origin(path: &str, label: &str, seed: u64, settings: Option<&str>) -> TrialOrigin {
        let pair = |word: &str| word.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned()));
        let settings = settings.map(|words| words.split_whitespace().filter_map(pair).collect());
        let (method, label) = (label.into(), label.into());
        TrialOrigin { path: path.into(), method, label, seed, settings }
    }

    #[test]
    fn a_method_that_is_alone_needs_nothing_but_its_name() {
        let trials = [
            origin("/p", "gut", 1, Some("eta=0.1")),
            origin("/q", "dsgd", 1, Some("eta=0.2")),
            origin("/agents", "gt", 1, None),
        ];
        assert_eq!(row_names(&trials).unwrap(), ["GUT", "DSGD", "GT"]);
    }

    #[test]
    fn settings_that_differ_are_told_and_no_others() {
        let trials = [
            origin("/p/exp", "gut", 1, Some("batch=32 eta=0.01")),
            origin("/q/exp", "gut", 1, Some("batch=32 eta=0.1 epochs=3")),
        ];
        let names = row_names(&trials).unwrap();
        assert_eq!(names, ["GUT, epochs = none, η = 0.01", "GUT, epochs = 3, η = 0.1"]);
    }

    #[test]
    fn other_seeds_are_more_of_the_same_row_and_the_same_seed_is_refused() {
        let mut trials =
            [origin("/p", "gut", 1, Some("eta=0.1")), origin("/q", "gut", 2, Some("eta=0.1"))];
        assert_eq!(row_names(&trials).unwrap(), ["GUT", "GUT"]);
        trials[1].seed = 1;
        let words = row_names(&trials).unwrap_err().to_string();
        assert!(words.contains("/p and /q contain the same result: gut with seed 1"), "{words}");
    }

    #[test]
    fn the_end_of_the_path_tells_where_settings_do_not() {
        let trials = [
            origin("/a/p/exp", "gut", 0, None),
            origin("/a/q/exp", "gut", 0, None),
            origin("/a/other", "gut", 0, Some("eta=0.1")),
        ];
        assert_eq!(row_names(&trials).unwrap(), ["GUT (p/exp)", "GUT (q/exp)", "GUT (other)"]);
    }

    #[test]
    fn one_method_with_other_parameters_is_several_rows() {
        let mut trials = [
            origin("/p", "gut:mu=0.5", 1, Some("eta=0.1 mu=0.5")),
            origin("/p", "gut:mu=0.9", 1, Some("eta=0.1 mu=0.9")),
        ];
        assert_eq!(row_names(&trials).unwrap(), ["GUT, μ = 0.5", "GUT, μ = 0.9"]);
        trials[1].label = "ours".into();
        assert_eq!(row_names(&trials).unwrap(), ["GUT", "ours"]);
    }

    #[test]
    fn other_data_are_always_told() {
        let trials = [
            origin("/p", "gut", 1, Some("data=digits")),
            origin("/q", "dsgd", 1, Some("data=mnist")),
        ];
        assert_eq!(row_names(&trials).unwrap(), ["GUT, digits", "DSGD, mnist"]);
    }
}
