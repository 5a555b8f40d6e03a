//! The configuration as a JSON schema, with which editors complete keys and mark mistakes.
//!
//! Types and defaults come from the structs, descriptions and limits from the reference.

use serde_json::{Map, Value as Json, json};

use super::key_probe::{FoundKey, ValueKind};
use super::reference::{
    KeyText, Limits, defaults, keys_with_texts, method_keys_with_texts, section_about, value_at,
};

/// The schema of a configuration (JSON Schema, draft 7).
pub fn config_schema() -> Json {
    let defaults = defaults();
    let mut properties = Map::new();
    for (found, text) in keys_with_texts() {
        let mut property = property(found, text);
        if let Some(default) = value_at(&defaults, &found.key)
            && let Ok(default) = serde_json::to_value(default)
        {
            property.insert("default".into(), default);
        }
        put(&mut properties, &found.key, property);
    }
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A configuration of consort train",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
        "not": { "required": ["epochs", "rounds"] },
    })
}

/// Puts a property where its key says, into tables that are made on the way.
fn put(properties: &mut Map<String, Json>, key: &str, property: Map<String, Json>) {
    let Some((table, rest)) = key.split_once('.') else {
        properties.insert(key.into(), Json::Object(property));
        return;
    };
    let inside = properties.entry(table).or_insert_with(|| {
        json!({
            "type": "object",
            "description": section_about(table),
            "additionalProperties": false,
            "properties": {},
        })
    });
    if let Some(inside) = inside["properties"].as_object_mut() {
        put(inside, rest, property);
    }
}

fn property(found: &FoundKey, text: &KeyText) -> Map<String, Json> {
    let mut property = Map::new();
    property.insert("description".into(), text.about.into());
    add_type(&mut property, &found.key, &found.kind, text.limits);
    let example = format!("value = {}", text.example).parse::<toml::Table>();
    if let Some(example) = example.ok().and_then(|table| serde_json::to_value(&table["value"]).ok())
    {
        property.insert("examples".into(), json!([example]));
    }
    property
}

fn add_type(property: &mut Map<String, Json>, key: &str, kind: &ValueKind, limits: Limits) {
    let mut set = |key: &str, value: Json| drop(property.insert(key.into(), value));
    match kind {
        ValueKind::Text => set("type", "string".into()),
        ValueKind::Flag => set("type", "boolean".into()),
        ValueKind::Table => set("type", "object".into()),
        ValueKind::OneOf(words) => set("enum", json!(words)),
        ValueKind::Number => {
            set("type", "number".into());
            add_limits(property, limits);
        }
        ValueKind::Whole => {
            set("type", "integer".into());
            set("minimum", 0.into());
            add_limits(property, limits);
        }
        ValueKind::List(_) if key == "methods" => {
            set("type", "array".into());
            set("minItems", 1.into());
            set("items", method());
        }
        ValueKind::List(item) => {
            set("type", "array".into());
            let mut items = Map::new();
            add_type(&mut items, "", item, limits);
            set("items", Json::Object(items));
        }
        ValueKind::Any => {}
    }
}

fn add_limits(property: &mut Map<String, Json>, limits: Limits) {
    let limits = match limits {
        Limits::None => vec![],
        Limits::Above(least) => vec![("exclusiveMinimum", least)],
        Limits::AtLeast(least) => vec![("minimum", least)],
        Limits::Within(least, most) => vec![("minimum", least), ("maximum", most)],
        Limits::Below(least, most) => vec![("minimum", least), ("exclusiveMaximum", most)],
        Limits::Between(least, most) => {
            vec![("exclusiveMinimum", least), ("exclusiveMaximum", most)]
        }
    };
    property.extend(limits.into_iter().map(|(name, limit)| (name.to_string(), limit.into())));
}

/// An entry of `methods`: a name, or a table.
fn method() -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (found, text) in method_keys_with_texts() {
        let name = found.key.trim_start_matches("methods.");
        properties.insert(name.into(), Json::Object(property(found, text)));
        if !found.optional {
            required.push(name);
        }
    }
    json!({
        "anyOf": [
            { "type": "string" },
            {
                "type": "object",
                "additionalProperties": false,
                "properties": properties,
                "required": required,
            },
        ],
    })
}
