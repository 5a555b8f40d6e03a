//! All agents of a run in one process, spread over threads.
//!
//! Each round follows the driver contract of `consort-algo`, step by step. Agents
//! share nothing but read-only messages, so the bits do not depend on the number of
//! threads.

use std::sync::Arc;

use consort_algo::{
    Agent, BatchReport, BatchReports, Draw, Method, Oracle, Outgoing, Row, Site, Tensor,
    check_gradient, checked_gradient,
};
use consort_graph::{MixingMatrix, Stochastic, Topology};
use rayon::prelude::*;

use crate::SimError;
use crate::per_thread::{PerThread, start_threads};
use crate::profile::{Part, Profiler};

struct SimulatedAgent {
    agent: Agent,
    report: BatchReport,
}

/// A thread's room for a point and the gradient there.
struct Scratch {
    at: Vec<f32>,
    grad: Vec<f32>,
}

/// What a round tells of itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundReport {
    /// The mean of the agents' losses on their mini-batches.
    pub loss: f32,
    /// The root of the mean of the agents' squared gradient norms.
    pub gradient_norm: f64,
}

/// Agents, the graph between them, and the oracle that they all ask.
pub struct World {
    agents: Vec<SimulatedAgent>,
    /// Whom each agent hears, per phase of the graph, itself excluded.
    heard: Vec<Vec<Vec<usize>>>,
    /// The rows of W, per agent and phase.
    rows: Vec<Vec<Row>>,
    /// The averaging rate of the last mix.
    rate: f32,
    oracle: Arc<dyn Oracle>,
    scratch: PerThread<Scratch>,
    pool: rayon::ThreadPool,
    profiler: Profiler,
}

impl World {
    /// A world of agents that ask `oracle` for their gradients, on `threads` threads.
    ///
    /// All agents start from `x0`. `weights` holds one matrix per phase of the graph, averaging
    /// rate included.
    ///
    /// # Errors
    /// If the oracle's model has another size than `x0`, the method cannot be built, the machine
    /// refuses the threads, or the method starts from first gradients and one is not finite.
    pub fn new(
        topology: &Topology,
        weights: &[MixingMatrix],
        method: &Method,
        x0: &[f32],
        oracle: Arc<dyn Oracle>,
        threads: usize,
    ) -> Result<Self, SimError> {
        let (expected, got) = (x0.len(), oracle.len());
        if expected != got {
            return Err(SimError::ModelSize { expected, got });
        }
        let rows = rows_by_agent(weights);
        // On a directed graph a sender can be ahead; here all agents keep step.
        let lookahead = 1;
        let count = topology.agents();
        let tensors = oracle.tensors();
        let pool = start_threads(threads)?;
        let differences = match method.starts_from_first_gradients() {
            true => pool.install(|| first_gradients(oracle.as_ref(), x0, count))?,
            false => Vec::new(),
        };
        let mut agents = Vec::with_capacity(count);
        for (id, own_rows) in rows.iter().enumerate() {
            let mut site = Site::new(count, own_rows).with_tensors(&tensors);
            if let Some(difference) = differences.get(id) {
                site = site.with_first_gradient(difference);
            }
            let algorithm = method.build_staged(x0, &site)?;
            agents.push(Agent::staged(id, own_rows.clone(), lookahead, algorithm));
        }
        Self::with_agents(agents, rows, oracle, pool)
    }

    /// A world of agents at round 0, in the order of their numbers; `weights` holds one matrix per
    /// phase of the graph.
    ///
    /// # Errors
    /// If the oracle's model has another size than the agents', or the machine refuses the
    /// threads.
    pub fn from_agents(
        agents: Vec<Agent>,
        weights: &[MixingMatrix],
        oracle: Arc<dyn Oracle>,
        threads: usize,
    ) -> Result<Self, SimError> {
        Self::with_agents(agents, rows_by_agent(weights), oracle, start_threads(threads)?)
    }

    fn with_agents(
        agents: Vec<Agent>,
        rows: Vec<Vec<Row>>,
        oracle: Arc<dyn Oracle>,
        pool: rayon::ThreadPool,
    ) -> Result<Self, SimError> {
        let (got, threads) = (oracle.len(), pool.current_num_threads());
        if let Some(other) = agents.iter().find(|agent| agent.params().len() != got) {
            return Err(SimError::ModelSize { expected: other.params().len(), got });
        }
        let heard = heard_by_agent(&rows);
        let simulated = |agent| SimulatedAgent { agent, report: BatchReport::default() };
        let agents = agents.into_iter().map(simulated).collect();
        let scratch = || Scratch { at: vec![0.0; got], grad: vec![0.0; got] };
        let scratch = PerThread::new(threads, scratch);
        let profiler = Profiler::default();
        Ok(World { agents, heard, rows, rate: 1.0, oracle, scratch, pool, profiler })
    }

    /// Tells `profiler` from now on what each thread has done.
    pub fn set_profiler(&mut self, profiler: Profiler) {
        self.profiler = profiler;
    }

    /// Sets averaging rates between two rounds: what was sent in the last round was mixed at the
    /// rate `last`, and what will be sent in the next will be at `now`
    /// ([`Agent::set_averaging_rates`]). Both are 1 at the start.
    pub fn set_averaging_rates(&mut self, last: f32, now: f32) {
        self.rate = now;
        self.agents.iter_mut().for_each(|one| one.agent.set_averaging_rates(last, now));
    }

    /// Goes on over the graph of these matrices, one per phase, with as many agents
    /// ([`Agent::change_graph`]). If `resync`, the agents are told the models of their new
    /// neighbours, as methods that send moves need it.
    pub fn change_graph(&mut self, weights: &[MixingMatrix], resync: bool) {
        self.rows = rows_by_agent(weights);
        self.heard = heard_by_agent(&self.rows);
        for (one, rows) in self.agents.iter_mut().zip(&self.rows) {
            one.agent.change_graph(rows.clone());
        }
        if resync {
            let models: Vec<Vec<f32>> =
                self.agents.iter().map(|one| one.agent.params().to_vec()).collect();
            let tell = |one: &mut SimulatedAgent| {
                one.agent.resync_with(|neighbour| models.get(neighbour).map(Vec::as_slice));
            };
            self.pool.install(|| self.agents.par_iter_mut().for_each(tell));
        }
    }

    /// Puts the average over all agents, which no graph would give so soon, in place of all models,
    /// between two rounds. What agents track or remember stays ([`Agent::adopt_average`]).
    pub fn average_exactly(&mut self) {
        let average = self.mean_of(Agent::averaged);
        let average: Vec<f32> = average.into_iter().map(|x| x as f32).collect();
        let adopt = |one: &mut SimulatedAgent| {
            one.agent.adopt_average(&average);
        };
        self.pool.install(|| self.agents.par_iter_mut().for_each(adopt));
    }

    /// One round of all agents with step size `eta`.
    ///
    /// # Errors
    /// If several agents fail in the same round, the first of them is reported, whatever the
    /// number of threads. A world that has failed is half-way through a round and cannot go on.
    pub fn round(&mut self, eta: f32) -> Result<RoundReport, SimError> {
        let World { agents, heard, oracle, scratch, pool, profiler, .. } = self;
        let first: Vec<Result<Outgoing, SimError>> = pool.install(|| {
            // One agent at a time: a gradient is long work, and an even split may leave a
            // thread without any.
            let agents = agents.par_iter_mut().with_max_len(1);
            let step = |one: &mut SimulatedAgent| {
                one.local_step(oracle.as_ref(), &mut scratch.own(), eta, profiler)
            };
            agents.map(step).collect()
        });
        let mut sent: Vec<Outgoing> = first.into_iter().collect::<Result<_, _>>()?;
        while !sent.is_empty() {
            pool.install(|| {
                // Backwards: what the last agents of a pass touched is in cache for the next.
                let agents = agents.par_iter_mut().zip(heard.par_iter()).rev();
                agents.try_for_each(|(one, heard)| {
                    profiler.done(Part::Wait);
                    one.mix(heard, &sent)?;
                    profiler.done(Part::Mix);
                    Ok::<(), SimError>(())
                })
            })?;
            // What the next exchange of the round sends, if there is one.
            sent = agents.iter().filter_map(|one| one.agent.outgoing()).collect();
        }
        let count = agents.len() as f64;
        let losses: f64 = agents.iter().map(|one| f64::from(one.report.loss)).sum();
        let squares: f64 = agents.iter().map(|one| one.report.squared_grad).sum();
        Ok(RoundReport { loss: (losses / count) as f32, gradient_norm: (squares / count).sqrt() })
    }

    /// How many agents there are.
    pub fn agents(&self) -> usize {
        self.agents.len()
    }

    /// The number of the next round: how many are over.
    pub fn rounds_done(&self) -> u64 {
        self.agents[0].agent.round()
    }

    /// An agent's own model.
    pub fn params(&self, agent: usize) -> &[f32] {
        self.agents[agent].agent.params()
    }

    /// The averaged model, summed in f64 in the order of the agents.
    pub fn average(&self) -> Vec<f64> {
        self.mean_of(Agent::params)
    }

    /// The mean over the agents, summed in f64 in their order.
    fn mean_of(&self, values: fn(&Agent) -> &[f32]) -> Vec<f64> {
        let mut mean = vec![0.0_f64; values(&self.agents[0].agent).len()];
        let agents = self.agents.len() as f64;
        let block = mean.len().div_ceil(8 * self.scratch.count()).max(1024);
        self.pool.install(|| {
            mean.par_chunks_mut(block).enumerate().for_each(|(k, mean)| {
                let first = k * block;
                for one in &self.agents {
                    let x = &values(&one.agent)[first..first + mean.len()];
                    for (sum, &x) in mean.iter_mut().zip(x) {
                        *sum += f64::from(x);
                    }
                }
                mean.iter_mut().for_each(|sum| *sum /= agents);
            });
        });
        mean
    }

    /// How far the agents' models are from `average`: `sqrt(1/n Σ |x_i - x̄|²)`.
    pub fn consensus_distance(&self, average: &[f64]) -> f64 {
        let squared = |one: &SimulatedAgent| -> f64 {
            let x = one.agent.params().iter().zip(average);
            x.map(|(&x, mean)| (f64::from(x) - mean).powi(2)).sum()
        };
        let squares: Vec<f64> = self.pool.install(|| self.agents.par_iter().map(squared).collect());
        (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
    }

    /// How far what the agents believe to be the mixed model of their neighbourhood has drifted
    /// from the sum over the true models: the largest of `|s_i - Σ_j w_ij x_j| / |x_i|`.
    ///
    /// Only of use for methods that take the gradient at the mixed model and keep it up to date
    /// from updates: rounding makes it drift.
    pub fn drift(&self) -> f64 {
        let phase = (self.rounds_done() % self.rows[0].len() as u64) as usize;
        let drift = |(one, rows): (&SimulatedAgent, &Vec<Row>)| -> f64 {
            let (row, x) = (&rows[phase], one.agent.params());
            let mut believed = vec![0.0; x.len()];
            one.agent.probe(&mut believed);
            let mut squared = 0.0_f64;
            for (k, &s) in believed.iter().enumerate() {
                let senders = row.senders().iter().zip(row.weights());
                let mut mixed: f64 =
                    senders.map(|(&j, &w)| f64::from(w) * f64::from(self.params(j)[k])).sum();
                if self.rate != 1.0 {
                    let own = f64::from(x[k]);
                    mixed = own + f64::from(self.rate) * (mixed - own);
                }
                squared += (f64::from(s) - mixed).powi(2);
            }
            let norm: f64 = x.iter().map(|&x| f64::from(x).powi(2)).sum();
            if squared == 0.0 { 0.0 } else { (squared / norm).sqrt() }
        };
        let drifts = self.pool.install(|| {
            let agents = self.agents.par_iter().zip(self.rows.par_iter());
            agents.map(drift).collect::<Vec<f64>>()
        });
        drifts.into_iter().fold(0.0, f64::max)
    }

    /// What an agent's method remembers, to save or to restore between two rounds.
    pub fn tensors(&mut self, agent: usize) -> Vec<Tensor<'_>> {
        self.agents[agent].agent.tensors()
    }

    /// Goes on from a saved state: call it once all tensors of all agents are written back.
    pub fn restore_round(&mut self, round: u64) {
        self.agents.iter_mut().for_each(|one| one.agent.restore_round(round));
    }

    /// The threads of this world, for other work between two rounds.
    pub fn threads(&self) -> &rayon::ThreadPool {
        &self.pool
    }
}

impl SimulatedAgent {
    /// Steps 1 and 2 of the driver contract, for all gradients of the round.
    fn local_step(
        &mut self,
        oracle: &dyn Oracle,
        scratch: &mut Scratch,
        eta: f32,
        profiler: &Profiler,
    ) -> Result<Outgoing, SimError> {
        let Scratch { at, grad } = scratch;
        let mut reports = BatchReports::default();
        profiler.done(Part::Wait);
        loop {
            self.agent.probe(at); // step 1
            profiler.done(Part::Probe);
            let (agent, round, step) =
                (self.agent.id(), self.agent.round(), self.agent.draw_step());
            let draw = Draw { agent, round, step };
            let loss = oracle.loss_and_grad(draw, at, grad);
            profiler.done(Part::Gradient);
            reports.add(check_gradient(draw, loss, grad)?);
            profiler.done(Part::Norm);
            let sent = self.agent.gradient(grad, eta)?; // step 2
            profiler.done(Part::LocalStep);
            if let Some(sent) = sent {
                self.report = reports.mean();
                return Ok(sent);
            }
        }
    }

    /// Steps 3 to 5, for one exchange; `heard` is by phase of the graph.
    fn mix(&mut self, heard: &[Vec<usize>], sent: &[Outgoing]) -> Result<(), SimError> {
        for &from in &heard[self.agent.phase()] {
            // Sending is handing over the same memory.
            if let Some(body) = sent[from].body_for(self.agent.id()) {
                self.agent.receive(from, sent[from].exchange, body.clone())?;
            }
        }
        self.agent.advance();
        Ok(())
    }
}

/// By how much every agent's first gradient at `x0` differs from the mean of all, which is summed in
/// f64 in the order of the agents.
fn first_gradients(
    oracle: &dyn Oracle,
    x0: &[f32],
    agents: usize,
) -> Result<Vec<Vec<f32>>, SimError> {
    let first = |agent: usize| -> Result<Vec<f32>, SimError> {
        let mut grad = vec![0.0; x0.len()];
        checked_gradient(oracle, Draw::new(agent, 0), x0, &mut grad)?;
        Ok(grad)
    };
    let all: Vec<Result<Vec<f32>, SimError>> =
        (0..agents).into_par_iter().with_max_len(1).map(first).collect();
    let mut all: Vec<Vec<f32>> = all.into_iter().collect::<Result<_, _>>()?;
    for k in 0..x0.len() {
        let mean = all.iter().map(|g| f64::from(g[k])).sum::<f64>() / agents as f64;
        all.iter_mut().for_each(|g| g[k] = (f64::from(g[k]) - mean) as f32);
    }
    Ok(all)
}

/// The rows of all agents, one per phase.
fn rows_by_agent(weights: &[MixingMatrix]) -> Vec<Vec<Row>> {
    let by_phase: Vec<Vec<Row>> = weights.iter().map(rows_of).collect();
    let agents = by_phase.first().map_or(0, Vec::len);
    let rows_of_agent = |id: usize| by_phase.iter().map(|phase| phase[id].clone()).collect();
    (0..agents).map(rows_of_agent).collect()
}

/// Whom each agent hears, per phase of the graph, itself excluded.
fn heard_by_agent(rows: &[Vec<Row>]) -> Vec<Vec<Vec<usize>>> {
    let of_agent = |(id, rows): (usize, &Vec<Row>)| {
        let others = |row: &Row| row.senders().iter().copied().filter(|&j| j != id).collect();
        rows.iter().map(others).collect()
    };
    rows.iter().enumerate().map(of_agent).collect()
}

/// The rows of a mixing matrix as the agents use them: rounded to `f32` so that what sums to 1
/// still does.
pub fn rows_of(w: &MixingMatrix) -> Vec<Row> {
    if w.stochastic() == Stochastic::Columns {
        let columns = w.transposed();
        return (0..w.agents()).map(|i| Row::from_columns(i, w.row(i), columns.row(i))).collect();
    }
    (0..w.agents()).map(|i| Row::new(i, w.row(i))).collect()
}
