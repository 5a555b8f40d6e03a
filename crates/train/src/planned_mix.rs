//! How one method mixes over a run: the graphs built, and refused what it cannot do.

use consort_algo::{GradientsPerRound, GraphNeeds, Memory, Method, RoundTraffic};
use consort_graph::MixingMatrix;

use crate::config::{Mix, MixShape, Schedule};
use crate::error::TrainError;
use crate::message_count::MessageCount;

/// The mixing of one method over a run of any length.
#[derive(Clone, Default)]
pub struct PlannedMix {
    pub(crate) mix: Mix,
    /// The graphs that replace the first one, in their order.
    pub(crate) graphs: Vec<LaterGraph>,
    /// True if agents need the full models of their neighbours when the graph changes.
    pub(crate) resyncs: bool,
}

/// A graph that replaces the one before it.
#[derive(Clone)]
pub(crate) struct LaterGraph {
    /// When, in parts of the run.
    pub(crate) from: f64,
    /// Averaging rate included, one matrix per phase.
    pub(crate) weights: Vec<MixingMatrix>,
    pub(crate) messages: MessageCount,
}

impl PlannedMix {
    /// As [`Mix::depends_on_length`].
    pub fn depends_on_length(&self) -> bool {
        self.mix.depends_on_length()
    }

    /// What a run between processes cannot do of it, and why; `None` if it can do all.
    pub fn needs_one_process(&self) -> Option<(&'static str, &'static str)> {
        const ALL_MODELS: &str = "it takes all models, and agents hear their neighbours alone";
        if self.mix.exact_every.is_some() {
            return Some(("exact-every", ALL_MODELS));
        }
        if self.mix.final_merge {
            return Some(("final-merge", ALL_MODELS));
        }
        let changes = "agents would have to leave some neighbours and meet others during the run";
        (!self.mix.graphs.is_empty()).then_some(("graphs", changes))
    }

    /// What differs from the usual mixing, in a few words; empty if nothing does.
    pub fn describe(&self) -> String {
        self.mix.describe()
    }

    /// True if the averaging rate changes over the run.
    pub fn changes_rate(&self) -> bool {
        self.mix.shape != MixShape::Constant
    }
}

/// What `method`, written as `key`, can do of `mix`; `is_own` if it was given to this method alone.
/// A centralised method ignores what the run says of mixing, as it ignores the run's graph.
///
/// # Errors
/// Says what it cannot do, why, and what to do instead.
pub(crate) fn mix_for(
    method: &Method,
    key: &str,
    mix: &Mix,
    is_own: bool,
) -> Result<Mix, TrainError> {
    let refuse = |what, reason, instead| {
        Err(TrainError::Mix { method: key.to_string(), what, reason, instead })
    };
    let changed = !mix.is_default();
    let (rate, exact, graphs) =
        (mix.shape != MixShape::Constant, mix.exact_every.is_some(), !mix.graphs.is_empty());
    const LEAVE_OUT: &str =
        "Give it `mix = {}` of its own, which leaves schedule.mix to the others";
    match method.info().needs {
        GraphNeeds::AllToAll if changed && is_own => {
            let reason = "it averages over all agents in every round, so nothing is left to mix";
            return refuse("mix", reason, "Leave it out, or take dsgd");
        }
        GraphNeeds::AllToAll => return Ok(Mix::default()),
        GraphNeeds::Trees if rate => {
            let reason = "it relays models along a tree and has no averaging rate";
            return refuse("shape", reason, LEAVE_OUT);
        }
        GraphNeeds::Trees if exact => {
            let reason = "the sums of models that are still on their way would bring back what was \
                          before the average";
            return refuse("exact-every", reason, "final-merge works, and so does dsgd");
        }
        GraphNeeds::Trees if graphs => {
            let reason = "what its neighbours have relayed belongs to the links of one tree";
            return refuse("graphs", reason, LEAVE_OUT);
        }
        _ => {}
    }
    if graphs && method.info().gradients == GradientsPerRound::Neighbourhood {
        let reason = "it keeps a model and an error of every neighbour, and others would take their \
                      place";
        return refuse("graphs", reason, LEAVE_OUT);
    }
    if graphs && method.memory == Memory::Copies {
        let reason =
            "it keeps a copy of every neighbour's model, and others would take their place";
        return refuse("graphs", reason, "Use memory=sum, which keeps their sum alone");
    }
    Ok(mix.clone())
}

/// The mixing of one method over a run of known length.
#[derive(Clone)]
pub struct MixingSchedule {
    plan: PlannedMix,
    steps: Schedule,
    rounds: u64,
}

impl MixingSchedule {
    /// The mixing over `rounds` rounds, whose step sizes are those of `steps`.
    pub fn new(plan: &PlannedMix, steps: &Schedule, rounds: u64) -> Self {
        MixingSchedule { plan: plan.clone(), steps: steps.clone(), rounds }
    }

    /// The averaging rates of the round before `round` and of `round` itself, as parts of the
    /// method's gamma.
    pub fn rates_at(&self, round: u64) -> (f32, f32) {
        let rate = |round| self.plan.mix.rate_at(round, self.rounds, &self.steps) as f32;
        (rate(round.saturating_sub(1)), rate(round))
    }

    /// Which graph is in force in `round`: 0 is the first, 1 the first that replaces it.
    pub(crate) fn graph_at(&self, round: u64) -> usize {
        (0..self.plan.graphs.len()).filter(|&k| self.first_round(k) <= round).count()
    }

    /// The weights of graph `k` of those that replace the first.
    pub(crate) fn later(&self, k: usize) -> &[MixingMatrix] {
        &self.plan.graphs[k].weights
    }

    /// True if agents need their new neighbours' models when the graph changes.
    pub(crate) fn resyncs(&self) -> bool {
        self.plan.resyncs
    }

    /// True if all models are averaged exactly once so many rounds are over.
    pub(crate) fn averages_after(&self, done: u64) -> bool {
        let every = self.plan.mix.exact_every.is_some_and(|every| done.is_multiple_of(every));
        done > 0 && (every || (self.plan.mix.final_merge && done == self.rounds))
    }

    /// Bytes that `agents` agents send together in the first `done` rounds, about a model of so many
    /// parameters; `first` are the messages over the first graph. An exact average counts as the
    /// all-reduce along a ring, in which an agent sends 2 (n-1)/n models.
    pub fn bytes_until(
        &self,
        done: u64,
        first: &MessageCount,
        traffic: RoundTraffic,
        agents: usize,
        parameters: usize,
    ) -> u64 {
        let model = 4 * parameters as u64;
        let last = self.plan.graphs.len();
        let mut bytes = 0;
        for k in 0..=last {
            let messages = if k == 0 { first } else { &self.plan.graphs[k - 1].messages };
            let start = if k == 0 { 0 } else { self.first_round(k - 1) };
            let end = if k == last { done } else { self.first_round(k).min(done) };
            if start < end {
                bytes += messages.bytes_until(end, traffic) - messages.bytes_until(start, traffic);
                if k > 0 && self.plan.resyncs {
                    bytes += model * messages.in_round(start, traffic);
                }
            }
        }
        bytes + self.averages_until(done) * 2 * (agents as u64 - 1) * model
    }

    /// How many exact averages there are in the first `done` rounds.
    fn averages_until(&self, done: u64) -> u64 {
        let regular = self.plan.mix.exact_every.map_or(0, |every| done / every);
        let last_is_regular =
            self.plan.mix.exact_every.is_some_and(|every| done.is_multiple_of(every));
        let merge = self.plan.mix.final_merge && done == self.rounds && !last_is_regular;
        regular + u64::from(merge)
    }

    /// The first round of graph `k` of those that replace the first.
    fn first_round(&self, k: usize) -> u64 {
        (self.plan.graphs[k].from * self.rounds as f64).ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(mix: Mix, rounds: u64) -> MixingSchedule {
        let plan = PlannedMix { mix, ..PlannedMix::default() };
        MixingSchedule::new(&plan, &Schedule::default(), rounds)
    }

    #[test]
    fn exact_averages_come_every_so_many_rounds_and_at_the_end_once() {
        for (exact_every, final_merge, expected) in [
            (None, false, &[][..]),
            (None, true, &[12]),
            (Some(5), false, &[5, 10]),
            (Some(5), true, &[5, 10, 12]),
            (Some(4), true, &[4, 8, 12]),
        ] {
            let schedule = schedule(Mix { exact_every, final_merge, ..Mix::default() }, 12);
            let after: Vec<u64> = (0..=12).filter(|&done| schedule.averages_after(done)).collect();
            assert_eq!(after, expected);
            for done in 0..=12 {
                let until = expected.iter().filter(|&&at| at <= done).count() as u64;
                assert_eq!(schedule.averages_until(done), until, "{exact_every:?} after {done}");
            }
        }
    }
}
