//! An agent that lost rounds, or is far behind: it takes up its neighbours' models.

use std::sync::Arc;
use std::time::Duration;

use consort_algo::Agent;

use super::Continue;
use super::edge::{Edge, Used};
use crate::frame::{Body, Kind};
use crate::settings::{Note, Settings};

/// How long an agent that lost rounds waits for its neighbours' models.
const ANSWERS: Duration = Duration::from_secs(5);

impl Continue {
    /// The neighbour lost its state, and asks for a model. If this agent has lost its own too,
    /// neither waits for the other's.
    pub(super) fn asks(&mut self, k: usize, agent: &mut Agent, own: &Settings, now: Duration) {
        if self.asked.is_some() {
            self.edges[k].asked = false;
            self.catch_up(agent, own, now);
        } else {
            let body = Body::Floats(agent.params().into());
            // One that asks again and does not read costs one model.
            self.outgoing.retain(|(to, frame)| *to != k || frame.0 != Kind::Answer);
            self.outgoing.push((k, (Kind::Answer, agent.round(), 0, body)));
        }
    }

    pub(super) fn answers(
        &mut self,
        k: usize,
        model: Arc<[f32]>,
        agent: &mut Agent,
        own: &Settings,
        now: Duration,
    ) {
        self.edges[k].answer = Some(model);
        self.catch_up(agent, own, now);
    }

    /// Between two rounds: takes up the neighbours' model after lost rounds, and skips to the
    /// round of a neighbour that is ahead.
    pub(super) fn catch_up(&mut self, agent: &mut Agent, own: &Settings, now: Duration) {
        if agent.has_gradient() {
            return;
        }
        if let Some(since) = self.asked {
            let waiting = |edge: &Edge| edge.ready && edge.asked && edge.answer.is_none();
            if self.edges.iter().any(waiting) && now < since + ANSWERS {
                return;
            }
            self.adopt(agent);
        }
        let ahead = self.edges.iter().filter(|edge| edge.ready && !edge.gone);
        let ahead = ahead.filter_map(|edge| edge.theirs).max().unwrap_or(0).min(own.rounds);
        if ahead > agent.round() {
            if ahead > own.rounds - own.rounds / 16 && !self.asked_at_the_end {
                // The others have all but finished: an old model would only spoil theirs.
                self.asked_at_the_end = true;
                return self.ask(now);
            }
            self.notes.push(Note::Skipped(agent.round(), ahead));
            for k in 0..self.edges.len() {
                if self.edges[k].active {
                    self.set_aside(k, agent);
                }
            }
            self.measured.clear();
            agent.restore_round(ahead);
            self.begin_round(agent);
        }
        if self.edges.iter().any(|edge| edge.joint().is_some()) {
            self.restored = None;
        }
    }

    /// Asks all neighbours that are there for their models.
    pub(super) fn ask(&mut self, now: Duration) {
        self.restored = None;
        self.asked = Some(now);
        for k in 0..self.edges.len() {
            if self.edges[k].ready {
                self.edges[k].asked = true;
                self.outgoing.push((k, (Kind::Ask, 0, 0, Body::Nothing)));
            }
        }
    }

    /// Goes on from the mean of the models that came.
    pub(super) fn adopt(&mut self, agent: &mut Agent) {
        self.asked = None;
        let models: Vec<Arc<[f32]>> =
            self.edges.iter_mut().filter_map(|edge| edge.answer.take()).collect();
        if models.is_empty() {
            return;
        }
        let share = 1.0 / models.len() as f64;
        let mean = |i: usize| models.iter().map(|m| f64::from(m[i])).sum::<f64>() * share;
        let mean: Vec<f32> = (0..models[0].len()).map(|i| mean(i) as f32).collect();
        if agent.adopt(&mean) {
            agent.resync_with(|_| None); // what pulled the old model is of no use
            self.notes.push(Note::Adopted(models.len(), agent.round()));
        }
    }

    /// Between two rounds: takes what this end used alone back out of the model.
    pub(super) fn take_back(&mut self, agent: &mut Agent) {
        if agent.has_gradient() {
            return;
        }
        for edge in &mut self.edges {
            if let Some(Used { theirs, ours, .. }) = edge.alone.take() {
                agent.take_back(edge.peer, &theirs, &ours);
            }
        }
    }
}
