//! Barabasi-Albert graphs: newcomers rather join those who have many friends.
//!
//! The first M + 1 agents all know each other; every later one joins M distinct
//! agents, each drawn with probability proportional to its degree. Connected by
//! construction.

use super::until_connected;
use crate::error::GraphError;
use crate::families::seeded::Draws;
use crate::graph::Graph;
use crate::size::check_family;

pub(crate) fn barabasi_albert(agents: usize, links: usize, seed: u64) -> Result<Graph, GraphError> {
    let arcs = 2_u64.saturating_mul(agents as u64).saturating_mul(links as u64);
    check_family("barabasi-albert", 2, agents, arcs)?;
    let got = format!("{agents} agents and {links} links each");
    if links == 0 || links >= agents {
        let remedy = "choose 1 <= M < N";
        return Err(GraphError::Impossible { kind: "barabasi-albert", got, remedy });
    }
    let remedy = "choose more links";
    until_connected("barabasi-albert", got, remedy, seed, |draws| {
        Graph::from_edges(agents, grown(agents, links, draws)).map(Some)
    })
}

fn grown(agents: usize, links: usize, draws: &mut Draws) -> Vec<(usize, usize)> {
    let mut edges: Vec<(usize, usize)> =
        (0..=links).flat_map(|j| (0..j).map(move |i| (i, j))).collect();
    // Every agent stands here once per edge, so a uniform draw is a draw by degree.
    let mut ends: Vec<usize> = edges.iter().flat_map(|&(i, j)| [i, j]).collect();
    let mut chosen = Vec::with_capacity(links);
    let mut chosen_by = vec![0; agents]; // the last newcomer that chose this agent
    for newcomer in links + 1..agents {
        chosen.clear();
        while chosen.len() < links {
            let candidate = ends[draws.below(ends.len())];
            if std::mem::replace(&mut chosen_by[candidate], newcomer) != newcomer {
                chosen.push(candidate);
            }
        }
        for &friend in &chosen {
            edges.push((friend, newcomer));
            ends.extend([friend, newcomer]);
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_newcomer_brings_its_links() {
        let graph = barabasi_albert(100, 2, 1).unwrap();
        assert_eq!(graph.arc_count() / 2, 3 + 97 * 2);
        assert!(graph.is_connected());
        assert!(graph.degree_range().1 > 8, "someone should be popular");
        assert!(barabasi_albert(3, 3, 1).is_err() && barabasi_albert(3, 0, 1).is_err());
    }
}
