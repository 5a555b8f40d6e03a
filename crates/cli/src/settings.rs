//! A configuration from a file and flags, for `train` and `init`.

use std::fs;
use std::path::Path;

use consort_data::Source;
use consort_reproduce::preset_of;
use consort_train::Config;

use crate::arguments::SettingOptions;
use crate::failure::Failure;
use crate::missing_file;

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
        Some(path) if !path.exists() => {
            let advice = "`consort new DIR` makes a configuration to start from";
            return Err(missing_file::refused("the configuration", path, &["toml"], advice));
        }
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

/// The same configuration with absolute paths, as it stands in the files of a run: so they mean the
/// same whatever folder later commands are called in.
pub(crate) fn with_absolute_paths(config: Config) -> Config {
    let Ok(here) = std::env::current_dir() else { return config };
    let absolute = |path: &str| {
        let path = here.join(path);
        path.to_str().map(str::to_owned)
    };
    let data = Source::absolute(&config.data, &here);
    let model = match config.model.ends_with(".toml") {
        true => absolute(&config.model).unwrap_or(config.model),
        false => config.model,
    };
    // As in `spanning-tree:file:net.dot`, a path is what is behind `file:`.
    let file = config.graph.match_indices("file:").map(|(at, word)| at + word.len());
    let mut file = file.filter(|end| config.graph[..*end].split(':').rev().nth(1) == Some("file"));
    let graph = match file.next().map(|at| config.graph.split_at(at)) {
        Some((before, path)) => absolute(path).map(|path| format!("{before}{path}")),
        None => None,
    };
    let graph = graph.unwrap_or_else(|| config.graph.clone());
    Config { data, model, graph, ..config }
}
