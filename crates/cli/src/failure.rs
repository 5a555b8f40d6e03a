//! How a command fails: wrong input (exit code 2), an error during the work (1), no result because
//! everything diverged (3), or Ctrl-C (130).

use std::fmt;
use std::process::ExitCode;

/// A failure; each kind has its exit code.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is wrong; nothing was done.
    Input(anyhow::Error),
    /// The work failed.
    Work(anyhow::Error),
    /// The work is done and its results are written, but every trial diverged. With a message.
    Diverged(String),
    /// The user stopped the work. With a message that says how to continue.
    Stopped(String),
}

impl Failure {
    /// Wrong input, with a message.
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
            // Our errors are complete; their sources would only repeat them.
            Failure::Input(error) | Failure::Work(error) => write!(f, "error: {error}"),
            Failure::Diverged(words) => write!(f, "error: {words}"),
            Failure::Stopped(words) => f.write_str(words),
        }
    }
}

/// Writes a line to standard error; ignores a closed pipe.
pub(crate) fn tell(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Classifies an error.
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
