//! One method with one seed: the unit of a run.
//!
//! A trial is the same bits for any number of threads, and whether or not it was interrupted:
//! what a round computes depends on the seed, the round and the models alone.

use std::sync::Arc;

use consort_data::{Dataset, Feed, Partition};
use consort_model::ModelSpec;
use consort_records::{Record, Spread};
use consort_sim::{RoundReport, Watch, World};
use rayon::prelude::*;

use crate::collapse::Collapse;
use crate::course::Course;
use crate::desk::start_threads;
use crate::error::TrainError;
use crate::network::PlannedMethod;
use crate::plan::Plan;
use crate::since_evaluation::SinceEvaluation;
use crate::stations::{Score, Stations, TEST_PORTION};

/// A trial under way.
pub struct Trial<'a> {
    plan: &'a Plan,
    method: &'a PlannedMethod,
    world: World,
    stations: Stations,
    course: Course,
    since: SinceEvaluation,
}

impl<'a> Trial<'a> {
    /// A trial at round 0.
    ///
    /// # Errors
    /// If the method cannot be built or the machine refuses the threads.
    pub fn start(
        plan: &'a Plan,
        method: &'a PlannedMethod,
        seed: u64,
        partition: &Partition,
        threads: usize,
    ) -> Result<Self, TrainError> {
        let stations = Stations::new(&plan.model, &plan.dataset, threads)?;
        let feed = |(agent, share): (usize, &Vec<u32>)| {
            Feed::new(share.clone(), plan.config.batch, seed, agent)
        };
        let feeds = partition.shares().iter().enumerate().map(feed).collect::<Result<_, _>>()?;
        let course = Course::new(&plan.config, method.eta, plan.rounds_per_epoch(partition));
        let x0 = plan.parameters.initial(seed);
        let workers = stations.workers(feeds, method.rule);
        let (topology, weights) = (&plan.network.topology, &method.weights);
        let world = World::with_workers(topology, weights, &method.method, &x0, workers)?;
        let since = SinceEvaluation::default();
        Ok(Trial { plan, method, world, stations, course, since })
    }

    /// How many rounds the trial has.
    pub fn rounds(&self) -> u64 {
        self.course.rounds()
    }

    /// How many of them are over.
    pub fn rounds_done(&self) -> u64 {
        self.world.rounds_done()
    }

    /// The instructions of the kernels in use, such as `avx2`.
    pub fn isa(&self) -> String {
        self.stations.isa().to_string()
    }

    /// Bytes that the models of all threads need while they run.
    pub fn station_bytes(&self) -> usize {
        self.stations.memory_bytes()
    }

    /// The next round.
    ///
    /// # Errors
    /// If a loss or gradient is not finite, with agent, round and layer; or if data cannot be
    /// read. The trial cannot go on then.
    pub fn round(&mut self) -> Result<RoundReport, TrainError> {
        self.round_watched(&|_| {})
    }

    /// [`round`](Self::round), telling `watch` what each thread has done.
    ///
    /// # Errors
    /// As there.
    pub fn round_watched(&mut self, watch: Watch<'_>) -> Result<RoundReport, TrainError> {
        let report = self.world.round_watched(self.eta() as f32, watch)?;
        self.since.add(report.loss, report.gradient_norm);
        Ok(report)
    }

    /// True if the trial stands where it is to be evaluated.
    pub fn evaluation_is_due(&self) -> bool {
        self.course.evaluation_is_due(self.rounds_done())
    }

    /// Measures where the trial stands; `seconds` is how long it has taken so far.
    ///
    /// # Errors
    /// If a test sample cannot be read.
    pub fn evaluate(&mut self, seconds: f64) -> Result<Record, TrainError> {
        let average = self.world.average();
        let model: Vec<f32> = average.iter().map(|&x| x as f32).collect();
        let score = self.stations.test_whole(&model, self.world.threads())?;
        let own = self.test_agents()?;
        let spread =
            |value: fn(&Score) -> f64| Spread::of(&own.iter().map(value).collect::<Vec<f64>>());
        let since = std::mem::take(&mut self.since);
        let round = self.rounds_done();
        Ok(Record {
            round,
            epoch: self.course.epoch_after(round),
            eta: self.eta(),
            train_loss: since.train_loss(),
            test_loss: Some(score.mean_loss()),
            test_accuracy: Some(score.accuracy()),
            agents: spread(Score::accuracy),
            agents_loss: spread(Score::mean_loss),
            consensus_distance: self.world.consensus_distance(&average),
            gradient_norm: since.gradient_norm(),
            drift: if self.method.rebuilds_neighbours() { self.world.drift() } else { 0.0 },
            bytes_sent: self.bytes_sent(),
            seconds,
        })
    }

    /// That the averaged model, of which `record` tells, is no better than a guess; none if it is,
    /// or if `record` does not tell.
    ///
    /// # Errors
    /// If a test sample cannot be read.
    pub fn collapse(&self, record: &Record) -> Result<Option<Collapse>, TrainError> {
        let Some(accuracy) = record.test_accuracy else { return Ok(None) };
        Ok(self.stations.collapse(accuracy, || self.average())?)
    }

    /// An agent's own model.
    ///
    /// # Panics
    /// If there is no such agent.
    pub fn params(&self, agent: usize) -> &[f32] {
        self.world.params(agent)
    }

    /// The averaged model.
    pub fn average(&self) -> Vec<f32> {
        self.world.average().into_iter().map(|x| x as f32).collect()
    }

    /// The step size of the next round.
    fn eta(&self) -> f64 {
        self.course.eta_at(self.rounds_done())
    }

    /// Bytes that an agent has sent so far, averaged over the agents.
    fn bytes_sent(&self) -> u64 {
        let message = 4 * self.world.message_len() as u64;
        self.plan.network.messages_until(self.rounds_done()) * message / self.world.agents() as u64
    }

    /// Every agent's own model on the same samples, evenly spaced over the test set.
    fn test_agents(&self) -> Result<Vec<Score>, TrainError> {
        let all = self.plan.dataset.test.labels.len();
        let wanted = self.plan.agent_samples();
        if wanted == 0 {
            return Ok(Vec::new());
        }
        let own = |agent: usize| {
            let mut score = Score::default();
            for first in (0..wanted).step_by(TEST_PORTION) {
                let portion = first..wanted.min(first + TEST_PORTION);
                let samples = portion.map(|k| k * all / wanted);
                score = score.and(self.stations.test(self.world.params(agent), samples)?);
            }
            Ok::<Score, TrainError>(score)
        };
        let agents = 0..self.world.agents();
        self.world.threads().install(|| agents.into_par_iter().with_max_len(1).map(own).collect())
    }

    pub(crate) fn state(&mut self) -> (&mut World, &mut SinceEvaluation) {
        (&mut self.world, &mut self.since)
    }
}

/// How a model does on the whole test part of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// The share of right answers, 0 to 1.
    pub accuracy: f64,
    /// The mean loss.
    pub loss: f64,
    /// That it is no better than a guess, if so.
    pub collapse: Option<Collapse>,
}

/// Tests a model on the whole test part of a dataset.
///
/// # Errors
/// If the model or a sample cannot be used, or the machine refuses the threads.
pub fn evaluate(
    spec: &ModelSpec,
    dataset: &Arc<Dataset>,
    model: &[f32],
    threads: usize,
) -> Result<Evaluated, TrainError> {
    let pool = start_threads(threads)?;
    let stations = Stations::new(spec, dataset, threads)?;
    let score = stations.test_whole(model, &pool)?;
    let (accuracy, loss) = (score.accuracy(), score.mean_loss());
    let collapse = stations.collapse(accuracy, || model.to_vec())?;
    Ok(Evaluated { accuracy, loss, collapse })
}

/// Shares out the training samples as the plan says for this seed.
///
/// # Errors
/// If they cannot be shared out so.
pub fn partition_for(plan: &Plan, seed: u64) -> Result<Partition, TrainError> {
    let dataset: &Arc<_> = &plan.dataset;
    let seed = plan.config.partition_seed.unwrap_or(seed);
    let (agents, classes) = (plan.network.topology.agents(), dataset.classes.len());
    Ok(plan.scheme.partition(&dataset.train.labels, classes, agents, seed)?)
}
