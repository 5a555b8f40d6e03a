//! Random graphs drawn anew for every round of a period.
//!
//! - Random matchings: agents are paired at random and average with their partner, the
//!   topology of pairwise gossip (Boyd, Ghosh, Prabhakar, Shah 2006; AD-PSGD and NoLoCo
//!   draw such pairs). With an odd number one agent rests.
//! - Random regular graphs: the oracle of Epidemic Learning (de Vos et al., NeurIPS 2023).
//!
//! A single round need not be connected; all rounds of a period together are.

use super::{ATTEMPTS, regular, until};
use crate::error::GraphError;
use crate::families::seeded::Draws;
use crate::graph::Graph;
use crate::size::check_family;

/// The matchings of one period.
pub(crate) fn matchings(agents: usize, rounds: usize, seed: u64) -> Result<Vec<Graph>, GraphError> {
    let arcs = (agents as u64).saturating_mul(rounds as u64);
    check_family("random-matching", 2, agents, arcs)?;
    let got = format!("{agents} agents and {rounds} phases");
    drawn_rounds("random-matching", got, rounds, seed, |draws| {
        let mut order: Vec<usize> = (0..agents).collect();
        draws.shuffle(&mut order);
        let pairs = order.chunks_exact(2).map(|pair| (pair[0], pair[1]));
        Graph::from_edges(agents, pairs)
    })
}

/// The regular graphs of one period.
pub(crate) fn regular_each_round(
    agents: usize,
    degree: usize,
    rounds: usize,
    seed: u64,
) -> Result<Vec<Graph>, GraphError> {
    let arcs = (agents as u64).saturating_mul(degree as u64).saturating_mul(rounds as u64);
    check_family("random-regular-dyn", 2, agents, arcs)?;
    let got = format!("{agents} agents of degree {degree} and {rounds} phases");
    if !regular::exists(agents, degree) {
        return Err(GraphError::Impossible {
            kind: "random-regular-dyn",
            got,
            remedy: "choose 1 <= S < N with N * S even",
        });
    }
    let stuck = got.clone();
    drawn_rounds("random-regular-dyn", got, rounds, seed, |draws| {
        // A draw may get stuck; a hundred in a row do not.
        for _ in 0..ATTEMPTS {
            if let Some(graph) = regular::drawn(agents, degree, draws)? {
                return Ok(graph);
            }
        }
        let (kind, remedy) = ("random-regular-dyn", "choose another seed or degree");
        Err(GraphError::NeverConnected { kind, got: stuck.clone(), attempts: ATTEMPTS, remedy })
    })
}

/// So many draws from one stream, again until their union is connected.
fn drawn_rounds(
    kind: &'static str,
    got: String,
    rounds: usize,
    seed: u64,
    draw: impl Fn(&mut Draws) -> Result<Graph, GraphError>,
) -> Result<Vec<Graph>, GraphError> {
    if rounds == 0 {
        let remedy = "choose at least 1 phase";
        return Err(GraphError::Impossible { kind, got, remedy });
    }
    until(kind, got, "choose more phases", seed, |draws| {
        let mut period = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            period.push(draw(draws)?);
        }
        Ok(Graph::union_of(&period).is_connected().then_some(period))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_left_out_but_the_odd_one() {
        for graph in matchings(10, 20, 1).unwrap() {
            assert_eq!(graph.degree_range(), (1, 1));
        }
        for graph in matchings(9, 20, 1).unwrap() {
            let resting = (0..9).filter(|&i| graph.out_neighbours(i).is_empty()).count();
            assert_eq!((resting, graph.degree_range()), (1, (0, 1)));
        }
    }

    #[test]
    fn rounds_differ() {
        let rounds = matchings(10, 3, 1).unwrap();
        assert!(rounds[0] != rounds[1] && rounds[1] != rounds[2]);
        let rounds = regular_each_round(16, 4, 3, 1).unwrap();
        assert!(rounds[0] != rounds[1] && rounds[1] != rounds[2]);
    }

    #[test]
    fn all_degrees_are_the_degree() {
        for (agents, degree) in [(10, 1), (9, 2), (16, 4), (9, 8), (12, 7)] {
            for graph in regular_each_round(agents, degree, 8, 5).unwrap() {
                assert_eq!(graph.degree_range(), (degree, degree));
            }
        }
    }

    #[test]
    fn impossible_ones_are_refused() {
        assert!(matches!(matchings(1, 4, 0), Err(GraphError::TooFewAgents { .. })));
        assert!(matches!(matchings(8, 0, 0), Err(GraphError::Impossible { .. })));
        assert!(matches!(matchings(8, 1, 0), Err(GraphError::NeverConnected { .. })));
        assert!(matches!(matchings(8, usize::MAX, 0), Err(GraphError::TooLarge { .. })));
        assert!(matches!(regular_each_round(9, 3, 4, 0), Err(GraphError::Impossible { .. })));
        assert!(matches!(regular_each_round(8, 3, 0, 0), Err(GraphError::Impossible { .. })));
    }
}
