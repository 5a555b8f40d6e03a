//! The results of all agents of a run, combined.
//!
//! ```text
//!   agent-N/records.jsonl     ──► records.jsonl     the spread of the agents' own test results, and
//!   averaged.jsonl            ──► summary.json      those of the averaged model
//!   agent-N/model.safetensors ──► model.safetensors the averaged model
//! ```
//!
//! The mean of the agents' accuracies is not the accuracy of the averaged model. That model exists
//! only where all agents' models are: a launch measures it in every evaluation (`averaged.rs`), an
//! MPI job at the end.

use std::path::{Path, PathBuf};

use consort_model::save_safetensors;
use consort_records::folder::write_file;
use consort_records::{Record, Spread, TrialRecords, TrialSummary, record};
use consort_train::{Evaluated, Plan, PlannedMethod, TrialFolder, evaluate};

use super::averaged::{Average, average, read_measured};
use crate::failure::{Blame, Failure};
use crate::training::read_summary;

/// The folders of the agents in `folder`, in the order of their numbers.
pub(crate) fn agent_folders(folder: &Path) -> Vec<PathBuf> {
    let agent = |id: usize| folder.join(format!("agent-{id}"));
    (0..).map(agent).take_while(|path| path.is_dir()).collect()
}

/// The trial of one agent, as its folder tells it.
pub(crate) fn trial_of_agent(folder: &Path) -> Result<TrialRecords, Failure> {
    let name = folder.file_name().map_or(String::new(), |name| name.to_string_lossy().into());
    let records = record::read(folder.join("records.jsonl")).or_work()?;
    let Some(summary) = read_summary(folder)? else {
        let (diverged, collapsed) = (None, None);
        let label = name.clone();
        return Ok(TrialRecords { method: name, label, seed: 0, records, diverged, collapsed });
    };
    let TrialSummary { method, label, seed, diverged, collapsed, .. } = summary;
    Ok(TrialRecords { method, label, seed, records, diverged, collapsed })
}

/// One trial from those of all agents in `folder`: in every round that all have evaluated, the
/// spread of what they measured of their own models; and the averaged model's results where somebody
/// has measured them and [`put_together`] these agents.
pub(crate) fn trial_of_all(folder: &Path) -> Result<Option<TrialRecords>, Failure> {
    let Some(mut trial) = trial_of_each(&agent_folders(folder))? else { return Ok(None) };
    let path = folder.join("records.jsonl");
    let together = if path.exists() { record::read(&path).or_work()? } else { Vec::new() };
    // If agents were started again since then, their results no longer match.
    let same = |a: &Record, b: &Record| {
        let key = |r: &Record| (r.round, r.seconds, r.agents, r.agents_r2);
        key(a) == key(b)
    };
    let last = trial.records.len().saturating_sub(1);
    for (k, record) in trial.records.iter_mut().enumerate() {
        if let Some(measured) = together.iter().find(|measured| same(record, measured)) {
            *record = *measured;
            if k == last {
                trial.collapsed = read_summary(folder)?.and_then(|summary| summary.collapsed);
            }
        }
    }
    Ok(Some(trial))
}

/// Writes the combined results of the agents with these `folders`, all of which are done, to
/// `folder`: the averaged model, the records, and last the summary. The averaged model is tested on
/// `test_threads` threads; `None` means that the agents share no test set, so it cannot be tested.
pub(crate) fn put_together(
    plan: &Plan,
    method: &PlannedMethod,
    seed: u64,
    folder: &Path,
    folders: &[PathBuf],
    test_threads: Option<usize>,
) -> Result<Option<(TrialRecords, TrialSummary)>, Failure> {
    let files = TrialFolder::at(folder, String::new(), 1).or_work()?;
    let mean = write_average(plan, method, seed, folders, &files.model())?;
    let Some(mut trial) = trial_of_each(folders)? else { return Ok(None) };
    let measured = read_measured(folder, folders);
    for record in &mut trial.records {
        if let Some(measured) = measured.get(&record.round) {
            measured.add_to(record);
            // If not all have finished, it is the average of more agents than these.
            if folders.len() == plan.network.topology.agents() {
                record.averaging_gain = gain_of_averaging(record);
            }
        }
    }
    let mut data = String::new();
    if let Some(last) = trial.records.last_mut() {
        last.consensus_distance = mean.consensus_distance;
        if let Some(threads) = test_threads {
            let Evaluated { quality, loss, rmse, collapse } =
                evaluate(&plan.model, &plan.dataset, &mean.model, threads).or_work()?;
            trial.collapsed = collapse.map(|collapse| collapse.to_string());
            (last.test_accuracy, last.test_loss) = (quality.accuracy(), Some(loss));
            (last.test_r2, last.test_rmse) = (quality.r2(), rmse);
            last.averaging_gain = gain_of_averaging(last);
            data.clone_from(&plan.config.data);
        }
    }
    let (mut records, _) = files.open_records(None).or_work()?;
    for record in &trial.records {
        records.append(record).or_work()?;
    }
    let summary = TrialSummary { data, ..TrialSummary::new(&trial) };
    files.write_summary(&summary).or_work()?;
    Ok(Some((trial, summary)))
}

/// The accuracy of the averaged model minus the mean of the agents' own; all were tested on the whole
/// test set. Of a regression there is none.
fn gain_of_averaging(record: &Record) -> Option<f64> {
    Some(record.test_accuracy? - record.agents?.mean)
}

/// One trial from those in `folders`, of the agents' own models alone.
fn trial_of_each(folders: &[PathBuf]) -> Result<Option<TrialRecords>, Failure> {
    let trials = folders.iter().filter(|folder| folder.join("records.jsonl").exists());
    let trials = trials.map(|folder| trial_of_agent(folder)).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = trials.first() else { return Ok(None) };
    let each: Vec<&[Record]> = trials.iter().map(|trial| &trial.records[..]).collect();
    let (method, label, seed) = (first.method.clone(), first.label.clone(), first.seed);
    let diverged = trials.iter().find_map(|trial| trial.diverged.clone());
    // The run has collapsed only if all agents have.
    let all: Option<Vec<&String>> = trials.iter().map(|trial| trial.collapsed.as_ref()).collect();
    let collapsed = all.and_then(|all| all.first().map(|how| (*how).clone()));
    let records = combined(&each);
    Ok(Some(TrialRecords { method, label, seed, records, diverged, collapsed }))
}

fn combined(each: &[&[Record]]) -> Vec<Record> {
    let of_round = |round: u64| -> Option<Vec<Record>> {
        let find = |records: &&[Record]| records.iter().find(|r| r.round == round).copied();
        each.iter().map(find).collect()
    };
    let rounds = each.first().map_or(&[][..], |records| records).iter();
    rounds.filter_map(|record| of_round(record.round)).map(|all| mean(&all)).collect()
}

fn mean(all: &[Record]) -> Record {
    let mean = |value: fn(&Record) -> f64| all.iter().map(value).sum::<f64>() / all.len() as f64;
    let spread = |own: fn(&Record) -> Option<Spread>| {
        let values: Option<Vec<f64>> = all.iter().map(|r| own(r).map(|own| own.mean)).collect();
        values.and_then(|values| Spread::from_values(&values))
    };
    Record {
        train_loss: mean(|record| record.train_loss),
        test_loss: None,
        test_accuracy: None,
        validation: None,
        test_r2: None,
        test_rmse: None,
        agents: spread(|record| record.agents),
        agents_r2: spread(|record| record.agents_r2),
        agents_loss: spread(|record| record.agents_loss),
        averaging_gain: None,
        gradient_norm: mean(|record| record.gradient_norm.powi(2)).sqrt(),
        bytes_sent: all.iter().map(|record| record.bytes_sent).sum::<u64>() / all.len() as u64,
        seconds: all.iter().map(|record| record.seconds).fold(0.0, f64::max),
        ..all[0]
    }
}

/// Writes the average of the agents' models, summed in the order of their numbers, to `path`. If
/// no neighbour was set aside, it has the bits of a simulation of the same run.
fn write_average(
    plan: &Plan,
    method: &PlannedMethod,
    seed: u64,
    folders: &[PathBuf],
    path: &Path,
) -> Result<Average, Failure> {
    let files: Vec<PathBuf> = folders.iter().map(|one| one.join("model.safetensors")).collect();
    let mean = average(&plan.parameters, &files)?;
    let about = plan.card(method, seed).to_metadata().or_work()?;
    write_file(path, save_safetensors(&plan.parameters, &mean.model, &about).or_work()?)
        .or_work()?;
    Ok(mean)
}
