//! One agent's work: its data, its gradients, its step sizes, its evaluations.
//!
//! A process holds the samples of its own agent and the test set, one model at work per thread,
//! and what the method remembers at one agent.

use std::sync::Arc;

use consort_algo::{
    Agent, BatchReport, BatchReports, Draw, Method, RoundTraffic, Row, Site, checked_gradient,
};
use consort_data::{BatchSampler, DataDir, Dataset, Partition, batches_per_epoch};
use consort_graph::MixingMatrix;
use consort_model::{Parameter, Parameters, save_safetensors};
use consort_records::{Quality, Record, Spread};
use consort_sim::{rows_of, start_threads};
use consort_train::{
    Collapse, MessageCount, MiniBatches, MixingSchedule, ModelCard, ModelPool, Plan, PlannedMethod,
    Results, Score, SinceEvaluation, TrainError, TrainingSchedule, partition_for,
};
use rayon::ThreadPool;

use crate::error::NodeError;
use crate::lookahead::lookahead;
use crate::plan::{Found, NetworkPlan, PlanError, run_id, run_text};

/// What one agent does, and all that it needs for it.
pub struct AgentWork {
    id: usize,
    /// How many agents there are.
    agents: usize,
    seed: u64,
    oracle: MiniBatches,
    models: Arc<ModelPool>,
    /// For tests.
    threads: ThreadPool,
    schedule: TrainingSchedule,
    mixing: MixingSchedule,
    parameters: Parameters,
    method: Method,
    /// Its key and its label.
    name: (String, String),
    /// Its rows of W, per phase of the graph.
    rows: Vec<Row>,
    lookahead: usize,
    /// Who hears it, per phase of the graph, ascending.
    receivers: Vec<Vec<usize>>,
    messages: MessageCount,
    traffic: RoundTraffic,
    /// Of the gradients of the current round.
    reports: BatchReports,
    since: SinceEvaluation,
    shared_text: String,
    /// What its model is, for the header of its file.
    card: ModelCard,
    /// What was found in its data, if they are not of the catalogue.
    found: Option<String>,
}

impl AgentWork {
    /// Loads the data of agent `id` of `plan` and builds everything it needs. Evaluations run on
    /// `threads` threads; any number gives the same bits.
    ///
    /// # Errors
    /// If there is no such agent, or says which part of the plan cannot be used here, and why.
    pub fn new(
        plan: &NetworkPlan,
        id: usize,
        data_dir: &DataDir,
        threads: usize,
    ) -> Result<Self, NodeError> {
        let agents = plan.agents.len();
        let entry = plan.agents.get(id).ok_or(NodeError::NoSuchAgent { id, agents })?;
        let mut config = plan.run.clone();
        if let Some(own) = &entry.data {
            config.data.clone_from(own);
        }
        let loaded = Plan::with_network(plan.network.clone(), &config, data_dir)?;
        let (method, seed) = (plan.method(), plan.seed());
        let partition = match entry.data {
            Some(_) => None,
            None => Some(partition_for(&loaded, seed)?),
        };
        let text = |found: &Found| plan.shared_text(found);
        Self::from_parts(&loaded, method, seed, partition.as_ref(), id, threads, text)
    }

    /// The same for one trial of a simulation, without keys or addresses: where something else,
    /// such as MPI, knows who is who.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn from_trial(
        plan: &Plan,
        method: &PlannedMethod,
        seed: u64,
        partition: &Partition,
        id: usize,
        threads: usize,
    ) -> Result<Self, NodeError> {
        let agents = plan.network.topology.agents();
        if id >= agents {
            return Err(NodeError::NoSuchAgent { id, agents });
        }
        let text = |found: &Found| {
            let run = run_text(&plan.config, false, found);
            format!("trial = {}, seed {seed}\n{run}", method.label)
        };
        Self::from_parts(plan, method, seed, Some(partition), id, threads, text)
    }

    fn from_parts(
        plan: &Plan,
        method: &PlannedMethod,
        seed: u64,
        partition: Option<&Partition>,
        id: usize,
        threads: usize,
        shared_text: impl FnOnce(&Found) -> String,
    ) -> Result<Self, NodeError> {
        if let Some((what, reason)) = method.mix.needs_one_process() {
            return Err(PlanError::Mix { what, reason }.into());
        }
        let found = Found::new(&plan.dataset, &plan.parameters, &method.weights, partition);
        let (dataset, batches_per_epoch) = own_samples(plan, partition, id)?;
        let rounds_per_epoch = method.rounds_per_epoch(batches_per_epoch);
        let all: Vec<u32> = (0..dataset.train.len() as u32).collect();
        let sampler = BatchSampler::new(all, plan.config.batch, seed, id);
        let samplers = vec![sampler.map_err(TrainError::from)?];
        let models = ModelPool::new(&plan.model, &dataset, threads).map_err(TrainError::from)?;
        let models = Arc::new(models);
        let PlannedMethod { weights, eta, rule, .. } = method;
        let per_round = method.method.batches_per_round();
        let schedule = TrainingSchedule::new(&plan.config, *eta, rounds_per_epoch);
        let mixing = MixingSchedule::new(&method.mix, &plan.config.schedule, schedule.rounds());
        let receivers: Vec<_> = weights.iter().map(|phase| who_hears(phase, id)).collect();
        Ok(AgentWork {
            id,
            agents: plan.network.topology.agents(),
            seed,
            oracle: MiniBatches::new(models.clone(), samplers, per_round, *rule),
            models,
            threads: start_threads(threads)?,
            schedule,
            mixing,
            parameters: plan.parameters.clone(),
            method: method.method,
            name: (method.key.clone(), method.label.clone()),
            rows: weights.iter().map(|phase| rows_of(phase)[id].clone()).collect(),
            lookahead: lookahead(weights, id),
            messages: MessageCount::from_receivers(&receivers),
            traffic: method.traffic(plan.parameters.len())?,
            receivers,
            reports: BatchReports::default(),
            since: SinceEvaluation::default(),
            shared_text: shared_text(&found),
            card: ModelCard {
                about: format!("{}, agent {id}", plan.about(method, seed)),
                ..plan.card(method, seed)
            },
            found: plan.dataset.found.clone(),
        })
    }

    /// The agent's number.
    pub fn id(&self) -> usize {
        self.id
    }

    /// What was found in the data and done to them, if they are not of the catalogue.
    pub fn found(&self) -> Option<&str> {
        self.found.as_deref()
    }

    /// The text that must be equal on all agents.
    pub fn shared_text(&self) -> &str {
        &self.shared_text
    }

    /// The number of the run, which every frame carries.
    pub fn run_id(&self) -> u64 {
        run_id(&self.shared_text)
    }

    /// The agent at round 0.
    ///
    /// # Errors
    /// If the method cannot be built.
    pub fn agent(&self) -> Result<Agent, NodeError> {
        let x0 = self.parameters.initial(self.seed);
        let tensors: Vec<usize> = self.parameters.iter().map(Parameter::len).collect();
        let site = Site::new(self.agents, &self.rows).with_tensors(&tensors);
        let algorithm = self.method.build_staged(&x0, &site).map_err(TrainError::from)?;
        Ok(Agent::staged(self.id, self.rows.clone(), self.lookahead, algorithm))
    }

    /// Phases of the graph; a fixed one has one.
    pub fn phases(&self) -> usize {
        self.rows.len()
    }

    /// How many parameters the model has.
    pub fn parameters(&self) -> usize {
        self.parameters.len()
    }

    /// Rounds that a sender can be ahead of this agent.
    pub fn lookahead(&self) -> usize {
        self.lookahead
    }

    /// The agent's row of W in `round`: whom it hears, itself included, with which weights.
    pub fn row(&self, round: u64) -> &Row {
        &self.rows[(round % self.rows.len() as u64) as usize]
    }

    /// Who hears this agent in `round`, ascending.
    pub fn receivers(&self, round: u64) -> &[usize] {
        self.receivers_in_phase((round % self.receivers.len() as u64) as usize)
    }

    /// Who hears this agent in a phase of the graph, ascending.
    ///
    /// # Panics
    /// If the graph has not so many phases.
    pub fn receivers_in_phase(&self, phase: usize) -> &[usize] {
        &self.receivers[phase]
    }

    /// All agents with which this one exchanges messages in some round, ascending.
    pub fn neighbours(&self) -> Vec<usize> {
        let heard = self.rows.iter().flat_map(Row::senders);
        let both = heard.chain(self.receivers.iter().flatten()).copied();
        let mut all: Vec<usize> = both.filter(|&other| other != self.id).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// How many rounds there are.
    pub fn rounds(&self) -> u64 {
        self.schedule.rounds()
    }

    /// Rounds in which the agent's data are passed over once, on average.
    pub fn rounds_per_epoch(&self) -> f64 {
        self.schedule.rounds_per_epoch()
    }

    /// The step size of `round`.
    pub fn eta(&self, round: u64) -> f32 {
        self.schedule.eta_at(round) as f32
    }

    /// The averaging rates of the round before `round` and of `round` itself, for
    /// [`Agent::set_averaging_rates`].
    pub fn averaging_rates(&self, round: u64) -> (f32, f32) {
        self.mixing.rates_at(round)
    }

    /// True if there is an evaluation once so many rounds are over.
    pub fn evaluation_is_due(&self, rounds_done: u64) -> bool {
        self.schedule.evaluation_is_due(rounds_done)
    }

    /// Writes the gradient that `agent` wants next, taken at `at`, into `grad`; clipping and weight
    /// decay included.
    ///
    /// # Errors
    /// If a sample cannot be read, or a number is not finite: with agent, round and layer.
    pub fn loss_and_grad(
        &mut self,
        agent: &Agent,
        at: &[f32],
        grad: &mut [f32],
    ) -> Result<BatchReport, NodeError> {
        let draw = Draw { agent: self.id, round: agent.round(), step: agent.draw_step() };
        let report = checked_gradient(&self.oracle, draw, at, grad)?;
        if agent.is_between_rounds() {
            self.reports = BatchReports::default();
        }
        self.reports.add(report);
        if agent.gradients_left() == 1 {
            let round = self.reports.mean();
            self.since.add(round.loss, round.squared_grad.sqrt());
        }
        Ok(report)
    }

    /// What has been summed up since the last evaluation: part of a checkpoint.
    pub fn since(&self) -> SinceEvaluation {
        self.since
    }

    /// Goes on with what a checkpoint says was summed up.
    pub fn restore_since(&mut self, since: SinceEvaluation) {
        self.since = since;
    }

    /// Measures the agent's own model `x` on the whole test set, once `rounds_done` rounds are
    /// over; `seconds` is how long they have taken.
    ///
    /// An agent alone cannot know the averaged model, nor how far the models are apart: there is no
    /// accuracy but its own, and the consensus distance and the drift are NaN. The bytes are those
    /// of the messages that the method sends, as in a simulation.
    ///
    /// # Errors
    /// If a test sample cannot be read.
    pub fn evaluate(
        &mut self,
        x: &[f32],
        rounds_done: u64,
        seconds: f64,
    ) -> Result<Record, NodeError> {
        let score = self.models.test(x, &self.threads).map_err(TrainError::from)?;
        let bytes = self.bytes_until(rounds_done);
        let [agents, agents_r2] = Score::spreads(&[score]);
        Ok(Record {
            agents,
            agents_r2,
            agents_loss: Spread::from_values(&[score.mean_loss()]),
            ..self.schedule.unmeasured(rounds_done, &mut self.since, bytes, seconds)
        })
    }

    /// The model `x` as a file.
    ///
    /// # Errors
    /// If `x` is not finite.
    pub fn model_file(&self, x: &[f32]) -> Result<Vec<u8>, NodeError> {
        let about = self.card.to_metadata()?;
        Ok(save_safetensors(&self.parameters, x, &about).map_err(TrainError::from)?)
    }

    /// What a run ends with whose model is `x` and whose newest evaluation is `last`.
    ///
    /// # Errors
    /// If `x` is not finite, or a test sample cannot be read.
    pub fn results(&self, x: &[f32], last: Option<&Record>) -> Result<Results, NodeError> {
        let model = self.model_file(x)?;
        let own = last.and_then(Record::own_quality);
        let collapsed = own.map(|own| self.collapse(x, own)).transpose()?.flatten();
        let (method, label) = self.name.clone();
        let (seed, model) = (self.seed, Some(model));
        Ok(Results { method, label, seed, model, diverged: None, collapsed })
    }

    /// That the model `x`, this good, is no better than a guess; none if it is.
    fn collapse(&self, x: &[f32], own: Quality) -> Result<Option<Collapse>, TrainError> {
        Ok(self.models.collapse(own, || x.to_vec())?)
    }

    /// Bytes of the messages of the first `rounds` rounds.
    fn bytes_until(&self, rounds: u64) -> u64 {
        self.messages.bytes_until(rounds, self.traffic)
    }
}

/// The dataset with the training samples of agent `id` alone, and how many mini-batches make an epoch.
fn own_samples(
    loaded: &Plan,
    partition: Option<&Partition>,
    id: usize,
) -> Result<(Arc<Dataset>, f64), TrainError> {
    match partition {
        // The numbering changes, the order does not: mini-batches are the same.
        Some(partition) => {
            let own = Dataset::clone(&loaded.dataset).with_train(partition.share(id))?;
            Ok((Arc::new(own), loaded.batches_per_epoch(partition)))
        }
        None => {
            let samples = loaded.dataset.train.len();
            let batches = batches_per_epoch(samples, loaded.config.batch).max(1);
            Ok((loaded.dataset.clone(), batches as f64))
        }
    }
}

/// Who hears `id`, ascending.
fn who_hears(weights: &MixingMatrix, id: usize) -> Vec<usize> {
    let hears = |&other: &usize| other != id && weights.row(other).any(|(from, _)| from == id);
    (0..weights.agents()).filter(hears).collect()
}
