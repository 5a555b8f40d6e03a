//! Erdos-Renyi graphs: every pair is joined with the same probability.
//!
//! The pairs (0,1), (0,2), (1,2), (0,3), ... stand in one long line, and the
//! generator jumps from joined pair to joined pair, so a sparse graph costs its
//! edges and not its pairs.

use super::until_connected;
use crate::error::GraphError;
use crate::families::seeded::Draws;
use crate::graph::Graph;
use crate::size::check_family;

pub(crate) fn erdos_renyi(agents: usize, probability: f64, seed: u64) -> Result<Graph, GraphError> {
    let pairs = agents as f64 * (agents as f64 - 1.0);
    check_family("erdos-renyi", 2, agents, (pairs * probability) as u64)?;
    let got = format!("{agents} agents and probability {probability}");
    if !(probability > 0.0 && probability <= 1.0) {
        return Err(GraphError::Impossible {
            kind: "erdos-renyi",
            got,
            remedy: "choose a probability above 0 and up to 1",
        });
    }
    let remedy = "raise the probability above ln(N)/N, where connection becomes likely";
    until_connected("erdos-renyi", got, remedy, seed, |draws| {
        Graph::from_edges(agents, joined_pairs(agents, probability, draws)).map(Some)
    })
}

fn joined_pairs(
    agents: usize,
    probability: f64,
    draws: &mut Draws,
) -> impl Iterator<Item = (usize, usize)> {
    // The next pair to look at: (low, high), low < high.
    let (mut low, mut high) = (0_u64, 1_u64);
    std::iter::from_fn(move || {
        low = low.saturating_add(draws.failures_before_success(probability));
        while low >= high && high < agents as u64 {
            low -= high;
            high += 1;
        }
        let pair = (high < agents as u64).then_some((low as usize, high as usize));
        low = low.saturating_add(1);
        pair
    })
    .fuse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_density_is_the_probability() {
        let graph = erdos_renyi(300, 0.1, 4).unwrap();
        let density = graph.arc_count() as f64 / (300.0 * 299.0);
        assert!((density - 0.1).abs() < 0.01, "{density}");
    }

    #[test]
    fn certainty_is_the_complete_graph_and_too_little_an_error() {
        assert_eq!(erdos_renyi(6, 1.0, 0).unwrap().arc_count(), 30);
        let error = erdos_renyi(100, 0.001, 0).unwrap_err();
        assert!(matches!(error, GraphError::NeverConnected { attempts: 100, .. }));
        assert!(error.to_string().contains("ln(N)/N"));
        assert!(erdos_renyi(10, 0.0, 0).is_err());
    }
}
