//! Keys as the user writes them: overrides, slips of the finger, and values of the wrong kind.

use std::sync::OnceLock;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::key_probe::{FoundKey, ValueKind, keys_of};
use super::reference::{defaults, text_of};
use super::{Config, ConfigError, MethodTable};

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
    let lists = ["methods", "seeds", "schedule.milestones"];
    let mix_lists = ["schedule.mix.milestones", "schedule.mix.graphs"];
    if (lists.contains(&key) || mix_lists.contains(&key)) && !value.is_array() {
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

/// Refuses keys that nobody knows, and says what was probably meant; then values of the wrong kind.
pub(super) fn check(table: &Table) -> Result<(), ConfigError> {
    let names = |keys: &[FoundKey]| keys.iter().map(|found| found.key.clone()).collect::<Vec<_>>();
    let mut known = names(found_keys());
    known.sort_unstable();
    check_keys("", table, &known)?;
    check_kinds("", table, found_keys())?;
    check_graphs(table.get("schedule").and_then(Value::as_table))?;
    let methods = table.get("methods").and_then(Value::as_array);
    for entry in methods.into_iter().flatten() {
        match entry {
            Value::String(_) => {}
            Value::Table(entry) => {
                check_keys("methods.", entry, &names(method_keys()))?;
                check_kinds("methods.", entry, method_keys())?;
                if let Some(mix) = entry.get("mix").and_then(Value::as_table) {
                    check_keys("mix.", mix, &mix_keys())?;
                }
                check_graphs(Some(entry))?;
                if !entry.contains_key("method") {
                    let expected = "a method, as in method = \"gut\"".into();
                    let got = Value::Table(entry.clone()).to_string();
                    return Err(ConfigError::Range { key: "methods".into(), expected, got });
                }
            }
            other => {
                let expected = "names of methods or tables, as in [\"gut\"]".into();
                let got = other.to_string();
                return Err(ConfigError::Range { key: "methods".into(), expected, got });
            }
        }
    }
    Ok(())
}

/// The keys of a method's own mixing, as in `mix.power`: those of `schedule.mix`.
fn mix_keys() -> Vec<String> {
    let own = |found: &FoundKey| found.key.strip_prefix("schedule.").map(String::from);
    found_keys().iter().filter_map(own).filter(|key| key.starts_with("mix.")).collect()
}

/// The entries of `mix.graphs`, if `table` has them.
fn check_graphs(table: Option<&Table>) -> Result<(), ConfigError> {
    let mix = table.and_then(|table| table.get("mix")).and_then(Value::as_table);
    let known = ["from", "graph"].map(String::from);
    tables(mix.and_then(|mix| mix.get("graphs")))
        .try_for_each(|entry| check_keys("", entry, &known))
}

/// The tables in a list.
fn tables(list: Option<&Value>) -> impl Iterator<Item = &Table> {
    let entries = list.and_then(Value::as_array);
    entries.into_iter().flatten().filter_map(Value::as_table)
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
            // Of another kind than a table: `check_kinds` or the parser says it better.
            if let Some(inner) = value.as_table() {
                check_keys(&inside, inner, known)?;
            }
            continue;
        }
        let here = known.iter().filter(|known| known.starts_with(prefix));
        let here: Vec<&str> = here.map(String::as_str).collect();
        return Err(ConfigError::UnknownKey {
            suggestion: nearest(&key, name, known),
            known: here.join(", "),
            key,
        });
    }
    Ok(())
}

/// The key or table that was probably meant: one with a similar name, or one that has this name at
/// another place.
pub(super) fn nearest(key: &str, name: &str, known: &[String]) -> Option<String> {
    let tables = known.iter().filter_map(|known| known.rsplit_once('.').map(|(table, _)| table));
    let names = known.iter().map(String::as_str).chain(tables);
    let near = names.map(|known| (strsim::damerau_levenshtein(key, known), known));
    let close = 1.max(name.chars().count() / 3);
    let similar = near.min().filter(|(slips, _)| *slips <= close).map(|(_, known)| known);
    let elsewhere = || {
        let last = |known: &&String| known.rsplit('.').next() == Some(name);
        known.iter().find(last).map(String::as_str)
    };
    similar.or_else(elsewhere).map(String::from)
}

/// Refuses values of another kind than their keys take.
fn check_kinds(prefix: &str, table: &Table, keys: &[FoundKey]) -> Result<(), ConfigError> {
    for (name, value) in table {
        let key = format!("{prefix}{name}");
        let inside = format!("{key}.");
        if let Some(found) = keys.iter().find(|found| found.key == key) {
            if !found.kind.fits(value) {
                let got = if value.is_table() { "a table".into() } else { value.to_string() };
                return Err(ConfigError::Range { expected: expected(found, value), key, got });
            }
        } else if keys.iter().any(|found| found.key.starts_with(&inside)) {
            let Some(inner) = value.as_table() else {
                let expected = format!("a table of its own, under the line [{key}]");
                return Err(ConfigError::Range { key, expected, got: value.to_string() });
            };
            check_kinds(&inside, inner, keys)?;
        }
    }
    Ok(())
}

/// What a key takes, in words, with an example where that helps.
fn expected(found: &FoundKey, got: &Value) -> String {
    let example = || -> String {
        if found.key == "methods" {
            return "[\"gut\"]".into();
        }
        let default = super::reference::value_at(&defaults(), &found.key).map(Value::to_string);
        let text = || text_of(&found.key).map(|text| text.example.to_string());
        default.or_else(text).unwrap_or_default()
    };
    let words = found.kind.words();
    match &found.kind {
        ValueKind::OneOf(all) => {
            let quoted: Vec<String> = all.iter().map(|word| format!("\"{word}\"")).collect();
            let near = got.as_str().and_then(|got| {
                let near = all.iter().map(|word| (strsim::damerau_levenshtein(got, word), word));
                near.min().filter(|(slips, word)| *slips <= 1.max(word.len() / 3))
            });
            let hint =
                near.map_or(String::new(), |(_, word)| format!(" (did you mean \"{word}\"?)"));
            format!("one of {}{hint}", quoted.join(", "))
        }
        ValueKind::List(_) => format!("{words}, as in {}", example()),
        ValueKind::Text => format!("{words}, as in {}", example()),
        _ => words.into(),
    }
}

impl ValueKind {
    /// What it takes, in words.
    pub(super) fn words(&self) -> &'static str {
        match self {
            ValueKind::Text => "text in quotes",
            ValueKind::OneOf(_) => "one of some words",
            ValueKind::Number => "a number",
            ValueKind::Whole => "a whole number",
            ValueKind::Flag => "true or false",
            ValueKind::List(item) => match **item {
                ValueKind::Number => "a list of numbers",
                ValueKind::Whole => "a list of whole numbers",
                _ => "a list",
            },
            ValueKind::Table => "a table",
            ValueKind::Any => "a value",
        }
    }

    fn fits(&self, value: &Value) -> bool {
        match self {
            ValueKind::Text => value.is_str(),
            ValueKind::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            ValueKind::Number => value.is_float() || value.is_integer(),
            ValueKind::Whole => value.as_integer().is_some_and(|whole| whole >= 0),
            ValueKind::Flag => value.is_bool(),
            ValueKind::List(item) => {
                value.as_array().is_some_and(|items| items.iter().all(|value| item.fits(value)))
            }
            ValueKind::Table => value.is_table(),
            ValueKind::Any => true,
        }
    }
}

/// All keys of a configuration; those of an entry of `methods` are not among them.
pub(super) fn found_keys() -> &'static [FoundKey] {
    static FOUND: OnceLock<Vec<FoundKey>> = OnceLock::new();
    FOUND.get_or_init(|| keys_of::<Config>("", defaults()))
}

/// The keys of an entry of `methods` that is a table, as in `methods.eta`.
pub(super) fn method_keys() -> &'static [FoundKey] {
    static FOUND: OnceLock<Vec<FoundKey>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mut keys = keys_of::<MethodTable>("methods", Table::new());
        // The keys of its table are those of schedule.mix.
        keys.retain(|found| !found.key.starts_with("methods.mix."));
        let key = "methods.mix".to_string();
        keys.push(FoundKey { key, kind: ValueKind::Table, optional: true });
        keys
    })
}

/// The line of the file on which `key` stands, from 1. None if an override set it, or if it stands
/// there several times.
pub(super) fn line_of(text: &str, key: &str, overrides: &[String]) -> Option<usize> {
    let within = |outer: &str| key == outer || key.starts_with(&format!("{outer}."));
    let overridden = |pair: &String| within(pair.split('=').next().unwrap_or_default().trim());
    if overrides.iter().any(overridden) {
        return None;
    }
    let table = DeTable::parse(text).ok()?;
    let parts: Vec<&str> = key.split('.').collect();
    let at = place_of(table.get_ref(), &parts)?;
    Some(1 + text.get(..at)?.matches('\n').count())
}

/// The byte at which the key begins.
fn place_of(table: &DeTable<'_>, parts: &[&str]) -> Option<usize> {
    let (first, rest) = parts.split_first()?;
    let (key, value): (&Spanned<_>, &Spanned<DeValue<'_>>) =
        table.iter().find(|(key, _)| key.get_ref() == first)?;
    if rest.is_empty() {
        return Some(key.span().start);
    }
    match value.get_ref() {
        DeValue::Table(inner) => place_of(inner, rest),
        DeValue::Array(items) => {
            let inside = |item: &Spanned<DeValue<'_>>| place_of(item.get_ref().as_table()?, rest);
            let mut places = items.iter().filter_map(inside);
            places.next().filter(|_| places.next().is_none())
        }
        _ => None,
    }
}
