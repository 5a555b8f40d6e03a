//! All agents of a run in one process, spread over threads.
//!
//! Each round follows the driver contract of `consort-algo`, step by step. Agents
//! share nothing but read-only messages, so the bits do not depend on the number of
//! threads.

use std::sync::{Mutex, PoisonError};

use consort_algo::{Agent, Method, Oracle, Outgoing, Row, Tensor};
use consort_graph::{MixingMatrix, Topology};
use rayon::prelude::*;

use crate::SimError;
use crate::worker::{Answer, OwnOracles, Part, Watch, Worker, ask_watched};

struct Inhabitant {
    agent: Agent,
    answer: Answer,
}

/// A thread's worker and its scratch space.
struct Desk {
    worker: Box<dyn Worker>,
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

/// Agents, their workers and the graph between them.
pub struct World {
    inhabitants: Vec<Inhabitant>,
    /// Whom each agent hears, per phase of the graph, itself excluded.
    heard: Vec<Vec<Vec<usize>>>,
    /// The rows of W, per agent and phase.
    rows: Vec<Vec<Row>>,
    desks: Vec<Mutex<Desk>>,
    pool: rayon::ThreadPool,
}

impl World {
    /// A world of agents with an oracle each, on `threads` threads.
    ///
    /// All agents start from `x0`. `weights` holds one matrix per phase of the graph, averaging
    /// rate included.
    pub fn new(
        topology: &Topology,
        weights: &[MixingMatrix],
        method: &Method,
        x0: &[f32],
        oracles: Vec<Box<dyn Oracle>>,
        threads: usize,
    ) -> Result<Self, SimError> {
        let agents = topology.agents();
        if oracles.len() != agents {
            return Err(SimError::Count { what: "oracles", expected: agents, got: oracles.len() });
        }
        for (agent, oracle) in oracles.iter().enumerate() {
            let (expected, got) = (x0.len(), oracle.len());
            if expected != got {
                return Err(SimError::ModelSize { agent, expected, got });
            }
        }
        let workers = OwnOracles::for_threads(oracles, x0.len(), threads);
        Self::with_workers(topology, weights, method, x0, workers)
    }

    /// A world whose gradients come from `workers`, one per thread.
    ///
    /// # Errors
    /// If a worker's model has another size than `x0`, or the method cannot be built.
    pub fn with_workers(
        topology: &Topology,
        weights: &[MixingMatrix],
        method: &Method,
        x0: &[f32],
        workers: Vec<Box<dyn Worker>>,
    ) -> Result<Self, SimError> {
        let by_phase: Vec<Vec<Row>> = weights.iter().map(rows_of).collect();
        // On a directed graph a sender can be ahead; here all agents keep step.
        let lookahead = 1;
        let agents = topology.agents();
        let mut inhabitants = Vec::with_capacity(agents);
        let (mut heard, mut rows) = (Vec::with_capacity(agents), Vec::with_capacity(agents));
        for id in 0..agents {
            let own_rows: Vec<Row> = by_phase.iter().map(|phase| phase[id].clone()).collect();
            let others = |row: &Row| row.senders().iter().copied().filter(|&j| j != id).collect();
            heard.push(own_rows.iter().map(others).collect());
            let senders = own_rows[0].senders().len();
            let algorithm = method.build(x0, senders)?;
            let agent = Agent::new(id, own_rows.clone(), lookahead, algorithm);
            rows.push(own_rows);
            inhabitants.push(Inhabitant { agent, answer: Answer::default() });
        }
        let pool = start_threads(workers.len())?;
        let desks = workers.into_iter().map(|worker| {
            let (expected, got) = (x0.len(), worker.len());
            if expected != got {
                return Err(SimError::ModelSize { agent: 0, expected, got });
            }
            let (at, grad) = (vec![0.0; got], vec![0.0; got]);
            Ok(Mutex::new(Desk { worker, at, grad }))
        });
        Ok(World { inhabitants, heard, rows, desks: desks.collect::<Result<_, _>>()?, pool })
    }

    /// One round of all agents with step size `eta`.
    ///
    /// If several agents fail in the same round, the first of them is reported, whatever the
    /// number of threads. A world that has failed is half-way through a round and cannot go on.
    pub fn round(&mut self, eta: f32) -> Result<RoundReport, SimError> {
        self.round_watched(eta, &|_| {})
    }

    /// [`round`](Self::round), telling `watch` what each thread has done.
    ///
    /// # Errors
    /// As there.
    pub fn round_watched(&mut self, eta: f32, watch: Watch<'_>) -> Result<RoundReport, SimError> {
        let World { inhabitants, heard, desks, pool, .. } = self;
        let sent: Vec<Result<Outgoing, SimError>> = pool.install(|| {
            // One agent at a time: a gradient is long work, and an even split may leave a
            // thread without any.
            let agents = inhabitants.par_iter_mut().with_max_len(1);
            agents
                .map(|one| with_own_desk(desks, |desk| one.local_half(desk, eta, watch)))
                .collect()
        });
        let sent: Vec<Outgoing> = sent.into_iter().collect::<Result<_, _>>()?;
        pool.install(|| {
            // Backwards: what the last agents of a pass touched is in cache for the next pass.
            let agents = inhabitants.par_iter_mut().zip(heard.par_iter()).rev();
            agents.try_for_each(|(one, heard)| {
                watch(Part::Wait);
                let phase = (one.agent.round() % heard.len() as u64) as usize;
                for &from in &heard[phase] {
                    // Steps 3 and 4: sending is handing over the same memory.
                    one.agent.receive(from, sent[from].round, sent[from].body.clone())?;
                }
                one.agent.advance(); // step 5
                watch(Part::Mix);
                Ok::<(), SimError>(())
            })
        })?;
        let agents = inhabitants.len() as f64;
        let losses: f64 = inhabitants.iter().map(|one| f64::from(one.answer.loss)).sum();
        let squares: f64 = inhabitants.iter().map(|one| one.answer.squared_grad).sum();
        let gradient_norm = (squares / agents).sqrt();
        Ok(RoundReport { loss: (losses / agents) as f32, gradient_norm })
    }

    /// How many agents there are.
    pub fn agents(&self) -> usize {
        self.inhabitants.len()
    }

    /// The number of the next round: how many are over.
    pub fn rounds_done(&self) -> u64 {
        self.inhabitants[0].agent.round()
    }

    /// How many floats an agent sends to each neighbour in a round.
    pub fn message_len(&self) -> usize {
        self.inhabitants[0].agent.message_len()
    }

    /// An agent's own model.
    pub fn params(&self, agent: usize) -> &[f32] {
        self.inhabitants[agent].agent.params()
    }

    /// The averaged model, summed in f64 in the order of the agents.
    pub fn average(&self) -> Vec<f64> {
        let mut mean = vec![0.0_f64; self.params(0).len()];
        let agents = self.inhabitants.len() as f64;
        let block = mean.len().div_ceil(8 * self.desks.len()).max(1024);
        self.pool.install(|| {
            mean.par_chunks_mut(block).enumerate().for_each(|(k, mean)| {
                let first = k * block;
                for one in &self.inhabitants {
                    let x = &one.agent.params()[first..first + mean.len()];
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
        let squared = |one: &Inhabitant| -> f64 {
            let x = one.agent.params().iter().zip(average);
            x.map(|(&x, mean)| (f64::from(x) - mean).powi(2)).sum()
        };
        let squares: Vec<f64> =
            self.pool.install(|| self.inhabitants.par_iter().map(squared).collect());
        (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
    }

    /// How far what the agents believe to be the mixed model of their neighbourhood has drifted
    /// from the sum over the true models: the largest of `|s_i - Σ_j w_ij x_j| / |x_i|`.
    ///
    /// Only of use for methods that take the gradient at the mixed model and keep it up to date
    /// from updates: rounding makes it drift.
    pub fn drift(&self) -> f64 {
        let phase = (self.rounds_done() % self.rows[0].len() as u64) as usize;
        let drift = |(one, rows): (&Inhabitant, &Vec<Row>)| -> f64 {
            let (row, x) = (&rows[phase], one.agent.params());
            let mut believed = vec![0.0; x.len()];
            one.agent.probe(&mut believed);
            let mut squared = 0.0_f64;
            for (k, &s) in believed.iter().enumerate() {
                let senders = row.senders().iter().zip(row.weights());
                let mixed: f64 =
                    senders.map(|(&j, &w)| f64::from(w) * f64::from(self.params(j)[k])).sum();
                squared += (f64::from(s) - mixed).powi(2);
            }
            let norm: f64 = x.iter().map(|&x| f64::from(x).powi(2)).sum();
            if squared == 0.0 { 0.0 } else { (squared / norm).sqrt() }
        };
        let drifts = self.pool.install(|| {
            let agents = self.inhabitants.par_iter().zip(self.rows.par_iter());
            agents.map(drift).collect::<Vec<f64>>()
        });
        drifts.into_iter().fold(0.0, f64::max)
    }

    /// What an agent's method remembers, to save or to restore between two rounds.
    pub fn tensors(&mut self, agent: usize) -> Vec<Tensor<'_>> {
        self.inhabitants[agent].agent.tensors()
    }

    /// Goes on from a saved state: call it once all tensors of all agents are written back.
    pub fn restore_round(&mut self, round: u64) {
        self.inhabitants.iter_mut().for_each(|one| one.agent.restore_round(round));
    }

    /// The threads of this world, for other work between two rounds.
    pub fn threads(&self) -> &rayon::ThreadPool {
        &self.pool
    }
}

impl Inhabitant {
    /// Steps 1 and 2 of the driver contract.
    fn local_half(
        &mut self,
        desk: &mut Desk,
        eta: f32,
        watch: Watch<'_>,
    ) -> Result<Outgoing, SimError> {
        let Desk { worker, at, grad } = desk;
        watch(Part::Wait);
        self.agent.probe(at); // step 1
        watch(Part::Probe);
        let (agent, round) = (self.agent.id(), self.agent.round());
        self.answer = ask_watched(worker.as_mut(), agent, round, at, grad, watch)?;
        let sent = self.agent.gradient(grad, eta)?; // step 2
        watch(Part::LocalStep);
        Ok(sent)
    }
}

/// Lends `work` the desk of the thread it runs on.
fn with_own_desk<T>(desks: &[Mutex<Desk>], work: impl FnOnce(&mut Desk) -> T) -> T {
    let own = rayon::current_thread_index().unwrap_or(0);
    // Nobody else asks for this one, and a panic at a desk ends the run.
    let mut desk = desks[own].lock().unwrap_or_else(PoisonError::into_inner);
    work(&mut desk)
}

/// Worker threads, or why there are none.
pub(crate) fn start_threads(threads: usize) -> Result<rayon::ThreadPool, SimError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| SimError::Threads { threads, reason: error.to_string() })
}

/// The rows of a mixing matrix as the agents use them.
pub fn rows_of(w: &MixingMatrix) -> Vec<Row> {
    (0..w.agents()).map(|i| Row::new(i, w.row(i))).collect()
}
