//! From typed text to a [`Scheme`] and back: `name`, `name:value`, `name:key=value,key=value`.
//!
//! A value without a key is the first one's. What is wrong is said of the value that is
//! wrong, with the pattern it should have followed.

use std::fmt;
use std::str::FromStr;

use super::{PartitionError, Scheme};

/// A scheme as it is typed, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemeHelp {
    /// How it is written, such as `shards:S`.
    pub pattern: &'static str,
    /// What it does, in half a line.
    pub about: &'static str,
}

/// All schemes, the paper's first.
pub const SCHEMES: &[SchemeHelp] = &[
    SchemeHelp {
        pattern: "dirichlet:ALPHA",
        about: "the paper's: skewed classes, equal sizes (small ALPHA: few classes an agent)",
    },
    SchemeHelp {
        pattern: "plain-dirichlet:ALPHA[,min=M]",
        about: "skewed classes and sizes, at least M samples an agent (1)",
    },
    SchemeHelp { pattern: "iid", about: "any sample may go to any agent" },
    SchemeHelp {
        pattern: "shards:S",
        about: "sorted by label, S pieces an agent (McMahan et al. 2017)",
    },
    SchemeHelp { pattern: "labels:K", about: "K classes an agent and no other" },
];

impl SchemeHelp {
    /// The name, which is the pattern up to its first value.
    pub fn name(&self) -> &'static str {
        self.pattern.split(':').next().unwrap_or(self.pattern)
    }
}

impl FromStr for Scheme {
    type Err = PartitionError;

    fn from_str(text: &str) -> Result<Self, PartitionError> {
        let mut values = Values::of(text.trim())?;
        let scheme = match values.help.name() {
            "dirichlet" => Scheme::Dirichlet { alpha: values.take("alpha", A_POSITIVE_NUMBER)? },
            "plain-dirichlet" => Scheme::PlainDirichlet {
                alpha: values.take("alpha", A_POSITIVE_NUMBER)?,
                min: values.take_or("min", AT_LEAST_1, 1)?,
            },
            "shards" => Scheme::Shards { shards: values.take("shards", AT_LEAST_1)? },
            "labels" => Scheme::Labels { labels: values.take("labels", AT_LEAST_1)? },
            // `iid` is all that remains of the list.
            _ => Scheme::Iid,
        };
        values.finish()?;
        scheme.check()?;
        Ok(scheme)
    }
}

const A_POSITIVE_NUMBER: &str = "alpha as a number from 0.000001 to 1000000000";
const AT_LEAST_1: &str = "a whole number from 1";

impl Scheme {
    /// Refuses values that mean nothing, whoever wrote them.
    pub(super) fn check(&self) -> Result<(), PartitionError> {
        // Beyond these, logarithms of gammas overflow or lose the digits that differ.
        let good_alpha = |alpha: f64| (1e-6..=1e9).contains(&alpha);
        let (good, expected, got) = match *self {
            Scheme::Dirichlet { alpha } => {
                (good_alpha(alpha), A_POSITIVE_NUMBER, alpha.to_string())
            }
            Scheme::PlainDirichlet { alpha, .. } if !good_alpha(alpha) => {
                (false, A_POSITIVE_NUMBER, alpha.to_string())
            }
            Scheme::PlainDirichlet { min: least, .. }
            | Scheme::Shards { shards: least }
            | Scheme::Labels { labels: least } => (least > 0, AT_LEAST_1, least.to_string()),
            Scheme::Iid => return Ok(()),
        };
        if good {
            return Ok(());
        }
        let (spec, pattern) = (self.to_string(), self.help().pattern);
        Err(PartitionError::BadValue { spec, pattern, expected, got })
    }

    /// Its line of [`SCHEMES`].
    pub fn help(&self) -> &'static SchemeHelp {
        match self {
            Scheme::Dirichlet { .. } => &SCHEMES[0],
            Scheme::PlainDirichlet { .. } => &SCHEMES[1],
            Scheme::Iid => &SCHEMES[2],
            Scheme::Shards { .. } => &SCHEMES[3],
            Scheme::Labels { .. } => &SCHEMES[4],
        }
    }
}

/// Writes the shortest text that parses to the same scheme.
impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.help().name();
        match self {
            Scheme::Dirichlet { alpha } | Scheme::PlainDirichlet { alpha, min: 1 } => {
                write!(f, "{name}:{alpha}")
            }
            Scheme::PlainDirichlet { alpha, min } => write!(f, "{name}:{alpha},min={min}"),
            Scheme::Iid => write!(f, "{name}"),
            Scheme::Shards { shards: each } | Scheme::Labels { labels: each } => {
                write!(f, "{name}:{each}")
            }
        }
    }
}

impl TryFrom<String> for Scheme {
    type Error = PartitionError;

    fn try_from(text: String) -> Result<Self, PartitionError> {
        text.parse()
    }
}

impl From<Scheme> for String {
    fn from(scheme: Scheme) -> String {
        scheme.to_string()
    }
}

/// What stands after the colon, taken value by value.
struct Values<'a> {
    spec: &'a str,
    help: &'static SchemeHelp,
    words: Vec<&'a str>,
}

impl<'a> Values<'a> {
    fn of(spec: &'a str) -> Result<Self, PartitionError> {
        let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
        let name = name.trim().to_ascii_lowercase().replace('_', "-");
        let help = SCHEMES.iter().find(|help| help.name() == name).ok_or_else(|| {
            PartitionError::UnknownScheme { got: spec.into(), suggestion: nearest(&name) }
        })?;
        let words = rest.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
        Ok(Values { spec, help, words })
    }

    fn wrong(&self, expected: &'static str, got: &str) -> PartitionError {
        let (spec, pattern) = (self.spec.into(), self.help.pattern);
        PartitionError::BadValue { spec, pattern, expected, got: got.into() }
    }

    /// The value of `key`, which may be left out before the first value.
    fn take<T: FromStr>(&mut self, key: &str, expected: &'static str) -> Result<T, PartitionError> {
        let named = self.words.iter().position(|word| value_of(word, key).is_some());
        let first = self.words.first().filter(|word| !word.contains('=')).map(|_| 0);
        let Some(at) = named.or(first) else { return Err(self.wrong(expected, "")) };
        let word = self.words.remove(at);
        let value = value_of(word, key).unwrap_or(word);
        value.parse().map_err(|_| self.wrong(expected, value))
    }

    /// The value of `key`, or `usual` if it is not there.
    fn take_or<T: FromStr>(
        &mut self,
        key: &str,
        expected: &'static str,
        usual: T,
    ) -> Result<T, PartitionError> {
        if self.words.iter().any(|word| value_of(word, key).is_some()) {
            return self.take(key, expected);
        }
        Ok(usual)
    }

    fn finish(self) -> Result<(), PartitionError> {
        self.words.first().map_or(Ok(()), |word| Err(self.wrong("nothing more", word)))
    }
}

/// What stands after `key=`, if the word is of that key.
fn value_of<'a>(word: &'a str, key: &str) -> Option<&'a str> {
    let (found, value) = word.split_once('=')?;
    found.trim().eq_ignore_ascii_case(key).then(|| value.trim())
}

/// The scheme that was probably meant: at most a third of its letters, or the beginning of it,
/// off.
fn nearest(typed: &str) -> Option<&'static str> {
    let names = || SCHEMES.iter().map(SchemeHelp::name);
    let begins = names().find(|name| typed.len() > 2 && name.starts_with(typed));
    begins.or_else(|| {
        names()
            .map(|name| (strsim::damerau_levenshtein(typed, name), name))
            .min()
            .filter(|&(distance, name)| distance <= 1.max(name.len() / 3))
            .map(|(_, name)| name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_goes_out_and_back() {
        for text in [
            "dirichlet:0.1",
            "dirichlet:1000000",
            "plain-dirichlet:0.5",
            "plain-dirichlet:0.5,min=10",
            "iid",
            "shards:2",
            "labels:3",
        ] {
            assert_eq!(text.parse::<Scheme>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn one_scheme_may_be_written_in_several_ways() {
        for (text, same) in [
            (" dirichlet:alpha=0.1 ", "dirichlet:0.1"),
            ("Dirichlet:1e-1", "dirichlet:0.1"),
            ("plain_dirichlet:min=10, alpha=0.5", "plain-dirichlet:0.5,min=10"),
            ("plain-dirichlet:0.5,min=1", "plain-dirichlet:0.5"),
            ("IID", "iid"),
            ("shards:shards=2", "shards:2"),
            ("labels:labels=3", "labels:3"),
        ] {
            assert_eq!(text.parse::<Scheme>().unwrap().to_string(), same);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, said) in [
            ("dirichlet", "write it as dirichlet:ALPHA"),
            ("dirichlet:", "alpha as a number"),
            ("dirichlet:x", "got \"x\""),
            ("dirichlet:0", "alpha as a number"),
            ("dirichlet:-1", "got \"-1\""),
            ("dirichlet:nan", "alpha as a number"),
            ("dirichlet:inf", "alpha as a number"),
            ("dirichlet:0.1,0.2", "nothing more"),
            ("dirichlet:0.1,min=2", "got \"min=2\""),
            ("dirichlet:beta=2", "alpha as a number"),
            ("plain-dirichlet:0.1,min=0", "a whole number from 1"),
            ("shards:0", "a whole number from 1"),
            ("labels:2.5", "got \"2.5\""),
            ("iid:3", "nothing more"),
            ("dirichelt:0.1", "did you mean \"dirichlet\"?"),
            ("plain:0.1", "did you mean \"plain-dirichlet\"?"),
            ("shard:2", "did you mean \"shards\"?"),
            ("idd", "did you mean \"iid\"?"),
            ("", "unknown partition"),
            ("zebra", "labels:K"),
        ] {
            let message = text.parse::<Scheme>().unwrap_err().to_string();
            assert!(message.contains(said), "{text}: {message}");
        }
        assert!(!"zebra".parse::<Scheme>().unwrap_err().to_string().contains("did you mean"));
    }

    #[test]
    fn a_scheme_is_text_in_a_file() {
        let scheme = Scheme::Dirichlet { alpha: 0.01 };
        let text = serde_json::to_string(&scheme).unwrap();
        assert_eq!(text, "\"dirichlet:0.01\"");
        assert_eq!(serde_json::from_str::<Scheme>(&text).unwrap(), scheme);
        assert!(serde_json::from_str::<Scheme>("\"dirichlet:-1\"").is_err());
    }
}
