//! One agent's work: its data, its gradients, its step sizes, its evaluations.
//!
//! A process holds the samples of its own agent and the test set, one model at work per thread,
//! and what the method remembers at one agent.

use std::collections::HashMap;
use std::sync::Arc;

use consort_algo::{Agent, Method, Row};
use consort_data::{DataDir, Dataset, Feed, Partition};
use consort_graph::MixingMatrix;
use consort_model::{Parameters, save_safetensors};
use consort_records::{Record, Spread};
use consort_train::{
    Answer, Collapse, Course, Desk, Plan, PlannedMethod, SinceEvaluation, TrainError, partition_for,
};

use crate::error::NodeError;
use crate::lookahead::lookahead;
use crate::plan::{Found, NetworkPlan, run_id, run_text};

/// What one agent does, and all that it needs for it.
pub struct AgentWork {
    id: usize,
    seed: u64,
    desk: Desk,
    course: Course,
    parameters: Parameters,
    method: Method,
    /// Its key and its label.
    name: (String, String),
    /// Its rows of W, per phase of the graph.
    rows: Vec<Row>,
    lookahead: usize,
    /// Who hears it, per phase of the graph, ascending.
    receivers: Vec<Vec<usize>>,
    since: SinceEvaluation,
    shared_text: String,
    /// What its model is, for the header of its file.
    about: String,
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
        let loaded = Plan::over(plan.network.clone(), &config, data_dir)?;
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
        let found = Found::new(&plan.dataset, &plan.parameters, &method.weights, partition);
        let (dataset, rounds_per_epoch) = own_samples(plan, partition, id)?;
        let all: Vec<u32> = (0..dataset.train.len() as u32).collect();
        let feed = Feed::new(all, plan.config.batch, seed, id).map_err(TrainError::from)?;
        let PlannedMethod { weights, eta, rule, .. } = method;
        Ok(AgentWork {
            id,
            seed,
            desk: Desk::new(id, &plan.model, &dataset, feed, *rule, threads)?,
            course: Course::new(&plan.config, *eta, rounds_per_epoch),
            parameters: plan.parameters.clone(),
            method: method.method,
            name: (method.key.clone(), method.label.clone()),
            rows: weights.iter().map(|phase| Row::new(id, phase.row(id))).collect(),
            lookahead: lookahead(weights, id),
            receivers: weights.iter().map(|phase| who_hears(phase, id)).collect(),
            since: SinceEvaluation::default(),
            shared_text: shared_text(&found),
            about: format!("{}, agent {id}", plan.about(method, seed)),
        })
    }

    /// The agent's number.
    pub fn id(&self) -> usize {
        self.id
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
        let algorithm = self.method.build(&x0, self.rows[0].senders().len());
        let algorithm = algorithm.map_err(TrainError::from)?;
        Ok(Agent::new(self.id, self.rows.clone(), self.lookahead, algorithm))
    }

    /// The method as the user wrote it, and its name in tables.
    pub fn method_name(&self) -> (String, String) {
        self.name.clone()
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
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
        &self.receivers[(round % self.receivers.len() as u64) as usize]
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

    /// How many rounds there are, with which step sizes, evaluated when.
    pub fn course(&self) -> &Course {
        &self.course
    }

    /// How many rounds there are.
    pub fn rounds(&self) -> u64 {
        self.course.rounds()
    }

    /// The step size of `round`.
    pub fn eta(&self, round: u64) -> f32 {
        self.course.eta_at(round) as f32
    }

    /// True if there is an evaluation once so many rounds are over.
    pub fn evaluation_is_due(&self, rounds_done: u64) -> bool {
        self.course.evaluation_is_due(rounds_done)
    }

    /// Writes the gradient at `at` on the mini-batch of `round`, weight decay included, into
    /// `grad`.
    ///
    /// # Errors
    /// If a sample cannot be read, or a number is not finite: with agent, round and layer.
    pub fn loss_and_grad(
        &mut self,
        round: u64,
        at: &[f32],
        grad: &mut [f32],
    ) -> Result<Answer, NodeError> {
        let answer = self.desk.loss_and_grad(round, at, grad)?;
        self.since.add(answer.loss, answer.squared_grad.sqrt());
        Ok(answer)
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
    /// accuracy but its own, and the consensus distance and the drift are NaN. The bytes are those of the messages that the method sends, as in a
    /// simulation.
    ///
    /// # Errors
    /// If a test sample cannot be read.
    pub fn evaluate(
        &mut self,
        x: &[f32],
        rounds_done: u64,
        seconds: f64,
    ) -> Result<Record, NodeError> {
        let score = self.desk.test(x)?;
        let since = std::mem::take(&mut self.since);
        Ok(Record {
            round: rounds_done,
            epoch: self.course.epoch_after(rounds_done),
            eta: self.course.eta_at(rounds_done),
            train_loss: since.train_loss(),
            test_loss: None,
            test_accuracy: None,
            agents: Spread::of(&[score.accuracy()]),
            agents_loss: Spread::of(&[score.mean_loss()]),
            consensus_distance: f64::NAN,
            gradient_norm: since.gradient_norm(),
            drift: f64::NAN,
            bytes_sent: self.bytes_until(rounds_done),
            seconds,
        })
    }

    /// That the agent's own model `x`, of which `record` tells, is no better than a guess; none if
    /// it is.
    ///
    /// # Errors
    /// If a test sample cannot be read.
    pub fn collapse(&self, x: &[f32], record: &Record) -> Result<Option<Collapse>, NodeError> {
        match record.agents {
            Some(own) => Ok(self.desk.collapse(own.mean, x)?),
            None => Ok(None),
        }
    }

    /// The model `x` as a safetensors file.
    ///
    /// # Errors
    /// If `x` is not finite or of another length.
    pub fn model_file(&self, x: &[f32]) -> Result<Vec<u8>, NodeError> {
        let about = HashMap::from([("consort".to_string(), self.about.clone())]);
        Ok(save_safetensors(&self.parameters, x, about).map_err(TrainError::from)?)
    }

    /// Bytes of the messages of the first `rounds` rounds.
    fn bytes_until(&self, rounds: u64) -> u64 {
        let sent: Vec<u64> = self.receivers.iter().map(|phase| phase.len() as u64).collect();
        let period = sent.len() as u64;
        let rest = &sent[..(rounds % period) as usize];
        let messages = rounds / period * sent.iter().sum::<u64>() + rest.iter().sum::<u64>();
        let floats = u64::from(self.method.info().traffic) * self.parameters.len() as u64;
        4 * floats * messages
    }
}

/// The dataset with the training samples of agent `id` alone, and how many rounds make an epoch.
fn own_samples(
    loaded: &Plan,
    partition: Option<&Partition>,
    id: usize,
) -> Result<(Arc<Dataset>, f64), TrainError> {
    match partition {
        // The numbering changes, the order does not: mini-batches are the same.
        Some(partition) => {
            let own = Dataset::clone(&loaded.dataset).with_train(partition.share(id))?;
            Ok((Arc::new(own), loaded.rounds_per_epoch(partition)))
        }
        None => {
            let batches = loaded.dataset.train.len().div_ceil(loaded.config.batch).max(1);
            Ok((loaded.dataset.clone(), batches as f64))
        }
    }
}

/// Who hears `id`, ascending.
fn who_hears(weights: &MixingMatrix, id: usize) -> Vec<usize> {
    let hears = |&other: &usize| other != id && weights.row(other).any(|(from, _)| from == id);
    (0..weights.agents()).filter(hears).collect()
}
