//! The paper's partition: Dirichlet in groups, balanced, equal sizes.
//!
//! Aketi et al. 2023, «Global Update Tracking», section 5, with the procedure of Lin et al.
//! 2021, «Quasi-Global Momentum», that its experiments use:
//!
//! ```text
//!   1  shuffle; agents in groups of 10, the last group what remains (32 = 10 + 10 + 10 + 2);
//!      a group gets its agents' part of the samples
//!   2  in a group, class by class: p ~ Dirichlet(alpha) over its agents; an agent that has
//!      its fair share (samples of the group / its agents) gets p = 0; the rest is scaled to 1
//!   3  again from 2 until the smallest agent has half the fair share
//!   4  agent after agent in one row, cut into equal pieces: piece i is agent i's
//! ```
//!
//! Step 4 hands what an agent has too much to the next one and takes what it lacks from there;
//! the row is that of all groups. What does not divide evenly, fewer samples than agents,
//! belongs to nobody.

use super::PartitionError;
use super::dealing::{add_parts, cuts, most_draws, shares};
use super::gamma::{ln_gammas, proportions};
use super::scheme::Task;
use crate::random_stream::RandomStream;

/// The largest group.
const GROUP: usize = 10;

pub(super) fn deal(
    task: &Task,
    alpha: f64,
    random: &mut RandomStream,
) -> Result<Vec<Vec<u32>>, PartitionError> {
    let order = task.shuffled(random);
    let mut rest = &order[..];
    let mut row = Vec::with_capacity(order.len());
    for first in (0..task.agents).step_by(GROUP) {
        let agents = GROUP.min(task.agents - first);
        let is_last = first + agents == task.agents;
        let size = if is_last { rest.len() } else { GROUP * order.len() / task.agents };
        let (group, later) = rest.split_at(size);
        rest = later;

        let samples = task.by_class(group);
        let ends = balanced(task, &samples, agents, alpha, random)?;
        row.extend(shares(&samples, &ends, agents).concat());
    }
    let fair = row.len() / task.agents;
    Ok(row.chunks_exact(fair).take(task.agents).map(<[u32]>::to_vec).collect())
}

/// Steps 2 and 3 on numbers of samples alone: where each agent's part of each class ends.
fn balanced(
    task: &Task,
    samples: &[Vec<u32>],
    agents: usize,
    alpha: f64,
    random: &mut RandomStream,
) -> Result<Vec<Vec<usize>>, PartitionError> {
    let total: usize = samples.iter().map(Vec::len).sum();
    let wanted = total / (2 * agents);
    let draws = most_draws(agents, samples.len());
    let mut logs = vec![0.0; agents];
    let mut ends = vec![vec![0; agents]; samples.len()];
    for _ in 0..draws {
        let mut sizes = vec![0; agents];
        // Where there is a sample left to deal, someone is below the fair share.
        for (samples, ends) in samples.iter().zip(&mut ends).filter(|(all, _)| !all.is_empty()) {
            ln_gammas(alpha, random, &mut logs);
            cuts(&proportions(&logs, |j| sizes[j] * agents < total), samples.len(), ends);
            add_parts(ends, &mut sizes);
        }
        if sizes.iter().all(|&size| size >= wanted) {
            return Ok(ends);
        }
    }
    let (scheme, samples) = (task.scheme, total);
    Err(PartitionError::Redraws { scheme, draws, agents, samples, wanted })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scheme;

    /// Step 2: who has the fair share before a class gets nothing of it. Step 3: nobody ends
    /// with less than half. All samples of the group are dealt.
    #[test]
    fn full_agents_get_no_more_and_nobody_goes_short() {
        let labels: Vec<u32> = (0..4000_u32).map(|i| (i * i + i / 7) % 10).collect();
        let (agents, scheme) = (10, Scheme::Dirichlet { alpha: 0.1 });
        let task = Task { scheme, labels: &labels, classes: 10, agents };
        let samples = task.by_class(&(0..4000).collect::<Vec<_>>());
        let mut refused = 0;
        for seed in 0..20 {
            let ends =
                balanced(&task, &samples, agents, 0.1, &mut RandomStream::keyed(&[seed])).unwrap();
            let mut sizes = vec![0; agents];
            for (class, ends) in ends.iter().enumerate() {
                let mut parts = vec![0; agents];
                add_parts(ends, &mut parts);
                assert_eq!(parts.iter().sum::<usize>(), samples[class].len());
                for agent in 0..agents {
                    if sizes[agent] >= 400 {
                        assert_eq!(parts[agent], 0);
                        refused += 1;
                    }
                    sizes[agent] += parts[agent];
                }
            }
            assert!(sizes.iter().all(|&size| size >= 200), "{sizes:?}");
        }
        assert!(refused > 20, "the rule was hardly used: {refused} times");
    }
}
