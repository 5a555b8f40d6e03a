//! The algorithms of all agents, driven in lockstep and without a protocol.

use std::collections::VecDeque;

use consort_algo::{Algorithm, Inbox, Method, Row};

use super::agents::row_of;
use super::losses::Quadratics;
use super::matrix::Matrix;

/// One algorithm per agent and the rows of W.
pub(crate) struct Team {
    pub(crate) algorithms: Vec<Box<dyn Algorithm>>,
    /// The rows of this round come first.
    phases: VecDeque<Vec<Row>>,
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
        Team::on_phases(method, std::slice::from_ref(w), x0)
    }

    /// The same on matrices that take turns, one a round.
    pub(crate) fn on_phases(method: &str, ws: &[Matrix], x0: &Matrix) -> Self {
        let method: Method = method.parse().unwrap();
        let rows_of = |w: &Matrix| (0..w.rows).map(|i| row_of(&method, w, i)).collect();
        let phases: VecDeque<Vec<Row>> = ws.iter().map(rows_of).collect();
        let rows = &phases[0];
        let x0: Vec<Vec<f32>> = (0..x0.rows).map(|i| x0.row_f32(i)).collect();
        let build = |(x0, row): (&Vec<f32>, &Row)| method.build(x0, row.senders().len()).unwrap();
        let mut algorithms: Vec<Box<dyn Algorithm>> = x0.iter().zip(rows).map(build).collect();
        for (algorithm, row) in algorithms.iter_mut().zip(rows) {
            if x0.iter().any(|other| *other != x0[0]) {
                algorithm.resync(&Weighted { row, bodies: &x0 });
            }
        }
        let (messages, probes, gradients) = algorithms
            .iter()
            .map(|a| (vec![0.0; a.message_len()], x0[0].clone(), x0[0].clone()))
            .collect();
        Team { algorithms, phases, messages, probes, gradients }
    }

    /// One round with gradients from `gradient(agent, at, out)`.
    pub(crate) fn round(&mut self, eta: f32, mut gradient: impl FnMut(usize, &[f32], &mut [f32])) {
        for (i, algorithm) in self.algorithms.iter_mut().enumerate() {
            algorithm.probe(&mut self.probes[i]);
            gradient(i, &self.probes[i], &mut self.gradients[i]);
            algorithm.local_step(&self.gradients[i], eta, &mut self.messages[i]);
        }
        for (algorithm, row) in self.algorithms.iter_mut().zip(&self.phases[0]) {
            algorithm.mix(&Weighted { row, bodies: &self.messages }, eta);
        }
        self.phases.rotate_left(1);
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

    /// What the last messages say: their words, or what a codec makes of them.
    pub(crate) fn last_messages_read(&self, method: &Method, round: u32) -> Matrix {
        if !method.name.codes_messages() {
            return self.last_messages();
        }
        let codec = method.codec.codec();
        let read = |message: &Vec<f32>| {
            let mut values = vec![0.0; self.probes[0].len()];
            codec.add_decoded(round, message, 1.0, &mut values);
            values
        };
        let all: Vec<Vec<f32>> = self.messages.iter().map(read).collect();
        Matrix::stack(all.iter().map(Vec::as_slice))
    }

    pub(crate) fn last_gradients(&self) -> Matrix {
        Matrix::stack(self.gradients.iter().map(Vec::as_slice))
    }

    /// The weights as the agents hold them, rounded to `f32`.
    pub(crate) fn weights(&self) -> Matrix {
        let rows = &self.phases[0];
        let n = rows.len();
        let mut w = Matrix::zeros(n, n);
        for (i, row) in rows.iter().enumerate() {
            for (&j, &weight) in row.senders().iter().zip(row.weights()) {
                w.set(i, j, f64::from(weight));
            }
        }
        w
    }

    /// Whom agent `i` hears, itself included.
    pub(crate) fn senders(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        self.phases[0][i].senders().iter().copied()
    }

    /// The tensor of agent `i` with this name.
    pub(crate) fn tensor(&mut self, i: usize, name: &str) -> Vec<f32> {
        let mut tensors = self.algorithms[i].tensors().into_iter();
        tensors.find(|tensor| tensor.name == name).unwrap().values.to_vec()
    }
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
