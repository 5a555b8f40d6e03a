//! The presets that are part of the program.

use crate::error::ReproduceError;
use crate::experiment::Experiment;

/// Name and text of each preset, in the order of `consort reproduce --list`.
const PRESETS: [(&str, &str); 16] = [
    ("digits", include_str!("../../../experiments/digits.toml")),
    ("figure-2", include_str!("../../../experiments/figure-2.toml")),
    ("table-1", include_str!("../../../experiments/table-1.toml")),
    ("table-2", include_str!("../../../experiments/table-2.toml")),
    ("table-3", include_str!("../../../experiments/table-3.toml")),
    ("table-4", include_str!("../../../experiments/table-4.toml")),
    ("table-5", include_str!("../../../experiments/table-5.toml")),
    ("table-9", include_str!("../../../experiments/table-9.toml")),
    ("table-10", include_str!("../../../experiments/table-10.toml")),
    ("figure-3a", include_str!("../../../experiments/figure-3a.toml")),
    ("figure-3b", include_str!("../../../experiments/figure-3b.toml")),
    ("figure-3c", include_str!("../../../experiments/figure-3c.toml")),
    ("auto-mu", include_str!("../../../experiments/auto-mu.toml")),
    ("all-methods", include_str!("../../../experiments/all-methods-fashion-mnist.toml")),
    ("mu-and-step", include_str!("../../../experiments/mu-and-step.toml")),
    ("imagenette-sample", include_str!("../../../experiments/imagenette-sample.toml")),
];

/// All presets.
///
/// # Errors
/// If a preset is not valid, which a test excludes.
pub fn experiments() -> Result<Vec<Experiment>, ReproduceError> {
    PRESETS.iter().map(|(name, text)| Experiment::from_toml(name, text)).collect()
}

/// The name of the preset with this text, if there is one.
pub fn preset_of(text: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(_, preset)| *preset == text).map(|(name, _)| *name)
}

/// A preset by its name.
///
/// # Errors
/// If there is no preset of this name.
pub fn experiment(name: &str) -> Result<Experiment, ReproduceError> {
    match PRESETS.iter().find(|(known, _)| *known == name) {
        Some((name, text)) => Experiment::from_toml(name, text),
        None => {
            let known: Vec<&str> = PRESETS.iter().map(|(name, _)| *name).collect();
            let wanted: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
            let alike = |known: &&&str| known.replace('-', "") == wanted.to_lowercase();
            let meant = known.iter().find(alike);
            Err(ReproduceError::NoExperiment {
                got: name.into(),
                hint: meant.map_or(String::new(), |name| format!(" (did you mean {name}?)")),
                known: known.join(", "),
            })
        }
    }
}
