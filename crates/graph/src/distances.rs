//! Breadth-first searches: diameter, centre, girth, two-colouring.

use std::ops::Range;

use crate::graph::Graph;

const UNSEEN: u32 = u32::MAX;
/// Above this many steps (agents times arcs) no search is made from everyone.
pub(crate) const AFFORDABLE: u128 = 400_000_000;

/// A search that can be repeated without clearing more than it touched.
struct Search {
    distance: Vec<u32>,
    parent: Vec<u32>,
    queue: Vec<u32>,
}

impl Search {
    fn over(graph: &Graph) -> Self {
        let agents = graph.agents();
        Search {
            distance: vec![UNSEEN; agents],
            parent: vec![UNSEEN; agents],
            queue: Vec::with_capacity(agents),
        }
    }

    fn begin(&mut self, start: usize) {
        for &agent in &self.queue {
            self.distance[agent as usize] = UNSEEN;
        }
        self.queue.clear();
        self.queue.push(start as u32);
        self.distance[start] = 0;
        self.parent[start] = UNSEEN;
    }

    /// The farthest agent that can be reached, and how far it is.
    fn farthest(&mut self, graph: &Graph, start: usize) -> (usize, usize) {
        self.begin(start);
        let mut head = 0;
        while head < self.queue.len() {
            let i = self.queue[head] as usize;
            head += 1;
            for &j in graph.out_neighbours(i) {
                if self.distance[j as usize] == UNSEEN {
                    self.distance[j as usize] = self.distance[i] + 1;
                    self.queue.push(j);
                }
            }
        }
        let last = self.queue[head - 1] as usize;
        (last, self.distance[last] as usize)
    }

    /// The shortest closed walk without turning back that this search sees, if
    /// it is shorter than `best`. Through some agent of a shortest cycle it is
    /// that cycle, and no walk seen anywhere is shorter than the girth.
    fn cycle_shorter_than(&mut self, graph: &Graph, start: usize, best: usize) -> Option<usize> {
        self.begin(start);
        let mut shortest = best;
        let mut head = 0;
        while head < self.queue.len() {
            let i = self.queue[head] as usize;
            head += 1;
            let depth = self.distance[i] as usize;
            if 2 * depth + 1 >= shortest {
                break; // anything found from here on is no shorter
            }
            for &j in graph.out_neighbours(i) {
                if j == self.parent[i] {
                    continue;
                }
                let j = j as usize;
                if self.distance[j] == UNSEEN {
                    self.distance[j] = depth as u32 + 1;
                    self.parent[j] = i as u32;
                    self.queue.push(j as u32);
                } else {
                    shortest = shortest.min(depth + self.distance[j] as usize + 1);
                }
            }
        }
        (shortest < best).then_some(shortest)
    }
}

/// The longest shortest path that begins at one of `starts`; the diameter, if
/// these are all agents (or all agents are like them).
pub(crate) fn longest_path_from(graph: &Graph, starts: Range<usize>) -> usize {
    let mut search = Search::over(graph);
    starts.map(|start| search.farthest(graph, start).1).max().unwrap_or(0)
}

/// The agent whose farthest other is nearest, of several the first. In a graph that is too large
/// for a search from everyone: the middle of a long shortest path.
pub(crate) fn centre(graph: &Graph) -> usize {
    let mut search = Search::over(graph);
    let agents = graph.agents();
    if agents as u128 * graph.arc_count() as u128 <= AFFORDABLE {
        return (0..agents).min_by_key(|&i| search.farthest(graph, i).1).unwrap_or(0);
    }
    let (end, _) = search.farthest(graph, 0);
    let (other_end, length) = search.farthest(graph, end);
    let mut here = other_end;
    for _ in 0..length / 2 {
        let nearer = |&&j: &&u32| search.distance[j as usize] + 1 == search.distance[here];
        here = graph.out_neighbours(here).iter().find(nearer).map_or(here, |&j| j as usize);
    }
    here
}

/// A lower bound by repeated sweeps: the agent farthest from the last one.
pub(crate) fn diameter_at_least(graph: &Graph) -> usize {
    let mut search = Search::over(graph);
    let (mut start, mut longest) = (0, 0);
    for _ in 0..4 {
        let (far, distance) = search.farthest(graph, start);
        longest = longest.max(distance);
        start = far;
    }
    longest
}

/// The shortest cycle of an undirected graph that a search from one of `starts`
/// sees; the girth, if these are all agents (or all agents are like them).
pub(crate) fn shortest_cycle_near(graph: &Graph, starts: Range<usize>) -> Option<usize> {
    let mut search = Search::over(graph);
    let mut best = usize::MAX;
    for start in starts {
        if let Some(shorter) = search.cycle_shorter_than(graph, start, best) {
            best = shorter;
        }
    }
    (best < usize::MAX).then_some(best)
}

/// Can an undirected graph be two-coloured?
pub(crate) fn is_bipartite(graph: &Graph) -> bool {
    let mut colour = vec![None; graph.agents()];
    let mut stack = Vec::new();
    for start in 0..graph.agents() {
        if colour[start].is_some() {
            continue;
        }
        colour[start] = Some(false);
        stack.push(start);
        while let Some(i) = stack.pop() {
            let other = colour[i].map(|mine: bool| !mine);
            for &j in graph.out_neighbours(i) {
                let j = j as usize;
                if colour[j].is_none() {
                    colour[j] = other;
                    stack.push(j);
                } else if colour[j] != other {
                    return false;
                }
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_girth_is_found_off_the_start() {
        // A tail 0-1-2 that ends in a triangle 2-3-4 and a square 4-5-6-7.
        let edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 2), (4, 5), (5, 6), (6, 7), (7, 4)];
        let graph = Graph::from_edges(8, edges).unwrap();
        assert_eq!(shortest_cycle_near(&graph, 0..8), Some(3));
        assert_eq!(longest_path_from(&graph, 0..8), 5);
        assert!(!is_bipartite(&graph));
    }

    #[test]
    fn directed_distances_follow_the_arcs() {
        let cycle = Graph::from_arcs(6, (0..6).map(|i| (i, (i + 1) % 6))).unwrap();
        assert_eq!(longest_path_from(&cycle, 0..6), 5);
        assert_eq!(diameter_at_least(&cycle), 5);
    }

    #[test]
    fn the_centre_of_a_large_graph_is_the_middle_of_a_long_path() {
        let chain = |n: usize| Graph::from_edges(n, (1..n).map(|i| (i - 1, i))).unwrap();
        assert_eq!(centre(&chain(9)), 4);
        let middle = centre(&chain(40_001));
        assert_eq!(middle, 20_000);
    }

    #[test]
    fn two_parts_may_both_be_bipartite() {
        let graph = Graph::from_edges(4, [(0, 1), (2, 3)]).unwrap();
        assert!(is_bipartite(&graph));
        assert_eq!(shortest_cycle_near(&graph, 0..4), None);
    }
}
