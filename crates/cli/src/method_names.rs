//! The names of methods in tables and legends: those of the papers.
//!
//! ```text
//!   qg-gutm:mu=0.05                   QG-GUTm           alone, nothing needs to be told apart
//!   gut:mu=0.5, gut:mu=0.9            GUT, μ = 0.5      two of one method: what differs
//!   gut, gut:mu=0.5                   GUT, μ = 0.9      a default that differs is written out
//! ```
//!
//! What the user called a method stays as it is. Files and JSON keep the method as it was typed
//! beside the name.

use std::collections::{BTreeMap, BTreeSet};

use consort_algo::{CATALOGUE, MethodInfo, MethodName};
use consort_records::TrialRecords;

/// A method as it was typed, in parts.
#[derive(Clone, Debug)]
pub(crate) struct TypedMethod {
    /// The paper's name, or the text before the parameters if no paper has it.
    pub(crate) title: String,
    /// The parameters that were given, by name.
    pub(crate) parameters: BTreeMap<String, String>,
}

impl TypedMethod {
    pub(crate) fn new(text: &str) -> Self {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let parameter = |part: &str| {
            let (key, value) = part.split_once('=').unwrap_or((part, "yes"));
            (key.trim().replace('-', "_"), value.trim().to_owned())
        };
        let parameters = rest.split(',').filter(|part| !part.trim().is_empty()).map(parameter);
        let mut parameters: BTreeMap<String, String> = parameters.collect();
        let id = name.trim().parse::<MethodName>().ok();
        let info: Option<&MethodInfo> = CATALOGUE.iter().find(|info| Some(info.id) == id);
        let title = info.map_or(name.trim(), |info| info.title).to_owned();
        // A default is a value too, if another entry has another one.
        if let Some(info) = info.filter(|info| info.tracks) {
            let usual = info.default_mu.to_string();
            parameters.entry("mu".to_owned()).or_insert(usual);
        }
        Self { title, parameters }
    }
}

/// The names of the entries of one figure or table: method as typed, and the name that the user
/// gave or the method itself. Entries that differ have different names.
pub(crate) fn names(entries: &[(&str, &str)]) -> Vec<String> {
    let typed: Vec<TypedMethod> =
        entries.iter().map(|(method, _)| TypedMethod::new(method)).collect();
    let is_own = |i: usize| entries[i].0 != entries[i].1;
    let name = |i: usize| -> String {
        if is_own(i) {
            return entries[i].1.to_owned();
        }
        let alike =
            || (0..entries.len()).filter(|j| !is_own(*j) && typed[*j].title == typed[i].title);
        let keys: BTreeSet<&String> = alike().flat_map(|j| typed[j].parameters.keys()).collect();
        let value = |j: usize, key: &str| typed[j].parameters.get(key);
        let differs = |key: &&&String| alike().any(|j| value(j, key) != value(i, key));
        let shown: Vec<String> = keys
            .iter()
            .filter(differs)
            .filter_map(|key| Some(parameter(key, value(i, key)?)))
            .collect();
        [vec![typed[i].title.clone()], shown].concat().join(", ")
    };
    let names: Vec<String> = (0..entries.len()).map(name).collect();
    // Two spellings of one method (mu=0.50, mu=0.5) keep what tells them apart.
    let distinct = |i: usize| {
        let clashes = (0..entries.len()).any(|j| names[j] == names[i] && entries[j] != entries[i]);
        if clashes { entries[i].1.to_owned() } else { names[i].clone() }
    };
    (0..entries.len()).map(distinct).collect()
}

/// A parameter as a paper writes it.
pub(crate) fn parameter(key: &str, value: &str) -> String {
    let sign = match key {
        "mu" => "μ",
        "mu_q" => "μ_q",
        "beta" => "β",
        "gamma" => "γ",
        "eta" => "η",
        "reading" | "codec" => return value.to_owned(),
        other => return format!("{} = {value}", other.replace('_', " ")),
    };
    format!("{sign} = {value}")
}

/// Gives every trial the name of its method in tables and legends.
pub(crate) fn name_trials(trials: &mut [TrialRecords]) {
    let mut entries: Vec<(String, String)> = Vec::new();
    for trial in trials.iter() {
        let entry = (trial.method.clone(), trial.label.clone());
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    let pairs: Vec<(&str, &str)> = entries.iter().map(|(m, l)| (m.as_str(), l.as_str())).collect();
    let names = names(&pairs);
    for trial in trials {
        let place = entries.iter().position(|(m, l)| (m, l) == (&trial.method, &trial.label));
        if let Some(place) = place {
            trial.label.clone_from(&names[place]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(methods: &[&str]) -> Vec<String> {
        let entries: Vec<(&str, &str)> = methods.iter().map(|m| (*m, *m)).collect();
        names(&entries)
    }

    #[test]
    fn a_method_that_is_alone_has_the_papers_name_alone() {
        assert_eq!(named(&["dsgd", "qg-gutm:mu=0.05", "d2"]), ["DSGD", "QG-GUTm", "D²"]);
        assert_eq!(named(&["my-rule:a=1"]), ["my-rule"]);
    }

    #[test]
    fn parameters_that_differ_are_told_and_no_others() {
        let methods = ["gut:mu=0.5,gamma=0.9", "gut:gamma=0.9", "gut:mu=0.1,gamma=0.9", "dsgd"];
        assert_eq!(named(&methods), ["GUT, μ = 0.5", "GUT, μ = 0.9", "GUT, μ = 0.1", "DSGD"]);
        let readings = named(&["gut:reading=printed,mu=0.9", "gut"]);
        assert_eq!(readings, ["GUT, printed", "GUT"]);
        let spellings = named(&["gut:mu=0.9", "gut"]);
        assert_eq!(spellings, ["gut:mu=0.9", "gut"], "what is equal keeps what was typed");
    }

    #[test]
    fn what_the_user_called_it_stays() {
        let entries = [("gut:mu=0.5", "ours"), ("gut:mu=0.9", "gut:mu=0.9"), ("dsgd", "Baseline")];
        assert_eq!(names(&entries), ["ours", "GUT", "Baseline"]);
    }
}
