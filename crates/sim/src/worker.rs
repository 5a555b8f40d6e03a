//! Who computes the gradients: one worker per thread, for all agents.
//!
//! What a model needs while it runs (activations, packed weights) is much larger than the
//! model. One worker per thread keeps it once per thread instead of once per agent, so a
//! thousand agents fit where sixteen do.

use std::sync::{Arc, Mutex, PoisonError};

use consort_algo::{Oracle, OracleError};

use crate::SimError;

/// Loss and gradient for any agent.
///
/// The contract is that of [`Oracle`], but for one thing: there is no "next" mini-batch. The
/// answer depends on `agent`, `round` and `at` alone, whatever the worker did before, so that
/// agents can move between threads and a run can go on from any round.
pub trait Worker: Send {
    /// How many parameters the model has.
    fn len(&self) -> usize;

    /// True for a model without parameters.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the gradient at `at` on the agent's mini-batch of this round into `grad` and
    /// returns the loss there.
    fn loss_and_grad(
        &mut self,
        agent: usize,
        round: u64,
        at: &[f32],
        grad: &mut [f32],
    ) -> Result<f32, OracleError>;

    /// [`loss_and_grad`](Self::loss_and_grad); a worker that makes its mini-batches itself tells
    /// `watch` when one is there.
    fn loss_and_grad_watched(
        &mut self,
        agent: usize,
        round: u64,
        at: &[f32],
        grad: &mut [f32],
        _watch: Watch<'_>,
    ) -> Result<f32, OracleError> {
        self.loss_and_grad(agent, round, at, grad)
    }
}

/// What a thread has just done in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Nothing: it waited for an agent to work for.
    Wait,
    /// The point at which the gradient is wanted (step 1 of the driver contract).
    Probe,
    /// An agent's mini-batch.
    Batch,
    /// Loss and gradient there.
    Gradient,
    /// The check of the gradient, and its norm.
    Norm,
    /// The method's first beat (step 2).
    LocalStep,
    /// Its second beat (steps 3 to 5).
    Mix,
}

/// Is told after every part of a round, on the thread that did it. A profiler keeps the clock.
pub type Watch<'a> = &'a (dyn Fn(Part) + Sync);

/// What an agent brought back from its mini-batch, besides the gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    /// The loss there.
    pub loss: f32,
    /// The square of the gradient's norm.
    pub squared_grad: f64,
}

/// Asks `worker` for the gradient of one agent's round, and checks what comes back.
///
/// # Errors
/// If there is no answer, or a number in it is not finite: with agent, round and, where it is
/// known, layer or parameter.
pub fn ask(
    worker: &mut dyn Worker,
    agent: usize,
    round: u64,
    at: &[f32],
    grad: &mut [f32],
) -> Result<Answer, SimError> {
    ask_watched(worker, agent, round, at, grad, &|_| {})
}

/// [`ask`], telling `watch` what has been done.
pub(crate) fn ask_watched(
    worker: &mut dyn Worker,
    agent: usize,
    round: u64,
    at: &[f32],
    grad: &mut [f32],
    watch: Watch<'_>,
) -> Result<Answer, SimError> {
    let non_finite =
        |what, layer, parameter| SimError::NonFinite { agent, round, what, layer, parameter };
    let answer = worker.loss_and_grad_watched(agent, round, at, grad, watch);
    watch(Part::Gradient);
    let loss = answer.map_err(|error| match error {
        OracleError::NonFinite { what, layer } => non_finite(what, layer, None),
        other => SimError::Oracle { agent, round, reason: other.to_string() },
    })?;
    // An oracle that does not check itself is found out here, before anybody hears of it.
    if !loss.is_finite() {
        return Err(non_finite("loss", None, None));
    }
    let squared_grad = squared_norm(grad);
    if !squared_grad.is_finite() {
        let broken = grad.iter().position(|g| !g.is_finite());
        return Err(non_finite("gradient", None, broken));
    }
    watch(Part::Norm);
    Ok(Answer { loss, squared_grad })
}

/// `|v|²`, in as many sums as a vector register needs to be kept busy. Finite numbers have a
/// finite one, since no f32 squared comes near the largest f64.
fn squared_norm(v: &[f32]) -> f64 {
    const LANES: usize = 16;
    let mut sums = [0.0_f64; LANES];
    let chunks = v.chunks_exact(LANES);
    let rest: f64 = chunks.remainder().iter().map(|&v| f64::from(v).powi(2)).sum();
    for chunk in chunks {
        for (sum, &v) in sums.iter_mut().zip(chunk) {
            let v = f64::from(v);
            *sum += v * v;
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// A worker that asks each agent's own oracle, which any thread may hold, one at a time.
pub(crate) struct OwnOracles {
    oracles: Arc<[Mutex<Box<dyn Oracle>>]>,
    len: usize,
}

impl OwnOracles {
    /// One worker per thread over the same oracles.
    pub(crate) fn for_threads(
        oracles: Vec<Box<dyn Oracle>>,
        len: usize,
        threads: usize,
    ) -> Vec<Box<dyn Worker>> {
        let oracles: Arc<[_]> = oracles.into_iter().map(Mutex::new).collect();
        let worker = || Box::new(OwnOracles { oracles: oracles.clone(), len }) as Box<dyn Worker>;
        (0..threads.max(1)).map(|_| worker()).collect()
    }
}

impl Worker for OwnOracles {
    fn len(&self) -> usize {
        self.len
    }

    fn loss_and_grad(
        &mut self,
        agent: usize,
        _round: u64,
        at: &[f32],
        grad: &mut [f32],
    ) -> Result<f32, OracleError> {
        // Only a panic of the oracle itself poisons it, and that ends the run.
        let mut oracle = self.oracles[agent].lock().unwrap_or_else(PoisonError::into_inner);
        oracle.loss_and_grad(at, grad)
    }
}
