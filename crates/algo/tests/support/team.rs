//! The algorithms of all agents, driven in lockstep and without a protocol.

use consort_algo::{Algorithm, Inbox, Method, Row};

use super::losses::Quadratics;
use super::matrix::Matrix;

/// One algorithm per agent and the rows of W.
pub(crate) struct Team {
    pub(crate) algorithms: Vec<Box<dyn Algorithm>>,
    rows: Vec<Row>,
    /// What every agent sent in the last round.
    pub(crate) messages: Vec<Vec<f32>>,
    /// Where every agent took its last gradient.
    pub(crate) probes: Vec<Vec<f32>>,
    /// The last gradients.
    pub(crate) gradients: Vec<Vec<f32>>,
}

impl Team {
    /// A team that starts from the rows of `x0`. If they differ, every agent is told its
    /// neighbours' models, as after lost messages.
    pub(crate) fn new(method: &str, w: &Matrix, x0: &Matrix) -> Self {
        let method: Method = method.parse().unwrap();
        let rows: Vec<Row> = (0..w.rows).map(|i| heard(w, i)).collect();
        let x0: Vec<Vec<f32>> = (0..w.rows).map(|i| x0.row_f32(i)).collect();
        let build = |(x0, row): (&Vec<f32>, &Row)| method.build(x0, row.senders().len()).unwrap();
        let mut algorithms: Vec<Box<dyn Algorithm>> = x0.iter().zip(&rows).map(build).collect();
        for (algorithm, row) in algorithms.iter_mut().zip(&rows) {
            if x0.iter().any(|other| *other != x0[0]) {
                algorithm.resync(&Weighted { row, bodies: &x0 });
            }
        }
        let (messages, probes, gradients) = algorithms
            .iter()
            .map(|a| (vec![0.0; a.message_len()], x0[0].clone(), x0[0].clone()))
            .collect();
        Team { algorithms, rows, messages, probes, gradients }
    }

    /// One round with gradients from `gradient(agent, at, out)`.
    pub(crate) fn round(&mut self, eta: f32, mut gradient: impl FnMut(usize, &[f32], &mut [f32])) {
        for (i, algorithm) in self.algorithms.iter_mut().enumerate() {
            algorithm.probe(&mut self.probes[i]);
            gradient(i, &self.probes[i], &mut self.gradients[i]);
            algorithm.local_step(&self.gradients[i], eta, &mut self.messages[i]);
        }
        for (algorithm, row) in self.algorithms.iter_mut().zip(&self.rows) {
            algorithm.mix(&Weighted { row, bodies: &self.messages }, eta);
        }
    }

    /// One round on quadratics.
    pub(crate) fn learn(&mut self, losses: &Quadratics, eta: f32) {
        self.round(eta, |i, at, gradient| losses.gradient_f32(i, at, gradient));
    }

    /// One round of pure consensus: the gradients are zero.
    pub(crate) fn gossip(&mut self) {
        self.round(1.0, |_, _, gradient| gradient.fill(0.0));
    }

    /// The agents' own models.
    pub(crate) fn models(&self) -> Matrix {
        Matrix::stack(self.algorithms.iter().map(|algorithm| algorithm.params()))
    }

    /// The points at which the next gradients are taken.
    pub(crate) fn next_probes(&self) -> Matrix {
        let mut probes = self.probes.clone();
        for (algorithm, at) in self.algorithms.iter().zip(&mut probes) {
            algorithm.probe(at);
        }
        Matrix::stack(probes.iter().map(Vec::as_slice))
    }

    pub(crate) fn last_probes(&self) -> Matrix {
        Matrix::stack(self.probes.iter().map(Vec::as_slice))
    }

    pub(crate) fn last_messages(&self) -> Matrix {
        Matrix::stack(self.messages.iter().map(Vec::as_slice))
    }

    pub(crate) fn last_gradients(&self) -> Matrix {
        Matrix::stack(self.gradients.iter().map(Vec::as_slice))
    }

    /// The weights as the agents hold them, rounded to `f32`.
    pub(crate) fn weights(&self) -> Matrix {
        let n = self.rows.len();
        let mut w = Matrix::zeros(n, n);
        for (i, row) in self.rows.iter().enumerate() {
            for (&j, &weight) in row.senders().iter().zip(row.weights()) {
                w.set(i, j, f64::from(weight));
            }
        }
        w
    }

    /// Whom agent `i` hears, itself included.
    pub(crate) fn senders(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        self.rows[i].senders().iter().copied()
    }

    /// The tensor of agent `i` with this name.
    pub(crate) fn tensor(&mut self, i: usize, name: &str) -> Vec<f32> {
        let mut tensors = self.algorithms[i].tensors().into_iter();
        tensors.find(|tensor| tensor.name == name).unwrap().values.to_vec()
    }
}

fn heard(w: &Matrix, i: usize) -> Row {
    let row = w.row(i).iter().copied().enumerate();
    Row::new(i, row.filter(|&(_, weight)| weight != 0.0))
}

/// The messages that one agent hears, with their weights.
struct Weighted<'a> {
    row: &'a Row,
    bodies: &'a [Vec<f32>],
}

impl Inbox for Weighted<'_> {
    fn senders(&self) -> usize {
        self.row.senders().len()
    }
    fn own(&self) -> usize {
        self.row.own()
    }
    fn weight(&self, k: usize) -> f32 {
        self.row.weights()[k]
    }
    fn message(&self, k: usize) -> &[f32] {
        &self.bodies[self.row.senders()[k]]
    }
}
