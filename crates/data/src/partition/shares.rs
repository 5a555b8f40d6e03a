//! The result: each agent's samples.

use serde::{Deserialize, Serialize};

use super::stored::Stored;
use super::{Heterogeneity, PartitionError};

/// Which agent holds which training samples.
///
/// Every agent has at least one, nobody has another's, and samples that do not divide evenly
/// may belong to nobody. It is stored as differences between neighbouring numbers, and read
/// back only if it satisfies all this and its hash.
///
/// ```
/// use consort_data::Partition;
///
/// let partition = Partition::new(6, vec![vec![4, 0], vec![1, 2]])?;
/// assert_eq!(partition.share(0), [0, 4]);
/// assert_eq!(partition.unassigned(), 2);
/// assert!(Partition::new(6, vec![vec![4, 0], vec![4]]).is_err());
/// # Ok::<(), consort_data::PartitionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Partition {
    samples: usize,
    shares: Vec<Vec<u32>>,
}

impl Partition {
    /// A partition of `samples` samples: share i is agent i's, in any order.
    ///
    /// # Errors
    /// If there are no agents, one has nothing, a sample does not exist, or it is dealt twice.
    pub fn new(samples: usize, mut shares: Vec<Vec<u32>>) -> Result<Self, PartitionError> {
        if shares.is_empty() {
            return Err(PartitionError::NoAgents);
        }
        if u32::try_from(samples).is_err() {
            return Err(PartitionError::TooManySamples { samples });
        }
        let mut everything = Vec::with_capacity(shares.iter().map(Vec::len).sum());
        for (agent, share) in shares.iter_mut().enumerate() {
            share.sort_unstable();
            let Some(&last) = share.last() else {
                return Err(PartitionError::EmptyShare { agent });
            };
            if last as usize >= samples {
                let sample = u64::from(last);
                return Err(PartitionError::NoSuchSample { agent, sample, samples });
            }
            everything.extend(share.iter().map(|&sample| (sample, agent)));
        }
        everything.sort_unstable();
        if let Some(twice) = everything.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let [(sample, first), (_, second)] = [twice[0], twice[1]];
            return Err(PartitionError::SharedSample { sample, first, second });
        }
        Ok(Partition { samples, shares })
    }

    /// How many agents there are.
    pub fn agents(&self) -> usize {
        self.shares.len()
    }

    /// How many samples were to be dealt.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// How many samples belong to nobody.
    pub fn unassigned(&self) -> usize {
        self.samples - self.shares.iter().map(Vec::len).sum::<usize>()
    }

    /// Each agent's samples, ascending.
    pub fn shares(&self) -> &[Vec<u32>] {
        &self.shares
    }

    /// The samples of one agent, ascending.
    ///
    /// # Panics
    /// If there is no such agent.
    pub fn share(&self, agent: usize) -> &[u32] {
        &self.shares[agent]
    }

    /// How many samples of each class each agent has: agents by classes.
    ///
    /// # Panics
    /// If these are not the labels that were dealt: fewer, or one not below `classes`.
    pub fn counts(&self, labels: &[u32], classes: usize) -> Vec<Vec<usize>> {
        let count = |share: &Vec<u32>| {
            let mut row = vec![0; classes];
            for &sample in share {
                row[labels[sample as usize] as usize] += 1;
            }
            row
        };
        self.shares.iter().map(count).collect()
    }

    /// How unlike the agents are.
    ///
    /// # Panics
    /// As [`counts`](Partition::counts).
    pub fn heterogeneity(&self, labels: &[u32], classes: usize) -> Heterogeneity {
        Heterogeneity::of(&self.counts(labels, classes))
    }

    /// A fingerprint of who holds what: equal for equal partitions on every machine and in
    /// every release (FNV-1a, 64 bits, over all numbers as 8 bytes, lowest first).
    pub fn hash(&self) -> u64 {
        let sizes = [self.samples as u64, self.shares.len() as u64].into_iter();
        let shares = self.shares.iter().flat_map(|share| {
            std::iter::once(share.len() as u64).chain(share.iter().map(|&sample| u64::from(sample)))
        });
        sizes.chain(shares).flat_map(u64::to_le_bytes).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}
