//! All agents of the consensus task on one block of coordinates.
//!
//! On a circulant graph (a ring, say) every agent looks like the next. Written one after
//! the other, n agents with w coordinates are then *one* agent with n·w coordinates whose
//! neighbours' messages are its own, shifted by whole agents. The algorithm cannot tell,
//! and one call serves all agents: [`CirculantBatch`]. On other graphs each agent takes its own
//! steps: [`SeparateAgents`].

use consort_algo::{Algorithm, Inbox, Row};

use crate::SimError;
use crate::consensus::ConsensusTask;

/// Agents that exchange messages in rounds, without gradients.
pub(crate) trait ConsensusAgents {
    /// One round of all agents.
    fn round(&mut self, round: usize) -> Result<(), SimError>;
    /// How many agents there are.
    fn agents(&self) -> usize;
    /// What one of them holds.
    fn coordinates(&self, agent: usize) -> &[f32];
}

/// Every agent runs an algorithm of its own.
pub(crate) struct SeparateAgents<'a> {
    rows: &'a [Vec<Row>],
    agents: Vec<Box<dyn Algorithm>>,
    no_gradient: Vec<f32>,
    messages: Vec<f32>,
    len: usize,
}

impl<'a> SeparateAgents<'a> {
    pub(crate) fn new(
        task: &ConsensusTask<'_>,
        rows: &'a [Vec<Row>],
        x0: &[f32],
    ) -> Result<Self, SimError> {
        let count = rows[0].len();
        let width = x0.len() / count;
        let mut agents = Vec::with_capacity(count);
        for (row, own) in rows[0].iter().zip(x0.chunks_exact(width)) {
            let mut algorithm = task.method.build(own, row.senders().len())?;
            algorithm.resync(&Sent { row, messages: x0, len: width });
            agents.push(algorithm);
        }
        let len = agents[0].message_len();
        let (no_gradient, messages) = (vec![0.0; width], vec![0.0; count * len]);
        Ok(SeparateAgents { rows, agents, no_gradient, messages, len })
    }
}

impl ConsensusAgents for SeparateAgents<'_> {
    fn round(&mut self, round: usize) -> Result<(), SimError> {
        let SeparateAgents { rows, agents, no_gradient, messages, len } = self;
        for (algorithm, message) in agents.iter_mut().zip(messages.chunks_exact_mut(*len)) {
            algorithm.local_step(no_gradient, 1.0, message);
        }
        for (row, algorithm) in rows[round % rows.len()].iter().zip(agents) {
            algorithm.mix(&Sent { row, messages, len: *len }, 1.0);
        }
        Ok(())
    }

    fn agents(&self) -> usize {
        self.agents.len()
    }

    fn coordinates(&self, agent: usize) -> &[f32] {
        self.agents[agent].params()
    }
}

/// The messages of a round, all agents' in one array.
struct Sent<'a> {
    row: &'a Row,
    messages: &'a [f32],
    len: usize,
}

impl Inbox for Sent<'_> {
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
        &self.messages[self.row.senders()[k] * self.len..][..self.len]
    }
}

/// The mixing matrices of a circulant graph: who is heard, relative to oneself.
pub(crate) struct Shifts {
    agents: usize,
    /// The farthest neighbour, counted in agents.
    reach: usize,
    /// Per phase: distance (negative: backwards) and weight, ascending by distance.
    phases: Vec<Vec<(isize, f32)>>,
}

impl Shifts {
    /// `None` if some agent hears others than the next one does, or most of all.
    pub(crate) fn from_rows(rows: &[Vec<Row>]) -> Option<Self> {
        let agents = rows[0].len();
        let relative = |agent: usize, row: &Row| {
            let half = agents as isize / 2;
            let distance = |sender: usize| {
                let forward = (sender as isize - agent as isize).rem_euclid(agents as isize);
                if forward > half { forward - agents as isize } else { forward }
            };
            let pairs = row.senders().iter().zip(row.weights());
            let mut pairs: Vec<(isize, f32)> = pairs.map(|(&j, &w)| (distance(j), w)).collect();
            pairs.sort_by_key(|&(distance, _)| distance);
            pairs
        };
        let mut phases = Vec::new();
        for phase in rows {
            let first = relative(0, &phase[0]);
            let alike = phase.iter().enumerate().all(|(agent, row)| relative(agent, row) == first);
            phases.push(alike.then_some(first)?);
        }
        let distances = phases.iter().flatten().map(|(distance, _)| distance.unsigned_abs());
        let reach = distances.max().unwrap_or(0);
        (4 * reach <= agents).then_some(Shifts { agents, reach, phases })
    }
}

/// All agents as one algorithm.
pub(crate) struct CirculantBatch<'a> {
    shifts: &'a Shifts,
    all: Box<dyn Algorithm>,
    width: usize,
    no_gradient: Vec<f32>,
    /// The messages of all agents, with those of the last before the first and those of
    /// the first behind the last, as far as the graph reaches.
    messages: Vec<f32>,
}

impl<'a> CirculantBatch<'a> {
    pub(crate) fn new(
        task: &ConsensusTask<'_>,
        shifts: &'a Shifts,
        x0: &[f32],
    ) -> Result<Self, SimError> {
        let width = x0.len() / shifts.agents;
        let mut agents = CirculantBatch {
            shifts,
            all: task.method.build(x0, shifts.phases[0].len())?,
            width,
            no_gradient: vec![0.0; x0.len()],
            messages: vec![0.0; x0.len() + 2 * shifts.reach * width],
        };
        let border = agents.border();
        agents.messages[border..][..x0.len()].copy_from_slice(x0);
        agents.wrap_around();
        let models = Shifted { shifts, phase: 0, width, messages: &agents.messages };
        agents.all.resync(&models);
        Ok(agents)
    }

    /// Floats before the first agent's message.
    fn border(&self) -> usize {
        self.shifts.reach * self.width
    }

    fn wrap_around(&mut self) {
        let (border, all) = (self.border(), self.no_gradient.len());
        self.messages.copy_within(all..all + border, 0);
        self.messages.copy_within(border..2 * border, all + border);
    }
}

impl ConsensusAgents for CirculantBatch<'_> {
    fn round(&mut self, round: usize) -> Result<(), SimError> {
        let (border, all) = (self.border(), self.no_gradient.len());
        let messages = &mut self.messages[border..][..all];
        self.all.local_step(&self.no_gradient, 1.0, messages);
        self.wrap_around();
        let phase = round % self.shifts.phases.len();
        let (shifts, width) = (self.shifts, self.width);
        self.all.mix(&Shifted { shifts, phase, width, messages: &self.messages }, 1.0);
        Ok(())
    }

    fn agents(&self) -> usize {
        self.shifts.agents
    }

    fn coordinates(&self, agent: usize) -> &[f32] {
        &self.all.params()[agent * self.width..][..self.width]
    }
}

/// The messages of a round as every agent's neighbours at once.
struct Shifted<'a> {
    shifts: &'a Shifts,
    phase: usize,
    width: usize,
    messages: &'a [f32],
}

impl Inbox for Shifted<'_> {
    fn senders(&self) -> usize {
        self.shifts.phases[self.phase].len()
    }

    fn own(&self) -> usize {
        self.shifts.phases[self.phase].partition_point(|&(distance, _)| distance < 0)
    }

    fn weight(&self, k: usize) -> f32 {
        self.shifts.phases[self.phase][k].1
    }

    fn message(&self, k: usize) -> &[f32] {
        let (distance, _) = self.shifts.phases[self.phase][k];
        let first = (self.shifts.reach as isize + distance) as usize;
        &self.messages[first * self.width..][..self.shifts.agents * self.width]
    }
}
