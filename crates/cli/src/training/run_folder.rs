//! The folder of a run.
//!
//! ```text
//!   runs/digits-ring-16/
//!     config.toml                resolved: all that is needed to run it again
//!     run.json                   command, version, commit, hash of the configuration
//!     partition-seed-1.json      who holds which sample
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

/// The first version whose models start from the values of today.
const SAME_START: [u64; 3] = [0, 2, 0];

/// How a run was begun.
#[derive(Serialize)]
struct RunStart<'a> {
    #[serde(flatten)]
    provenance: &'a Provenance,
    config: String,
}

/// What `resume` needs of it.
#[derive(Deserialize)]
struct RecordedStart {
    version: String,
    /// Not written by the first versions.
    config: Option<String>,
}

/// The folder of a run, held by this process alone.
pub(crate) struct RunFolder {
    output: OutputFolder,
    /// The system lets go of it when the process ends, however it ends.
    _lock: File,
}

impl RunFolder {
    /// A new folder for `config`: `path`, which must be empty, or a fresh one in `runs`.
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
        // Last: a folder with a configuration is a run.
        output.write(CONFIG, config.to_toml().or_input()?).or_work()?;
        Ok(RunFolder { output, _lock: lock })
    }

    /// The folder of a run that was begun, and its configuration.
    pub(crate) fn open(path: &Path) -> Result<(Self, Config), Failure> {
        let config = read_config(path)?;
        check_begun(path, &config)?;
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

    /// Saves the partition of a seed. If one was saved, it must be the same: otherwise the data
    /// are not those that the run began with.
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
            "{} does not fit the data of today: the run was begun with other data. Give it the \
             data it had (--data-dir), or start a new run",
            path.display()
        )))
    }

    /// What must be the same for a checkpoint to be of use.
    pub(super) fn identity(
        &self,
        config: &Config,
        partition: &Partition,
    ) -> Result<String, Failure> {
        Ok(format!("configuration {}, partition {:016x}", hash(config)?, partition.hash()))
    }
}

/// Of the resolved configuration: comments and order do not count.
fn hash(config: &Config) -> Result<String, Failure> {
    Ok(format!("{:08x}", crc32fast::hash(config.to_toml().or_input()?.as_bytes())))
}

/// A run goes on only as what it was begun as.
fn check_begun(path: &Path, config: &Config) -> Result<(), Failure> {
    let file = path.join(RUN_START);
    let bad = |reason: String| {
        Failure::input(format!(
            "cannot tell how the run was begun: {}: {reason}. Restore the file, or start a new run",
            file.display()
        ))
    };
    let text = fs::read_to_string(&file).map_err(|error| bad(error.to_string()))?;
    let begun: RecordedStart =
        serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    if older(&begun.version) {
        return Err(Failure::input(format!(
            "{} was begun by consort {}, whose models started from other values than those of \
             {}: what it goes on to would be neither's result. Finish it with that version, or \
             start a new run",
            path.display(),
            begun.version,
            env!("CARGO_PKG_VERSION")
        )));
    }
    match begun.config {
        Some(expected) if expected != hash(config)? => Err(Failure::input(format!(
            "{} was changed since the run was begun: its trials would not be of one \
             configuration. Restore it, or start a new run with it: consort train {}",
            path.join(CONFIG).display(),
            path.join(CONFIG).display()
        ))),
        _ => Ok(()),
    }
}

/// Whether models of this version started from other values.
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
            "{} is no run of consort: cannot read {}: {error}",
            path.display(),
            file.display()
        ))
    })?;
    Config::from_toml(&text, &[])
        .map_err(|error| Failure::input(format!("{}: {error}", file.display())))
}

/// `2-gut-mu-0.9-seed-1`: a name that every file system takes.
pub(super) fn trial_name(index: usize, label: &str, seed: u64) -> String {
    format!("{}-{}-seed-{seed}", index + 1, plain(label))
}

fn stem(config: &Config) -> String {
    if !config.name.is_empty() {
        return config.name.clone();
    }
    let data = config.data.rsplit(['/', '\\', ':']).next().unwrap_or_default();
    format!("{}-{}", plain(data), plain(&config.graph))
}

/// Letters, digits and single dashes.
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

/// Two processes must not write into one run.
fn lock(path: &Path) -> Result<File, Failure> {
    let file = File::create(path.join(".lock")).or_work()?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Failure::input(format!(
            "another consort is at work in {}; wait for it or stop it first",
            path.display()
        ))),
        Err(TryLockError::Error(error)) => Err(error).or_work(),
    }
}
