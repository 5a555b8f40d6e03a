//! What a list says of one run, read from its files.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use consort_records::{MethodRow, MethodTable, TrialSummary};
use consort_train::{Config, Sweep};
use serde::Serialize;

use crate::arguments::{RunFilter, RunState};
use crate::failure::{Blame, Failure};
use crate::training::{Trials, is_running, read_config, read_summary, started};

/// A run and where it stands.
#[derive(Serialize)]
pub(super) struct ListedRun {
    pub(super) path: PathBuf,
    pub(super) state: RunState,
    /// The share of all its rounds, 0 to 1.
    pub(super) done: f64,
    pub(super) trials: usize,
    pub(super) trials_finished: usize,
    pub(super) trials_diverged: usize,
    pub(super) data: String,
    pub(super) partition: String,
    pub(super) graph: String,
    pub(super) model: String,
    pub(super) methods: Vec<String>,
    pub(super) seeds: Vec<u64>,
    pub(super) epochs: Option<f64>,
    pub(super) rounds: Option<u64>,
    pub(super) best: Option<Best>,
    pub(super) started: Option<String>,
    pub(super) bytes: u64,
    /// Seconds since something was written.
    pub(super) idle_seconds: u64,
    /// Why it cannot be read, if so.
    pub(super) problem: Option<String>,
    /// The methods as they were written, with their parameters.
    #[serde(skip)]
    written: Vec<String>,
}

/// The highest mean accuracy of a method, and whose it is.
#[derive(Serialize)]
pub(super) struct Best {
    /// 0 to 1.
    accuracy: f64,
    /// `averaged model` or `agents' own models`.
    of: &'static str,
    method: String,
    /// Over so many seeds.
    seeds: usize,
}

impl fmt::Display for Best {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = if self.of == AVERAGED { "" } else { " (agents' own)" };
        write!(f, "{:.2} % {}{own}", 100.0 * self.accuracy, self.method)
    }
}

const AVERAGED: &str = "averaged model";
const OWN: &str = "agents' own models";

impl ListedRun {
    /// Reads the run in `path`; what cannot be read is told in `problem`.
    pub(super) fn read(path: PathBuf) -> Self {
        let (bytes, idle_seconds) = size_and_age(&path);
        let mut run = ListedRun {
            state: RunState::Unreadable,
            done: 0.0,
            trials: 0,
            trials_finished: 0,
            trials_diverged: 0,
            data: String::new(),
            partition: String::new(),
            graph: String::new(),
            model: String::new(),
            methods: Vec::new(),
            seeds: Vec::new(),
            epochs: None,
            rounds: None,
            best: None,
            started: started(&path),
            bytes,
            idle_seconds,
            problem: None,
            written: Vec::new(),
            path,
        };
        let running = is_running(&run.path);
        let read = read_config(&run.path).and_then(|config| {
            run.describe(&config);
            if config.sweep.is_empty() { run.evaluate() } else { run.evaluate_sweep(&config) }
        });
        match read {
            Ok(finished) if !running => run.state = finished,
            Err(failure) if !running => {
                let message = failure.to_string();
                run.problem = Some(message.trim_start_matches("error: ").to_string());
            }
            // While it writes, a line may be incomplete.
            _ => run.state = RunState::Running,
        }
        run
    }

    fn describe(&mut self, config: &Config) {
        let label = |entry: &consort_train::MethodEntry| {
            entry.label.clone().unwrap_or_else(|| entry.method.clone())
        };
        self.data = config.data.clone();
        self.partition = config.partition.clone();
        self.graph = config.graph.clone();
        self.model = config.model.clone();
        self.methods = config.methods.iter().map(label).collect();
        self.written = config.methods.iter().map(|entry| entry.method.clone()).collect();
        self.seeds = config.seeds.clone();
        (self.epochs, self.rounds) = (config.epochs, config.rounds);
        self.trials = config.methods.len() * config.seeds.len();
    }

    /// Reads the trials. The state, if no process is at work.
    fn evaluate(&mut self) -> Result<RunState, Failure> {
        let summaries = Trials::from_run(&self.path)?.summaries();
        let finished = |summary: &&TrialSummary| summary.unfinished.is_none();
        let share: f64 = summaries.iter().map(|summary| summary.unfinished.unwrap_or(1.0)).sum();
        self.trials_finished = summaries.iter().filter(finished).count();
        self.trials_diverged = summaries.iter().filter(|s| s.diverged.is_some()).count();
        self.done = share / self.trials.max(1) as f64;
        self.best = best(&summaries);
        Ok(match (self.trials_finished, self.trials_diverged) {
            (finished, _) if finished < self.trials => RunState::Stopped,
            (_, diverged) if diverged == self.trials => RunState::Diverged,
            _ => RunState::Finished,
        })
    }

    /// The same of a sweep. It has no best: nothing was measured on the test set.
    fn evaluate_sweep(&mut self, config: &Config) -> Result<RunState, Failure> {
        let combinations = Sweep::combinations(config).or_input()?;
        self.trials = combinations.len() * config.seeds.len();
        let folders = fs::read_dir(self.path.join("trials")).into_iter().flatten();
        let summaries = folders.filter_map(Result::ok).map(|folder| read_summary(&folder.path()));
        for summary in summaries {
            let Some(summary) = summary? else { continue };
            self.trials_finished += 1;
            self.trials_diverged += usize::from(summary.diverged.is_some());
        }
        // Combinations that a method refuses have no trials.
        if self.path.join("sweep.json").exists() {
            self.trials = self.trials_finished;
        }
        self.done = self.trials_finished as f64 / self.trials.max(1) as f64;
        Ok(match (self.trials_finished, self.trials_diverged) {
            (finished, _) if finished < self.trials => RunState::Stopped,
            (_, diverged) if diverged == self.trials => RunState::Diverged,
            _ => RunState::Finished,
        })
    }

    /// The state in words, with what is left of the run.
    pub(super) fn standing(&self) -> String {
        let percent = (100.0 * self.done).floor();
        match self.state {
            RunState::Running => format!("running, {percent:.0} %"),
            RunState::Stopped => format!("stopped at {percent:.0} %"),
            RunState::Finished if self.trials_diverged > 0 => {
                format!("finished, {} of {} diverged", self.trials_diverged, self.trials)
            }
            RunState::Finished => "finished".into(),
            RunState::Diverged => "diverged".into(),
            RunState::Unreadable => "unreadable".into(),
        }
    }

    pub(super) fn passes(&self, filter: &RunFilter) -> bool {
        let state = filter.state.is_none_or(|state| state == self.state);
        let data = filter.data.as_ref().is_none_or(|data| *data == self.data);
        let is_method = |name: &String| {
            let plain =
                self.written.iter().map(|method| method.split(':').next().unwrap_or(method));
            let all = self.methods.iter().chain(&self.written).map(String::as_str);
            all.chain(plain).any(|method| method == name)
        };
        state && data && filter.method.as_ref().is_none_or(is_method)
    }
}

/// The method with the highest mean accuracy of its averaged model; where none was measured, of the
/// agents' own models.
fn best(summaries: &[TrialSummary]) -> Option<Best> {
    let table = MethodTable::new(summaries);
    let highest = |of: &'static str, pick: fn(&MethodRow) -> consort_records::MeanStd| {
        let measured = table.rows.iter().filter(|row| pick(row).mean.is_finite());
        let row = measured.max_by(|a, b| pick(a).mean.total_cmp(&pick(b).mean))?;
        let (accuracy, seeds) = (pick(row).mean, pick(row).n);
        Some(Best { accuracy, of, method: row.label.clone(), seeds })
    };
    highest(AVERAGED, |row| row.accuracy).or_else(|| highest(OWN, |row| row.agents_accuracy))
}

/// The bytes of all files in a folder, and the seconds since the newest was written.
#[allow(clippy::disallowed_methods, reason = "a list tells how old a run is")]
fn size_and_age(folder: &Path) -> (u64, u64) {
    let mut newest = SystemTime::UNIX_EPOCH;
    let bytes = add_up(folder, &mut newest);
    let age = SystemTime::now().duration_since(newest);
    (bytes, age.map_or(0, |age| age.as_secs()))
}

fn add_up(folder: &Path, newest: &mut SystemTime) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let size = |entry: fs::DirEntry| {
        let Ok(about) = entry.metadata() else { return 0 };
        if about.is_dir() {
            return add_up(&entry.path(), newest);
        }
        if let Ok(written) = about.modified() {
            *newest = (*newest).max(written);
        }
        about.len()
    };
    entries.filter_map(Result::ok).map(size).sum()
}
