//! Where one agent computes that has a process of its own.
//!
//! The same stations serve the agents of a [`Trial`](crate::Trial), one per thread; here they
//! serve one agent, whose gradients are those it would have there, bit by bit.

use std::sync::Arc;

use consort_algo::OracleError;
use consort_data::{Dataset, Feed};
use consort_model::ModelSpec;
use consort_sim::{Answer, SimError, Worker, ask};
use rayon::ThreadPool;

use crate::collapse::Collapse;
use crate::error::TrainError;
use crate::gradient_rule::GradientRule;
use crate::stations::{Score, Stations};

/// An agent's mini-batches and its model at work.
pub struct Desk {
    agent: usize,
    batches: OwnBatches,
    pool: ThreadPool,
}

impl Desk {
    /// A desk for `agent`, which takes its mini-batches from `feed`. Tests run on `threads`
    /// threads; any number gives the same bits.
    ///
    /// # Errors
    /// If the model cannot be built or the machine refuses the threads.
    pub fn new(
        agent: usize,
        model: &ModelSpec,
        dataset: &Arc<Dataset>,
        feed: Feed,
        rule: GradientRule,
        threads: usize,
    ) -> Result<Self, TrainError> {
        let stations = Stations::new(model, dataset, threads)?;
        let batches = OwnBatches { stations, feed, rule };
        Ok(Desk { agent, batches, pool: start_threads(threads)? })
    }

    /// Writes the gradient at `at` on the mini-batch of `round` into `grad`.
    ///
    /// # Errors
    /// If a sample cannot be read, or a number is not finite: with agent, round and layer.
    pub fn loss_and_grad(
        &mut self,
        round: u64,
        at: &[f32],
        grad: &mut [f32],
    ) -> Result<Answer, TrainError> {
        Ok(ask(&mut self.batches, self.agent, round, at, grad)?)
    }

    /// How the model `x` does on the whole test set.
    ///
    /// # Errors
    /// If a test sample cannot be read.
    pub fn test(&self, x: &[f32]) -> Result<Score, TrainError> {
        Ok(self.batches.stations.test_whole(x, &self.pool)?)
    }

    /// That the model `x`, of this accuracy on the test set, is no better than a guess; none if it
    /// is.
    ///
    /// # Errors
    /// If a test sample cannot be read.
    pub fn collapse(&self, accuracy: f64, x: &[f32]) -> Result<Option<Collapse>, TrainError> {
        Ok(self.batches.stations.collapse(accuracy, || x.to_vec())?)
    }

    /// The instructions of the kernels in use, such as `avx2`.
    pub fn isa(&self) -> String {
        self.batches.stations.isa().to_string()
    }
}

/// A worker for one agent alone.
struct OwnBatches {
    stations: Stations,
    feed: Feed,
    rule: GradientRule,
}

impl Worker for OwnBatches {
    fn len(&self) -> usize {
        self.stations.parameters()
    }

    fn loss_and_grad(
        &mut self,
        _agent: usize,
        round: u64,
        at: &[f32],
        grad: &mut [f32],
    ) -> Result<f32, OracleError> {
        self.stations.loss_and_grad(0, &mut self.feed, round, &self.rule, at, grad, &|_| {})
    }
}

/// Threads for tests, or why there are none.
pub(crate) fn start_threads(threads: usize) -> Result<ThreadPool, TrainError> {
    let threads = threads.max(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool.map_err(|error| SimError::Threads { threads, reason: error.to_string() })?)
}
