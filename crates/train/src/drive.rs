//! Drives a trial from where it stands to its end: rounds, evaluations, checkpoints.

use consort_data::Partition;
use consort_model::save_safetensors;
use consort_records::{Record, RecordFile, TrialSummary};

use crate::checkpoint::Restored;
use crate::collapse::Collapse;
use crate::error::TrainError;
use crate::network::PlannedMethod;
use crate::observer::{Control, TrialObserver};
use crate::plan::Plan;
use crate::trial::Trial;
use crate::trial_folder::{Results, TrialFolder};

/// A larger loss is divergence: no classifier comes back from there.
const RUNAWAY_LOSS: f64 = 1e6;

/// How a trial ended.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one a trial")]
pub enum Ending {
    /// All rounds are over, or numbers grew beyond all bounds.
    Done(TrialSummary),
    /// The observer wanted it; the state is saved.
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
    observer: &mut dyn TrialObserver,
) -> Result<Ending, TrainError> {
    if let Some(summary) = folder.summary()? {
        return Ok(Ending::Done(summary));
    }
    let mut trial = Trial::start(plan, method, seed, partition, threads)?;
    let mut drive = Drive { folder, observer, before: 0.0, collapse: None };
    let restored = drive.folder.restore(&mut trial, &mut |text| drive.observer.tell(text))?;
    // The state at the end of a trial is saved before its last evaluation, which belongs only to a
    // trial of that length. If this one is longer, there is an evaluation only if it is due.
    let not_evaluated = restored.filter(|restored| !restored.since.is_empty());
    let before = |restored: Restored| Restored { round: restored.round - 1, ..restored };
    let (mut records, kept) =
        folder.open_records(not_evaluated.map(before).or(restored).as_ref())?;
    match restored {
        Some(restored) => {
            drive.before = restored.seconds;
            drive.observer.resumed(restored.round, trial.rounds(), &kept);
            if not_evaluated.is_some() && trial.evaluation_is_due() {
                drive.evaluate(&mut trial, &mut records)?;
            }
        }
        None => drive.evaluate(&mut trial, &mut records)?,
    }
    let ended = drive.rounds(&mut trial, &mut records);
    let diverged = match ended {
        Ok(true) => None,
        Ok(false) => return Ok(Ending::Stopped),
        Err(error) if error.is_divergence() => Some(error.to_string()),
        Err(error) => return Err(error),
    };
    let model = match diverged {
        None => {
            let about = plan.card(method, seed).to_metadata()?;
            Some(save_safetensors(&plan.parameters, &trial.average(), &about)?)
        }
        Some(_) => None,
    };
    let collapsed = drive.collapse.filter(|_| diverged.is_none());
    let (method, label) = (method.key.clone(), method.label.clone());
    let summary =
        folder.write_results(Results { method, label, seed, model, diverged, collapsed })?;
    match summary.diverged {
        None if trial.can_be_extended() => folder.checkpoints().forget_before(trial.rounds())?,
        _ => folder.checkpoints().forget_all()?,
    }
    Ok(Ending::Done(summary))
}

struct Drive<'a> {
    folder: &'a TrialFolder,
    observer: &'a mut dyn TrialObserver,
    /// Seconds that the trial took before it was resumed.
    before: f64,
    /// What the newest evaluation found.
    collapse: Option<Collapse>,
}

impl Drive<'_> {
    /// True if all rounds are over, false if the observer wanted to stop.
    fn rounds(
        &mut self,
        trial: &mut Trial<'_>,
        records: &mut RecordFile,
    ) -> Result<bool, TrainError> {
        while trial.rounds_done() < trial.rounds() {
            let report = trial.round()?;
            check_loss("training", f64::from(report.loss), trial.rounds_done())?;
            let last = trial.rounds_done() == trial.rounds();
            if last && trial.can_be_extended() {
                records.sync()?;
                self.folder.save(trial, self.seconds())?;
            }
            if trial.evaluation_is_due() {
                self.evaluate(trial, records)?;
            }
            let control = self.observer.round_done(trial.rounds_done(), trial.rounds(), &report);
            if control != Control::Continue && !last {
                records.sync()?;
                self.folder.save(trial, self.seconds())?;
            }
            if control == Control::Stop && !last {
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
        self.observer.recorded(&record);
        if let Some(loss) = record.test_loss {
            check_loss("test", loss, record.round)?;
        }
        if let Some(measured) = record.validation {
            check_loss("validation", measured.loss, record.round)?;
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
            self.observer.tell(&format!(
                "after round {}: {collapse}. A warm-up, clip-norm or a smaller eta may help",
                record.round
            ));
        }
        Ok(())
    }

    fn seconds(&self) -> f64 {
        self.before + self.observer.now().as_secs_f64()
    }
}

/// Refuses a loss that nothing can be learned from any more.
fn check_loss(what: &'static str, loss: f64, round: u64) -> Result<(), TrainError> {
    if loss.abs() <= RUNAWAY_LOSS {
        return Ok(());
    }
    Err(TrainError::RunawayLoss { round, what, loss })
}
