//! Trees: the root on top, every generation a row, parents above the middle of their children.

use super::places::spread;
use crate::distances::centre;
use crate::graph::Graph;

/// A tree with more leaves is drawn on a circle: in a row its leaves would touch.
const MOST_LEAVES: usize = 48;
/// So many generations fill the height; fewer keep their distance.
const USUAL_DEPTH: usize = 4;

/// The places of a tree, the root in its centre; `None` for other graphs and crowded trees.
pub(super) fn hanging_from_centre(graph: &Graph) -> Option<Vec<(f64, f64)>> {
    places(graph, centre(graph))
}

/// The places of a tree with this root.
pub(super) fn places(graph: &Graph, root: usize) -> Option<Vec<(f64, f64)>> {
    let agents = graph.agents();
    let is_tree = graph.is_undirected()
        && graph.is_connected()
        && graph.arc_count() == 2 * agents.saturating_sub(1);
    let is_leaf = |i: usize| i != root && graph.out_neighbours(i).len() == 1;
    let leaves = (0..agents).filter(|&i| is_leaf(i)).count();
    if !is_tree || leaves > MOST_LEAVES || agents < 2 {
        return None;
    }
    let family = Family::new(graph, root);
    let deepest = family.depth.iter().copied().max().unwrap_or(0);
    let high = 2.0 * (deepest as f64 / USUAL_DEPTH as f64).min(1.0);
    let y = |depth: usize| high * (0.5 - depth as f64 / deepest.max(1) as f64);

    // Everyone stands above the middle of the leaves that hang from it.
    let first = family.first_leaves();
    let place = |i: usize| {
        let last = first[i] + family.leaves[i] - 1;
        let middle = (spread(first[i], leaves) + spread(last, leaves)) / 2.0;
        (middle, y(family.depth[i]))
    };
    Some((0..agents).map(place).collect())
}

/// Who hangs from whom.
struct Family {
    /// Parents before their children.
    order: Vec<usize>,
    children: Vec<Vec<usize>>,
    depth: Vec<usize>,
    /// How many leaves hang from an agent; a leaf counts itself.
    leaves: Vec<usize>,
}

impl Family {
    fn new(graph: &Graph, root: usize) -> Self {
        let agents = graph.agents();
        let (mut order, mut depth) = (vec![root], vec![0; agents]);
        let (mut children, mut parent) = (vec![Vec::new(); agents], vec![root; agents]);
        let mut next = 0;
        while next < order.len() {
            let i = order[next];
            next += 1;
            for &j in graph.out_neighbours(i) {
                let j = j as usize;
                if j != root && (i == root || j != parent[i]) {
                    (parent[j], depth[j]) = (i, depth[i] + 1);
                    children[i].push(j);
                    order.push(j);
                }
            }
        }
        let mut leaves = vec![0; agents];
        for &i in order.iter().rev() {
            let below: usize = children[i].iter().map(|&j| leaves[j]).sum();
            leaves[i] = below.max(1);
        }
        Family { order, children, depth, leaves }
    }

    /// The first of the leaves that hang from each agent, from the left. The largest families
    /// stand outside, where their lines are long anyhow; equal ones in the order of the agents.
    fn first_leaves(&self) -> Vec<usize> {
        let mut first = vec![0; self.leaves.len()];
        for &i in &self.order {
            let mut sorted = self.children[i].clone();
            sorted.sort_by_key(|&child| std::cmp::Reverse(self.leaves[child]));
            let from_the_left = sorted.iter().step_by(2);
            let from_the_right = sorted.iter().skip(1).step_by(2).rev();
            let mut next = first[i];
            for &child in from_the_left.chain(from_the_right) {
                first[child] = next;
                next += self.leaves[child];
            }
        }
        first
    }
}
