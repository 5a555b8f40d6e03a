//! A configuration from a file and flags, for `train` and `init`.

use std::fs;
use std::path::Path;

use consort_reproduce::preset_of;
use consort_train::Config;

use crate::arguments::SettingOptions;
use crate::failure::Failure;

/// All flags except `--set` as `key=value`; `--set` overrides them.
pub(crate) fn overrides(options: &SettingOptions) -> Vec<String> {
    let mut overrides = Vec::new();
    let mut set = |key: &str, value: String| overrides.push(format!("{key}={value}"));
    // Debug quotes and escapes as TOML does.
    let texts = [
        ("data", &options.data),
        ("partition", &options.partition),
        ("graph", &options.graph),
        ("weights", &options.weights),
        ("model", &options.model),
    ];
    for (key, value) in texts {
        if let Some(value) = value {
            set(key, format!("{value:?}"));
        }
    }
    for (key, value) in
        [("epochs", options.epochs), ("eta", options.eta), ("weight-decay", options.weight_decay)]
    {
        if let Some(value) = value {
            set(key, format!("{value:?}"));
        }
    }
    if let Some(rounds) = options.rounds {
        set("rounds", rounds.to_string());
    }
    if let Some(batch) = options.batch {
        set("batch", batch.to_string());
    }
    overrides
}

/// Reads the file, if there is one, and applies the overrides.
pub(crate) fn read(file: Option<&Path>, overrides: &[String]) -> Result<Config, Failure> {
    let text = match file {
        Some(path) => fs::read_to_string(path).map_err(|error| {
            Failure::input(format!("cannot read the configuration {}: {error}", path.display()))
        })?,
        None => String::new(),
    };
    Config::from_toml(&text, overrides).map_err(|error| match (file, preset_of(&text)) {
        // Presets are in the same folder as configurations.
        (Some(path), Some(name)) => Failure::input(format!(
            "{} is a preset, not a configuration; run it with: consort reproduce {name}",
            path.display()
        )),
        (Some(path), None) => Failure::input(format!("{}: {error}", path.display())),
        (None, _) => Failure::input(error.to_string()),
    })
}
