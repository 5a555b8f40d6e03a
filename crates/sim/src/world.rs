//! All agents of a run in one process, spread over threads.
//!
//! Each round follows the driver contract of `consort-algo`, step by step. Agents
//! share nothing but read-only messages, so the bits do not depend on the number of
//! threads.

use consort_algo::{Agent, Method, Oracle, OracleError, Outgoing, Row};
use consort_graph::{MixingMatrix, Topology};
use rayon::prelude::*;

use crate::SimError;

/// An agent with its oracle and its scratch space.
struct Inhabitant {
    agent: Agent,
    oracle: Box<dyn Oracle>,
    at: Vec<f32>,
    grad: Vec<f32>,
    loss: f32,
}

/// Agents, their oracles and the graph between them.
pub struct World {
    inhabitants: Vec<Inhabitant>,
    /// Whom each agent hears, per phase of the graph, itself excluded.
    heard: Vec<Vec<Vec<usize>>>,
    pool: rayon::ThreadPool,
}

impl World {
    /// A world whose agents all start from `x0`. `weights` holds one matrix per phase
    /// of the graph, averaging rate included.
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
        let rows: Vec<Vec<Row>> = weights.iter().map(rows_of).collect();
        // On a directed graph a sender can be ahead; here all agents keep step.
        let lookahead = 1;
        let mut inhabitants = Vec::with_capacity(agents);
        let mut heard = Vec::with_capacity(agents);
        for (id, oracle) in oracles.into_iter().enumerate() {
            let (expected, got) = (x0.len(), oracle.len());
            if expected != got {
                return Err(SimError::ModelSize { agent: id, expected, got });
            }
            let own_rows: Vec<Row> = rows.iter().map(|phase| phase[id].clone()).collect();
            let others = |row: &Row| row.senders().iter().copied().filter(|&j| j != id).collect();
            heard.push(own_rows.iter().map(others).collect());
            let senders = own_rows[0].senders().len();
            let agent = Agent::new(id, own_rows, lookahead, method.build(x0, senders)?);
            let (at, grad) = (vec![0.0; x0.len()], vec![0.0; x0.len()]);
            inhabitants.push(Inhabitant { agent, oracle, at, grad, loss: 0.0 });
        }
        Ok(World { inhabitants, heard, pool: start_threads(threads)? })
    }

    /// One round of all agents with step size `eta`; the mean of their losses.
    ///
    /// If several agents fail in the same round, the first of them is reported, whatever the
    /// number of threads. A world that has failed is half-way through a round and cannot go on.
    pub fn round(&mut self, eta: f32) -> Result<f32, SimError> {
        let World { inhabitants, heard, pool } = self;
        let sent: Vec<Result<Outgoing, SimError>> =
            pool.install(|| inhabitants.par_iter_mut().map(|one| one.local_half(eta)).collect());
        let sent: Vec<Outgoing> = sent.into_iter().collect::<Result<_, _>>()?;
        pool.install(|| {
            inhabitants.par_iter_mut().zip(heard.par_iter()).try_for_each(|(one, heard)| {
                let phase = (one.agent.round() % heard.len() as u64) as usize;
                for &from in &heard[phase] {
                    // Steps 3 and 4: sending is handing over the same memory.
                    one.agent.receive(from, sent[from].round, sent[from].body.clone())?;
                }
                one.agent.advance(); // step 5
                Ok::<(), SimError>(())
            })
        })?;
        let losses: f64 = inhabitants.iter().map(|one| f64::from(one.loss)).sum();
        Ok((losses / inhabitants.len() as f64) as f32)
    }

    /// How many agents there are.
    pub fn agents(&self) -> usize {
        self.inhabitants.len()
    }

    /// An agent's own model.
    pub fn params(&self, agent: usize) -> &[f32] {
        self.inhabitants[agent].agent.params()
    }

    /// The averaged model, summed in f64 in the order of the agents.
    pub fn average(&self) -> Vec<f64> {
        let mut mean = vec![0.0_f64; self.inhabitants[0].at.len()];
        for one in &self.inhabitants {
            for (sum, &x) in mean.iter_mut().zip(one.agent.params()) {
                *sum += f64::from(x);
            }
        }
        let agents = self.inhabitants.len() as f64;
        mean.iter_mut().for_each(|sum| *sum /= agents);
        mean
    }
}

impl Inhabitant {
    /// Steps 1 and 2 of the driver contract.
    fn local_half(&mut self, eta: f32) -> Result<Outgoing, SimError> {
        self.agent.probe(&mut self.at); // step 1
        let (agent, round) = (self.agent.id(), self.agent.round());
        let non_finite =
            |what, layer, parameter| SimError::NonFinite { agent, round, what, layer, parameter };
        let answer = self.oracle.loss_and_grad(&self.at, &mut self.grad);
        self.loss = answer.map_err(|error| match error {
            OracleError::NonFinite { what, layer } => non_finite(what, layer, None),
            other => SimError::Oracle { agent, round, reason: other.to_string() },
        })?;
        // An oracle that does not check itself is found out here, before anybody hears of it.
        if !self.loss.is_finite() {
            return Err(non_finite("loss", None, None));
        }
        if let Some(k) = self.grad.iter().position(|g| !g.is_finite()) {
            return Err(non_finite("gradient", None, Some(k)));
        }
        Ok(self.agent.gradient(&self.grad, eta)?) // step 2
    }
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
