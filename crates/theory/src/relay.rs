//! RelaySGD before a run: models travel along a tree, so there are no modes of W.
//!
//! An agent hears the model of another one `max(d - 1, 0)` rounds late, `d` being the distance.
//! Without gradients every model becomes the mean of such models,
//!
//! ```text
//! x_i <- 1/n Σ_j x_j'      of max(d_ij - 1, 0) rounds ago
//! ```
//!
//! which always converges. How fast is found by doing it, with one number per agent. A constant
//! gradient moves the models by eta/(1 + the mean delay) a round, because they are averaged with
//! models that had not moved yet.

use consort_graph::{Graph, Topology};

/// How RelaySGD fares on trees that take turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relay {
    /// The factor by which disagreement shrinks per round; of several trees, the slowest.
    pub rate: f64,
    /// How many rounds late models are, averaged over all pairs and trees.
    pub mean_delay: f64,
}

/// Operations that the search for a rate may take.
const WORK: usize = 200_000_000;

impl Relay {
    /// On these trees; `None` if a phase is no tree.
    pub fn on(topology: &Topology) -> Option<Self> {
        let trees = topology.phases();
        if !trees.iter().all(Graph::is_tree) {
            return None;
        }
        let rate = trees.iter().map(rate).fold(0.0, f64::max);
        let mean_delay = trees.iter().map(mean_delay).sum::<f64>() / trees.len() as f64;
        Some(Relay { rate, mean_delay })
    }
}

/// Distances on a tree from agent `i`, and with them the delays.
fn mean_delay(tree: &Graph) -> f64 {
    let n = tree.agents();
    let mut total = 0.0;
    let mut queue = Vec::with_capacity(n);
    for start in 0..n {
        queue.clear();
        queue.push((start, start, 0_usize));
        let mut head = 0;
        while head < queue.len() {
            let (i, from, distance) = queue[head];
            head += 1;
            total += distance.saturating_sub(1) as f64;
            let next = tree.out_neighbours(i).iter().map(|&j| j as usize).filter(|&j| j != from);
            queue.extend(next.map(|j| (j, i, distance + 1)));
        }
    }
    total / (n * n) as f64
}

/// The factor per round, measured once the start is forgotten.
fn rate(tree: &Graph) -> f64 {
    let n = tree.agents();
    let edges: Vec<(usize, usize)> = tree.arcs().collect();
    // What each edge carries: the sum of the models behind it, and how many they are.
    let mut carried = vec![(0.0, 0.0); edges.len()];
    let mut x: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -(i as f64) }).collect();
    let reverse: Vec<Option<usize>> =
        edges.iter().map(|&(i, j)| edges.iter().position(|&edge| edge == (j, i))).collect();
    let disagreement = |x: &[f64]| {
        let (low, high) = x.iter().fold((f64::MAX, f64::MIN), |(l, h), &x| (l.min(x), h.max(x)));
        high - low
    };
    let mut heard = vec![(0.0, 0.0); n];
    let begin = disagreement(&x);
    let (mut first, mut rounds) = (None, 0);
    let most = (WORK / (4 * edges.len().max(1))).max(4 * n.min(1000));
    for round in 0..most {
        let before = heard.clone(); // of the last round
        let last = carried.clone();
        heard.fill((0.0, 0.0));
        for (at, &(i, j)) in edges.iter().enumerate() {
            // All that i heard but what came from j.
            let back = reverse[at].map_or((0.0, 0.0), |back| last[back]);
            carried[at] = (x[i] + before[i].0 - back.0, 1.0 + before[i].1 - back.1);
            heard[j] = (heard[j].0 + carried[at].0, heard[j].1 + carried[at].1);
        }
        for (x, (sum, count)) in x.iter_mut().zip(&heard) {
            *x = ((n as f64 - count) * *x + sum) / n as f64;
        }
        let apart = disagreement(&x);
        if apart < 1e-9 * begin {
            rounds = round;
            if let Some((_, start)) = first
                && round > start
            {
                break;
            }
            return 0.0; // the first exchange already decides
        }
        if first.is_none() && heard.iter().all(|&(_, count)| count + 1.5 > n as f64) {
            first = Some((apart, round));
        }
        rounds = round;
    }
    let Some((apart, start)) = first else { return 1.0 };
    let factor = (disagreement(&x) / apart).max(1e-300);
    factor.powf(1.0 / (rounds - start).max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use consort_graph::GraphSpec;

    fn relay(graph: &str) -> Option<Relay> {
        Relay::on(&graph.parse::<GraphSpec>().unwrap().build(1).unwrap())
    }

    /// Of 25 pairs on a chain of 5, six hear one round late, four two, and two three.
    #[test]
    fn delays_are_counted() {
        assert_eq!(relay("chain:5").unwrap().mean_delay, 20.0 / 25.0);
        assert_eq!(relay("star:4").unwrap().mean_delay, 6.0 / 16.0);
        assert!(relay("ring:5").is_none());
    }

    /// On a star models are at most one round late; on a chain 30: the star is faster.
    #[test]
    fn the_wider_the_tree_the_slower() {
        let rate = |graph: &str| relay(graph).unwrap().rate;
        assert!(rate("chain:2") < 1e-3);
        let (star, tree, chain) = (rate("star:32"), rate("binary-tree:32"), rate("chain:32"));
        assert!(star < tree && tree < chain && chain < 1.0, "{star} {tree} {chain}");
    }
}
