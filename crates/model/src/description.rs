//! Reads a model that a user wrote in TOML, and says everything that is wrong with it at once:
//! the layer with its number and kind, what is missing, what is unknown and what was probably
//! meant, and what the layer can have.

use toml::{Table, Value};

use crate::layer_kinds::{KeyValue, LAYER_KINDS, LayerKey, LayerKind};
use crate::{ModelError, ModelSpec};

/// A model with every kind of layer, commented: something to start from.
pub const TEMPLATE: &str = include_str!("template.toml");

/// The keys outside of the layers.
const KEYS: [(&str, &str); 5] = [
    ("name", "a text, such as name = \"own\""),
    ("input", "height, width and channels, such as input = [28, 28, 1]"),
    ("classes", "a whole number, such as classes = 10"),
    ("init", "\"torch\" or \"he-fan-out\""),
    ("layers", "a list, each beginning with [[layers]]"),
];

/// Reads and checks a description.
pub(crate) fn read(text: &str) -> Result<ModelSpec, ModelError> {
    let table: Table = toml::from_str(text)?;
    let mut problems = Vec::new();
    look_at_keys(&table, &mut problems);
    if let Some(Value::Array(layers)) = table.get("layers") {
        look_at_layers("", layers, &mut problems);
    }
    if !problems.is_empty() {
        return Err(ModelError::Description { problems });
    }
    let spec: ModelSpec = toml::from_str(text)?;
    spec.output()?;
    Ok(spec)
}

fn look_at_keys(table: &Table, problems: &mut Vec<String>) {
    let known: Vec<&str> = KEYS.iter().map(|(name, _)| *name).collect();
    for name in table.keys().filter(|name| !known.contains(&name.as_str())) {
        problems.push(format!(
            "unknown key `{name}`{}; a model has {}",
            meant(name, &known),
            known.join(", ")
        ));
    }
    for (name, expected) in KEYS {
        let fits = match (name, table.get(name)) {
            ("init", None) => true,
            (_, None) => {
                problems.push(format!("`{name}` is missing: {expected}"));
                continue;
            }
            ("name", Some(value)) => value.is_str(),
            ("input", Some(Value::Array(sides))) => sides.len() == 3 && sides.iter().all(is_count),
            ("classes", Some(value)) => is_count(value),
            ("init", Some(value)) => matches!(value.as_str(), Some("torch" | "he-fan-out")),
            ("layers", Some(value)) => value.is_array(),
            _ => false,
        };
        if !fits {
            problems.push(format!("`{name}`: expected {expected}, got {}", shown(&table[name])));
        }
    }
}

fn look_at_layers(prefix: &str, layers: &[Value], problems: &mut Vec<String>) {
    let kinds: Vec<&str> = LAYER_KINDS.iter().map(|kind| kind.name).collect();
    for (number, layer) in layers.iter().enumerate() {
        let at = format!("{prefix}{number}");
        let Some(table) = layer.as_table() else {
            problems.push(format!("layer {at}: expected a table, got {}", shown(layer)));
            continue;
        };
        match table.get("layer") {
            None => problems.push(format!(
                "layer {at}: `layer` is missing, its kind: one of {}",
                kinds.join(", ")
            )),
            Some(Value::String(name)) => match LayerKind::find(name) {
                Some(kind) => look_at_layer(&at, kind, table, problems),
                None => problems.push(format!(
                    "layer {at}: there is no kind \"{name}\"{}; there are {}",
                    meant(name, &kinds),
                    kinds.join(", ")
                )),
            },
            Some(other) => {
                problems.push(format!("layer {at}: `layer`: expected a text, got {}", shown(other)))
            }
        }
    }
}

/// One line for all that is wrong with a layer, then its own layers.
fn look_at_layer(at: &str, kind: &LayerKind, table: &Table, problems: &mut Vec<String>) {
    let known: Vec<&str> = kind.keys.iter().map(|key| key.name).collect();
    let mut wrong = Vec::new();
    for key in kind.keys.iter().filter(|key| key.default.is_none()) {
        if !table.contains_key(key.name) {
            wrong.push(format!("`{}` is missing ({})", key.name, key.value.describe()));
        }
    }
    for (name, value) in table.iter().filter(|(name, _)| *name != "layer") {
        match kind.keys.iter().find(|key| key.name == name) {
            None => wrong.push(format!("`{name}` is unknown{}", meant(name, &known))),
            Some(key) if !fits(key, value) => wrong.push(format!(
                "`{name}`: expected {}, got {}",
                key.value.describe(),
                shown(value)
            )),
            Some(_) => {}
        }
    }
    if !wrong.is_empty() {
        let has = match &kind.signature()[..] {
            "" => "nothing but its kind".to_string(),
            signature => signature.to_string(),
        };
        let (name, wrong) = (kind.name, wrong.join("; "));
        problems.push(format!("layer {at} ({name}): {wrong} (a {name} layer has {has})"));
    }
    for key in kind.keys.iter().filter(|key| key.value == KeyValue::Layers) {
        if let Some(Value::Array(inner)) = table.get(key.name) {
            look_at_layers(&format!("{at}.{}.", key.name), inner, problems);
        }
    }
}

fn fits(key: &LayerKey, value: &Value) -> bool {
    match key.value {
        KeyValue::Count => is_count(value),
        KeyValue::Flag => value.is_bool(),
        KeyValue::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        KeyValue::Layers => value.is_array(),
    }
}

fn is_count(value: &Value) -> bool {
    value.as_integer().is_some_and(|number| number >= 0)
}

/// A value in a message, not too long.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 40;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// `, did you mean ...?` if one of `known` is near.
fn meant(name: &str, known: &[&str]) -> String {
    nearest(name, known).map_or(String::new(), |near| format!(", did you mean `{near}`?"))
}

/// The one of `known` that was probably meant.
pub(crate) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['_', ' ', '-'], "");
    let slips = |known: &&'a str| strsim::damerau_levenshtein(&plain(name), &plain(known));
    let near = known.iter().map(|known| (slips(known), *known)).min()?;
    (near.0 <= 1.max(name.chars().count() / 3)).then_some(near.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let text = r#"
            name = "own"
            clases = 10
            layers = [
                { layer = "conv", outs = 8, stride = "two" },
                { layer = "maxpool", size = 2 },
                { layer = "block", body = [{ layer = "evonorm", form = "s1" }], skip = [{}] },
                { kind = "relu" },
                { layer = "relu", size = 1 },
            ]
        "#;
        let told = read(text).unwrap_err().to_string();
        for part in [
            "`clases`, did you mean `classes`?",
            "`input` is missing: height, width and channels",
            "`classes` is missing",
            "layer 0 (conv): `out` is missing (a whole number); `kernel` is missing",
            "`outs` is unknown, did you mean `out`?",
            "`stride`: expected a whole number, got \"two\"",
            "(a conv layer has out, kernel, stride = 1, padding = 0, groups = 1, bias = false)",
            "layer 1: there is no kind \"maxpool\", did you mean `max-pool`?",
            "layer 2.body.0 (evonorm): `form`: expected \"hard-sigmoid\" or \"s0\", got \"s1\"",
            "layer 2.skip.0: `layer` is missing",
            "layer 3: `layer` is missing",
            "layer 4 (relu): `size` is unknown (a relu layer has nothing but its kind)",
        ] {
            assert!(told.contains(part), "no {part:?} in:\n{told}");
        }
        assert_eq!(told.lines().count(), 10, "{told}");
    }

    /// Every kind and every key stands in the template, and it is a model that can be built.
    #[test]
    fn the_template_shows_every_kind_and_key_and_is_a_model() {
        let spec = read(TEMPLATE).unwrap();
        for kind in &LAYER_KINDS {
            assert!(TEMPLATE.contains(&format!("layer = \"{}\"", kind.name)), "{}", kind.name);
            for key in kind.keys {
                assert!(TEMPLATE.contains(&format!("{} =", key.name)), "{}", key.name);
            }
        }
        for (key, _) in KEYS {
            assert!(TEMPLATE.contains(key), "{key}");
        }
        let parameters = crate::Parameters::new(&spec).unwrap();
        assert!(crate::Engine::new(&spec, 2, crate::Isa::detect()).is_ok());
        // 144 + 32, then 2304 + 32, 512 + 96 + 288 + 64 + 1024 + 512, 2112, 650
        assert_eq!(parameters.len(), 7770);
    }
}
