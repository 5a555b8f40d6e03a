//! `consort doctor`: what works on this machine, and what to do about the rest.

mod machine;
mod network;
mod storage;

use serde::Serialize;

use super::{print_json, print_text};
use crate::arguments::DoctorOptions;
use crate::failure::Failure;

/// How well something works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    /// As it should.
    Ok,
    /// Slower than it could be, or something optional is missing.
    Note,
    /// Not at all.
    Bad,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    what: &'static str,
    verdict: Verdict,
    found: String,
    /// What to do about it; nothing if it is as it should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Check {
    fn ok(what: &'static str, found: impl Into<String>) -> Self {
        Check { what, verdict: Verdict::Ok, found: found.into(), advice: None }
    }

    fn note(what: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Check { what, verdict: Verdict::Note, found: found.into(), advice: Some(advice.into()) }
    }

    fn bad(what: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Check { what, verdict: Verdict::Bad, found: found.into(), advice: Some(advice.into()) }
    }
}

#[derive(Serialize)]
struct Examination {
    version: &'static str,
    commit: &'static str,
    works: bool,
    checks: Vec<Check>,
}

pub(crate) fn run(options: &DoctorOptions) -> Result<(), Failure> {
    let mut checks = machine::checks();
    checks.extend(network::checks(options.base_port));
    checks.extend(storage::checks(options));
    let bad: Vec<&str> =
        checks.iter().filter(|check| check.verdict == Verdict::Bad).map(|c| c.what).collect();
    let failure = (!bad.is_empty()).then(|| {
        Failure::Work(anyhow::anyhow!("these do not work: {}; see above", bad.join(", ")))
    });
    let (version, commit) = (env!("CARGO_PKG_VERSION"), env!("CONSORT_COMMIT"));
    let found = Examination { version, commit, works: bad.is_empty(), checks };
    match options.json {
        true => print_json(&found)?,
        false => print_text(&text(&found))?,
    }
    failure.map_or(Ok(()), Err)
}

fn text(found: &Examination) -> String {
    let widest = found.checks.iter().map(|check| check.what.len()).max().unwrap_or(0);
    let mut text = format!("consort {} ({})\n\n", found.version, found.commit);
    for check in &found.checks {
        let word = match check.verdict {
            Verdict::Ok => "ok",
            Verdict::Note => "note",
            Verdict::Bad => "BAD",
        };
        text += &format!("{word:4}  {:widest$}  {}\n", check.what, check.found);
        if let Some(advice) = &check.advice {
            text += &format!("      {:widest$}  -> {advice}\n", "");
        }
    }
    text
}

/// The first line that a program prints, if it can be started.
fn first_line_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = std::process::Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then(|| text.lines().next().unwrap_or_default().trim().to_string())
}
