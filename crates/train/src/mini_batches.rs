//! A model and the agents' data as their oracle.

use std::sync::Arc;

use consort_algo::{Draw, Oracle, OracleError};
use consort_data::{BatchSampler, EpochOrder};
use consort_sim::{Part, PerThread, Profiler};

use crate::gradient_rule::GradientRule;
use crate::model_pool::ModelPool;
use crate::sharpness::sharpness_aware;

/// Loss and gradient of a model on the agents' mini-batches, taken uphill, clipped and decayed as
/// the method wants it.
pub struct MiniBatches {
    pool: Arc<ModelPool>,
    /// One per agent, ascending without gaps; an agent alone has one.
    samplers: Vec<BatchSampler>,
    /// How many mini-batches an agent takes in a round.
    per_round: u64,
    /// What a thread has shuffled last, by agent: mini-batches of one epoch share an order.
    orders: PerThread<Vec<EpochOrder>>,
    rule: GradientRule,
    /// A thread's room for the point uphill; empty without SAM.
    uphill: PerThread<Vec<f32>>,
    profiler: Profiler,
}

impl MiniBatches {
    /// The oracle of the agents whose mini-batches `samplers` draw: one agent, or consecutive
    /// ones, which take `per_round` of them in a round.
    pub fn new(
        pool: Arc<ModelPool>,
        samplers: Vec<BatchSampler>,
        per_round: u32,
        rule: GradientRule,
    ) -> Self {
        let orders = PerThread::new(pool.threads(), || vec![EpochOrder::default(); samplers.len()]);
        let (per_round, profiler) = (u64::from(per_round), Profiler::default());
        let uphill = PerThread::new(pool.threads(), Vec::new);
        MiniBatches { pool, samplers, per_round, orders, rule, uphill, profiler }
    }

    /// Tells `profiler` when a mini-batch has been read.
    pub(crate) fn with_profiler(mut self, profiler: Profiler) -> Self {
        self.profiler = profiler;
        self
    }
}

impl Oracle for MiniBatches {
    fn len(&self) -> usize {
        self.pool.parameters()
    }

    fn tensors(&self) -> Vec<usize> {
        self.pool.tensors()
    }

    fn loss_and_grad(&self, draw: Draw, at: &[f32], grad: &mut [f32]) -> Result<f32, OracleError> {
        let first = self.samplers.first().map_or(0, BatchSampler::agent);
        let place = draw.agent.wrapping_sub(first);
        let sampler = self.samplers.get(place).ok_or_else(|| OracleError::Failed {
            reason: format!("there are no data of agent {} here", draw.agent),
        })?;
        let number = draw.round * self.per_round + u64::from(draw.step);
        let mut orders = self.orders.own();
        let samples = sampler.samples_in(&mut orders[place], number);
        // The same samples, augmented in the same way, however often it is asked.
        let gradient = |at: &[f32], grad: &mut [f32]| {
            let keyed = samples.iter().enumerate();
            let keyed = keyed.map(|(k, &sample)| (sample as usize, sampler.key(number, k)));
            let batch_is_there = || self.profiler.done(Part::Batch);
            self.pool.loss_and_grad(keyed, at, grad, batch_is_there)
        };
        let loss = if self.rule.sam > 0.0 {
            sharpness_aware(self.rule.sam, at, grad, &mut self.uphill.own(), gradient)?
        } else {
            gradient(at, grad)?
        };
        self.rule.apply(at, grad);
        Ok(loss)
    }
}
