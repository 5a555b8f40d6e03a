//! Which samples make a mini-batch of an agent: a pure function of seed, agent and the number of
//! the batch.
//!
//! ```text
//!   batch:        0    1    2    3 │  4    5    6    7 │  8 ...
//!   local epoch:  0                │  1                │  2
//!   samples:      32   32   32   4 │  32   32   32   4 │  32
//! ```
//!
//! Every local epoch is a fresh order of the agent's own samples, so each of them is seen
//! exactly once per epoch; the last batch keeps what is left. A run that is resumed at any
//! round sees what it would have seen without the interruption.

use thiserror::Error;

use crate::random_stream::{RandomStream, hash};

/// The first word of each key: the order of an epoch and the augmentation of a sample are
/// different streams.
const ORDER: u64 = u64::from_be_bytes(*b"\0\0\0order");
const AUGMENTATION: u64 = u64::from_be_bytes(*b"\0augment");

/// The mini-batches of one agent.
///
/// ```
/// use consort_data::{BatchSampler, EpochOrder};
///
/// let sampler = BatchSampler::new(vec![3, 5, 8, 13, 21], 2, 7, 0)?;
/// assert_eq!(sampler.batches_per_epoch(), 3);
/// assert_eq!(sampler.samples(2).len(), 1); // the fifth sample
///
/// // Batches of the same epoch share one shuffle if the order is kept from call to call.
/// let mut order = EpochOrder::default();
/// assert_eq!(sampler.samples_in(&mut order, 1_000_000), sampler.samples(1_000_000));
/// # Ok::<(), consort_data::BatchSamplerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BatchSampler {
    share: Vec<u32>,
    batch: usize,
    seed: u64,
    agent: usize,
}

/// The samples of one sampler in the order of one epoch, kept so that they are not shuffled again
/// for every batch.
///
/// It is scratch space: whatever it holds, [`BatchSampler::samples_in`] gives the same samples, as
/// long as it is used with one sampler only.
#[derive(Clone, Debug, Default)]
pub struct EpochOrder {
    order: Vec<u32>,
    /// None before the first use.
    epoch: Option<u64>,
}

/// Why an agent has no mini-batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BatchSamplerError {
    /// The agent holds nothing.
    #[error("agent {agent} has no samples to train on; give every agent at least one")]
    NoSamples {
        /// Who.
        agent: usize,
    },
    /// A batch of nothing.
    #[error("a mini-batch of 0 samples has no gradient; ask for at least 1")]
    EmptyBatch,
}

impl BatchSampler {
    /// Samples mini-batches of `batch` for `agent` from its `share` of the training samples.
    ///
    /// # Errors
    /// If the share or the batch is empty.
    pub fn new(
        mut share: Vec<u32>,
        batch: usize,
        seed: u64,
        agent: usize,
    ) -> Result<Self, BatchSamplerError> {
        if share.is_empty() {
            return Err(BatchSamplerError::NoSamples { agent });
        }
        if batch == 0 {
            return Err(BatchSamplerError::EmptyBatch);
        }
        share.sort_unstable(); // what counts is which samples, not how they were listed
        Ok(BatchSampler { share, batch, seed, agent })
    }

    /// Whose mini-batches they are.
    pub fn agent(&self) -> usize {
        self.agent
    }

    /// How many batches it takes to see every sample once.
    pub fn batches_per_epoch(&self) -> u64 {
        batches_per_epoch(self.share.len(), self.batch)
    }

    /// The local epoch that batch `number` belongs to.
    pub fn epoch(&self, number: u64) -> u64 {
        number / self.batches_per_epoch()
    }

    /// The samples of batch `number`.
    pub fn samples(&self, number: u64) -> Vec<u32> {
        self.samples_in(&mut EpochOrder::default(), number).to_vec()
    }

    /// [`samples`](Self::samples), where those of the last call are kept in `order`, which belongs
    /// to this sampler. After the first call nothing allocates.
    pub fn samples_in<'a>(&self, order: &'a mut EpochOrder, number: u64) -> &'a [u32] {
        let epoch = self.epoch(number);
        let EpochOrder { order, epoch: known } = order;
        if *known != Some(epoch) {
            order.clear();
            order.extend_from_slice(&self.share);
            let key = [ORDER, self.seed, self.agent as u64, epoch];
            RandomStream::keyed(&key).shuffle(order);
            *known = Some(epoch);
        }
        // Below the number of batches, so it fits whatever a share fits in.
        let from = (number % self.batches_per_epoch()) as usize * self.batch;
        &order[from..order.len().min(from.saturating_add(self.batch))]
    }

    /// The key by which the sample at `position` of batch `number` is augmented: another one
    /// every time a sample is seen, whoever sees it.
    pub fn key(&self, number: u64, position: usize) -> u64 {
        hash(&[AUGMENTATION, self.seed, self.agent as u64, number, position as u64])
    }

    /// All samples of the agent, ascending.
    pub fn share(&self) -> &[u32] {
        &self.share
    }
}

/// How many batches of `batch` it takes to see `samples` once.
///
/// # Panics
/// If `batch` is 0.
pub fn batches_per_epoch(samples: usize, batch: usize) -> u64 {
    samples.div_ceil(batch) as u64
}
