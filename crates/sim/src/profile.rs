//! What a thread tells a profiler of its part in a round.

use std::fmt;
use std::sync::Arc;

/// What a thread has just done in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Nothing: it waited for an agent to work for.
    Wait,
    /// The point at which the gradient is wanted (step 1 of the driver contract).
    Probe,
    /// An agent's mini-batch.
    Batch,
    /// Loss and gradient there.
    Gradient,
    /// The check of the gradient, and its norm.
    Norm,
    /// The method's local step (step 2).
    LocalStep,
    /// Its mixing (steps 3 to 5).
    Mix,
}

/// Is told after every part of a round, on the thread that did it. The profiler has the clock;
/// without one, nothing is called.
#[derive(Clone, Default)]
pub struct Profiler(Option<Arc<dyn Fn(Part) + Send + Sync>>);

impl Profiler {
    /// A profiler that calls `told` after every part.
    pub fn new(told: impl Fn(Part) + Send + Sync + 'static) -> Self {
        Profiler(Some(Arc::new(told)))
    }

    /// A thread has just done this.
    pub fn done(&self, part: Part) {
        if let Some(told) = &self.0 {
            told(part);
        }
    }
}

impl fmt::Debug for Profiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Profiler" } else { "no profiler" })
    }
}
