//! The averaged model over the rounds of a launch, measured while the agents run.
//!
//! ```text
//!   agent-N/evaluated-000000120.safetensors  ──► averaged.jsonl   one line per round that all
//!   (removed once all agents' are there)                          agents have evaluated
//! ```
//!
//! An agent alone cannot know the averaged model; a launch can, since all models are on its machine.
//! What is measured has the bits of a simulation, if no neighbour was set aside. Agents that do
//! their rounds again write the same models again, and the newest line of a round counts.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use consort_model::{Parameters, load_safetensors};
use consort_node::{evaluated_model, evaluated_rounds};
use consort_records::folder::write_file;
use consort_records::{Quality, Record};
use consort_sim::start_threads;
use consort_train::{ModelPool, Plan, Score};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::failure::{Blame, Failure};

const FILE: &str = "averaged.jsonl";

/// What was measured of the averaged model in one round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measured {
    round: u64,
    /// On the test set, if the agents share one: the accuracy, or R² and RMSE of a regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accuracy: Option<Exact>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    r2: Option<Exact>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rmse: Option<Exact>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loss: Option<Exact>,
    /// How far the agents' models are from it.
    consensus_distance: Exact,
}

impl Measured {
    /// Adds it to what the agents have measured.
    pub(crate) fn add_to(&self, record: &mut Record) {
        let [accuracy, r2, rmse, loss] =
            [self.accuracy, self.r2, self.rmse, self.loss].map(|value| value.map(|Exact(x)| x));
        (record.test_accuracy, record.test_loss) = (accuracy, loss);
        (record.test_r2, record.test_rmse) = (r2, rmse);
        record.consensus_distance = self.consensus_distance.0;
    }
}

/// A number that is text in a file, so that none of its bits is lost on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Exact(f64);

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'a> Deserialize<'a> for Exact {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map(Exact).map_err(D::Error::custom)
    }
}

/// A line of the file: whose run it is, and what was measured.
#[derive(Serialize, Deserialize)]
struct Line {
    /// As in the agents' `identity.txt`.
    run: String,
    #[serde(flatten)]
    measured: Measured,
}

/// What was measured in the rounds of the run of these agents so far.
pub(crate) fn read_measured(folder: &Path, agents: &[PathBuf]) -> HashMap<u64, Measured> {
    let Some(run) = agents.first().and_then(|first| run_of(first)) else { return HashMap::new() };
    let text = fs::read_to_string(folder.join(FILE)).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    let own = lines.filter(|line| line.run == run);
    own.map(|line| (line.measured.round, line.measured)).collect()
}

/// The run that an agent's folder belongs to.
fn run_of(agent: &Path) -> Option<String> {
    let text = fs::read_to_string(agent.join("identity.txt")).ok()?;
    Some(text.split(',').next()?.trim().to_string())
}

/// The average of some models, and how far they are from it.
pub(crate) struct Average {
    pub(crate) model: Vec<f32>,
    /// `sqrt(1/n Σ |x_i - x̄|²)`.
    pub(crate) consensus_distance: f64,
}

/// The average of the models in `files`, summed in their order.
pub(crate) fn average(parameters: &Parameters, files: &[PathBuf]) -> Result<Average, Failure> {
    let read = |file: &PathBuf| {
        let bytes = fs::read(file).map_err(|e| anyhow::anyhow!("{}: {e}", file.display()));
        load_safetensors(parameters, &bytes.or_work()?).or_work()
    };
    let models = files.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
    let mut mean = vec![0.0_f64; parameters.len()];
    for model in &models {
        mean.iter_mut().zip(model).for_each(|(sum, &x)| *sum += f64::from(x));
    }
    mean.iter_mut().for_each(|sum| *sum /= models.len() as f64);
    let squared = |model: &Vec<f32>| -> f64 {
        model.iter().zip(&mean).map(|(&x, mean)| (f64::from(x) - mean).powi(2)).sum()
    };
    let squares: f64 = models.iter().map(squared).sum();
    let consensus_distance = (squares / models.len() as f64).sqrt();
    Ok(Average { model: mean.iter().map(|&x| x as f32).collect(), consensus_distance })
}

/// Measures the averaged model wherever all agents have left theirs.
pub(crate) struct AveragedCurve<'a> {
    plan: &'a Plan,
    folder: PathBuf,
    agents: Vec<PathBuf>,
    /// None if the agents share no test set.
    test: Option<(ModelPool, rayon::ThreadPool)>,
}

impl<'a> AveragedCurve<'a> {
    /// The curve of the agents with these folders, written to `folder`. The averaged model is tested
    /// on `test_threads` threads; `None` means that the agents share no test set.
    pub(crate) fn new(
        plan: &'a Plan,
        folder: &Path,
        agents: Vec<PathBuf>,
        test_threads: Option<usize>,
    ) -> Result<Self, Failure> {
        let test = |threads: usize| -> Result<_, Failure> {
            let models = ModelPool::new(&plan.model, &plan.dataset, threads).or_work()?;
            Ok((models, start_threads(threads).or_work()?))
        };
        let test = test_threads.map(test).transpose()?;
        Ok(AveragedCurve { plan, folder: folder.to_owned(), agents, test })
    }

    /// Measures every round of which all agents' models are there, and removes them.
    pub(crate) fn measure(&self) -> Result<(), Failure> {
        let Some((first, others)) = self.agents.split_first() else { return Ok(()) };
        let mut rounds = evaluated_rounds(first);
        for other in others {
            let theirs: HashSet<u64> = evaluated_rounds(other).into_iter().collect();
            rounds.retain(|round| theirs.contains(round));
        }
        rounds.into_iter().try_for_each(|round| self.measure_round(round))
    }

    fn measure_round(&self, round: u64) -> Result<(), Failure> {
        let files: Vec<PathBuf> =
            self.agents.iter().map(|agent| evaluated_model(agent, round)).collect();
        let average = average(&self.plan.parameters, &files)?;
        let test = |(models, threads): &(ModelPool, rayon::ThreadPool)| {
            models.test(&average.model, threads).or_work()
        };
        let score = self.test.as_ref().map(test).transpose()?;
        let quality = score.as_ref().map(Score::quality);
        let loss = score.as_ref().map(Score::mean_loss);
        let target = self.plan.dataset.task.target();
        let measured = Measured {
            round,
            accuracy: quality.and_then(Quality::accuracy).map(Exact),
            r2: quality.and_then(Quality::r2).map(Exact),
            rmse: target.zip(loss).map(|(target, loss)| Exact(target.rmse(loss))),
            loss: loss.map(Exact),
            consensus_distance: Exact(average.consensus_distance),
        };
        let run = run_of(&self.agents[0]).unwrap_or_default();
        let line = serde_json::to_string(&Line { run, measured }).or_work()?;
        let path = self.folder.join(FILE);
        let before = fs::read_to_string(&path).unwrap_or_default();
        write_file(&path, format!("{before}{line}\n")).or_work()?;
        files.iter().for_each(|file| drop(fs::remove_file(file)));
        Ok(())
    }

    /// Removes the models of rounds that not all agents have evaluated, once all have ended.
    pub(crate) fn forget_the_rest(&self) {
        for agent in &self.agents {
            for round in evaluated_rounds(agent) {
                let _ = fs::remove_file(evaluated_model(agent, round));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_keeps_its_bits_and_only_lines_of_the_same_run_count() {
        let temp = tempfile::tempdir().unwrap();
        let agent = temp.path().join("agent-0");
        fs::create_dir(&agent).unwrap();
        fs::write(agent.join("identity.txt"), "run 00ab, agent 0\n").unwrap();
        let measured = |round: u64, accuracy: f64| Measured {
            round,
            accuracy: Some(Exact(accuracy)),
            r2: None,
            rmse: None,
            loss: Some(Exact(f64::INFINITY)),
            consensus_distance: Exact(1.0 / 3.0),
        };
        let line = |run: &str, measured: Measured| {
            serde_json::to_string(&Line { run: run.into(), measured }).unwrap()
        };
        let lines = [
            line("run 00ab", measured(10, 0.1)),
            line("run 00ab", measured(10, 0.1 + 0.2)),
            line("run 00ff", measured(20, 0.5)),
            "{\"run\": \"run 00ab\", \"rou".to_string(),
        ];
        fs::write(temp.path().join(FILE), lines.join("\n") + "\n").unwrap();
        let read = read_measured(temp.path(), &[agent]);
        assert_eq!(read, HashMap::from([(10, measured(10, 0.1 + 0.2))]));
    }
}
