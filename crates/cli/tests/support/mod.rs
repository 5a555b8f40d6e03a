//! Calls the binary and keeps what it answered.
#![allow(dead_code, reason = "every test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// What a call of the binary left behind.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Answer {
    /// Reads the output of a finished process; a panic is never an answer.
    pub(crate) fn of(output: Output) -> Self {
        let answer = Answer {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(!answer.stderr.contains("panicked"), "{}", answer.stderr);
        answer
    }

    /// The answer, which must be a success.
    #[track_caller]
    pub(crate) fn done(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// The answer, which must have this exit code, and a message with all these parts.
    #[track_caller]
    pub(crate) fn failed(self, code: i32, parts: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.stderr.starts_with("error: "), "{}", self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in: {}", self.stderr);
        }
        self
    }

    /// Checks that the work was done, but ended with this exit code and a message with this part.
    #[track_caller]
    pub(crate) fn failed_after_work(self, code: i32, part: &str) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.stderr.contains(part), "no {part:?} in: {}", self.stderr);
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// The binary, about to run in `folder`.
pub(crate) fn command_in(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_consort"));
    command.current_dir(folder).args(line.split_whitespace());
    command
}

/// Calls `consort` in `folder` with the words of `line`.
pub(crate) fn consort_in(folder: &Path, line: &str) -> Answer {
    Answer::of(command_in(folder, line).output().unwrap())
}

/// Calls `consort` with the words of `line`, for commands that write no files.
pub(crate) fn consort(line: &str) -> Answer {
    consort_in(Path::new("."), line)
}

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A JSON file.
pub(crate) fn json_file(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// True if the bytes are a PNG picture.
pub(crate) fn is_png(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.ends_with(b"IEND\xaeB`\x82")
}

/// True if the text is a whole SVG picture whose letters are outlines.
pub(crate) fn is_svg_without_fonts(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("<svg") && text.ends_with("</svg>") && !text.contains("<text")
}
