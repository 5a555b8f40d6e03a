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
    command.env_remove("COLUMNS"); // tables would have another shape
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

/// True if the text is a whole SVG picture whose text is text.
pub(crate) fn is_svg_with_text(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("<svg") && text.ends_with("</svg>") && text.contains("<text")
}

/// True if the bytes are a PDF file.
pub(crate) fn is_pdf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"%PDF-1.") && bytes.ends_with(b"%%EOF\n")
}

/// A model file without its metadata: as older versions and other programs write it.
pub(crate) fn without_metadata(file: &[u8]) -> Vec<u8> {
    let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    let mut header: Value = serde_json::from_slice(&file[8..8 + length]).unwrap();
    header.as_object_mut().unwrap().remove("__metadata__").unwrap();
    let header = header.to_string();
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(&file[8 + length..]);
    bytes
}

/// Writes a grey image.
pub(crate) fn write_png(
    path: &Path,
    [height, width]: [usize; 2],
    grey: &dyn Fn(usize, usize) -> u8,
) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = fs::File::create(path).unwrap();
    let mut encoder = png::Encoder::new(file, width as u32, height as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    let pixels: Vec<u8> = (0..height)
        .flat_map(|y| (0..width).map(move |x| (y, x)))
        .map(|(y, x)| grey(y, x))
        .collect();
    encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
}

/// Runs a page of the docs in `folder`: blocks of TOML and CSV that begin with `# NAME` are written to
/// that file, and every line of `sh` that begins with `consort` has to succeed. Tells how many ran.
pub(crate) fn run_page(page: &str, folder: &Path) -> usize {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = fs::read_to_string(docs).unwrap();
    let mut ran = 0;
    // Outside and inside of blocks take turns.
    for block in text.split("```").skip(1).step_by(2) {
        let (kind, body) = block.split_once('\n').unwrap();
        match kind.trim() {
            "sh" => {
                for line in body.lines().filter(|line| line.starts_with("consort ")) {
                    let line = line.split(" #").next().unwrap().trim();
                    let (line, output) = match line.split_once(" > ") {
                        Some((line, output)) => (line, Some(output.trim())),
                        None => (line, None),
                    };
                    let line = line.strip_prefix("consort ").unwrap();
                    let answer = consort_in(folder, line);
                    assert_eq!(answer.code, Some(0), "{page}: {line}: {}", answer.stderr);
                    if let Some(output) = output {
                        fs::write(folder.join(output), answer.stdout).unwrap();
                    }
                    ran += 1;
                }
            }
            "toml" | "csv" if body.starts_with("# ") => {
                let (name, rest) = body[2..].split_once('\n').unwrap();
                fs::write(folder.join(name.trim()), rest).unwrap();
            }
            _ => {}
        }
    }
    ran
}
