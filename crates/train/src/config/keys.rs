//! Keys as the user writes them: overrides, and slips of the finger.

use toml::{Table, Value};

use super::{Config, ConfigError};

/// Keys that are left out of the defaults because they have no value there.
const OPTIONAL: [&str; 7] = [
    "partition-seed",
    "epochs",
    "rounds",
    "clip-norm",
    "validation",
    "evaluation.agent-samples",
    "checkpoint.every-rounds",
];

/// Puts `key=value` into the table. The value is TOML, or else a bare word.
pub(super) fn set(table: &mut Table, pair: &str) -> Result<(), ConfigError> {
    let bad = || ConfigError::Override { got: pair.into() };
    let (key, text) = pair.split_once('=').ok_or_else(bad)?;
    let (key, text) = (key.trim(), text.trim());
    let mut place = table;
    let mut parts: Vec<&str> = key.split('.').collect();
    let last = parts.pop().filter(|last| !last.is_empty()).ok_or_else(bad)?;
    for part in parts {
        let inner = place.entry(part).or_insert_with(|| Value::Table(Table::new()));
        place = inner.as_table_mut().ok_or_else(bad)?;
    }
    let mut value = value_of(text);
    // One method or one seed needs no brackets.
    if matches!(key, "methods" | "seeds" | "schedule.milestones") && !value.is_array() {
        value = Value::Array(vec![value]);
    }
    // What excludes the other replaces it.
    match key {
        "rounds" => place.remove("epochs"),
        "epochs" => place.remove("rounds"),
        _ => None,
    };
    place.insert(last.into(), value);
    Ok(())
}

pub(super) fn value_of(text: &str) -> Value {
    let parsed = format!("value = {text}").parse::<Table>().ok();
    let value = parsed.filter(|table| table.len() == 1).and_then(|mut table| table.remove("value"));
    value.unwrap_or_else(|| Value::String(text.into()))
}

/// Refuses keys that nobody knows, and says what was probably meant.
pub(super) fn check(table: &Table) -> Result<(), ConfigError> {
    let known = known_keys();
    check_keys("", table, &known)?;
    let methods = table.get("methods").and_then(Value::as_array);
    for entry in methods.into_iter().flatten().filter_map(Value::as_table) {
        let known = ["method", "label", "eta", "weight-decay", "clip-norm"].map(String::from);
        check_keys("", entry, &known)?;
    }
    Ok(())
}

/// Refuses keys of `table` that are not among `known`, and says what was probably meant. Known
/// keys begin with `prefix`, where the table stands; a table of their own counts as known.
///
/// # Errors
/// Names the first unknown key.
pub fn check_keys(prefix: &str, table: &Table, known: &[String]) -> Result<(), ConfigError> {
    for (name, value) in table {
        let key = format!("{prefix}{name}");
        let inside = format!("{key}.");
        if known.contains(&key) {
            continue;
        }
        if known.iter().any(|known| known.starts_with(&inside)) {
            // Of another kind than a table: the parser says it better.
            if let Some(inner) = value.as_table() {
                check_keys(&inside, inner, known)?;
            }
            continue;
        }
        let close = 1.max(name.chars().count() / 3);
        let suggestion = nearest_within(close, &key, known);
        let here = known.iter().filter(|known| known.starts_with(prefix));
        let here: Vec<&str> = here.map(String::as_str).collect();
        return Err(ConfigError::UnknownKey {
            suggestion: suggestion.cloned(),
            known: here.join(", "),
            key,
        });
    }
    Ok(())
}

/// The key that was probably meant.
pub(super) fn nearest<'a>(key: &str, known: &'a [String]) -> Option<&'a String> {
    nearest_within(1.max(key.chars().count() / 3), key, known)
}

fn nearest_within<'a>(slips: usize, key: &str, known: &'a [String]) -> Option<&'a String> {
    let near = known.iter().map(|known| (strsim::damerau_levenshtein(key, known), known));
    near.min().filter(|(distance, _)| *distance <= slips).map(|(_, key)| key)
}

/// All keys, from the defaults themselves.
pub(super) fn known_keys() -> Vec<String> {
    let defaults = Config::default();
    let mut keys: Vec<String> = OPTIONAL.map(String::from).into();
    if let Ok(table) = Table::try_from(&defaults) {
        collect("", &table, &mut keys);
    }
    keys.sort_unstable();
    keys
}

fn collect(prefix: &str, table: &Table, keys: &mut Vec<String>) {
    for (name, value) in table {
        match value {
            Value::Table(inner) => collect(&format!("{prefix}{name}."), inner, keys),
            _ => keys.push(format!("{prefix}{name}")),
        }
    }
}
