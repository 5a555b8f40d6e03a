//! Values to try: every combination of them, for every method.
//!
//! ```toml
//! [sweep]
//! eta = [0.03, 0.1, "3x"]              # a key of a configuration; 3x: three times the method's own
//! schedule.factor = [0.1, 0.2]
//! mu = [0.5, 0.9, "auto"]              # a parameter: of the methods that have it
//! qg-gutm.mu = [0.01, 0.05]            # of this method alone, in place of the line above
//! ```
//!
//! A combination is a configuration of its own, with one method. A key that a method does not have
//! does not multiply its combinations.

use consort_algo::{CATALOGUE, Method, MethodName};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::keys::{found_keys, nearest, set};
use super::{Config, ConfigError, MethodEntry};

/// More combinations than anybody can wait for are a slip of the finger.
const MOST: usize = 10_000;

/// Keys that a method may have of its own: what is tried wins over it.
const OWN: [&str; 4] = ["eta", "weight-decay", "clip-norm", "sam"];

/// Keys that cannot be swept, and why.
const REFUSED: [(&str, &str); 9] = [
    ("methods", "every method of `methods` is tried anyway"),
    ("seeds", "every combination runs once for each of `seeds` anyway"),
    ("data", "results on different data cannot be ranked; run a sweep for each"),
    ("validation", "results on different samples cannot be ranked"),
    ("name", "it does not change what is learned"),
    ("tensorboard", "it does not change what is learned"),
    ("checkpoint", "it does not change what is learned"),
    ("evaluation", "it does not change what is learned"),
    ("sweep", "it is no key of a configuration"),
];

/// The keys to sweep, with the values of each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Table", into = "Table")]
pub struct Sweep {
    axes: Vec<Axis>,
}

/// A key as the user wrote it, and its values.
#[derive(Clone, Debug, PartialEq)]
struct Axis {
    key: String,
    values: Vec<Value>,
}

/// One method with one value of every key that applies to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// The place of the method among those of the sweep.
    pub method: usize,
    /// The name of the method in tables.
    pub label: String,
    /// What was chosen: key and value, in the order of [`Sweep::columns`].
    pub values: Vec<(String, String)>,
    /// The configuration that it runs: with this method alone, and nothing to sweep.
    pub config: Config,
}

impl Combination {
    /// `gut, eta=0.1, mu=0.9`.
    pub fn name(&self) -> String {
        let values = self.values.iter().map(|(key, value)| format!(", {key}={value}"));
        self.label.clone() + &values.collect::<String>()
    }
}

/// What an axis changes at a method.
enum Target<'a> {
    /// A key of the whole configuration.
    Config(&'a str),
    /// One of [`OWN`].
    Own(&'a str),
    /// A parameter of the method.
    Parameter(&'static str),
}

impl Target<'_> {
    /// The column of the table that shows the values.
    fn column(&self) -> &str {
        match self {
            Target::Config(key) | Target::Own(key) => key,
            Target::Parameter(name) => name,
        }
    }
}

impl Sweep {
    /// True if there is nothing to sweep.
    pub fn is_empty(&self) -> bool {
        self.axes.is_empty()
    }

    pub(super) fn from_value(value: Value) -> Result<Self, ConfigError> {
        match value {
            Value::Table(table) => Self::try_from(table),
            other => Err(bad("sweep", format!("expected a table of keys, got {other}"))),
        }
    }

    /// The columns of the table of results: each key once, whether it is for one method or for all.
    ///
    /// # Errors
    /// As [`combinations`](Self::combinations).
    pub fn columns(config: &Config) -> Result<Vec<String>, ConfigError> {
        let mut columns: Vec<String> = Vec::new();
        for axis in &config.sweep.axes {
            for entry in &config.methods {
                if let Some(target) = axis.target(entry)? {
                    let column = target.column().to_string();
                    if !columns.contains(&column) {
                        columns.push(column);
                    }
                }
            }
        }
        Ok(columns)
    }

    /// Every combination that the sweep of `config` asks for, method by method.
    ///
    /// # Errors
    /// If a key does not exist or applies to no method, or a value cannot be used.
    pub fn combinations(config: &Config) -> Result<Vec<Combination>, ConfigError> {
        let sweep = &config.sweep;
        for axis in &sweep.axes {
            axis.check(config)?;
        }
        let columns = Self::columns(config)?;
        let mut all = Vec::new();
        for (place, entry) in config.methods.iter().enumerate() {
            let mut axes: Vec<(&Axis, Target<'_>)> = Vec::new();
            for column in &columns {
                // What is for this method alone wins.
                let mut fitting: Vec<(&Axis, Target<'_>)> = Vec::new();
                for axis in &sweep.axes {
                    let target = axis.target(entry)?;
                    fitting.extend(
                        target
                            .filter(|target| target.column() == column)
                            .map(|target| (axis, target)),
                    );
                }
                fitting.sort_by_key(|(axis, _)| !axis.is_scoped(config));
                axes.extend(fitting.into_iter().next());
            }
            let count = axes.iter().map(|(axis, _)| axis.values.len());
            let count = count.fold(1_usize, usize::saturating_mul);
            if all.len().saturating_add(count) > MOST {
                let reason = format!("more than {MOST} combinations; try fewer values at a time");
                return Err(bad("sweep", reason));
            }
            for number in 0..count {
                all.push(combination(config, place, entry, &axes, number)?);
            }
        }
        Ok(all)
    }
}

/// Combination `number` of a method; the last key changes fastest.
fn combination(
    config: &Config,
    place: usize,
    entry: &MethodEntry,
    axes: &[(&Axis, Target<'_>)],
    number: usize,
) -> Result<Combination, ConfigError> {
    let mut own = entry.clone();
    own.label = Some(entry.label.clone().unwrap_or_else(|| entry.method.clone()));
    let mut table = config.as_table()?;
    let mut values = Vec::new();
    let mut left = number;
    let mut chosen: Vec<&Value> = Vec::new();
    for (axis, _) in axes.iter().rev() {
        chosen.push(&axis.values[left % axis.values.len()]);
        left /= axis.values.len();
    }
    for ((_, target), value) in axes.iter().zip(chosen.into_iter().rev()) {
        let key = target.column().to_string();
        let value = absolute(value, target, config, entry)?;
        let wrong = |reason: String| bad(&format!("{key}={}", text_of(&value)), reason);
        match target {
            Target::Config(key) => set(&mut table, &format!("{key}={value}"))?,
            Target::Own(key) => {
                let number = number_of(&value).ok_or_else(|| wrong("expected a number".into()))?;
                match *key {
                    "eta" => own.eta = Some(number),
                    "weight-decay" => own.weight_decay = Some(number),
                    "sam" => own.sam = Some(number),
                    _ => own.clip_norm = Some(number),
                }
            }
            Target::Parameter(name) => {
                let method: Result<Method, _> = own.method.parse();
                let mut method = method.map_err(|error| wrong(error.to_string()))?;
                method.set(name, &text_of(&value)).map_err(|error| wrong(error.to_string()))?;
                own.method = method.to_string();
            }
        }
        values.push((key, text_of(&value)));
    }
    table.remove("methods");
    table.remove("sweep");
    let named = values.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>();
    let config = Config::from_table(table);
    let mut config = config.map_err(|error| bad(&named.join(", "), error.to_string()))?;
    let label = own.label.clone().unwrap_or_default();
    config.methods = vec![own];
    config.check().map_err(|error| bad(&named.join(", "), error.to_string()))?;
    Ok(Combination { method: place, label, values, config })
}

impl Axis {
    /// The method that the key is for alone, if it names one, and the rest of the key.
    fn scope<'a>(&'a self, methods: &[MethodEntry]) -> (Option<&'a str>, &'a str) {
        match self.key.rsplit_once('.') {
            Some((scope, key)) if methods.iter().any(|entry| is_called(entry, scope)) => {
                (Some(scope), key)
            }
            _ => (None, &self.key),
        }
    }

    fn is_scoped(&self, config: &Config) -> bool {
        self.scope(&config.methods).0.is_some()
    }

    /// What the axis changes at this method, if anything.
    fn target(&self, entry: &MethodEntry) -> Result<Option<Target<'_>>, ConfigError> {
        let key = match self.key.rsplit_once('.') {
            Some((scope, key)) if is_called(entry, scope) => key,
            _ => self.key.as_str(),
        };
        if let Some(own) = OWN.iter().find(|own| **own == key) {
            return Ok(Some(Target::Own(own)));
        }
        if key == self.key && found_keys().iter().any(|known| known.key == key) {
            return Ok(Some(Target::Config(key)));
        }
        let method: Method = entry
            .method
            .parse()
            .map_err(|error: consort_algo::MethodError| bad(&entry.method, error.to_string()))?;
        let wanted = key.replace('-', "_");
        let parameter = method.info().parameters().find(|parameter| parameter.name == wanted);
        Ok(parameter.map(|parameter| Target::Parameter(parameter.name)))
    }

    /// Refuses a key that nobody has, and values that are none.
    fn check(&self, config: &Config) -> Result<(), ConfigError> {
        let (scope, key) = self.scope(&config.methods);
        let first = self.key.split('.').next().unwrap_or_default();
        if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == first) {
            return Err(bad(&self.key, format!("cannot be swept: {why}")));
        }
        if self.values.is_empty() {
            return Err(bad(&self.key, "expected at least one value, got none".into()));
        }
        let twice = |k: &usize| self.values[..*k].contains(&self.values[*k]);
        if let Some(k) = (0..self.values.len()).find(twice) {
            return Err(bad(&self.key, format!("{} is there twice", text_of(&self.values[k]))));
        }
        for entry in &config.methods {
            if self.target(entry)?.is_some() {
                return Ok(());
            }
        }
        Err(bad(&self.key, self.nobody_has(scope, key, config)))
    }

    /// Why the key applies to no method.
    fn nobody_has(&self, scope: Option<&str>, key: &str, config: &Config) -> String {
        let all: Vec<&str> =
            CATALOGUE.iter().flat_map(|info| info.parameters()).map(|p| p.name).collect();
        if scope.is_none() && all.contains(&key.replace('-', "_").as_str()) {
            let methods: Vec<&str> = config.methods.iter().map(|m| m.method.as_str()).collect();
            return format!("no method of this sweep has this parameter: {}", methods.join(", "));
        }
        let mut known: Vec<String> = Vec::new();
        let of_method = config.methods.iter().filter(|e| scope.is_none_or(|s| is_called(e, s)));
        for name in of_method.filter_map(name_of) {
            known.extend(name.info().parameters().map(|parameter| parameter.name.to_string()));
        }
        if scope.is_none() {
            let refused =
                |key: &String| REFUSED.iter().any(|(name, _)| key.split('.').next() == Some(name));
            let all = found_keys().iter().map(|found| found.key.clone());
            known.extend(all.filter(|key| !refused(key)));
        } else {
            known.extend(OWN.map(String::from));
        }
        known.sort_unstable();
        known.dedup();
        let meant = nearest(key, key, &known).map(|near| format!(", did you mean `{near}`?"));
        let whose = match scope {
            Some(scope) => format!("{scope} has {}", known.join(", ")),
            None => format!("known here: {}; METHOD.KEY is for one method alone", known.join(", ")),
        };
        format!("no such key{}; {whose}", meant.unwrap_or_default())
    }
}

/// Whether a method is called so: by its name, with or without parameters, or by its label.
fn is_called(entry: &MethodEntry, name: &str) -> bool {
    let short = entry.method.split(':').next();
    short == Some(name) || entry.method == name || entry.label.as_deref() == Some(name)
}

fn name_of(entry: &MethodEntry) -> Option<MethodName> {
    entry.method.split(':').next()?.trim().parse().ok()
}

/// The value itself; `3x` is three times what the key has for this method without the sweep.
fn absolute(
    value: &Value,
    target: &Target<'_>,
    config: &Config,
    entry: &MethodEntry,
) -> Result<Value, ConfigError> {
    let times = value.as_str().and_then(|text| text.strip_suffix('x')?.parse::<f64>().ok());
    let (Some(times), Target::Own(key)) = (times, target) else { return Ok(value.clone()) };
    let usual = match *key {
        "eta" => Some(entry.eta.unwrap_or(config.eta)),
        "weight-decay" => Some(entry.weight_decay.unwrap_or(config.weight_decay)),
        "sam" => entry.sam.or(config.sam),
        _ => entry.clip_norm.or(config.clip_norm),
    };
    let Some(usual) = usual else {
        let reason = format!("{} of what? {key} has no value without the sweep", text_of(value));
        return Err(bad(key, reason));
    };
    // 0.1 times 3 is 0.3, not 0.30000000000000004.
    let product = times * usual;
    Ok(Value::Float(format!("{product:.6e}").parse().unwrap_or(product)))
}

fn number_of(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

/// A value without the quotes of a text.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => number.to_string(),
        other => other.to_string(),
    }
}

fn bad(key: &str, reason: String) -> ConfigError {
    ConfigError::Sweep { key: key.into(), reason }
}

impl TryFrom<Table> for Sweep {
    type Error = ConfigError;

    fn try_from(table: Table) -> Result<Self, ConfigError> {
        let mut axes = Vec::new();
        flatten("", table, &mut axes);
        let twice = |k: &usize| axes[..*k].iter().any(|axis: &Axis| axis.key == axes[*k].key);
        match (0..axes.len()).find(twice) {
            Some(k) => Err(bad(&axes[k].key, "the key is there twice".into())),
            None => Ok(Sweep { axes }),
        }
    }
}

fn flatten(prefix: &str, table: Table, axes: &mut Vec<Axis>) {
    for (name, value) in table {
        let key = format!("{prefix}{name}");
        match value {
            Value::Table(inner) => flatten(&format!("{key}."), inner, axes),
            Value::Array(values) => axes.push(Axis { key, values }),
            one => axes.push(Axis { key, values: vec![one] }),
        }
    }
}

impl From<Sweep> for Table {
    fn from(sweep: Sweep) -> Table {
        sweep.axes.into_iter().map(|axis| (axis.key, Value::Array(axis.values))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(text: &str) -> Result<Vec<Combination>, ConfigError> {
        Sweep::combinations(&Config::from_toml(text, &[])?)
    }

    fn names(text: &str) -> Vec<String> {
        tried(text).unwrap().iter().map(Combination::name).collect()
    }

    #[test]
    fn every_method_is_tried_with_every_value_that_it_has() {
        let text = "methods = ['dsgd', 'gut']\n[sweep]\neta = [0.1, 0.3]\nmu = [0.5, 'auto']";
        assert_eq!(
            names(text),
            [
                "dsgd, eta=0.1",
                "dsgd, eta=0.3",
                "gut, eta=0.1, mu=0.5",
                "gut, eta=0.1, mu=auto",
                "gut, eta=0.3, mu=0.5",
                "gut, eta=0.3, mu=auto",
            ]
        );
        let all = tried(text).unwrap();
        let last = &all[5].config;
        assert_eq!(last.methods[0].method, "gut:mu=auto");
        assert_eq!((last.methods[0].eta, last.methods.len()), (Some(0.3), 1));
        assert!(last.sweep.is_empty());
        assert_eq!(last.validation, Some(0.1), "a tenth, unless the user says another share");
    }

    #[test]
    fn what_is_for_one_method_replaces_what_is_for_all() {
        let text = "methods = ['gut', 'qg-gutm', { method = 'dsgd', label = 'mine', eta = 0.2 }]
            [sweep]
            mu = [0.5, 0.9]
            qg-gutm.mu = [0.01]
            mine.eta = ['0.3x', '3x']";
        let expected =
            ["gut, mu=0.5", "gut, mu=0.9", "qg-gutm, mu=0.01", "mine, eta=0.06", "mine, eta=0.6"];
        assert_eq!(names(text), expected);
        let columns = Sweep::columns(&Config::from_toml(text, &[]).unwrap()).unwrap();
        assert_eq!(columns, ["eta", "mu"]);
    }

    #[test]
    fn any_key_of_a_configuration_may_be_swept() {
        let text = "methods = ['dsgd']\nepochs = 4\n[sweep]\nschedule.factor = [0.1, 0.5]
            schedule.milestones = [[0.5, 0.75], [0.3]]\nrounds = [10]\ngraph = ['ring:4', 'dyck']";
        let all = tried(text).unwrap();
        assert_eq!(all.len(), 8);
        let last = &all[7].config;
        assert_eq!((last.graph.as_str(), last.schedule.factor), ("dyck", 0.5));
        assert_eq!((&last.schedule.milestones[..], last.rounds), (&[0.3][..], Some(10)));
        assert_eq!(last.epochs, None, "rounds replace epochs");
    }

    #[test]
    fn a_sweep_survives_a_round_trip() {
        let text = "[sweep]\nschedule.factor = [0.1, 0.2]\nqg-gutm.mu = [0.01, 'auto']\nbatch = 8";
        let config = Config::from_toml(text, &[]).unwrap();
        let again = Config::from_toml(&config.to_toml().unwrap(), &[]).unwrap();
        assert_eq!(config, again);
        let flag = ["sweep.eta=[0.1, \"3x\"]".to_string()];
        assert!(!Config::from_toml("", &flag).unwrap().sweep.is_empty());
        assert!(!Config::default().to_toml().unwrap().contains("sweep"));
    }

    #[test]
    fn what_cannot_be_swept_is_refused_with_the_reason() {
        let told = |sweep: &str| {
            let text = format!("methods = ['dsgd', 'gut']\n[sweep]\n{sweep}");
            tried(&text).unwrap_err().to_string()
        };
        for (sweep, parts) in [
            ("etta = [1]", &["etta", "did you mean `eta`?", "known here"][..]),
            ("gut.muu = [1]", &["gut.muu", "did you mean `mu`?", "gut has"]),
            ("codec = ['sign']", &["codec", "no method of this sweep", "dsgd, gut"]),
            ("eta = ['fast']", &["eta=fast", "expected a number"]),
            ("eta = [-1]", &["eta=-1", "more than 0"]),
            ("batch = ['many']", &["batch=many", "expected a whole number"]),
            ("mu = [2]", &["mu=2", "gut"]),
            ("eta = []", &["eta", "at least one value"]),
            ("eta = [0.1, 0.1]", &["eta", "0.1 is there twice"]),
            ("seeds = [1, 2]", &["seeds", "anyway"]),
            ("data = ['digits']", &["data", "cannot be ranked"]),
            ("checkpoint.every-rounds = [1]", &["checkpoint", "does not change"]),
            ("clip-norm = ['2x']", &["clip-norm", "2x of what?"]),
        ] {
            let message = told(sweep);
            for part in parts {
                assert!(message.contains(part), "{sweep}: {message}");
            }
        }
        let many: Vec<String> = (1..=200).map(|k| k.to_string()).collect();
        let many = many.join(", ");
        let message = told(&format!("eta = [{many}]\nbatch = [{many}]"));
        assert!(message.contains("more than 10000 combinations"), "{message}");
        let error = Config::from_toml("sweep = 3", &[]).unwrap_err().to_string();
        assert!(error.contains("expected a table"), "{error}");
    }
}
