//! What is finished of a long run: every curve is written down as soon as it is known, so
//! an interrupted run goes on with `--resume` and ends in the same bits.

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

/// The folder of finished curves inside the run's folder.
pub(super) struct FinishedCurves {
    folder: PathBuf,
    run: PathBuf,
    resume: bool,
}

/// One finished curve with all that decides its bits.
#[derive(Serialize, Deserialize)]
struct FinishedCurve {
    task: String,
    /// As bits: JSON would not keep infinities of a diverging run.
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

    /// The curve of a task, if it was finished before.
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

    /// The run is complete: its finished are in its files.
    pub(super) fn discard(&self) {
        // Left-over finished do no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }

    /// Lets Ctrl-C say how to go on.
    pub(super) fn explain_interruption(&self) {
        let run = self.run.display().to_string();
        let command = Provenance::current().command;
        let command = command.replace(" --resume", "").replace(" --overwrite", "");
        let out = if command.contains("--out") { String::new() } else { format!(" --out {run}") };
        let explained = move || {
            tell(&format!(
                "\ninterrupted; what was finished is kept. Go on with:\n  {command}{out} --resume"
            ));
            std::process::exit(130);
        };
        // Without a handler Ctrl-C still ends the run, and the finished are still there.
        let _ = ctrlc::set_handler(explained);
    }

    fn path(&self, task: &ConsensusTask<'_>) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        describe(task).hash(&mut hasher);
        self.folder.join(format!("{:016x}.json", hasher.finish()))
    }
}

/// All that decides a curve. The weights are a fingerprint of every matrix entry.
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
