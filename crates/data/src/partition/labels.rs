//! A fixed number of classes per agent.
//!
//! Li et al. 2022, «Federated Learning on Non-IID Data Silos: An Experimental Study», the
//! setting «#C = k»: each agent is given k classes, and the samples of a class are divided
//! evenly among the agents that have it. There classes are drawn at random and some may be
//! given to nobody; here each agent draws among the classes that the fewest agents have, so
//! that owners of any two classes differ in number by at most one and no sample is lost.

use super::PartitionError;
use super::scheme::Task;
use crate::random_stream::RandomStream;

pub(super) fn deal(
    task: &Task,
    each: usize,
    random: &mut RandomStream,
) -> Result<Vec<Vec<u32>>, PartitionError> {
    let samples = task.by_class(&task.shuffled(random));
    let mut present: Vec<usize> = (0..task.classes).filter(|&c| !samples[c].is_empty()).collect();
    if each > present.len() {
        return Err(PartitionError::TooManyLabels { asked: each, present: present.len() });
    }
    if task.agents.saturating_mul(each) < present.len() {
        let (agents, present) = (task.agents, present.len());
        return Err(PartitionError::UnownedLabels { agents, asked: each, present });
    }

    let mut owners = vec![Vec::new(); task.classes];
    for agent in 0..task.agents {
        random.shuffle(&mut present); // the sort is stable: random decides between equals
        present.sort_by_key(|&class| owners[class].len());
        for &class in &present[..each] {
            owners[class].push(agent);
        }
    }

    let mut shares = vec![Vec::new(); task.agents];
    for (owners, samples) in owners.iter().zip(&samples) {
        for (k, &agent) in owners.iter().enumerate() {
            let cut = |k: usize| k * samples.len() / owners.len();
            shares[agent].extend_from_slice(&samples[cut(k)..cut(k + 1)]);
        }
    }
    Ok(shares)
}
