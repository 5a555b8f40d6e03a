//! Where a method is built: one agent's place in the graph, and the shape of its model.

use crate::Row;

/// What a method is told of the graph and of the model when it is built at an agent.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// How many agents there are.
    pub agents: usize,
    /// The agent's rows of W, one per phase of the graph; a fixed graph has one.
    pub rows: &'a [Row],
    /// The lengths of the model's tensors, in their order. Only cross-gradients (CGA) look at
    /// them; empty means one tensor.
    pub tensors: &'a [usize],
    /// By how much the agent's first gradient differs from the mean over all agents, on the first
    /// mini-batches, at the common start. Only a driver that has all agents can know it.
    pub first_gradient: Option<&'a [f32]>,
}

impl<'a> Site<'a> {
    /// An agent with these rows, among so many, whose model is one tensor.
    pub fn new(agents: usize, rows: &'a [Row]) -> Self {
        Site { agents, rows, tensors: &[], first_gradient: None }
    }

    /// The same for a model of these tensors.
    pub fn with_tensors(self, tensors: &'a [usize]) -> Self {
        Site { tensors, ..self }
    }

    /// The same for an agent whose first gradient differs by this much from the mean over all
    /// agents.
    pub fn with_first_gradient(self, difference: &'a [f32]) -> Self {
        Site { first_gradient: Some(difference), ..self }
    }

    /// The row of the first phase.
    pub(crate) fn row(&self) -> &'a Row {
        &self.rows[0]
    }

    /// How many agents it hears in the first phase, itself included.
    pub fn senders(&self) -> usize {
        self.row().senders().len()
    }

    /// The lengths of the tensors of a model of `len` parameters.
    pub(crate) fn tensors_of(&self, len: usize) -> alloc::vec::Vec<usize> {
        if self.tensors.is_empty() { alloc::vec![len] } else { self.tensors.to_vec() }
    }
}
