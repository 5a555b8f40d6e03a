//! One method with one seed: the unit of a run.
//!
//! A trial is the same bits for any number of threads, and whether or not it was interrupted:
//! what a round computes depends on the seed, the round and the models alone.

use std::sync::Arc;

use consort_algo::RoundTraffic;
use consort_data::{BatchSampler, Dataset, Partition};
use consort_model::ModelSpec;
use consort_records::{Measured, Quality, Record, Spread};
use consort_sim::{Profiler, RoundReport, World, start_threads};
use rayon::prelude::*;

use crate::collapse::Collapse;
use crate::error::TrainError;
use crate::mini_batches::MiniBatches;
use crate::model_pool::ModelPool;
use crate::network::PlannedMethod;
use crate::plan::Plan;
use crate::planned_mix::MixingSchedule;
use crate::score::Score;
use crate::since_evaluation::SinceEvaluation;
use crate::training_schedule::TrainingSchedule;

/// A trial under way.
pub struct Trial<'a> {
    plan: &'a Plan,
    method: &'a PlannedMethod,
    world: World,
    models: Arc<ModelPool>,
    schedule: TrainingSchedule,
    mixing: MixingSchedule,
    /// Which graph the agents use: 0 is the first.
    graph: usize,
    /// What an exact average has gained that ended the last round, if it was measured.
    gained: Option<f64>,
    traffic: RoundTraffic,
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
        Self::start_profiled(plan, method, seed, partition, threads, Profiler::default())
    }

    /// [`start`](Self::start), telling `profiler` what each thread does in a round.
    ///
    /// # Errors
    /// As there.
    pub fn start_profiled(
        plan: &'a Plan,
        method: &'a PlannedMethod,
        seed: u64,
        partition: &Partition,
        threads: usize,
        profiler: Profiler,
    ) -> Result<Self, TrainError> {
        let models = Arc::new(ModelPool::new(&plan.model, &plan.dataset, threads)?);
        let sampler = |(agent, share): (usize, &Vec<u32>)| {
            BatchSampler::new(share.clone(), plan.config.batch, seed, agent)
        };
        let samplers = partition.shares().iter().enumerate().map(sampler);
        let samplers = samplers.collect::<Result<_, _>>()?;
        let per_round = method.method.batches_per_round();
        let oracle = MiniBatches::new(models.clone(), samplers, per_round, method.rule)
            .with_profiler(profiler.clone());
        let rounds_per_epoch = method.rounds_per_epoch(plan.batches_per_epoch(partition));
        let schedule = TrainingSchedule::new(&plan.config, method.eta, rounds_per_epoch);
        let traffic = method.traffic(plan.parameters.len())?;
        let x0 = plan.parameters.initial(seed);
        let (topology, weights) = (&method.topology, &method.weights);
        let oracle = Arc::new(oracle);
        let mut world = World::new(topology, weights, &method.method, &x0, oracle, threads)?;
        world.set_profiler(profiler);
        let mixing = MixingSchedule::new(&method.mix, &plan.config.schedule, schedule.rounds());
        let (since, graph, gained) = (SinceEvaluation::default(), 0, None);
        Ok(Trial { plan, method, world, models, schedule, mixing, graph, gained, traffic, since })
    }

    /// How many rounds the trial has.
    pub fn rounds(&self) -> u64 {
        self.schedule.rounds()
    }

    /// How many of them are over.
    pub fn rounds_done(&self) -> u64 {
        self.world.rounds_done()
    }

    /// Whether a longer trial would have begun with the same rounds, so that this one can go on
    /// after its end. One of a sweep, which has no test samples, never becomes longer.
    pub(crate) fn can_be_extended(&self) -> bool {
        !self.plan.dataset.test.is_empty() && !self.plan.config.schedule.depends_on_length()
    }

    /// The models at work.
    pub fn models(&self) -> &ModelPool {
        &self.models
    }

    /// The next round.
    ///
    /// # Errors
    /// If a loss or gradient is not finite, with agent, round and layer; or if data cannot be
    /// read. The trial cannot go on then.
    pub fn round(&mut self) -> Result<RoundReport, TrainError> {
        self.prepare_mixing();
        let report = self.world.round(self.eta() as f32)?;
        self.since.add(report.loss, report.gradient_norm);
        self.gained = None;
        if self.mixing.averages_after(self.rounds_done()) {
            if self.evaluation_is_due() {
                let average = self.average();
                self.gained = self.gain_of_averaging(&average, &self.test_agents()?, None)?;
            }
            self.world.average_exactly();
        }
        Ok(report)
    }

    /// Puts the graph and the averaging rates of the next round in force. They follow from its
    /// number alone, so this serves a trial that goes on from a checkpoint too: there the agents
    /// know their neighbours of the round before, and stand on the first graph.
    fn prepare_mixing(&mut self) {
        let round = self.rounds_done();
        let before = self.mixing.graph_at(round.saturating_sub(1));
        if self.graph != before {
            self.move_to(before, false);
        }
        while self.graph < self.mixing.graph_at(round) {
            self.move_to(self.graph + 1, self.mixing.resyncs());
        }
        let (last, now) = self.mixing.rates_at(round);
        self.world.set_averaging_rates(last, now);
    }

    /// Goes on over the graph with this number, of those that replace the first.
    fn move_to(&mut self, graph: usize, resync: bool) {
        self.world.change_graph(self.mixing.later(graph - 1), resync);
        self.graph = graph;
    }

    /// True if the trial stands where it is to be evaluated.
    pub fn evaluation_is_due(&self) -> bool {
        self.schedule.evaluation_is_due(self.rounds_done())
    }

    /// Measures where the trial stands; `seconds` is how long it has taken so far.
    ///
    /// # Errors
    /// If a test sample cannot be read.
    pub fn evaluate(&mut self, seconds: f64) -> Result<Record, TrainError> {
        let average = self.world.average();
        let model: Vec<f32> = average.iter().map(|&x| x as f32).collect();
        let (models, threads, dataset) = (&self.models, self.world.threads(), &self.plan.dataset);
        // A part without samples is not measured: a sweep has no test samples.
        let test = (!dataset.test.is_empty()).then(|| models.test(&model, threads)).transpose()?;
        let validation = (!dataset.validation.is_empty())
            .then(|| models.validate(&model, threads))
            .transpose()?;
        // Of a regression no samples are set apart.
        let measured = |score: Score| {
            let accuracy = score.quality().accuracy()?;
            Some(Measured { accuracy, loss: score.mean_loss() })
        };
        let own = self.test_agents()?;
        let gained = match self.gained {
            None => self.gain_of_averaging(&model, &own, test.as_ref())?,
            before_it => before_it,
        };
        let own_losses: Vec<f64> = own.iter().map(Score::mean_loss).collect();
        let [agents, agents_r2] = Score::spreads(&own);
        let quality = test.as_ref().map(Score::quality);
        let target = self.plan.dataset.task.target();
        let (round, bytes) = (self.rounds_done(), self.bytes_sent());
        Ok(Record {
            test_loss: test.as_ref().map(Score::mean_loss),
            test_accuracy: quality.and_then(Quality::accuracy),
            test_r2: quality.and_then(Quality::r2),
            test_rmse: target.zip(test).map(|(target, score)| target.rmse(score.mean_loss())),
            validation: validation.and_then(measured),
            agents,
            agents_r2,
            agents_loss: Spread::from_values(&own_losses),
            averaging_gain: gained,
            consensus_distance: self.world.consensus_distance(&average),
            drift: if self.method.rebuilds_neighbours() { self.world.drift() } else { 0.0 },
            ..self.schedule.unmeasured(round, &mut self.since, bytes, seconds)
        })
    }

    /// That the averaged model, of which `record` tells, is no better than a guess; none if it is,
    /// or if `record` does not tell.
    ///
    /// # Errors
    /// If a test sample cannot be read.
    pub fn collapse(&self, record: &Record) -> Result<Option<Collapse>, TrainError> {
        let validated = record.validation.map(|measured| Quality::Accuracy(measured.accuracy));
        let Some(quality) = record.quality().or(validated) else { return Ok(None) };
        Ok(self.models.collapse(quality, || self.average())?)
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
        self.schedule.eta_at(self.rounds_done())
    }

    /// Bytes that an agent has sent so far, averaged over the agents.
    fn bytes_sent(&self) -> u64 {
        let (agents, parameters) = (self.world.agents(), self.plan.parameters.len());
        let (done, messages) = (self.rounds_done(), &self.method.messages);
        let bytes = self.mixing.bytes_until(done, messages, self.traffic, agents, parameters);
        bytes / agents as u64
    }

    /// The accuracy of the averaged model minus the mean of the agents' own, which are `own`, all on
    /// the same samples; none if the agents are not tested. `on_all` is how the averaged model does
    /// on the whole test set, if that is known.
    fn gain_of_averaging(
        &self,
        average: &[f32],
        own: &[Score],
        on_all: Option<&Score>,
    ) -> Result<Option<f64>, TrainError> {
        // Of a regression there is none.
        let Some(own) = Score::spreads(own)[0] else { return Ok(None) };
        let wanted = self.plan.agent_samples();
        let accuracy = match on_all {
            Some(score) if wanted == self.plan.dataset.test.labels.len() => {
                score.quality().accuracy()
            }
            _ => {
                let one = [average].into_par_iter();
                let scores = self.models.test_each(one, wanted, self.world.threads())?;
                scores.first().and_then(|score| score.quality().accuracy())
            }
        };
        Ok(accuracy.map(|accuracy| accuracy - own.mean))
    }

    /// Every agent's own model on the same samples, evenly spaced over the test set.
    fn test_agents(&self) -> Result<Vec<Score>, TrainError> {
        let wanted = self.plan.agent_samples();
        if wanted == 0 {
            return Ok(Vec::new());
        }
        let models = (0..self.world.agents()).into_par_iter().map(|k| self.world.params(k));
        Ok(self.models.test_each(models, wanted, self.world.threads())?)
    }

    pub(crate) fn state(&mut self) -> (&mut World, &mut SinceEvaluation) {
        (&mut self.world, &mut self.since)
    }
}

/// How a model does on the whole test part of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// The share of right answers, or R² of a regression.
    pub quality: Quality,
    /// The mean loss; of a regression with the target scaled.
    pub loss: f64,
    /// The root mean squared error in the unit of the target, of a regression.
    pub rmse: Option<f64>,
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
    let models = ModelPool::new(spec, dataset, threads)?;
    let score = models.test(model, &pool)?;
    let (quality, loss) = (score.quality(), score.mean_loss());
    let rmse = dataset.task.target().map(|target| target.rmse(loss));
    let collapse = models.collapse(quality, || model.to_vec())?;
    Ok(Evaluated { quality, loss, rmse, collapse })
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
