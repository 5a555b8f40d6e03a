//! The outcome of a history: models, sums, disagreement, and the same without faults.

use consort_algo::{Agent, Outgoing};

use super::{LEN, World};

impl World {
    pub(crate) fn model(&self, agent: usize) -> Vec<f32> {
        let process = &self.processes[agent];
        process.peer.as_ref().map_or_else(Vec::new, |peer| peer.agent().params().to_vec())
    }

    /// The sum over all agents, per coordinate.
    pub(crate) fn sums(&self) -> Vec<f64> {
        let of = |i: usize| (0..self.n).map(|a| f64::from(self.model(a)[i])).sum();
        (0..LEN).map(of).collect()
    }

    pub(crate) fn first_sums(&self) -> Vec<f64> {
        let of = |i: usize| (0..self.n).map(|a| f64::from(self.first_model(a)[i])).sum();
        (0..LEN).map(of).collect()
    }

    /// How far the running agents are from their mean.
    pub(crate) fn error(&self) -> f64 {
        let here = (0..self.n).filter(|&id| !self.is_stranded(id));
        let models = here.map(|a| self.model(a)).filter(|model| !model.is_empty());
        disagreement(&models.collect::<Vec<_>>())
    }

    /// The same without faults.
    pub(crate) fn reference_error(&self) -> f64 {
        disagreement(&self.reference())
    }

    /// All agents in lockstep, without any network.
    pub(crate) fn reference(&self) -> Vec<Vec<f32>> {
        let mut agents: Vec<Agent> = (0..self.n).map(|id| self.fresh_agent(id)).collect();
        for _ in 0..self.rounds {
            let give = |agent: &mut Agent| loop {
                let mut at = vec![0.0; LEN];
                agent.probe(&mut at);
                let grad: Vec<f32> = at.iter().map(|x| x - self.targets[agent.id()]).collect();
                if let Some(sent) = agent.gradient(&grad, 0.1).unwrap() {
                    return sent;
                }
            };
            let mut sent: Vec<Outgoing> = agents.iter_mut().map(give).collect();
            while !sent.is_empty() {
                for agent in &mut agents {
                    for from in agent.missing().collect::<Vec<_>>() {
                        let body = sent[from].body_for(agent.id()).unwrap().clone();
                        agent.receive(from, sent[from].exchange, body).unwrap();
                    }
                    assert!(agent.advance());
                }
                sent = agents.iter().filter_map(Agent::outgoing).collect();
            }
        }
        agents.iter().map(|agent| agent.params().to_vec()).collect()
    }
}

/// How far models are from their mean.
fn disagreement(models: &[Vec<f32>]) -> f64 {
    let mut error = 0.0;
    for i in 0..LEN {
        let values = models.iter().map(|m| f64::from(m[i]));
        let mean = values.clone().sum::<f64>() / models.len().max(1) as f64;
        error += values.map(|x| (x - mean).powi(2)).sum::<f64>();
    }
    (error / models.len().max(1) as f64).sqrt()
}
