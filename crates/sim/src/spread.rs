//! One number for all agents: mean, smallest, largest.

/// How a quantity is spread over the agents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// Of the values of all agents, summed in their order.
    pub fn of(values: impl ExactSizeIterator<Item = f64>) -> Self {
        let count = values.len() as f64;
        let start = Spread { mean: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY };
        values.fold(start, |spread, value| Spread {
            mean: spread.mean + value / count,
            min: spread.min.min(value),
            max: spread.max.max(value),
        })
    }
}
