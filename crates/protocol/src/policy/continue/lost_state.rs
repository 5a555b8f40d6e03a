//! An agent that lost rounds, or is far behind: it takes over its neighbours' models.

use std::sync::Arc;
use std::time::Duration;

use consort_algo::Agent;

use super::Continue;
use super::edge::Edge;
use crate::frame::{Body, Kind, PendingFrame};
use crate::note::Note;
use crate::settings::PeerSettings;

/// How long an agent that lost rounds waits for its neighbours' models.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

impl Continue {
    /// Neighbour `k` lost its state and asks for a model. If this agent has lost its own state
    /// too, the two do not wait for each other.
    pub(super) fn hear_ask(
        &mut self,
        k: usize,
        agent: &mut Agent,
        own: &PeerSettings,
        now: Duration,
    ) {
        if self.asked.is_some() {
            self.edges[k].asked = false;
            self.catch_up(agent, own, now);
        } else {
            let (kind, round) = (Kind::Answer, agent.round());
            let body = Body::Floats(agent.params().into());
            // A neighbour that asks again without reading costs one model only.
            self.outgoing.retain(|(to, frame)| *to != k || frame.kind != Kind::Answer);
            self.outgoing.push((k, PendingFrame { kind, round, extra: 0, body }));
        }
    }

    /// Neighbour `k` answered with its model.
    pub(super) fn hear_answer(
        &mut self,
        k: usize,
        model: Arc<[f32]>,
        agent: &mut Agent,
        own: &PeerSettings,
        now: Duration,
    ) {
        self.edges[k].answer = Some(model);
        self.catch_up(agent, own, now);
    }

    /// Between two rounds: takes over the neighbours' models after lost rounds, and skips to the
    /// round of a neighbour that is ahead.
    pub(super) fn catch_up(&mut self, agent: &mut Agent, own: &PeerSettings, now: Duration) {
        if agent.has_gradient() {
            return;
        }
        if let Some(since) = self.asked {
            let waiting = |edge: &Edge| edge.ready && edge.asked && edge.answer.is_none();
            if self.edges.iter().any(waiting) && now < since + ANSWER_TIMEOUT {
                return;
            }
            self.adopt(agent);
        }
        let present = self.edges.iter().filter(|edge| edge.ready && !edge.gone);
        let ahead = present.filter_map(|edge| edge.their_offer).max().unwrap_or(0).min(own.rounds);
        if ahead > agent.round() {
            if ahead > own.rounds - own.rounds / 16 && !self.asked_at_the_end {
                // The others are nearly done: an old model would only spoil theirs.
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
        if self.edges.iter().any(|edge| edge.joins_in().is_some()) {
            self.restored = None;
        }
    }

    /// Asks all connected neighbours for their models.
    pub(super) fn ask(&mut self, now: Duration) {
        self.restored = None;
        self.asked = Some(now);
        for k in 0..self.edges.len() {
            if self.edges[k].ready {
                self.edges[k].asked = true;
                let kind = Kind::Ask;
                let ask = PendingFrame { kind, round: 0, extra: 0, body: Body::Nothing };
                self.outgoing.push((k, ask));
            }
        }
    }

    /// Continues from the mean of the models that arrived.
    fn adopt(&mut self, agent: &mut Agent) {
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
            agent.resync_with(|_| None); // the pull on the old model no longer applies
            self.notes.push(Note::Adopted(models.len(), agent.round()));
        }
    }
}
