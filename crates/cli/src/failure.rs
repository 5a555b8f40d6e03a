//! How a command ends early: by the user's input (exit code 2), on the way (1), without a single
//! result because everything diverged (3), or by Ctrl-C (130).

use std::fmt;
use std::process::ExitCode;

/// A failure with the exit code it deserves.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What the user gave cannot be used; nothing was done.
    Input(anyhow::Error),
    /// The work itself failed.
    Work(anyhow::Error),
    /// The work is done and written down, and nothing in it converged; in words.
    Diverged(String),
    /// The user wanted an end; how to go on, in words.
    Stopped(String),
}

impl Failure {
    /// A wrong input, in words.
    pub(crate) fn input(words: impl Into<String>) -> Self {
        Failure::Input(anyhow::Error::msg(words.into()))
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Input(_) => ExitCode::from(2),
            Failure::Work(_) => ExitCode::from(1),
            Failure::Diverged(_) => ExitCode::from(3),
            Failure::Stopped(_) => ExitCode::from(130), // as a shell reports Ctrl-C
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Our errors say all; their sources would repeat it.
            Failure::Input(error) | Failure::Work(error) => write!(f, "error: {error}"),
            Failure::Diverged(words) => write!(f, "error: {words}"),
            Failure::Stopped(words) => f.write_str(words),
        }
    }
}

/// Writes a line to standard error, if anybody listens.
pub(crate) fn tell(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Says whose fault an error is.
pub(crate) trait Blame<T> {
    /// The input was wrong: exit code 2.
    fn or_input(self) -> Result<T, Failure>;
    /// The work failed: exit code 1.
    fn or_work(self) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> Blame<T> for Result<T, E> {
    fn or_input(self) -> Result<T, Failure> {
        self.map_err(|error| Failure::Input(error.into()))
    }

    fn or_work(self) -> Result<T, Failure> {
        self.map_err(|error| Failure::Work(error.into()))
    }
}
