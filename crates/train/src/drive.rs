//! Drives a trial from where it stands to its end: rounds, evaluations, checkpoints.

use std::collections::HashMap;

use consort_data::Partition;
use consort_model::save_safetensors;
use consort_records::folder::write_file;
use consort_records::{Record, RecordFile, TrialSummary, record};
use consort_sim::RoundReport;

use crate::collapse::Collapse;
use crate::error::TrainError;
use crate::network::PlannedMethod;
use crate::plan::Plan;
use crate::trial::Trial;
use crate::trial_folder::TrialFolder;

/// A larger loss is divergence: no classifier comes back from there.
const RUNAWAY_LOSS: f64 = 1e6;

/// What a watcher wants after a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// The next round.
    GoOn,
    /// A checkpoint, then the next round.
    Save,
    /// A checkpoint, then an end.
    Stop,
}

/// Whoever looks on while a trial runs. It alone has a clock.
pub trait Watcher {
    /// Seconds since the trial was started or resumed.
    fn seconds(&self) -> f64;
    /// A round is over.
    fn round_done(&mut self, round: u64, rounds: u64, report: &RoundReport) -> Wish;
    /// An evaluation is in the records.
    fn recorded(&mut self, record: &Record);
    /// The trial goes on from a checkpoint; `records` are those of the rounds before it.
    fn resumed(&mut self, round: u64, rounds: u64, records: &[Record]);
    /// Something the user should know.
    fn tell(&mut self, message: &str);
}

/// How a trial ended.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one a trial")]
pub enum Ending {
    /// All rounds are over, or numbers grew beyond all bounds.
    Done(TrialSummary),
    /// The watcher wanted it; the state is saved.
    Stopped,
}

/// Runs one trial in its folder: from the start, from its newest checkpoint, or not at all if
/// it is done.
///
/// # Errors
/// If data cannot be read or files cannot be written. What is saved stays.
pub fn run_trial(
    plan: &Plan,
    method: &PlannedMethod,
    seed: u64,
    partition: &Partition,
    threads: usize,
    folder: &TrialFolder,
    watcher: &mut dyn Watcher,
) -> Result<Ending, TrainError> {
    if let Some(summary) = folder.summary()? {
        return Ok(Ending::Done(summary));
    }
    let mut trial = Trial::start(plan, method, seed, partition, threads)?;
    let mut drive = Drive { folder, watcher, before: 0.0, collapse: None };
    let restored = drive.folder.restore(&mut trial, &mut |text| drive.watcher.tell(text))?;
    let mut records = match restored {
        Some(restored) => {
            drive.before = restored.seconds;
            let (file, records) = RecordFile::keep_until(folder.records(), restored.round)?;
            drive.watcher.resumed(restored.round, trial.rounds(), &records);
            file
        }
        None => {
            folder.forget_records()?;
            let mut records = RecordFile::create(folder.records())?;
            drive.evaluate(&mut trial, &mut records)?;
            records
        }
    };
    let ended = drive.rounds(&mut trial, &mut records);
    let diverged = match ended {
        Ok(true) => None,
        Ok(false) => return Ok(Ending::Stopped),
        Err(error) if error.is_divergence() => Some(error.to_string()),
        Err(error) => return Err(error),
    };
    if diverged.is_none() {
        let about = HashMap::from([("consort".to_string(), plan.about(method, seed))]);
        let model = save_safetensors(&plan.parameters, &trial.average(), about)?;
        write_file(folder.model(), model)?;
    }
    let records = record::read(folder.records())?;
    let collapsed = drive.collapse.filter(|_| diverged.is_none()).map(|found| found.to_string());
    let (key, label) = (method.key.clone(), method.label.clone());
    let told =
        consort_records::TrialRecords { method: key, label, seed, records, diverged, collapsed };
    let summary = TrialSummary::new(&told);
    folder.finish(&summary)?;
    Ok(Ending::Done(summary))
}

struct Drive<'a> {
    folder: &'a TrialFolder,
    watcher: &'a mut dyn Watcher,
    /// Seconds that the trial took before it was resumed.
    before: f64,
    /// What the newest evaluation found.
    collapse: Option<Collapse>,
}

impl Drive<'_> {
    /// True if all rounds are over, false if the watcher wanted to stop.
    fn rounds(
        &mut self,
        trial: &mut Trial<'_>,
        records: &mut RecordFile,
    ) -> Result<bool, TrainError> {
        while trial.rounds_done() < trial.rounds() {
            let report = trial.round()?;
            check_loss("training", f64::from(report.loss), trial.rounds_done())?;
            if trial.evaluation_is_due() {
                self.evaluate(trial, records)?;
            }
            let wish = self.watcher.round_done(trial.rounds_done(), trial.rounds(), &report);
            let last = trial.rounds_done() == trial.rounds();
            if wish != Wish::GoOn && !last {
                records.sync()?;
                self.folder.save(trial, self.seconds())?;
            }
            if wish == Wish::Stop && !last {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The record is on disk before any checkpoint of the same round.
    fn evaluate(
        &mut self,
        trial: &mut Trial<'_>,
        records: &mut RecordFile,
    ) -> Result<(), TrainError> {
        let record = trial.evaluate(self.seconds())?;
        records.append(&record)?;
        self.watcher.recorded(&record);
        if let Some(loss) = record.test_loss {
            check_loss("test", loss, record.round)?;
        }
        self.look_for_collapse(trial, &record)
    }

    /// Tells at once of units that died: nothing will wake them. What is merely at chance level
    /// may still learn; at the end that is told, too.
    fn look_for_collapse(&mut self, trial: &Trial<'_>, record: &Record) -> Result<(), TrainError> {
        let is_dead = |found: &Option<Collapse>| {
            found.as_ref().is_some_and(|collapse| collapse.dead_layer.is_some())
        };
        let before = is_dead(&self.collapse);
        self.collapse = if record.round > 0 { trial.collapse(record)? } else { None };
        if let Some(collapse) =
            self.collapse.as_ref().filter(|_| !before && is_dead(&self.collapse))
        {
            self.watcher.tell(&format!(
                "after round {}: {collapse}. A warm-up, clip-norm or a smaller eta may help",
                record.round
            ));
        }
        Ok(())
    }

    fn seconds(&self) -> f64 {
        self.before + self.watcher.seconds()
    }
}

/// Refuses a loss that nothing can be learned from any more.
fn check_loss(what: &'static str, loss: f64, round: u64) -> Result<(), TrainError> {
    if loss.abs() <= RUNAWAY_LOSS {
        return Ok(());
    }
    Err(TrainError::RunawayLoss { round, what, loss })
}
