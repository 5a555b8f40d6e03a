//! Runs or continues one trial of a cell in its own folder, and makes the entry for the ledger.

use std::fs;
use std::path::PathBuf;

use consort_records::record;
use consort_reproduce::{Cell, CurvePoints, LedgerEntry, TrialOutcome, checksum};
use consort_train::{Ending, TrialFolder, partition_for, run_trial};

use super::RunEnvironment;
use super::console::ReproduceConsole;
use crate::failure::{Blame, Failure};
use crate::provenance::Provenance;
use crate::training;

/// Seconds between two checkpoints.
pub(super) const SAVE_EVERY: f64 = 60.0;

pub(super) fn run(
    cell: &Cell,
    seed: u64,
    environment: &RunEnvironment,
    console: &mut ReproduceConsole,
) -> Result<LedgerEntry, Failure> {
    let key = cell.trial(seed);
    let mut config = cell.config.clone();
    config.seeds = vec![seed];
    let plan = training::plan(&config, &environment.data)?;
    let partition = partition_for(&plan, seed).or_input()?;
    let method = &plan.network.methods[0];
    let identity = format!("{}, partition {:016x}", key.hash(), partition.hash());
    let folder = TrialFolder::open(&environment.folder, &key.file_stem(), &identity).or_work()?;
    let ending = run_trial(&plan, method, seed, &partition, environment.threads, &folder, console);
    let summary = match ending.or_work()? {
        Ending::Done(summary) => summary,
        Ending::Stopped => {
            return Err(Failure::Stopped(
                "stopped; the state is saved. The same command continues".into(),
            ));
        }
    };
    let percent = |share: f64| share.is_finite().then(|| (1e4 * share).round() / 100.0);
    let Provenance { version, commit, date, .. } = Provenance::current();
    let model = match summary.diverged {
        Some(_) => None,
        None => Some(model_checksum(&folder.model())?),
    };
    Ok(LedgerEntry {
        hash: key.hash(),
        seed,
        settings: key.settings().to_vec(),
        runs_as: method.analysis.method.clone(),
        scale: cell.scale,
        version: version.into(),
        commit: commit.into(),
        date,
        machine: environment.machine(consort_model::Isa::detect().to_string()),
        seconds: (10.0 * summary.seconds).round() / 10.0,
        outcome: TrialOutcome {
            final_accuracy: summary.final_accuracy.and_then(percent),
            best_accuracy: summary.best_accuracy.and_then(percent),
            final_error: None,
            diverged: summary.diverged,
            collapsed: summary.collapsed,
        },
        checksum: model,
        curve: CurvePoints::from_records(&record::read(folder.records()).or_work()?),
    })
}

/// Removes the state of a trial whose entry is in the ledger: another run gives the same bits.
pub(super) fn tidy(cell: &Cell, seed: u64, environment: &RunEnvironment) {
    // If it cannot be removed, it does no harm.
    let _ = fs::remove_dir_all(environment.folder.join(cell.trial(seed).file_stem()));
}

/// The checksum of the numbers in the file, without its header.
fn model_checksum(path: &PathBuf) -> Result<String, Failure> {
    let bytes = fs::read(path).or_work()?;
    let numbers = bytes.get(..8).and_then(|length| {
        let length = u64::from_le_bytes(length.try_into().ok()?);
        bytes.get(usize::try_from(length).ok()?.checked_add(8)?..)
    });
    let damaged = || anyhow::anyhow!("{} is not a safetensors file", path.display());
    Ok(checksum(numbers.ok_or_else(damaged).or_work()?))
}
