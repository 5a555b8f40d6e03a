//! A few shards of samples sorted by label.
//!
//! McMahan et al. 2017, «Communication-Efficient Learning of Deep Networks from Decentralized
//! Data», section 3: the samples are sorted by label and cut into equal shards (there 200 of
//! 300), and each agent gets as many of them as every other (there 2), drawn at random. Which
//! samples of a label share a shard is left to random here. What does not divide evenly,
//! fewer samples than shards, belongs to nobody.

use super::PartitionError;
use super::scheme::Task;
use crate::random_stream::RandomStream;

pub(super) fn deal(
    task: &Task,
    each: usize,
    random: &mut RandomStream,
) -> Result<Vec<Vec<u32>>, PartitionError> {
    task.need(each)?;
    let mut sorted = task.shuffled(random);
    // Before the cut, so that no label is the one that always loses.
    sorted.truncate(sorted.len() - sorted.len() % (task.agents * each));
    let sorted = task.by_class(&sorted).concat();

    let size = sorted.len() / (task.agents * each);
    let mut shards: Vec<&[u32]> = sorted.chunks_exact(size).collect();
    random.shuffle(&mut shards);
    Ok(shards.chunks_exact(each).map(<[&[u32]]>::concat).collect())
}
