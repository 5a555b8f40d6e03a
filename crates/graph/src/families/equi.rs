//! EquiTopo: random shifts whose averaging does not slow down as agents are added.
//!
//! Song, Li, Jin, Shi, Yan, Yin, Yuan, "Communication-Efficient Topologies for Decentralized
//! Learning with O(1) Consensus Rate", NeurIPS 2022 (arXiv 2210.07881). With `P_a` the shift by
//! `a` (everyone sends to `i + a`), the mean of `(n-1)/n P_a + I/n` over all shifts is J/n, so
//! a few random shifts come close to it, and how close does not depend on n:
//!
//! ```text
//! EquiStatic   W = 1/M sum over M random shifts of  (n-1)/n P_a + I/n      directed
//!              ... of  (n-1)/n (P_a + P_a')/2 + I/n                        undirected
//! EquiDyn      W_t = (1-eta) I + eta ((n-1)/n P_a + I/n)                   directed, one shift a round
//!              the same with a matching of pairs i, i + a                  undirected
//! ```
//!
//! Shifts are drawn with replacement, as there, so a shift may count twice. EquiDyn's eta
//! is 1/2: a round leaves at most `(1-eta)^2 + eta^2` of the squared disagreement in
//! expectation, which is smallest there. The paper draws a new shift in every round for
//! ever; here a period of them repeats (see [`Topology`](crate::Topology)).

use std::collections::BTreeMap;

use super::random::until;
use super::seeded::Draws;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::mixing::MixingMatrix;
use crate::size::check_family;

/// How much of EquiDyn's random step is made.
const ETA: f64 = 0.5;
/// More shifts than agents could fill a matrix are a slip of the finger.
const MOST_SHIFTS: usize = 1_000_000;

/// The matrix of `shifts` random shifts, drawn until everyone can reach everyone.
pub(crate) fn equi_static(
    agents: usize,
    shifts: usize,
    directed: bool,
    seed: u64,
) -> Result<MixingMatrix, GraphError> {
    let most = if directed { shifts } else { shifts.saturating_mul(2) };
    let arcs = (agents as u64).saturating_mul(most.min(agents.saturating_sub(1)) as u64);
    check_family("equi-static", 2, agents, arcs)?;
    let got = format!("{agents} agents and {shifts} shifts");
    if shifts == 0 || shifts > MOST_SHIFTS {
        let remedy = "choose M from 1 to 1000000";
        return Err(GraphError::Impossible { kind: "equi-static", got, remedy });
    }
    let remedy = "choose more shifts, or a number of agents with few divisors";
    until("equi-static", got, remedy, seed, |draws| {
        let mut steps = BTreeMap::new();
        let share = (agents as f64 - 1.0) / agents as f64 / shifts as f64;
        for _ in 0..shifts {
            let shift = 1 + draws.below(agents - 1);
            if directed {
                *steps.entry(shift).or_insert(0.0) += share;
            } else {
                *steps.entry(shift).or_insert(0.0) += share / 2.0;
                *steps.entry(agents - shift).or_insert(0.0) += share / 2.0;
            }
        }
        // Everyone hears the agents so many places behind.
        let heard = (0..agents).map(|i| {
            steps.iter().map(|(&step, &weight)| ((i + agents - step) % agents, weight)).collect()
        });
        let w = MixingMatrix::from_neighbours(heard.collect());
        Ok(w.graph()?.is_connected().then_some(w))
    })
}

/// The matrices of `rounds` rounds with one random shift each, drawn until everyone can reach
/// everyone in the course of a period.
pub(crate) fn equi_dyn(
    agents: usize,
    rounds: usize,
    directed: bool,
    seed: u64,
) -> Result<Vec<MixingMatrix>, GraphError> {
    let arcs = (agents as u64).saturating_mul(rounds as u64);
    check_family("equi-dyn", 2, agents, arcs)?;
    let got = format!("{agents} agents and {rounds} phases");
    if rounds == 0 {
        let remedy = "choose at least 1 phase";
        return Err(GraphError::Impossible { kind: "equi-dyn", got, remedy });
    }
    until("equi-dyn", got, "choose more phases", seed, |draws| {
        let period: Vec<_> = (0..rounds).map(|_| one_shift(agents, directed, draws)).collect();
        let graphs = period.iter().map(MixingMatrix::graph).collect::<Result<Vec<_>, _>>()?;
        Ok(Graph::union_of(&graphs).is_connected().then_some(period))
    })
}

fn one_shift(agents: usize, directed: bool, draws: &mut Draws) -> MixingMatrix {
    let weight = ETA * (agents as f64 - 1.0) / agents as f64;
    let shift = 1 + draws.below(agents - 1);
    let mut heard = vec![Vec::new(); agents];
    if directed {
        for (i, heard) in heard.iter_mut().enumerate() {
            heard.push(((i + agents - shift) % agents, weight));
        }
    } else {
        // From a random start on, everyone takes the agent `shift` places ahead if both are free.
        let start = draws.below(agents);
        for i in (start..agents).chain(0..start) {
            let j = (i + shift) % agents;
            if heard[i].is_empty() && heard[j].is_empty() {
                heard[i].push((j, weight));
                heard[j].push((i, weight));
            }
        }
    }
    MixingMatrix::from_neighbours(heard)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_shift_is_the_mean_of_identity_and_permutation() {
        let n = 9.0_f64;
        for directed in [false, true] {
            for w in equi_dyn(9, 5, directed, 3).unwrap() {
                w.require_doubly_stochastic().unwrap();
                let taken = (0..9).map(|i| w.row(i).filter(|&(j, _)| j != i).count());
                assert!(taken.clone().all(|count| count <= 1));
                assert!(!directed || taken.min() == Some(1), "a shift leaves nobody out");
                assert!(directed || w.is_symmetric());
                let weights = (0..9).flat_map(|i| w.row(i).filter(move |&(j, _)| j != i));
                for (_, weight) in weights {
                    assert!((weight - 0.5 * (n - 1.0) / n).abs() < 1e-15);
                }
            }
        }
    }

    #[test]
    fn the_static_ones_keep_one_nth_and_share_the_rest() {
        for directed in [false, true] {
            let w = equi_static(25, 4, directed, 1).unwrap();
            w.require_doubly_stochastic().unwrap();
            assert_eq!(w.is_symmetric(), !directed);
            for i in 0..25 {
                assert!((w.weight(i, i) - 1.0 / 25.0).abs() < 1e-14);
                let heard = w.row(i).count() - 1;
                assert!(heard <= if directed { 4 } else { 8 }, "{heard}");
            }
        }
    }

    /// A shift by half of all agents is its own reverse.
    #[test]
    fn two_agents_have_one_shift() {
        let w = equi_static(2, 3, false, 0).unwrap();
        assert!((w.weight(0, 1) - 0.5).abs() < 1e-15 && w.is_symmetric());
    }

    #[test]
    fn impossible_ones_are_refused() {
        assert!(matches!(equi_static(1, 1, false, 0), Err(GraphError::TooFewAgents { .. })));
        assert!(matches!(equi_static(9, 0, false, 0), Err(GraphError::Impossible { .. })));
        assert!(matches!(equi_dyn(9, 0, true, 0), Err(GraphError::Impossible { .. })));
        assert!(matches!(equi_dyn(9, 1, false, 0), Err(GraphError::NeverConnected { .. })));
        assert!(matches!(equi_dyn(9, usize::MAX, true, 0), Err(GraphError::TooLarge { .. })));
    }
}
