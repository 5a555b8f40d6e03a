//! The finished curves of a long run. Every curve is written as soon as it is finished, so
//! `--resume` can continue an interrupted run and give the same bits.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;

use consort_records::OutputFolder;
use consort_records::folder::write_file;
use consort_sim::ConsensusTask;
use serde::{Deserialize, Serialize};

use crate::failure::{Blame, Failure, tell};
use crate::provenance::Provenance;

/// The folder of finished curves in the folder of the run.
pub(super) struct FinishedCurves {
    folder: PathBuf,
    run: PathBuf,
    resume: bool,
}

/// One finished curve with everything that decides its bits.
#[derive(Serialize, Deserialize)]
struct FinishedCurve {
    task: String,
    /// The errors as bits, because JSON has no infinities.
    error_bits: Vec<u64>,
}

impl FinishedCurves {
    pub(super) fn in_folder(run: &OutputFolder, resume: bool) -> Result<Self, Failure> {
        let folder = run.path().join("parts");
        if !resume && folder.exists() {
            fs::remove_dir_all(&folder).or_work()?;
        }
        fs::create_dir_all(&folder).or_work()?;
        Ok(FinishedCurves { folder, run: run.path().to_path_buf(), resume })
    }

    /// The curve of a task, if it is finished.
    pub(super) fn find(&self, task: &ConsensusTask<'_>) -> Option<Vec<f64>> {
        let text = fs::read_to_string(self.path(task)).ok().filter(|_| self.resume)?;
        let curve: FinishedCurve = serde_json::from_str(&text).ok()?;
        let fits = curve.task == describe(task) && curve.error_bits.len() == task.rounds + 1;
        fits.then(|| curve.error_bits.into_iter().map(f64::from_bits).collect())
    }

    pub(super) fn keep(&self, task: &ConsensusTask<'_>, errors: &[f64]) -> Result<(), Failure> {
        let error_bits = errors.iter().map(|error| error.to_bits()).collect();
        let curve = FinishedCurve { task: describe(task), error_bits };
        write_file(self.path(task), serde_json::to_string(&curve).or_work()?).or_work()
    }

    /// Removes the folder when the run is complete.
    pub(super) fn discard(&self) {
        // If it cannot be removed, it does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }

    /// Makes Ctrl-C print how to continue.
    pub(super) fn explain_interruption(&self) {
        let run = self.run.display().to_string();
        let command = Provenance::current().command;
        let command = command.replace(" --resume", "").replace(" --overwrite", "");
        let out = if command.contains("--out") { String::new() } else { format!(" --out {run}") };
        let explained = move || {
            tell(&format!(
                "\ninterrupted; finished curves are kept. Continue with:\n  {command}{out} --resume"
            ));
            std::process::exit(130);
        };
        // Without a handler Ctrl-C still ends the run, and the finished curves remain.
        let _ = ctrlc::set_handler(explained);
    }

    fn path(&self, task: &ConsensusTask<'_>) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        describe(task).hash(&mut hasher);
        self.folder.join(format!("{:016x}.json", hasher.finish()))
    }
}

/// Everything that decides a curve. The weights are a hash of all entries of the matrices.
fn describe(task: &ConsensusTask<'_>) -> String {
    let mut hasher = DefaultHasher::new();
    for w in task.weights {
        for i in 0..w.agents() {
            for (j, weight) in w.row(i) {
                (i, j, weight.to_bits()).hash(&mut hasher);
            }
        }
    }
    let ConsensusTask { method, dim, rounds, seed, .. } = task;
    let version = env!("CONSORT_COMMIT");
    format!(
        "{method}; weights {:016x}; dim {dim}; rounds {rounds}; seed {seed}; {version}",
        hasher.finish()
    )
}
