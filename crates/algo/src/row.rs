//! One agent's row of the mixing matrix.

use alloc::vec::Vec;

/// One agent's row of the mixing matrix: who is heard, and with which weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    own: usize,
    senders: Vec<usize>,
    weights: Vec<f32>,
}

impl Row {
    /// The row of `agent` from `(agent, weight)` pairs; its own pair may be left out.
    ///
    /// The pairs are sorted by agent, which is the order of the sum. The agent's own weight
    /// is what the others, rounded to `f32`, leave of 1: three times the `f32` nearest to 1/3
    /// is more than 1, and a row that sums to more than 1 makes the models grow.
    pub fn new(agent: usize, entries: impl IntoIterator<Item = (usize, f64)>) -> Self {
        let others = entries.into_iter().filter(|&(sender, _)| sender != agent);
        let mut row: Vec<(usize, f32)> = others.map(|(sender, w)| (sender, w as f32)).collect();
        let left = 1.0 - row.iter().map(|&(_, w)| f64::from(w)).sum::<f64>();
        row.push((agent, left as f32));
        row.sort_by_key(|&(sender, _)| sender);
        Row {
            own: row.iter().position(|&(sender, _)| sender == agent).unwrap_or(0),
            senders: row.iter().map(|&(sender, _)| sender).collect(),
            weights: row.iter().map(|&(_, w)| w).collect(),
        }
    }

    /// The row of `agent` of a column-stochastic matrix P, for push-sum methods: `row` holds its
    /// `(j, p_ij)`, `column` its `(j, p_ji)`. Their own pairs may be left out.
    ///
    /// What is heard keeps the weights as given, so the row need not sum to 1. The agent's own
    /// weight is what the weights that it *sends* with, rounded to `f32`, leave of 1: then the
    /// columns that the agents really compute with sum to 1, and a round neither makes nor loses
    /// any of the sum over the agents.
    pub fn from_columns(
        agent: usize,
        row: impl IntoIterator<Item = (usize, f64)>,
        column: impl IntoIterator<Item = (usize, f64)>,
    ) -> Self {
        let sent = column.into_iter().filter(|&(receiver, _)| receiver != agent);
        let kept = 1.0 - sent.map(|(_, p)| f64::from(p as f32)).sum::<f64>();
        let mut built = Row::new(agent, row);
        built.weights[built.own] = kept as f32;
        built
    }

    /// The position of the agent itself among the senders.
    pub fn own(&self) -> usize {
        self.own
    }

    /// Who is heard, ascending, the agent itself included.
    pub fn senders(&self) -> &[usize] {
        &self.senders
    }

    /// Their weights, in the same order.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The agent's own weight plus the weights of the `absent` senders: what the others leave
    /// of 1. `absent` is indexed like the senders; empty means that nobody is absent.
    pub(crate) fn own_weight_without(&self, absent: &[bool]) -> f32 {
        if !absent.contains(&true) {
            return self.weights[self.own];
        }
        let present = (0..self.weights.len()).filter(|&k| k != self.own && !absent[k]);
        (1.0 - present.map(|k| f64::from(self.weights[k])).sum::<f64>()) as f32
    }
}
