//! A partition as it stands in a file.
//!
//! Ascending numbers are stored as steps from one to the next, which are short: a share of
//! CIFAR-10 over 16 agents takes about three bytes a sample as JSON. The first step is from -1,
//! so that every step is at least 1.

use serde::{Deserialize, Serialize};

use super::{Partition, PartitionError};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    samples: usize,
    /// In hexadecimal: not every reader of JSON keeps 64 bits of a number.
    hash: String,
    steps: Vec<Vec<u32>>,
}

impl From<Partition> for Stored {
    fn from(partition: Partition) -> Stored {
        let steps_of = |share: &Vec<u32>| {
            let mut next = 0;
            let step = |&sample: &u32| {
                let step = sample + 1 - next;
                next = sample + 1;
                step
            };
            share.iter().map(step).collect()
        };
        Stored {
            samples: partition.samples(),
            hash: written(partition.hash()),
            steps: partition.shares().iter().map(steps_of).collect(),
        }
    }
}

impl TryFrom<Stored> for Partition {
    type Error = PartitionError;

    fn try_from(stored: Stored) -> Result<Partition, PartitionError> {
        let samples = stored.samples;
        let mut shares = Vec::with_capacity(stored.steps.len());
        for (agent, steps) in stored.steps.iter().enumerate() {
            let mut next = 0_u64;
            let mut share = Vec::with_capacity(steps.len());
            for &step in steps {
                next += u64::from(step);
                // A first step of 0 would stand before the first sample: it wraps, and no
                // dataset has that many.
                let sample = next.wrapping_sub(1);
                let known = u32::try_from(sample).ok().filter(|&s| (s as usize) < samples);
                share.push(known.ok_or(PartitionError::NoSuchSample { agent, sample, samples })?);
            }
            shares.push(share);
        }
        let partition = Partition::new(samples, shares)?;
        let got = written(partition.hash());
        if got != stored.hash {
            return Err(PartitionError::Hash { expected: stored.hash, got });
        }
        Ok(partition)
    }
}

fn written(hash: u64) -> String {
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Partition {
        Partition::new(9, vec![vec![0, 3, 8], vec![1, 2]]).unwrap()
    }

    #[test]
    fn a_partition_goes_out_and_back() {
        let text = serde_json::to_string(&example()).unwrap();
        assert!(text.contains(r#""samples":9"#), "{text}");
        assert!(text.contains(r#""steps":[[1,3,5],[2,1]]"#), "{text}");
        assert_eq!(serde_json::from_str::<Partition>(&text).unwrap(), example());
    }

    #[test]
    fn what_a_file_may_not_say() {
        let text = serde_json::to_string(&example()).unwrap();
        for (right, wrong, said) in [
            ("[1,3,5]", "[1,3,6]", "has sample 9, but there are 9"),
            ("[1,3,5]", "[1,3,4294967295]", "but there are 9"),
            ("[1,3,5]", "[0,3,5]", "but there are 9"),
            ("[1,3,5]", "[1,0,5]", "sample 0 to agent 0 and to agent 0"),
            ("[2,1]", "[2,1,1]", "sample 3 to agent 0 and to agent 1"),
            ("[2,1]", "[]", "agent 1 of the partition has no samples"),
            ("[[1,3,5],[2,1]]", "[]", "0 agents"),
            ("[2,1]", "[2,1,2]", "changed or damaged"),
            ("\"samples\":9", "\"samples\":10", "changed or damaged"),
            ("\"samples\":9", "\"samples\":9,\"more\":1", "unknown field"),
        ] {
            let text = text.replace(right, wrong);
            let message = serde_json::from_str::<Partition>(&text).unwrap_err().to_string();
            assert!(message.contains(said), "{text}: {message}");
        }
    }
}
