//! What a configuration says that the defaults do not.

use toml::{Table, Value};

use super::{Config, ConfigError};

impl Config {
    /// Every key whose value is not the default, with its value as TOML: what must be typed to run
    /// this configuration.
    ///
    /// # Errors
    /// If a number is too large for TOML.
    pub fn differences(&self) -> Result<Vec<(String, String)>, ConfigError> {
        let (mut own, mut usual) = (Vec::new(), Vec::new());
        collect("", &self.as_table()?, &mut own);
        collect("", &Config::from_toml("", &[])?.as_table()?, &mut usual);
        own.retain(|pair| !usual.contains(pair));
        Ok(own)
    }
}

fn collect(prefix: &str, table: &Table, pairs: &mut Vec<(String, String)>) {
    for (name, value) in table {
        match value {
            Value::Table(inner) => collect(&format!("{prefix}{name}."), inner, pairs),
            value => pairs.push((format!("{prefix}{name}"), value.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_differences_make_the_configuration_again() {
        let text = "graph = 'dyck'\nrounds = 7\nmethods = ['gut:mu=0.5']\n[schedule]\nwarmup = 0.1";
        let config = Config::from_toml(text, &[]).unwrap();
        let differences = config.differences().unwrap();
        let keys: Vec<&str> = differences.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["graph", "methods", "rounds", "schedule.warmup"]);
        let pairs = differences.iter().map(|(key, value)| format!("{key}={value}"));
        assert_eq!(Config::from_toml("", &pairs.collect::<Vec<_>>()).unwrap(), config);
        assert!(Config::from_toml("", &[]).unwrap().differences().unwrap().is_empty());
    }
}
