//! A sweep on the command line: `eta=0.01,0.03,3x`.

use toml::Value;

use super::ConfigError;
use super::keys::value_of;

/// The override that puts a flag, `key=value,value`, into the table of the sweep. Commas in brackets
/// or quotes separate nothing: `schedule.milestones=[0.5,0.75],[0.3]`, `graph="circulant:16:1,4"`.
///
/// # Errors
/// If there is no key or no value.
pub fn sweep_override(flag: &str) -> Result<String, ConfigError> {
    let bad = || ConfigError::SweepFlag { got: flag.into() };
    let (key, values) = flag.split_once('=').ok_or_else(bad)?;
    let (key, values) = (key.trim(), pieces(values));
    if key.is_empty() || values.iter().any(|value| value.is_empty()) {
        return Err(bad());
    }
    let values = Value::Array(values.into_iter().map(value_of).collect());
    Ok(format!("sweep.{key}={values}"))
}

/// The parts of `text` between commas.
fn pieces(text: &str) -> Vec<&str> {
    let (mut pieces, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_u32, None);
    for (place, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), letter) => quote = (letter != open).then_some(open),
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                pieces.push(text[start..place].trim());
                start = place + 1;
            }
            _ => {}
        }
    }
    pieces.push(text[start..].trim());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Combination, Config, Sweep};

    #[test]
    fn values_are_numbers_words_and_lists() {
        for (flag, expected) in [
            ("eta=0.1, 3x", "sweep.eta=[0.1, \"3x\"]"),
            ("mu=auto", "sweep.mu=[\"auto\"]"),
            ("graph=ring:4,\"circulant:16:1,4\"", "sweep.graph=[\"ring:4\", \"circulant:16:1,4\"]"),
            (
                "schedule.milestones=[0.5,0.75],[0.3]",
                "sweep.schedule.milestones=[[0.5, 0.75], [0.3]]",
            ),
        ] {
            assert_eq!(sweep_override(flag).unwrap(), expected);
        }
        for bad in ["eta", "=1", "eta=", "eta=1,,2"] {
            let told = sweep_override(bad).unwrap_err().to_string();
            assert!(told.contains(&format!("--sweep {bad}: expected key=value,value")), "{told}");
        }
    }

    #[test]
    fn a_flag_replaces_what_the_file_sweeps() {
        let flag = [sweep_override("eta=0.2").unwrap(), sweep_override("batch=8,16").unwrap()];
        let config = Config::from_toml("methods = ['gut']\n[sweep]\neta = [1, 2]", &flag).unwrap();
        let names: Vec<String> =
            Sweep::combinations(&config).unwrap().iter().map(Combination::name).collect();
        assert_eq!(names, ["gut, batch=8, eta=0.2", "gut, batch=16, eta=0.2"]);
    }
}
