//! `consort reproduce`: runs the trials of the paper's tables and figures, and shows the results.

mod consensus;
mod console;
mod listing;
mod pictures;
mod report;
mod training;
mod verify;

use std::fs::{self, File, TryLockError};

use consort_data::DataDir;
use consort_reproduce::{Cell, Comparison, Experiment, Ledger, Machine, TrialKey};
use consort_reproduce::{experiment, queue, to_latex, to_markdown, to_text};

use super::print_text;
use super::train::data_dir;
use crate::arguments::{ComparisonFormat, ReproduceOptions};
use crate::commands::consensus::all_cores;
use crate::failure::{Blame, Failure, tell};
use console::ReproduceConsole;

pub(crate) fn run(options: &ReproduceOptions) -> Result<(), Failure> {
    if !(options.scale > 0.0 && options.scale <= 1.0) {
        let got = options.scale;
        return Err(Failure::input(format!("--scale {got}: must be above 0 and up to 1")));
    }
    let mut ledger = Ledger::open(&options.results).or_input()?;
    if options.report {
        return report::run(&ledger, options.check);
    }
    if options.list {
        return print_text(&listing::text(&ledger, options)?);
    }
    let environment = RunEnvironment::new(options)?;
    if let Some(count) = options.verify {
        let _lock = environment.lock()?;
        return verify::run(&ledger, &environment, count, options.verify_seed);
    }
    let selections = selections(options)?;
    if !options.show {
        let _lock = environment.lock()?;
        work(&selections, &mut ledger, &environment)?;
    }
    for selection in &selections {
        show(selection, &ledger, options)?;
    }
    Ok(())
}

/// Folder, data and threads for trials.
#[derive(Clone)]
struct RunEnvironment {
    folder: std::path::PathBuf,
    data: DataDir,
    threads: usize,
    /// Seconds between two lines about the progress if there is no terminal.
    line_every: f64,
}

impl RunEnvironment {
    fn new(options: &ReproduceOptions) -> Result<Self, Failure> {
        Ok(RunEnvironment {
            folder: options.work_dir.clone(),
            data: data_dir(&options.data_options)?,
            threads: options.threads.map_or_else(all_cores, |threads| threads as usize),
            line_every: options.progress.progress_every,
        })
    }

    /// Locks the folder, so that two processes do not run the same trial.
    fn lock(&self) -> Result<File, Failure> {
        fs::create_dir_all(&self.folder).or_work()?;
        let file = File::create(self.folder.join(".lock")).or_work()?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(Failure::input(format!(
                "another consort reproduce is running in {}; wait for it, or choose another \
                 --work-dir",
                self.folder.display()
            ))),
            Err(TryLockError::Error(error)) => Err(error).or_work(),
        }
    }

    /// This machine, for the ledger.
    fn machine(&self, kernels: String) -> Machine {
        let named = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_string())
        });
        let processor = named.unwrap_or_else(|| std::env::consts::ARCH.to_string());
        Machine { processor, kernels, threads: self.threads }
    }
}

/// Some cells of an experiment with their seeds.
struct Selection {
    experiment: Experiment,
    cells: Vec<Cell>,
    seeds: u64,
    scale: f64,
}

impl Selection {
    fn trials(&self) -> impl Iterator<Item = (&Cell, u64)> {
        let seeds = self.seeds;
        // Seed by seed, so that every cell has a first number before any has a second.
        (1..=seeds).flat_map(|seed| self.cells.iter().map(move |cell| (cell, seed)))
    }
}

fn selections(options: &ReproduceOptions) -> Result<Vec<Selection>, Failure> {
    let selection = |name: &str, rows: &[String], seeds: u64, scale: f64| {
        let experiment = experiment(name).or_input()?;
        let cells = experiment.cells_of(rows, scale).or_input()?;
        Ok(Selection { experiment, cells, seeds, scale })
    };
    if options.queue {
        let steps = queue().or_work()?;
        let from_step = |step: &consort_reproduce::QueueStep| {
            selection(&step.experiment, &step.rows, step.seeds, step.scale)
        };
        return steps.iter().map(from_step).collect();
    }
    if options.experiments.is_empty() {
        return Err(Failure::input(
            "which table or figure? `consort reproduce --list` lists them, --queue runs all",
        ));
    }
    let from_name = |name: &String| selection(name, &options.rows, options.seeds, options.scale);
    options.experiments.iter().map(from_name).collect()
}

/// Runs all trials that are not in the ledger. Trials that cannot run here (because data are
/// missing) are skipped and reported at the end.
fn work(
    selections: &[Selection],
    ledger: &mut Ledger,
    environment: &RunEnvironment,
) -> Result<(), Failure> {
    let missing = |ledger: &Ledger, key: &TrialKey| ledger.find(key).is_none();
    let mut open: Vec<(&Cell, u64)> = Vec::new();
    for (cell, seed) in selections.iter().flat_map(Selection::trials) {
        let key = cell.trial(seed);
        if missing(ledger, &key) && !open.iter().any(|(cell, seed)| cell.trial(*seed) == key) {
            open.push((cell, seed));
        }
    }
    let figures = selections.iter().filter(|selection| selection.experiment.consensus.is_some());
    for selection in figures {
        consensus::run(&selection.experiment, ledger, environment)?;
    }
    let costs = listing::costs(open.iter().map(|(cell, _)| *cell), environment.threads);
    let mut console = ReproduceConsole::new(&costs, environment.line_every);
    let mut failures = Vec::new();
    for (k, (cell, seed)) in open.iter().enumerate() {
        console.begin(k, format!("{}, seed {seed}", cell.path));
        match training::run(cell, *seed, environment, &mut console) {
            Ok(entry) => {
                console.end(&entry);
                ledger.add(entry).or_work()?;
                training::tidy(cell, *seed, environment);
            }
            Err(Failure::Input(reason)) => {
                console.say(&format!("{}, seed {seed}: skipped: {reason}", cell.path));
                failures.push(reason.to_string());
            }
            Err(other) => {
                console.close();
                return Err(other);
            }
        }
    }
    console.close();
    if let Some(first) = failures.first() {
        let (count, all) = (failures.len(), open.len());
        tell(&format!("warning: skipped {count} of {all} trials; the first: {first}"));
    }
    Ok(())
}

/// Prints our numbers beside the paper's, and draws them on request.
fn show(selection: &Selection, ledger: &Ledger, options: &ReproduceOptions) -> Result<(), Failure> {
    if options.queue {
        return Ok(());
    }
    if let Some(folder) = &options.plots {
        for (name, picture) in pictures::draw_all(&selection.experiment, ledger, selection.scale)? {
            fs::create_dir_all(folder).or_input()?;
            pictures::write(folder, &name, &picture)?;
            tell(&format!("{name}.svg, .pdf and .png are in {}", folder.display()));
        }
    }
    if selection.experiment.consensus.is_some() {
        return print_text(&consensus::text(&selection.experiment, ledger, options.format));
    }
    let comparison = Comparison::new(&selection.experiment, ledger, selection.scale).or_input()?;
    let text = match options.format {
        ComparisonFormat::Text => to_text(&comparison),
        ComparisonFormat::Markdown => to_markdown(&comparison),
        ComparisonFormat::Latex => to_latex(&comparison),
    };
    print_text(&text)
}
