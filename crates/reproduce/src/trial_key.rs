//! The key of a trial: everything that decides its bits, and nothing else.

use consort_train::Config;
use sha2::{Digest, Sha256};

/// Increase this when the same configuration gives different bits than before: older entries of the
/// ledger are no longer found then.
const GENERATION: u32 = 2;

/// Keys of a configuration that do not change the bits.
const WITHOUT_EFFECT: [&str; 4] = ["name", "seeds", "checkpoint", "tensorboard"];

/// A trial: its settings as lines, and its seed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrialKey {
    settings: Vec<String>,
    seed: u64,
}

impl TrialKey {
    /// The key of a trial of `config`, which has one method.
    pub fn from_config(config: &Config, seed: u64) -> Self {
        let mut settings = vec![format!("generation = {GENERATION}")];
        // A configuration that was read can always be written.
        if let Ok(mut table) = toml::Table::try_from(config) {
            table.retain(|key, _| !WITHOUT_EFFECT.contains(&key));
            flatten("", &table, &mut settings);
        }
        settings.sort();
        TrialKey { settings, seed }
    }

    /// The key of any other work, described by lines and a seed.
    pub fn from_lines(lines: impl IntoIterator<Item = String>, seed: u64) -> Self {
        let mut settings: Vec<String> = lines.into_iter().collect();
        settings.push(format!("generation = {GENERATION}"));
        settings.sort();
        TrialKey { settings, seed }
    }

    /// The key of an entry of the ledger.
    pub(crate) fn stored(settings: Vec<String>, seed: u64) -> Self {
        TrialKey { settings, seed }
    }

    /// The settings as lines `key = value`, sorted.
    pub fn settings(&self) -> &[String] {
        &self.settings
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The value of a setting.
    pub fn setting(&self, key: &str) -> Option<&str> {
        setting(&self.settings, key)
    }

    /// A hash of the settings, without the seed.
    pub fn hash(&self) -> String {
        hex(&Sha256::digest(self.settings.join("\n").as_bytes()), 8)
    }

    /// A readable name for a file.
    pub fn file_stem(&self) -> String {
        let value = |key: &str| self.setting(key).unwrap_or_default().trim_matches('"').to_string();
        let method = value("methods").trim_matches(['[', ']', '"']).to_string();
        let parts = [value("data"), value("model"), value("graph"), value("partition"), method];
        let mut stem = String::new();
        for c in parts.join("-").chars() {
            if c.is_ascii_alphanumeric() || c == '.' {
                stem.push(c.to_ascii_lowercase());
            } else if !stem.ends_with('-') && !stem.is_empty() {
                stem.push('-');
            }
        }
        format!("{}-{}-seed-{}", stem.trim_matches('-'), self.hash(), self.seed)
    }
}

/// The value of `key` in lines `key = value`.
pub(crate) fn setting<'a>(lines: &'a [String], key: &str) -> Option<&'a str> {
    let value = |line: &'a String| line.strip_prefix(key)?.strip_prefix(" = ");
    lines.iter().find_map(value)
}

/// The first `count` bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8], count: usize) -> String {
    bytes.iter().take(count).map(|byte| format!("{byte:02x}")).collect()
}

fn flatten(prefix: &str, table: &toml::Table, lines: &mut Vec<String>) {
    for (key, value) in table {
        match value {
            toml::Value::Table(inner) => flatten(&format!("{prefix}{key}."), inner, lines),
            value => lines.push(format!("{prefix}{key} = {value}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> TrialKey {
        TrialKey::from_config(&Config::from_toml(text, &[]).unwrap(), 1)
    }

    #[test]
    fn what_shows_in_the_bits_shows_in_the_key_and_nothing_else_does() {
        let usual = key("methods = ['gut']");
        for same in ["name = 'x'", "seeds = [4]", "tensorboard = true"] {
            assert_eq!(key(&format!("methods = ['gut']\n{same}")), usual, "{same}");
        }
        for other in ["eta = 0.2", "epochs = 3", "[schedule]\nfactor = 0.5"] {
            assert_ne!(key(&format!("methods = ['gut']\n{other}")).hash(), usual.hash(), "{other}");
        }
        assert_eq!(usual.setting("eta"), Some("0.1"));
        assert_eq!(usual.setting("schedule.factor"), Some("0.1"));
    }

    /// The ledger finds its entries by this hash: a new key with a default must not change it.
    #[test]
    fn the_hash_of_the_defaults_does_not_change_unawares() {
        let usual = key("methods = ['gut']");
        assert_eq!(usual.hash(), "49d3330fbfd1bba2", "{:#?}", usual.settings());
        assert!(usual.file_stem().starts_with("digits-mlp-ring-16-dirichlet-alpha-0.1-gut-"));
    }
}
