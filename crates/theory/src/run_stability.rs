//! The stability of a run's mixing matrices, computed once for all its methods.

use consort_algo::Method;
use consort_graph::{MixingMatrix, Spectrum};

use crate::stability::{Stability, StabilityError};

/// What is known of the matrices of a run. Those of a large directed or time-varying graph cannot
/// be taken apart; then methods that track are refused, and of the others the spectrum of the
/// first matrix says enough.
#[derive(Clone, Debug)]
pub struct RunStability {
    exact: Result<Stability, StabilityError>,
    first: Stability,
}

impl RunStability {
    /// Of the mixing matrices, one per phase of the graph, before any averaging rate; `first` is
    /// the spectrum of the first of them.
    pub fn new(weights: &[MixingMatrix], first: &Spectrum) -> Self {
        let known = Stability::new(first);
        let symmetric = weights.len() == 1 && weights[0].is_symmetric();
        let exact = if symmetric { Ok(known.clone()) } else { Stability::from_weights(weights) };
        RunStability { exact, first: known }
    }

    /// What `method` is to be analysed with.
    ///
    /// # Errors
    /// If the method tracks, and the graph is too large to say whether that is stable.
    pub fn of(&self, method: &Method) -> Result<&Stability, StabilityError> {
        match &self.exact {
            Ok(stability) => Ok(stability),
            Err(error) if method.name.tracks() => Err(error.clone()),
            Err(_) => Ok(&self.first),
        }
    }
}
