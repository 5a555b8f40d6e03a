//! Who computes the gradients: one worker per thread, for all agents.
//!
//! What a model needs while it runs (activations, packed weights) is much larger than the
//! model. One worker per thread keeps it once per thread instead of once per agent, so a
//! thousand agents fit where sixteen do.

use std::sync::{Arc, Mutex, PoisonError};

use consort_algo::{Oracle, OracleError};

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
