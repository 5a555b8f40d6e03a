//! The folder of a run.
//!
//! ```text
//!   runs/digits-ring-16/
//!     config.toml                complete: everything that is needed to run it again
//!     run.json                   command, version, commit, hash of the configuration
//!     partition-seed-1.json      the samples of each agent
//!     trials/1-dsgd-seed-1/      records, checkpoints, model of every trial
//!     summary.json table.* accuracy.* loss.* consensus.* partition.* report.html
//! ```

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use consort_data::Partition;
use consort_records::OutputFolder;
use consort_train::Config;
use serde::{Deserialize, Serialize};

use crate::failure::{Blame, Failure};
use crate::provenance::Provenance;

const CONFIG: &str = "config.toml";
const RUN_START: &str = "run.json";

/// The first version with the current initial values of models.
const SAME_START: [u64; 3] = [0, 2, 0];

/// How a run was started.
#[derive(Serialize)]
struct RunStart<'a> {
    #[serde(flatten)]
    provenance: &'a Provenance,
    config: String,
}

/// The part of it that `resume` needs.
#[derive(Deserialize)]
struct RecordedStart {
    version: String,
    /// The first versions did not write it.
    config: Option<String>,
}

/// The folder of a run, locked by this process.
pub(crate) struct RunFolder {
    output: OutputFolder,
    /// The system releases it when the process ends, also after a crash.
    _lock: File,
}

impl RunFolder {
    /// A new folder for `config`: `path`, which must be empty, or a new folder in `runs`.
    pub(crate) fn create(
        path: Option<&Path>,
        config: &Config,
        provenance: &Provenance,
    ) -> Result<Self, Failure> {
        let output = match path {
            Some(path) => OutputFolder::claim(path, false).or_input()?,
            None => OutputFolder::fresh("runs", &stem(config)).or_work()?,
        };
        let lock = lock(output.path())?;
        let begun = RunStart { provenance, config: hash(config)? };
        let begun = serde_json::to_string_pretty(&begun).or_work()? + "\n";
        output.write(RUN_START, begun).or_work()?;
        // This comes last: a folder with a configuration is a run.
        output.write(CONFIG, config.to_toml().or_input()?).or_work()?;
        Ok(RunFolder { output, _lock: lock })
    }

    /// The folder of an existing run, and its configuration.
    pub(crate) fn open(path: &Path) -> Result<(Self, Config), Failure> {
        let config = read_config(path)?;
        check_start(path, &config)?;
        let lock = lock(path)?;
        let output = OutputFolder::claim(path, true).or_input()?;
        Ok((RunFolder { output, _lock: lock }, config))
    }

    pub(crate) fn path(&self) -> &Path {
        self.output.path()
    }

    pub(crate) fn output(&self) -> &OutputFolder {
        &self.output
    }

    pub(crate) fn trials(&self) -> PathBuf {
        self.path().join("trials")
    }

    /// Saves the partition of a seed. If there is a saved one, it must be equal; otherwise the data
    /// have changed since the run started.
    pub(super) fn keep_partition(&self, seed: u64, partition: &Partition) -> Result<(), Failure> {
        let name = format!("partition-seed-{seed}.json");
        let path = self.path().join(&name);
        let text = serde_json::to_string(partition).or_work()? + "\n";
        if !path.exists() {
            return self.output.write(&name, text).or_work().map(drop);
        }
        if fs::read_to_string(&path).or_work()? == text {
            return Ok(());
        }
        Err(Failure::input(format!(
            "{} does not match the data: the run was started with other data. Use the original \
             data (--data-dir), or start a new run",
            path.display()
        )))
    }

    /// A checkpoint can be used only if this text is equal.
    pub(super) fn identity(
        &self,
        config: &Config,
        partition: &Partition,
    ) -> Result<String, Failure> {
        Ok(format!("configuration {}, partition {:016x}", hash(config)?, partition.hash()))
    }
}

/// The hash of the complete configuration; comments and order do not matter.
fn hash(config: &Config) -> Result<String, Failure> {
    Ok(format!("{:08x}", crc32fast::hash(config.to_toml().or_input()?.as_bytes())))
}

/// Checks that the configuration and the version are those with which the run was started.
fn check_start(path: &Path, config: &Config) -> Result<(), Failure> {
    let file = path.join(RUN_START);
    let bad = |reason: String| {
        Failure::input(format!(
            "cannot read how the run was started: {}: {reason}. Restore the file, or start a new run",
            file.display()
        ))
    };
    let text = fs::read_to_string(&file).map_err(|error| bad(error.to_string()))?;
    let begun: RecordedStart =
        serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    if older(&begun.version) {
        return Err(Failure::input(format!(
            "{} was started with consort {}, which initialises models differently from {}; a mixed \
             run would be the result of neither version. Finish it with that version, or start a \
             new run",
            path.display(),
            begun.version,
            env!("CARGO_PKG_VERSION")
        )));
    }
    match begun.config {
        Some(expected) if expected != hash(config)? => Err(Failure::input(format!(
            "{} was changed after the run was started, so its trials would have different \
             configurations. Restore it, or start a new run with it: consort train {}",
            path.join(CONFIG).display(),
            path.join(CONFIG).display()
        ))),
        _ => Ok(()),
    }
}

/// Whether this version initialises models differently.
fn older(version: &str) -> bool {
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<u64> = core.split('.').map(|part| part.parse().unwrap_or(0)).collect();
    parts[..] < SAME_START[..]
}

/// The configuration of a run's folder.
pub(crate) fn read_config(path: &Path) -> Result<Config, Failure> {
    let file = path.join(CONFIG);
    let text = fs::read_to_string(&file).map_err(|error| {
        Failure::input(format!(
            "{} is not a run of consort: cannot read {}: {error}",
            path.display(),
            file.display()
        ))
    })?;
    Config::from_toml(&text, &[])
        .map_err(|error| Failure::input(format!("{}: {error}", file.display())))
}

/// The name of the folder of a trial, for example `2-gut-mu-0.9-seed-1`.
pub(super) fn trial_name(index: usize, label: &str, seed: u64) -> String {
    format!("{}-{}-seed-{seed}", index + 1, plain(label))
}

fn stem(config: &Config) -> String {
    let sweep = if config.sweep.is_empty() { "" } else { "-sweep" };
    if !config.name.is_empty() {
        return format!("{}{sweep}", config.name);
    }
    let data = config.data.rsplit(['/', '\\', ':']).next().unwrap_or_default();
    format!("{}-{}{sweep}", plain(data), plain(&config.graph))
}

/// The text in lower case with only letters, digits, dots and single dashes.
fn plain(text: &str) -> String {
    let mut name = String::new();
    for c in text.to_lowercase().chars() {
        if c.is_ascii_alphanumeric() || (c == '.' && !name.is_empty()) {
            name.push(c);
        } else if !name.ends_with('-') && !name.is_empty() {
            name.push('-');
        }
    }
    let name: String = name.chars().take(60).collect();
    name.trim_end_matches(['-', '.']).to_string()
}

/// Locks a run, so that two processes do not write into it.
fn lock(path: &Path) -> Result<File, Failure> {
    let file = File::create(path.join(".lock")).or_work()?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Failure::input(format!(
            "another consort process is running in {}; wait for it or stop it first",
            path.display()
        ))),
        Err(TryLockError::Error(error)) => Err(error).or_work(),
    }
}
