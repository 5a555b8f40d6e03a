//! What is known before a run: is it stable, how fast is consensus, which mu is best?
//!
//! Without gradients every method here is linear, and the eigenvectors of W do not mix. A
//! disagreement along one eigenvector, a *mode* with eigenvalue `l`, evolves independently by a
//! small matrix ([`modes`]). A run is stable if every mode shrinks. Directed graphs have complex
//! modes. Graphs that take turns have modes in common if all of them are shifted copies of
//! one row; of others the whole map of a period is computed.
//!
//! ```text
//! W ─► eigenvalues ─► modes ─► Jury's criterion ─► largest mu, rate, best mu ─► verdict
//!  └─► map of a period, squared ─┘               └► mu = auto, gamma = auto
//! ```
//!
//! ```
//! use consort_graph::{GraphSpec, MixingSpec, Spectrum};
//! use consort_theory::{Analysis, Question};
//!
//! let topology = "ring:16".parse::<GraphSpec>()?.build(0)?;
//! let w = MixingSpec::Auto.build(topology.at(0))?;
//! let question = Question::new("gut:mu=0.9,reading=printed".parse()?);
//! let analysis = Analysis::new(&question, &Spectrum::new(&w)?);
//! assert!(!analysis.stable); // the printed Algorithm 1 diverges at the paper's mu
//! assert!((analysis.largest_stable_mu.unwrap() - 0.2).abs() < 0.002);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod admission;
mod analysis;
mod automatic;
mod complex_roots;
mod compression;
mod gain;
mod jury;
pub mod modes;
mod period_map;
mod relay;
mod round_map;
mod run_stability;
mod stability;
mod theorem;

pub use admission::{AdmissionError, admit, graph_of};
pub use analysis::{Analysis, Question};
pub use automatic::{Resolved, resolve, resolve_on, resolve_within};
pub use compression::usual_gamma;
pub use gain::average_gain;
pub use relay::Relay;
pub use run_stability::RunStability;
pub use stability::{Stability, StabilityError};
pub use theorem::{ProblemConstants, Theorem1};
