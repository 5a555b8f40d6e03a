//! Does the graph look the same from every agent?
//!
//! On rings, tori, circulants and hypercubes it does: a shift (or a flip of
//! bits) carries any agent to any other. One search from agent 0 then says what
//! searches from everyone would, which makes facts about huge ones exact.

use crate::graph::Graph;

/// True if some family of shifts or flips proves that all agents are alike.
/// False says nothing: other symmetries are not looked for.
pub(crate) fn looks_the_same_from_everyone(graph: &Graph) -> bool {
    let agents = graph.agents();
    if !graph.is_regular() {
        return false;
    }
    let mut is_step = vec![false; agents];
    let divisors = || (1..agents).filter(|rows| agents.is_multiple_of(*rows));
    for &j in graph.out_neighbours(0) {
        is_step[j as usize] = true;
    }
    divisors().any(|rows| shifts_fit(graph, agents / rows, &is_step)) || flips_fit(graph, &is_step)
}

/// Agents as places `(r, c)` of a torus: is every neighbour one of agent 0's steps away?
/// Degrees are equal, so steps that all occur in agent 0's list are that list.
fn shifts_fit(graph: &Graph, columns: usize, is_step: &[bool]) -> bool {
    let rows = graph.agents() / columns;
    (0..graph.agents()).all(|i| {
        let (r, c) = (i / columns, i % columns);
        graph.out_neighbours(i).iter().all(|&j| {
            let j = j as usize;
            let down = (j / columns + rows - r) % rows;
            let right = (j % columns + columns - c) % columns;
            is_step[down * columns + right]
        })
    })
}

/// Agents as words of bits, as on the hypercube.
fn flips_fit(graph: &Graph, is_step: &[bool]) -> bool {
    graph.agents().is_power_of_two()
        && (0..graph.agents())
            .all(|i| graph.out_neighbours(i).iter().all(|&j| is_step[i ^ j as usize]))
}

#[cfg(test)]
mod tests {
    use crate::GraphSpec;

    fn alike(spec: &str) -> bool {
        let topology = spec.parse::<GraphSpec>().unwrap().build(1).unwrap();
        super::looks_the_same_from_everyone(topology.at(0))
    }

    #[test]
    fn shifts_and_flips_are_seen() {
        for spec in ["ring:9", "torus:4x6", "circulant:12:1,5", "hypercube:5", "exponential:9"] {
            assert!(alike(spec), "{spec}");
        }
        for spec in ["chain:9", "grid:3x3", "random-regular:20:3", "dyck-as-run"] {
            assert!(!alike(spec), "{spec}");
        }
    }
}
