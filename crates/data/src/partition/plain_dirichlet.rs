//! Each class by its own Dirichlet proportions over all agents.
//!
//! Yurochkin et al. 2019, «Bayesian Nonparametric Federated Learning of Neural Networks»,
//! section 4: for each class k draw p_k ~ Dirichlet(alpha) over the agents and give agent j
//! the part p_kj of the samples of that class. Nothing balances the sizes; all proportions are
//! drawn anew until every agent has at least `min` samples.

use super::PartitionError;
use super::dealing::{add_parts, cuts, most_draws, shares};
use super::gamma::{ln_gammas, proportions};
use super::scheme::Task;
use crate::random_stream::RandomStream;

pub(super) fn deal(
    task: &Task,
    alpha: f64,
    min: usize,
    random: &mut RandomStream,
) -> Result<Vec<Vec<u32>>, PartitionError> {
    task.need(min)?;
    let samples = task.by_class(&task.shuffled(random));
    let draws = most_draws(task.agents, task.classes);
    let mut logs = vec![0.0; task.agents];
    let mut ends = vec![vec![0; task.agents]; task.classes];
    for _ in 0..draws {
        let mut sizes = vec![0; task.agents];
        for (samples, ends) in samples.iter().zip(&mut ends) {
            ln_gammas(alpha, random, &mut logs);
            cuts(&proportions(&logs, |_| true), samples.len(), ends);
            add_parts(ends, &mut sizes);
        }
        if sizes.iter().all(|&size| size >= min) {
            return Ok(shares(&samples, &ends, task.agents));
        }
    }
    Err(PartitionError::Redraws {
        scheme: task.scheme,
        draws,
        agents: task.agents,
        samples: task.labels.len(),
        wanted: min,
    })
}
