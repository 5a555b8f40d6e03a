//! `name:key=value,key=value` and back.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use super::{
    CATALOGUE, Form, GradientAt, Memory, Method, MethodError, MethodName, Order, Reading,
    TrackingStart, Tunable,
};
use crate::algorithms::MissingModels;

impl FromStr for Method {
    type Err = MethodError;

    fn from_str(text: &str) -> Result<Self, MethodError> {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        let mut method = Method::new(name.trim().parse()?);
        for pair in parameters.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let Some((key, value)) = pair.split_once('=') else {
                let (method, got) = (method.name.as_str(), pair.to_string());
                return Err(MethodError::MissingValue { method, got });
            };
            method.set(key.trim(), value.trim())?;
        }
        Ok(method)
    }
}

impl FromStr for MethodName {
    type Err = MethodError;

    fn from_str(text: &str) -> Result<Self, MethodError> {
        let wanted = text.to_ascii_lowercase().replace('_', "-");
        match CATALOGUE.iter().find(|info| info.name == wanted) {
            Some(info) => Ok(info.id),
            None => Err(MethodError::UnknownName {
                got: text.to_string(),
                nearest: nearest(&wanted, CATALOGUE.iter().map(|info| info.name)),
            }),
        }
    }
}

impl Method {
    /// Sets one parameter from text, as in `set("mu", "0.5")`.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), MethodError> {
        let key = key.to_ascii_lowercase().replace('-', "_");
        let info = self.info();
        let Some(parameter) = info.parameters().find(|parameter| parameter.name == key) else {
            let names: Vec<&str> = info.parameters().map(|parameter| parameter.name).collect();
            return Err(MethodError::UnknownParameter {
                method: info.name,
                got: key,
                accepted: names.join(", "),
            });
        };
        let bad = || MethodError::BadValue {
            method: info.name,
            parameter: parameter.name,
            got: value.to_string(),
            expected: parameter.range,
        };
        match parameter.name {
            "mu" => self.mu = tunable(value, |mu| (0.0..=1.0).contains(&mu)).ok_or_else(bad)?,
            "beta" => {
                self.beta = number(value, |beta| (0.0..1.0).contains(&beta)).ok_or_else(bad)?
            }
            "mu_q" => {
                self.mu_q = Some(number(value, |m| (0.0..1.0).contains(&m)).ok_or_else(bad)?);
            }
            "gamma" => {
                self.gamma = tunable(value, |gamma| gamma > 0.0 && gamma <= 1.0).ok_or_else(bad)?;
            }
            "reading" => self.reading = choice(value, &READINGS).ok_or_else(bad)?,
            "form" => self.form = choice(value, &FORMS).ok_or_else(bad)?,
            "gradient_at" => self.gradient_at = choice(value, &PLACES).ok_or_else(bad)?,
            "memory" => self.memory = choice(value, &MEMORIES).ok_or_else(bad)?,
            "nesterov" => {
                let nesterov =
                    choice(value, &[("true", true), ("false", false)]).ok_or_else(bad)?;
                if let Some(name) = self.name.with_nesterov(nesterov) {
                    self.name = name;
                }
            }
            "order" => self.order = choice(value, &ORDERS).ok_or_else(bad)?,
            "start" => self.start = choice(value, &STARTS).ok_or_else(bad)?,
            "codec" => self.codec = value.parse().map_err(|()| bad())?,
            "decay" => {
                self.decay = number(value, |b| (0.0..1.0).contains(&b)).ok_or_else(bad)?;
            }
            "steps" => {
                let steps = value.parse().ok().filter(|steps| (1..=10_000).contains(steps));
                self.steps = steps.ok_or_else(bad)?;
            }
            "optimizer" => self.optimizer = value.parse().map_err(|()| bad())?,
            "missing" => self.missing = choice(value, &MissingModels::NAMES).ok_or_else(bad)?,
            "alpha" => {
                self.alpha = number(value, |alpha| (0.0..=1.0).contains(&alpha)).ok_or_else(bad)?;
            }
            "outer" => {
                self.outer = number(value, |s| s > 0.0 && s <= 10.0).ok_or_else(bad)?;
            }
            "dual" => self.dual = number(value, |s| s > 0.0 && s <= 1.0).ok_or_else(bad)?,
            _ => return Err(bad()),
        }
        Ok(())
    }

    /// A parameter as text; `mu_q` is `beta` unless it was set. `None` if there is no such
    /// parameter.
    pub fn value_text(&self, parameter: &str) -> Option<String> {
        Some(match parameter {
            "mu" => self.mu.to_string(),
            "beta" => self.beta.to_string(),
            "mu_q" => self.mu_q.map_or_else(|| "beta".to_string(), |mu_q| mu_q.to_string()),
            "reading" => self.reading.to_string(),
            "form" => self.form.to_string(),
            "nesterov" => self.name.is_nesterov().to_string(),
            "gradient_at" => self.gradient_at.to_string(),
            "memory" => self.memory.to_string(),
            "gamma" => self.gamma.to_string(),
            "order" => self.order.to_string(),
            "start" => self.start.to_string(),
            "codec" => self.codec.to_string(),
            "decay" => self.decay.to_string(),
            "steps" => self.steps.to_string(),
            "optimizer" => self.optimizer.to_string(),
            "missing" => self.missing.to_string(),
            "alpha" => self.alpha.to_string(),
            "outer" => self.outer.to_string(),
            "dual" => self.dual.to_string(),
            _ => return None,
        })
    }
}

const READINGS: [(&str, Reading); 3] = [
    ("released", Reading::Released),
    ("printed", Reading::Printed),
    ("printed-pytorch", Reading::PrintedPytorch),
];
const FORMS: [(&str, Form); 3] = [
    ("heavy-ball", Form::HeavyBall),
    ("quasi-global", Form::QuasiGlobal),
    ("own-moves", Form::OwnMoves),
];
const PLACES: [(&str, GradientAt); 2] =
    [("mixed", GradientAt::Mixed), ("local", GradientAt::Local)];
const MEMORIES: [(&str, Memory); 2] = [("sum", Memory::Sum), ("copies", Memory::Copies)];
const STARTS: [(&str, TrackingStart); 2] =
    [("zero", TrackingStart::Zero), ("average", TrackingStart::Average)];
/// The first name of each is written; CHOCO-SGD's two papers named theirs by the conference.
const ORDERS: [(&str, Order); 4] =
    [("atc", Order::Atc), ("awc", Order::Awc), ("icml", Order::Atc), ("iclr", Order::Awc)];

fn number(text: &str, accepted: impl Fn(f64) -> bool) -> Option<f64> {
    text.parse().ok().filter(|&value: &f64| value.is_finite() && accepted(value))
}

fn tunable(text: &str, accepted: impl Fn(f64) -> bool) -> Option<Tunable> {
    if text.eq_ignore_ascii_case("auto") {
        return Some(Tunable::Auto);
    }
    number(text, accepted).map(Tunable::Value)
}

fn choice<T: Copy>(text: &str, choices: &[(&str, T)]) -> Option<T> {
    let text = text.to_ascii_lowercase().replace('_', "-");
    choices.iter().find(|(name, _)| *name == text).map(|&(_, value)| value)
}

fn name_of<T: PartialEq>(value: T, choices: &[(&'static str, T)]) -> &'static str {
    choices.iter().find(|(_, choice)| *choice == value).map_or("", |&(name, _)| name)
}

/// Writes what differs from the defaults, so that parsing it gives the method back.
impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usual = Method::new(self.name);
        write!(f, "{}", self.name.as_str())?;
        let mut separator = ':';
        let mut write_pair = |f: &mut fmt::Formatter<'_>, key: &str, value: String| {
            write!(f, "{separator}{key}={value}")?;
            separator = ',';
            Ok(())
        };
        if self.mu != usual.mu {
            write_pair(f, "mu", self.mu.to_string())?;
        }
        if self.beta != usual.beta {
            write_pair(f, "beta", self.beta.to_string())?;
        }
        if let Some(mu_q) = self.mu_q {
            write_pair(f, "mu_q", mu_q.to_string())?;
        }
        if self.reading != usual.reading {
            write_pair(f, "reading", self.reading.to_string())?;
        }
        if self.form != usual.form {
            write_pair(f, "form", self.form.to_string())?;
        }
        if self.gradient_at != usual.gradient_at {
            write_pair(f, "gradient_at", self.gradient_at.to_string())?;
        }
        if self.memory != usual.memory {
            write_pair(f, "memory", self.memory.to_string())?;
        }
        if self.gamma != usual.gamma {
            write_pair(f, "gamma", self.gamma.to_string())?;
        }
        if self.order != usual.order {
            write_pair(f, "order", self.order.to_string())?;
        }
        if self.start != usual.start {
            write_pair(f, "start", self.start.to_string())?;
        }
        if self.codec != usual.codec {
            write_pair(f, "codec", self.codec.to_string())?;
        }
        if self.decay != usual.decay {
            write_pair(f, "decay", self.decay.to_string())?;
        }
        if self.steps != usual.steps {
            write_pair(f, "steps", self.steps.to_string())?;
        }
        if self.optimizer != usual.optimizer {
            write_pair(f, "optimizer", self.optimizer.to_string())?;
        }
        if self.missing != usual.missing {
            write_pair(f, "missing", self.missing.to_string())?;
        }
        if self.alpha != usual.alpha {
            write_pair(f, "alpha", self.alpha.to_string())?;
        }
        if self.outer != usual.outer {
            write_pair(f, "outer", self.outer.to_string())?;
        }
        if self.dual != usual.dual {
            write_pair(f, "dual", self.dual.to_string())?;
        }
        Ok(())
    }
}

impl fmt::Display for Tunable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tunable::Auto => write!(f, "auto"),
            Tunable::Value(value) => write!(f, "{value}"),
        }
    }
}

/// Makes a choice print as the word that is parsed.
macro_rules! prints_as_its_name {
    ($($kind:ty, $choices:ident;)*) => {$(
        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(name_of(*self, &$choices))
            }
        }
    )*};
}

prints_as_its_name! {
    Reading, READINGS;
    Form, FORMS;
    GradientAt, PLACES;
    Memory, MEMORIES;
    Order, ORDERS;
    TrackingStart, STARTS;
}

impl FromStr for Reading {
    type Err = MethodError;

    fn from_str(text: &str) -> Result<Self, MethodError> {
        choice(text, &READINGS).ok_or_else(|| MethodError::BadValue {
            method: "gut",
            parameter: "reading",
            got: text.to_string(),
            expected: "released, printed or printed-pytorch",
        })
    }
}

/// The name at the smallest edit distance, if that is at most a third of its length.
fn nearest(wanted: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    names
        .map(|name| (edit_distance(wanted, name), name))
        .min()
        .filter(|&(distance, name)| distance <= 1 + name.len() / 3)
        .map(|(_, name)| name)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, to) in b.iter().enumerate() {
            let replaced = row[j] + usize::from(from != *to);
            next.push(replaced.min(row[j + 1] + 1).min(next[j] + 1));
        }
        row = next;
    }
    row[b.len()]
}
