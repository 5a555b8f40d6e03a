//! Where a method is built: one agent's place in the graph.

use crate::Row;

/// What a method is told of the graph when it is built at an agent.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// How many agents there are.
    pub agents: usize,
    /// The agent's row of W in the first phase of the graph.
    pub row: &'a Row,
}

impl<'a> Site<'a> {
    /// An agent with this row, among so many.
    pub fn new(agents: usize, row: &'a Row) -> Self {
        Site { agents, row }
    }

    /// How many agents it hears, itself included.
    pub fn senders(&self) -> usize {
        self.row.senders().len()
    }
}
