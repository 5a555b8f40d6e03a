//! The outcome of a history: models, sums, disagreement, and the same without faults.

use consort_algo::Agent;

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
        for round in 0..self.rounds {
            let mut sent = Vec::new();
            for agent in &mut agents {
                let mut at = vec![0.0; LEN];
                agent.probe(&mut at);
                let grad: Vec<f32> = at.iter().map(|x| x - self.targets[agent.id()]).collect();
                sent.push(agent.gradient(&grad, 0.1).unwrap().unwrap());
            }
            for agent in &mut agents {
                let phases = &self.rows[agent.id()];
                for &from in phases[(round % phases.len() as u64) as usize].senders() {
                    if from != agent.id() {
                        agent
                            .receive(
                                from,
                                sent[from].exchange,
                                sent[from].to_all().unwrap().clone(),
                            )
                            .unwrap();
                    }
                }
                assert!(agent.advance());
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
