//! The schemes, and the one door to them.

use serde::{Deserialize, Serialize};

use super::{Partition, PartitionError, dirichlet, iid, labels, plain_dirichlet, shards};
use crate::random_stream::RandomStream;

/// How training samples are dealt to agents.
///
/// Written and read as text: `dirichlet:0.1`, `plain-dirichlet:0.5,min=10`, `iid`,
/// `shards:2`, `labels:3`.
///
/// ```
/// use consort_data::Scheme;
///
/// let labels: Vec<u32> = (0..6000).map(|i| i % 10).collect();
/// let scheme: Scheme = "dirichlet:0.1".parse()?;
/// let partition = scheme.partition(&labels, 10, 16, 1)?;
/// assert_eq!(partition.agents(), 16);
/// assert!(partition.shares().iter().all(|share| share.len() == 375));
/// # Ok::<(), consort_data::PartitionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum Scheme {
    /// The paper's: Dirichlet in groups of ten agents, balanced, equal sizes.
    Dirichlet {
        /// The smaller, the fewer classes an agent has.
        alpha: f64,
    },
    /// Each class dealt by Dirichlet proportions over all agents; sizes differ widely.
    PlainDirichlet {
        /// The smaller, the fewer classes an agent has and the more sizes differ.
        alpha: f64,
        /// No agent has fewer samples than this.
        min: usize,
    },
    /// Any sample may go to any agent; equal sizes.
    Iid,
    /// Sorted by label and cut into shards of which each agent gets a few; equal sizes.
    Shards {
        /// How many shards an agent gets.
        shards: usize,
    },
    /// Each agent has samples of so many classes and no other.
    Labels {
        /// How many classes an agent has.
        labels: usize,
    },
}

/// The first word of the key of every partition's random stream.
const PARTITION: u64 = u64::from_be_bytes(*b"\0\0\0\0part");

impl Scheme {
    /// Deals the samples with these `labels` (each below `classes`) to `agents`.
    ///
    /// # Errors
    /// If there are too few samples for so many agents, or the scheme cannot satisfy what it
    /// promises; the message says what to change.
    pub fn partition(
        &self,
        labels: &[u32],
        classes: usize,
        agents: usize,
        seed: u64,
    ) -> Result<Partition, PartitionError> {
        self.check()?;
        let task = Task::checked(*self, labels, classes, agents)?;
        let random = &mut RandomStream::keyed(&[PARTITION, seed]);
        let shares = match *self {
            Scheme::Dirichlet { alpha } => dirichlet::deal(&task, alpha, random)?,
            Scheme::PlainDirichlet { alpha, min } => {
                plain_dirichlet::deal(&task, alpha, min, random)?
            }
            Scheme::Iid => iid::deal(&task, random),
            Scheme::Shards { shards } => shards::deal(&task, shards, random)?,
            Scheme::Labels { labels } => labels::deal(&task, labels, random)?,
        };
        Partition::new(labels.len(), shares)
    }
}

/// What is to be dealt to how many: there is at least one agent, and one sample for each.
pub(super) struct Task<'a> {
    pub(super) scheme: Scheme,
    pub(super) labels: &'a [u32],
    pub(super) classes: usize,
    pub(super) agents: usize,
}

impl<'a> Task<'a> {
    fn checked(
        scheme: Scheme,
        labels: &'a [u32],
        classes: usize,
        agents: usize,
    ) -> Result<Self, PartitionError> {
        if agents == 0 {
            return Err(PartitionError::NoAgents);
        }
        if u32::try_from(labels.len()).is_err() {
            return Err(PartitionError::TooManySamples { samples: labels.len() });
        }
        if let Some(sample) = labels.iter().position(|&label| label as usize >= classes) {
            let label = labels[sample];
            return Err(PartitionError::Label { sample, label, classes });
        }
        let task = Task { scheme, labels, classes, agents };
        task.need(1)?;
        Ok(task)
    }

    /// Refuses to deal fewer than `each` samples per agent.
    pub(super) fn need(&self, each: usize) -> Result<(), PartitionError> {
        let needed = self.agents.saturating_mul(each);
        if self.labels.len() >= needed {
            return Ok(());
        }
        let (scheme, agents, samples) = (self.scheme, self.agents, self.labels.len());
        Err(PartitionError::TooFewSamples { scheme, agents, samples, needed })
    }

    /// All samples in random order.
    pub(super) fn shuffled(&self, random: &mut RandomStream) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.labels.len() as u32).collect();
        random.shuffle(&mut order);
        order
    }

    /// `samples` class by class, their order kept within a class.
    pub(super) fn by_class(&self, samples: &[u32]) -> Vec<Vec<u32>> {
        let mut classes = vec![Vec::new(); self.classes];
        for &sample in samples {
            classes[self.labels[sample as usize] as usize].push(sample);
        }
        classes
    }
}
