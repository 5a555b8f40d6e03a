//! The average-consensus task (paper, section "Average Consensus Task"): agents hold
//! different vectors and have to agree on their mean; there are no gradients.
//!
//! Every method of the family runs unchanged, with a zero gradient and a step of 1, so
//! this measures the gossip part of the code that also trains. Coordinates do not
//! interact: all rounds run on one block of coordinates that fits into the second-level
//! cache before the next block is begun. A codec looks at all coordinates, so a method that
//! codes its messages runs on all of them at once.

use consort_algo::{Method, MethodError, Optimizer, Row};
use consort_graph::MixingMatrix;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use crate::SimError;
use crate::circulant_batch::{CirculantBatch, ConsensusAgents, SeparateAgents, Shifts};
use crate::per_thread::start_threads;
use crate::staged_agents::StagedAgents;
use crate::world::rows_of;

/// One run of the task.
#[derive(Clone, Copy, Debug)]
pub struct ConsensusTask<'a> {
    /// The mixing matrices, one per phase of the graph, averaging rate included.
    pub weights: &'a [MixingMatrix],
    /// The method, with mu as a number.
    pub method: Method,
    /// How many coordinates every agent holds.
    pub dim: usize,
    /// How many rounds to run.
    pub rounds: usize,
    /// Decides the starting vectors: uniform in [-1, 1), the same for every method.
    pub seed: u64,
}

/// Bytes of a block's working set: most of a second-level cache of 512 KiB.
const BLOCK_BYTES: usize = 320 << 10;

/// The consensus error `1/n |X^t - X̄|²_F` for t = 0, 1, ..., rounds.
///
/// `progress` is told of every finished block, in coordinates.
pub fn consensus_errors(
    task: &ConsensusTask<'_>,
    threads: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<f64>, SimError> {
    // Without gradients neither local steps nor their optimizer do anything.
    let method = Method { optimizer: Optimizer::Sgd, ..task.method };
    let task = &ConsensusTask { method, ..*task };
    let plain = match method.build(&[0.0], 1) {
        Err(MethodError::InStages { .. }) => false,
        Err(error) => return Err(error.into()), // before any work
        Ok(_) => true,
    };
    let rows: Vec<Vec<Row>> = task.weights.iter().map(rows_of).collect();
    let one_by_one = task.method.treats_coordinates_alone();
    // All agents at once need messages that are exactly as long as the model.
    let as_long = task.method.info().traffic == 1 && !task.method.name.is_push_sum();
    let alike = plain && one_by_one && as_long;
    let shifts = Shifts::from_rows(&rows).filter(|_| alike);
    let width = if one_by_one { block_width(task, shifts.is_some()) } else { task.dim.max(1) };
    let blocks: Vec<(usize, usize)> =
        (0..task.dim).step_by(width).map(|first| (first, task.dim.min(first + width))).collect();
    let pool = start_threads(threads)?;
    let errors: Vec<Vec<f64>> = pool.install(|| {
        let run = |&(first, end): &(usize, usize)| {
            let (x0, mean) = start(task.seed, rows[0].len(), first, end);
            let errors = match &shifts {
                Some(shifts) => run_block(CirculantBatch::new(task, shifts, &x0)?, task, &mean)?,
                None if plain => run_block(SeparateAgents::new(task, &rows, &x0)?, task, &mean)?,
                None => run_block(StagedAgents::new(task, &rows, &x0)?, task, &mean)?,
            };
            progress((end - first) as u64);
            Ok::<_, SimError>(errors)
        };
        blocks.par_iter().map(run).collect::<Result<_, _>>()
    })?;

    // In the order of the blocks, whoever finished first.
    let mut total = vec![0.0; task.rounds + 1];
    for block in &errors {
        for (sum, error) in total.iter_mut().zip(block) {
            *sum += error;
        }
    }
    Ok(total)
}

/// Coordinates per block. If every agent takes its steps alone, each call has to be worth its
/// cost, so a block may then be larger than the cache.
fn block_width(task: &ConsensusTask<'_>, together: bool) -> usize {
    let copies = task.method.info().memory + task.method.info().traffic;
    let bytes_per_coordinate = 4 * task.weights[0].agents() * copies as usize;
    let least = if together { 16 } else { 128 };
    (BLOCK_BYTES / bytes_per_coordinate).clamp(least, 512) / 16 * 16
}

/// All rounds of one block; the errors of its coordinates.
fn run_block(
    mut agents: impl ConsensusAgents,
    task: &ConsensusTask<'_>,
    mean: &[f32],
) -> Result<Vec<f64>, SimError> {
    let mut errors = Vec::with_capacity(task.rounds + 1);
    let mut squares = vec![0.0; mean.len()];
    errors.push(disagreement(&agents, mean, &mut squares));
    for round in 0..task.rounds {
        agents.round(round)?;
        errors.push(disagreement(&agents, mean, &mut squares));
    }
    Ok(errors)
}

/// The starting vectors (agent by agent) and their mean. Every coordinate has its own
/// generator, so the numbers do not depend on how coordinates are cut into blocks.
fn start(seed: u64, agents: usize, first: usize, end: usize) -> (Vec<f32>, Vec<f32>) {
    let width = end - first;
    let mut x0 = vec![0.0; agents * width];
    let mut mean = vec![0.0; width];
    let seed_of_run = Xoshiro256PlusPlus::seed_from_u64(seed).random::<u64>();
    for k in 0..width {
        let coordinate = (first + k) as u64;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed_of_run.wrapping_add(coordinate));
        let mut sum = 0.0_f64;
        for i in 0..agents {
            let value = random.random::<f32>() * 2.0 - 1.0;
            x0[i * width + k] = value;
            sum += f64::from(value);
        }
        mean[k] = (sum / agents as f64) as f32;
    }
    (x0, mean)
}

/// `1/n Σ_i |x_i - mean|²` over a block: summed over the agents for each coordinate, which
/// the compiler vectorises, and over the coordinates in `f64`.
fn disagreement(agents: &impl ConsensusAgents, mean: &[f32], squares: &mut [f32]) -> f64 {
    squares.fill(0.0);
    let count = agents.agents();
    let whole = count / 4 * 4;
    for i in (0..whole).step_by(4) {
        let four = [i, i + 1, i + 2, i + 3].map(|agent| agents.coordinates(agent));
        add_squares(four, mean, squares);
    }
    for i in whole..count {
        add_squares([agents.coordinates(i)], mean, squares);
    }
    squares.iter().map(|&square| f64::from(square)).sum::<f64>() / count as f64
}

/// Several agents at a time, so that the sums are loaded and stored less often.
fn add_squares<const AGENTS: usize>(x: [&[f32]; AGENTS], mean: &[f32], squares: &mut [f32]) {
    let n = squares.len();
    let (x, mean) = (x.map(|x| &x[..n]), &mean[..n]);
    for k in 0..n {
        let mut sum = squares[k];
        for x in x {
            sum += (x[k] - mean[k]) * (x[k] - mean[k]);
        }
        squares[k] = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consort_graph::{GraphSpec, MixingSpec};

    const METHODS: [&str; 6] = [
        "dsgd",
        "gut:mu=0.5",
        "qg-dsgdm:form=quasi-global",
        "qg-gutm:mu=0.01",
        "choco:codec=none",
        "cgut:mu=0.5,codec=none",
    ];
    const AGENTS: usize = 32;

    /// What all agents hold after `rounds` rounds on coordinates 0 to `width`.
    fn held(method: &str, width: usize, rounds: usize, together: bool) -> Vec<Vec<f32>> {
        let topology = format!("ring:{AGENTS}").parse::<GraphSpec>().unwrap().build(1).unwrap();
        let weights = MixingSpec::Auto.build_all(&topology).unwrap();
        let method = method.parse().unwrap();
        let task = ConsensusTask { weights: &weights, method, dim: width, rounds, seed: 7 };
        let rows: Vec<Vec<Row>> = task.weights.iter().map(rows_of).collect();
        let (x0, _) = start(task.seed, AGENTS, 0, width);
        let shifts = Shifts::from_rows(&rows).unwrap();
        let after = |mut agents: Box<dyn ConsensusAgents + '_>| {
            (0..rounds).for_each(|round| agents.round(round).unwrap());
            (0..AGENTS).map(|agent| agents.coordinates(agent).to_vec()).collect()
        };
        if together {
            after(Box::new(CirculantBatch::new(&task, &shifts, &x0).unwrap()))
        } else {
            after(Box::new(SeparateAgents::new(&task, &rows, &x0).unwrap()))
        }
    }

    /// The figure's rings run all agents at once, shifted against each other; any other graph
    /// runs one agent at a time. Both are the same sums, in another order at the ring's seam.
    #[test]
    fn all_agents_at_once_do_what_each_does_alone() {
        for method in METHODS {
            let (together, alone) = (held(method, 48, 60, true), held(method, 48, 60, false));
            for (a, b) in together.iter().flatten().zip(alone.iter().flatten()) {
                assert!((a - b).abs() < 3e-5, "{method}: {a} {b}"); // measured: 6e-6 at most
            }
        }
    }

    /// A codec sees the whole vector: in pieces, each would send signs of its own scale.
    #[test]
    fn coded_methods_run_on_the_whole_vector() {
        let topology = "ring:8".parse::<GraphSpec>().unwrap().build(1).unwrap();
        let weights = MixingSpec::Auto.build_all(&topology).unwrap();
        let method = "choco:codec=sign".parse().unwrap();
        let task = ConsensusTask { weights: &weights, method, dim: 1000, rounds: 20, seed: 7 };
        let rows: Vec<Vec<Row>> = task.weights.iter().map(rows_of).collect();
        let (x0, mean) = start(task.seed, 8, 0, task.dim);
        let whole = SeparateAgents::new(&task, &rows, &x0).unwrap();
        let expected = run_block(whole, &task, &mean).unwrap();
        for threads in [1, 2] {
            assert_eq!(consensus_errors(&task, threads, &|_| ()).unwrap(), expected);
        }
        assert!(expected[20] < 0.5 * expected[0], "{expected:?}");
    }

    /// Methods in stages gossip too: without gradients K-GT and NGC are plain gossip, and RelaySGD
    /// agrees along a tree.
    #[test]
    fn methods_in_stages_run_too() {
        let errors = |graph: &str, method: &str| {
            let topology = graph.parse::<GraphSpec>().unwrap().build(1).unwrap();
            let weights = MixingSpec::Auto.build_all(&topology).unwrap();
            let method = method.parse().unwrap();
            let task = ConsensusTask { weights: &weights, method, dim: 40, rounds: 60, seed: 7 };
            consensus_errors(&task, 2, &|_| ()).unwrap()
        };
        let gossip = errors("ring:8", "dsgd");
        for method in ["k-gt", "ngc", "ngc:alpha=0", "dsgd:steps=3,optimizer=adam"] {
            for (got, expected) in errors("ring:8", method).iter().zip(&gossip) {
                assert!((got - expected).abs() <= 1e-4 * expected + 1e-9, "{method}: {got}");
            }
        }
        for tree in ["chain:8", "double-binary-tree:8"] {
            let relayed = errors(tree, "relaysgd");
            // All agree, a little beside the mean: what has not arrived yet is made up for by
            // the own model. Measured: 8e-4 and less.
            let (first, last) = (relayed[0], relayed[60]);
            assert!(last < 3e-3 * first, "{tree}: {relayed:?}");
        }
    }

    /// The same numbers come of a coordinate whatever the width of its block.
    #[test]
    fn a_coordinate_does_not_know_its_block() {
        for method in METHODS {
            for together in [true, false] {
                let (narrow, wide) =
                    (held(method, 16, 40, together), held(method, 272, 40, together));
                for (narrow, wide) in narrow.iter().zip(&wide) {
                    let same = narrow.iter().zip(wide).all(|(a, b)| a.to_bits() == b.to_bits());
                    assert!(same, "{method}, together: {together}");
                }
            }
        }
    }
}
