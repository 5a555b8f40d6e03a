//! Any sample may go to any agent.
//!
//! The baseline of every comparison (Aketi et al. 2023, «Global Update Tracking», the rows
//! «DSGDm (IID)»): the shuffled samples are cut into equal shares. What does not divide
//! evenly, fewer samples than agents, belongs to nobody.

use super::scheme::Task;
use crate::chance::Chance;

pub(super) fn deal(task: &Task, chance: &mut Chance) -> Vec<Vec<u32>> {
    let fair = task.labels.len() / task.agents;
    let order = task.shuffled(chance);
    order.chunks_exact(fair).take(task.agents).map(<[u32]>::to_vec).collect()
}
