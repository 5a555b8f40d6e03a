//! One trial of a cell: run, or gone on with, in a folder of its own; then an entry of the ledger.

use std::fs;
use std::path::PathBuf;

use consort_records::record;
use consort_reproduce::{Cell, CurvePoints, Entry, Outcome, checksum};
use consort_train::{Ending, TrialFolder, partition_for, run_trial};

use super::Place;
use super::watch::Watch;
use crate::failure::{Blame, Failure};
use crate::provenance::Provenance;
use crate::training;

/// Seconds between two checkpoints.
pub(super) const SAVE_EVERY: f64 = 60.0;

pub(super) fn run(
    cell: &Cell,
    seed: u64,
    place: &Place,
    watch: &mut Watch,
) -> Result<Entry, Failure> {
    let key = cell.trial(seed);
    let mut config = cell.config.clone();
    config.seeds = vec![seed];
    let plan = training::plan(&config, &place.data)?;
    let partition = partition_for(&plan, seed).or_input()?;
    let method = &plan.network.methods[0];
    let identity = format!("{}, partition {:016x}", key.hash(), partition.hash());
    let folder = TrialFolder::open(&place.folder, &key.file_stem(), &identity).or_work()?;
    let ending = run_trial(&plan, method, seed, &partition, place.threads, &folder, watch);
    let summary = match ending.or_work()? {
        Ending::Done(summary) => summary,
        Ending::Stopped => {
            return Err(Failure::Stopped(
                "stopped; the state is saved. The same command goes on".into(),
            ));
        }
    };
    let percent = |share: f64| share.is_finite().then(|| (1e4 * share).round() / 100.0);
    let Provenance { version, commit, date, .. } = Provenance::of_this_call();
    let model = match summary.diverged {
        Some(_) => None,
        None => Some(model_checksum(&folder.model())?),
    };
    Ok(Entry {
        hash: key.hash(),
        seed,
        settings: key.settings().to_vec(),
        runs_as: method.analysis.method.clone(),
        scale: cell.scale,
        version: version.into(),
        commit: commit.into(),
        date,
        machine: place.machine(consort_model::Isa::detect().to_string()),
        seconds: (10.0 * summary.seconds).round() / 10.0,
        outcome: Outcome {
            final_accuracy: summary.final_accuracy.and_then(percent),
            best_accuracy: summary.best_accuracy.and_then(percent),
            final_error: None,
            diverged: summary.diverged,
            collapsed: summary.collapsed,
        },
        checksum: model,
        curve: CurvePoints::of(&record::read(folder.records()).or_work()?),
    })
}

/// Once its entry is in the ledger, the state of a trial is not needed: its model can be made
/// again to the same bits.
pub(super) fn tidy(cell: &Cell, seed: u64, place: &Place) {
    // What cannot be removed does no harm.
    let _ = fs::remove_dir_all(place.folder.join(cell.trial(seed).file_stem()));
}

/// Of the numbers alone: the header of the file has words in it.
fn model_checksum(path: &PathBuf) -> Result<String, Failure> {
    let bytes = fs::read(path).or_work()?;
    let numbers = bytes.get(..8).and_then(|length| {
        let length = u64::from_le_bytes(length.try_into().ok()?);
        bytes.get(usize::try_from(length).ok()?.checked_add(8)?..)
    });
    let damaged = || anyhow::anyhow!("{} is no safetensors file", path.display());
    Ok(checksum(numbers.ok_or_else(damaged).or_work()?))
}
