//! Which samples make the mini-batch of an agent's round: a pure function of seed, agent and
//! round.
//!
//! ```text
//!   round:        0    1    2    3 │  4    5    6    7 │  8 ...
//!   local epoch:  0                │  1                │  2
//!   batch:        32   32   32   4 │  32   32   32   4 │  32
//! ```
//!
//! Every local epoch is a fresh order of the agent's own samples, so each of them is seen
//! exactly once per epoch; the last batch keeps what is left. A run that is resumed at any
//! round sees what it would have seen without the interruption.

use thiserror::Error;

use crate::chance::{Chance, hash};

/// The first word of each key: the order of an epoch and the augmentation of a sample are
/// different streams.
const ORDER: u64 = u64::from_be_bytes(*b"\0\0\0order");
const AUGMENTATION: u64 = u64::from_be_bytes(*b"\0augment");

/// The mini-batches of one agent.
///
/// ```
/// use consort_data::Feed;
///
/// let mut feed = Feed::new(vec![3, 5, 8, 13, 21], 2, 7, 0)?;
/// assert_eq!(feed.batches_per_epoch(), 3);
/// assert_eq!(feed.indices(2).len(), 1); // the fifth sample
/// let later = feed.indices(1_000_000).to_vec();
/// assert_eq!(feed.indices(1_000_000), later);
/// # Ok::<(), consort_data::FeedError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Feed {
    share: Vec<u32>,
    batch: usize,
    seed: u64,
    agent: u64,
    /// The order of `epoch`; meaningless before the first one.
    order: Vec<u32>,
    epoch: Option<u64>,
}

/// Why an agent cannot be fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FeedError {
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

impl Feed {
    /// Feeds `agent` from its `share` of the training samples, `batch` at a time.
    ///
    /// # Errors
    /// If the share or the batch is empty.
    pub fn new(
        mut share: Vec<u32>,
        batch: usize,
        seed: u64,
        agent: usize,
    ) -> Result<Self, FeedError> {
        if share.is_empty() {
            return Err(FeedError::NoSamples { agent });
        }
        if batch == 0 {
            return Err(FeedError::EmptyBatch);
        }
        share.sort_unstable(); // what counts is which samples, not how they were listed
        let order = share.clone();
        Ok(Feed { share, batch, seed, agent: agent as u64, order, epoch: None })
    }

    /// How many rounds it takes to see every sample once.
    pub fn batches_per_epoch(&self) -> u64 {
        self.share.len().div_ceil(self.batch) as u64
    }

    /// The local epoch that `round` belongs to.
    pub fn epoch(&self, round: u64) -> u64 {
        round / self.batches_per_epoch()
    }

    /// The samples of `round`. Rounds of the same epoch share one shuffle; nothing allocates.
    pub fn indices(&mut self, round: u64) -> &[u32] {
        let epoch = self.epoch(round);
        if self.epoch != Some(epoch) {
            self.order.copy_from_slice(&self.share);
            let key = [ORDER, self.seed, self.agent, epoch];
            Chance::keyed(&key).shuffle(&mut self.order);
            self.epoch = Some(epoch);
        }
        // Below the number of batches, so it fits whatever a share fits in.
        let from = (round % self.batches_per_epoch()) as usize * self.batch;
        &self.order[from..self.order.len().min(from.saturating_add(self.batch))]
    }

    /// The key by which the sample at `position` of the batch of `round` is augmented:
    /// another one every time a sample is seen, whoever sees it.
    pub fn key(&self, round: u64, position: usize) -> u64 {
        hash(&[AUGMENTATION, self.seed, self.agent, round, position as u64])
    }

    /// All samples of the agent, ascending.
    pub fn share(&self) -> &[u32] {
        &self.share
    }
}
