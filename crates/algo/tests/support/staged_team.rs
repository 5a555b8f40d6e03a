//! Agents of any method, driven in lockstep through the round protocol.

use consort_algo::{Agent, Method, Outgoing, Row, Site};

use super::agents::row_of;
use super::losses::Quadratics;
use super::matrix::Matrix;

/// Agents that walk all gradients and exchanges of a round.
pub(crate) struct StagedTeam {
    pub(crate) agents: Vec<Agent>,
    /// Where every agent took its first gradient of the last round.
    pub(crate) probes: Vec<Vec<f32>>,
    /// What every agent sent in the first exchange of the last round.
    first_sent: Vec<Outgoing>,
}

impl StagedTeam {
    /// A team that starts from `x0`; W is one matrix per phase, and the model consists of
    /// `tensors`. First gradients do not differ.
    pub(crate) fn new(method: &Method, phases: &[Matrix], x0: &[f32], tensors: &[usize]) -> Self {
        let alike = Matrix::zeros(phases[0].rows, x0.len());
        StagedTeam::from_first_gradients(method, phases, x0, tensors, &alike)
    }

    /// The same for agents whose first gradients are `first`.
    pub(crate) fn from_first_gradients(
        method: &Method,
        phases: &[Matrix],
        x0: &[f32],
        tensors: &[usize],
        first: &Matrix,
    ) -> Self {
        let count = phases[0].rows;
        let differences = first.disagreement();
        let agent = |i: usize| {
            let rows: Vec<Row> = phases.iter().map(|w| row_of(method, w, i)).collect();
            let difference = differences.row_f32(i);
            let site =
                Site::new(count, &rows).with_tensors(tensors).with_first_gradient(&difference);
            let algorithm = method.build_staged(x0, &site).unwrap();
            Agent::staged(i, rows.clone(), 1, algorithm)
        };
        let agents: Vec<Agent> = (0..count).map(agent).collect();
        StagedTeam { agents, probes: vec![x0.to_vec(); count], first_sent: Vec::new() }
    }

    /// One round with gradients from `gradient(agent, at, out)`.
    pub(crate) fn round(&mut self, eta: f32, mut gradient: impl FnMut(usize, &[f32], &mut [f32])) {
        self.first_sent.clear();
        let mut sent: Vec<Outgoing> = Vec::new();
        for (agent, first) in self.agents.iter_mut().zip(&mut self.probes) {
            agent.probe(first);
            let mut at = first.clone();
            loop {
                agent.probe(&mut at);
                let mut g = vec![0.0; at.len()];
                gradient(agent.id(), &at, &mut g);
                if let Some(messages) = agent.gradient(&g, eta).unwrap() {
                    sent.push(messages);
                    break;
                }
            }
        }
        self.first_sent.clone_from(&sent);
        while !sent.is_empty() {
            for agent in &mut self.agents {
                let missing: Vec<usize> = agent.missing().collect();
                for from in missing {
                    let body = sent[from].body_for(agent.id()).unwrap().clone();
                    agent.receive(from, sent[from].exchange, body).unwrap();
                }
            }
            sent.clear();
            for agent in &mut self.agents {
                assert!(agent.advance());
                sent.extend(agent.outgoing());
            }
        }
    }

    /// One round on quadratics.
    pub(crate) fn learn(&mut self, losses: &Quadratics, eta: f32) {
        self.round(eta, |i, at, gradient| losses.gradient_f32(i, at, gradient));
    }

    /// What the messages of the last round's first exchange say, which are coded and differ from
    /// neighbour to neighbour: what i sent to j is in row `i n + j`.
    pub(crate) fn crossed_messages(&self, method: &Method, round: u32) -> Matrix {
        let (n, codec) = (self.agents.len(), method.codec.codec());
        let mut all = Matrix::zeros(n * n, self.probes[0].len());
        for (i, j) in (0..n * n).map(|at| (at / n, at % n)) {
            let Some(body) = self.first_sent[i].body_for(j) else { continue };
            let mut values = vec![0.0; all.cols];
            codec.add_decoded(round, body, 1.0, &mut values);
            values.iter().enumerate().for_each(|(k, &v)| all.set(i * n + j, k, f64::from(v)));
        }
        all
    }

    /// The agents' own models.
    pub(crate) fn models(&self) -> Matrix {
        Matrix::stack(self.agents.iter().map(Agent::params))
    }

    pub(crate) fn first_probes(&self) -> Matrix {
        Matrix::stack(self.probes.iter().map(Vec::as_slice))
    }
}
