//! Where a result comes from: version, commit and command, written beside every number.

use serde::Serialize;

/// What is needed to make a result again.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Provenance {
    pub(crate) program: &'static str,
    pub(crate) version: &'static str,
    pub(crate) commit: &'static str,
    pub(crate) command: String,
}

impl Provenance {
    /// Of this very call.
    pub(crate) fn of_this_call() -> Self {
        // A word that is no text must not cost the results: it is shown as well as it can be.
        let words = std::env::args_os().skip(1);
        let words = words.map(|word| quoted(word.to_string_lossy().into_owned()));
        let command = std::iter::once("consort".to_string()).chain(words);
        Provenance {
            program: "consort",
            version: env!("CARGO_PKG_VERSION"),
            commit: env!("CONSORT_COMMIT"),
            command: command.collect::<Vec<_>>().join(" "),
        }
    }
}

/// Quotes what a shell would take apart.
fn quoted(word: String) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word;
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
