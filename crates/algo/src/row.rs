//! One agent's row of the mixing matrix.

use alloc::vec::Vec;

/// One agent's row of the mixing matrix: who is heard, and with which weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    own: usize,
    senders: Vec<usize>,
    weights: Vec<f32>,
    /// The weights with which others hear this agent, if they are not those of its row: what they
    /// leave of 1 is the own weight.
    sent: Option<Vec<f32>>,
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
            sent: None,
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
        let sent: Vec<f32> = sent.map(|(_, p)| p as f32).collect();
        let mut built = Row::new(agent, row);
        built.weights[built.own] = left_of_one(sent.iter().copied(), 1.0);
        built.sent = Some(sent);
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

    /// The agent's own weight plus the weights of the `absent` senders, at an averaging rate that
    /// multiplies the weights of all others: what they leave of 1. `absent` is indexed like the
    /// senders; empty means that nobody is absent.
    pub(crate) fn own_weight(&self, absent: &[bool], rate: f32) -> f32 {
        if !absent.contains(&true) {
            return match &self.sent {
                _ if rate == 1.0 => self.weights[self.own],
                Some(sent) => left_of_one(sent.iter().copied(), rate),
                None => left_of_one(self.others(|_| true), rate),
            };
        }
        left_of_one(self.others(|k| !absent[k]), rate)
    }

    /// The weights of those other agents, by their place in the row, of which `is_there` is true.
    fn others(&self, is_there: impl Fn(usize) -> bool) -> impl Iterator<Item = f32> {
        let places = (0..self.weights.len()).filter(move |&k| k != self.own && is_there(k));
        places.map(|k| self.weights[k])
    }
}

/// What `weights`, each times `rate` and rounded, leave of 1.
fn left_of_one(weights: impl Iterator<Item = f32>, rate: f32) -> f32 {
    (1.0 - weights.map(|w| f64::from(rate * w)).sum::<f64>()) as f32
}
