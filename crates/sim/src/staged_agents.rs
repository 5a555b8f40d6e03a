//! The consensus task for methods in stages: agents with the whole round protocol, without
//! gradients.

use consort_algo::{Agent, Outgoing, Row, Site};

use crate::SimError;
use crate::circulant_batch::ConsensusAgents;
use crate::consensus::ConsensusTask;

/// Agents that walk all exchanges of a round.
pub(crate) struct StagedAgents {
    agents: Vec<Agent>,
    no_gradient: Vec<f32>,
}

impl StagedAgents {
    /// `rows` is by phase of the graph, then by agent; `x0` holds the vectors of all agents.
    pub(crate) fn new(
        task: &ConsensusTask<'_>,
        rows: &[Vec<Row>],
        x0: &[f32],
    ) -> Result<Self, SimError> {
        let count = rows[0].len();
        let width = x0.len() / count;
        let own = |agent: usize| &x0[agent * width..][..width];
        // Without gradients the first ones differ by nothing.
        let no_gradient = vec![0.0; width];
        let mut agents = Vec::with_capacity(count);
        for id in 0..count {
            let rows: Vec<Row> = rows.iter().map(|phase| phase[id].clone()).collect();
            let site = Site::new(count, &rows).with_first_gradient(&no_gradient);
            let algorithm = task.method.build_staged(own(id), &site)?;
            let mut agent = Agent::staged(id, rows, 1, algorithm);
            agent.resync_with(|other| Some(own(other)));
            agents.push(agent);
        }
        Ok(StagedAgents { agents, no_gradient })
    }

    fn exchange(&mut self, sent: &[Outgoing]) -> Result<Vec<Outgoing>, SimError> {
        for agent in &mut self.agents {
            for from in 0..sent.len() {
                if let Some(body) = sent[from].body_for(agent.id()).filter(|_| agent.hears(from)) {
                    agent.receive(from, sent[from].exchange, body.clone())?;
                }
            }
            agent.advance();
        }
        Ok(self.agents.iter().filter_map(Agent::outgoing).collect())
    }
}

impl ConsensusAgents for StagedAgents {
    fn round(&mut self, _round: usize) -> Result<(), SimError> {
        let mut sent = Vec::with_capacity(self.agents.len());
        for agent in &mut self.agents {
            while agent.gradients_left() > 0 {
                sent.extend(agent.gradient(&self.no_gradient, 1.0)?);
            }
        }
        while !sent.is_empty() {
            sent = self.exchange(&sent)?;
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
