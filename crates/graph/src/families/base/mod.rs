//! Base-(k+1) graphs: exact averaging in a few rounds, for any number of agents.
//!
//! Takezawa et al., "Beyond Exponential Graph: Communication-Efficient Topologies for
//! Decentralized Learning via Finite-time Convergence", NeurIPS 2023 (arXiv 2305.11420). A sequence of symmetric doubly stochastic matrices in which
//! nobody has more than k neighbours a round, and whose product over one period is
//! exactly J/n, the matrix that averages everything. It is at most
//! `2 log_{k+1}(n) + 2` rounds long (their Theorem 1).
//!
//! ```text
//! all prime factors of n up to k + 1      hyper_hypercube.rs   average along one axis a round
//! any other n                             simple.rs            n = sum of digits times powers of k + 1
//! n = smooth part * the rest              here                 simple inside the blocks, then across
//! ```
//!
//! The last two are both built and the shorter one is kept. The weights belong to the
//! construction: with others the product is not J/n.

mod hyper_hypercube;
mod simple;

use crate::error::GraphError;
use crate::mixing::MixingMatrix;
use crate::size::check_family;

/// What one round joins: `(i, j, weight)`, each pair once. The rest of an agent's
/// weight stays with itself.
type Stage = Vec<(usize, usize, f64)>;

/// The matrices of one period, at most `degree` neighbours a round.
pub(crate) fn base(agents: usize, degree: usize) -> Result<Vec<MixingMatrix>, GraphError> {
    if degree == 0 {
        return Err(GraphError::Impossible {
            kind: "base",
            got: format!("{agents} agents and 0 neighbours a round"),
            remedy: "choose K of at least 1",
        });
    }
    // More neighbours than there are others change nothing.
    let degree = degree.min(agents.saturating_sub(1)).max(1);
    let rounds = 2 * digits(agents, degree + 1);
    let arcs = (agents as u64).saturating_mul(degree as u64).saturating_mul(rounds);
    check_family("base", 1, agents, arcs)?;

    let stages = stages(agents, degree);
    // A lone agent has nobody to talk to: its one round is the identity.
    let stages = if stages.is_empty() { vec![Stage::new()] } else { stages };
    Ok(stages.iter().map(|stage| matrix(agents, stage)).collect())
}

/// How many digits `number` has in this base.
fn digits(number: usize, base: usize) -> u64 {
    std::iter::successors(Some(number), |rest| Some(rest / base)).take_while(|&r| r > 0).count()
        as u64
}

fn stages(agents: usize, degree: usize) -> Vec<Stage> {
    let simple = simple::stages(agents, degree);
    let (smooth, rest) = split_off_smooth_part(agents, degree + 1);
    if smooth == 1 || rest == 1 {
        return simple;
    }
    let Some(across) = hyper_hypercube::stages(smooth, degree + 1) else { return simple };
    let inside = simple::stages(rest, degree);
    if simple.len() < inside.len() + across.len() {
        return simple;
    }
    // Agent `block * rest + place`: first every block averages, then the blocks with each other.
    let in_every_block = inside.iter().map(|stage| {
        let pairs = (0..smooth).flat_map(|block| {
            stage.iter().map(move |&(i, j, w)| (block * rest + i, block * rest + j, w))
        });
        pairs.collect()
    });
    let at_every_place = across.iter().map(|stage| {
        let pairs = (0..rest).flat_map(|place| {
            stage.iter().map(move |&(i, j, w)| (i * rest + place, j * rest + place, w))
        });
        pairs.collect()
    });
    in_every_block.chain(at_every_place).collect()
}

/// `number` as a product: what its prime factors up to `largest` make, and the rest.
fn split_off_smooth_part(number: usize, largest: usize) -> (usize, usize) {
    let (mut smooth, mut rest) = (1, number);
    let mut factor = 2;
    while factor <= largest && factor <= rest {
        while rest.is_multiple_of(factor) {
            smooth *= factor;
            rest /= factor;
        }
        factor += 1;
    }
    (smooth, rest)
}

fn matrix(agents: usize, stage: &Stage) -> MixingMatrix {
    let mut heard: Vec<Vec<(usize, f64)>> = vec![Vec::new(); agents];
    for &(i, j, weight) in stage {
        heard[i].push((j, weight));
        heard[j].push((i, weight));
    }
    MixingMatrix::from_neighbours(heard)
}

#[cfg(test)]
mod tests;
