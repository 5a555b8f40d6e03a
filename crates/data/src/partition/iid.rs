//! Any sample may go to any agent.
//!
//! The baseline of every comparison (Aketi et al. 2023, «Global Update Tracking», the rows
//! «DSGDm (IID)»): the shuffled samples are cut into equal shares. What does not divide
//! evenly, fewer samples than agents, belongs to nobody.

use super::scheme::Task;
use crate::random_stream::RandomStream;

pub(super) fn deal(task: &Task, random: &mut RandomStream) -> Vec<Vec<u32>> {
    let fair = task.labels.len() / task.agents;
    let order = task.shuffled(random);
    order.chunks_exact(fair).take(task.agents).map(<[u32]>::to_vec).collect()
}
