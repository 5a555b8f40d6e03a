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

use consort_data::{Partition, Source};
use consort_records::{OutputFolder, RecordsError};
use consort_train::Config;
use serde::{Deserialize, Serialize};

use crate::failure::{Blame, Failure};
use crate::missing_file;
use crate::provenance::Provenance;

const CONFIG: &str = "config.toml";
const RUN_START: &str = "run.json";
const LOCK: &str = ".lock";

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
    #[serde(default)]
    lengthened: Vec<Lengthened>,
}

/// That the run became longer.
#[derive(Serialize, Deserialize)]
struct Lengthened {
    /// The hash of the configuration before.
    config: String,
    /// The length since then, as in `epochs = 60.0`.
    to: String,
    command: String,
    date: String,
}

/// What of a configuration a run may have been started with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartedWith {
    /// This one alone.
    TheSame,
    /// Or one with another length: `resume --epochs` may have been interrupted.
    AnyLength,
}

/// The folder of a run, locked by this process.
pub(crate) struct RunFolder {
    output: OutputFolder,
    /// The hashes of the configurations before it became longer.
    earlier: Vec<String>,
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
            Some(path) => OutputFolder::claim(path, false).map_err(|error| taken(path, error))?,
            None => OutputFolder::fresh("runs", &stem(config)).or_work()?,
        };
        let lock = lock(output.path())?;
        let begun = RunStart { provenance, config: hash(config)? };
        let begun = serde_json::to_string_pretty(&begun).or_work()? + "\n";
        output.write(RUN_START, begun).or_work()?;
        // This comes last: a folder with a configuration is a run.
        output.write(CONFIG, config.to_toml().or_input()?).or_work()?;
        Ok(RunFolder { output, earlier: Vec::new(), _lock: lock })
    }

    /// The folder of an existing run, and its configuration.
    pub(crate) fn open(path: &Path, with: StartedWith) -> Result<(Self, Config), Failure> {
        let config = read_config(path)?;
        let earlier = check_start(path, &config, with)?;
        let lock = lock(path)?;
        let output = OutputFolder::claim(path, true).or_input()?;
        Ok((RunFolder { output, earlier, _lock: lock }, config))
    }

    /// Makes `longer`, which differs from `config` in its length alone, the configuration of the
    /// run. Checkpoints remain valid.
    pub(super) fn lengthen(&mut self, config: &Config, longer: &Config) -> Result<(), Failure> {
        let (before, after) = (hash(config)?, hash(longer)?);
        let file = self.path().join(RUN_START);
        let text = fs::read_to_string(&file).or_work()?;
        let mut start: serde_json::Value = serde_json::from_str(&text).or_work()?;
        // After an interruption it is there already.
        if start["config"] != after.as_str() {
            let Provenance { command, date, .. } = Provenance::current();
            let to = match (longer.rounds, longer.epochs) {
                (Some(rounds), _) => format!("rounds = {rounds}"),
                (None, epochs) => format!("epochs = {:?}", epochs.unwrap_or_default()),
            };
            let entry = Lengthened { config: before.clone(), to, command, date };
            let mut all = start["lengthened"].as_array().cloned().unwrap_or_default();
            all.push(serde_json::to_value(&entry).or_work()?);
            start["lengthened"] = all.into();
            start["config"] = after.into();
            let text = serde_json::to_string_pretty(&start).or_work()? + "\n";
            self.output.write(RUN_START, text).or_work()?;
        }
        self.output.write(CONFIG, longer.to_toml().or_input()?).or_work()?;
        self.earlier.push(before);
        Ok(())
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
        Ok(identity_text(&hash(config)?, partition))
    }

    /// Checkpoints with these texts can be used, too: they were made before the run became longer.
    pub(super) fn earlier_identities(&self, partition: &Partition) -> Vec<String> {
        self.earlier.iter().map(|config| identity_text(config, partition)).collect()
    }
}

fn identity_text(config: &str, partition: &Partition) -> String {
    format!("configuration {config}, partition {:016x}", partition.hash())
}

/// Why a folder that is not empty cannot be a new run, and what to do.
fn taken(path: &Path, error: RecordsError) -> Failure {
    let RecordsError::FolderNotEmpty { .. } = &error else { return Failure::Input(error.into()) };
    let shown = path.display();
    let advice = match path.join(CONFIG).exists() {
        true => format!(
            "already has a run; nothing was overwritten. Continue it with: consort resume {shown}; or \
             choose another folder with --out"
        ),
        false => {
            String::from("is not empty; nothing was overwritten. Choose another folder with --out")
        }
    };
    Failure::input(format!("the folder {shown} {advice}"))
}

/// The hash of the complete configuration; comments and order do not matter.
fn hash(config: &Config) -> Result<String, Failure> {
    Ok(format!("{:08x}", crc32fast::hash(config.to_toml().or_input()?.as_bytes())))
}

/// When and by which program version the run was started, if that can be read.
pub(crate) fn started(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path.join(RUN_START)).ok()?;
    let start: serde_json::Value = serde_json::from_str(&text).ok()?;
    start["date"].as_str().map(String::from)
}

/// Checks that the configuration and the version are those with which the run was started. The
/// hashes of configurations before it became longer.
fn check_start(path: &Path, config: &Config, with: StartedWith) -> Result<Vec<String>, Failure> {
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
    let own = hash(config)?;
    if let Some(longer) = begun.lengthened.iter().find(|longer| longer.config == own)
        && with == StartedWith::TheSame
    {
        let flag = longer.to.replace(" = ", " ");
        return Err(Failure::input(format!(
            "{0} was about to become longer when that was interrupted; repeat it: consort resume {0} \
             --{flag}",
            path.display()
        )));
    }
    let earlier: Vec<String> =
        begun.lengthened.into_iter().map(|longer| longer.config).filter(|c| *c != own).collect();
    match begun.config {
        _ if with == StartedWith::AnyLength => Ok(earlier),
        Some(expected) if expected != own => Err(Failure::input(format!(
            "{} was changed after the run was started, so its trials would have different \
             configurations. Restore it, or start a new run with it: consort train {}",
            path.join(CONFIG).display(),
            path.join(CONFIG).display()
        ))),
        _ => Ok(earlier),
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
    if !path.exists() {
        let advice = "it is not a run of consort (`consort runs` lists those of this folder)";
        return Err(missing_file::refused("the folder", path, &[], advice));
    }
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
    let (data, graph) = (Source::short_name(&config.data), short_graph(&config.graph));
    format!("{}-{}{sweep}", plain(&data), plain(&graph))
}

/// A graph for a name: of a file its name without folders.
fn short_graph(graph: &str) -> String {
    match graph.strip_prefix("file:") {
        Some(path) => {
            let name = Path::new(path).file_stem();
            name.map_or_else(|| "graph".to_owned(), |name| name.to_string_lossy().into_owned())
        }
        None => graph.to_owned(),
    }
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
pub(crate) fn lock(path: &Path) -> Result<File, Failure> {
    let file = File::create(path.join(LOCK)).or_work()?;
    let mut outcome = file.try_lock();
    // `consort runs` looks at the lock for a moment.
    for _ in 0..10 {
        if !matches!(outcome, Err(TryLockError::WouldBlock)) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        outcome = file.try_lock();
    }
    match outcome {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Failure::input(format!(
            "another consort process is running in {}; wait for it or stop it first",
            path.display()
        ))),
        Err(TryLockError::Error(error)) => Err(error).or_work(),
    }
}

/// Whether a process is at work in the run.
pub(crate) fn is_running(path: &Path) -> bool {
    let Ok(file) = File::open(path.join(LOCK)) else { return false };
    // Shared, so that two who look do not see each other.
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}
