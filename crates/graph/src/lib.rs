//! Who talks to whom, and with which weight: graphs, mixing matrices, spectra.
//!
//! ```text
//! "torus:4x8" ─► GraphSpec ─► Topology ─► GraphFacts       size, degrees, diameter, girth
//!                     │           │ ├────► Layout           where to draw whom
//!              seed ──┘           │ └────► Graph (a phase)
//! "auto" ──────► MixingSpec ─────┴─► MixingMatrix ─► Spectrum   gap, lambda_2, lambda_min
//!                                    a period of them ─► PeriodFacts   exact averaging?
//! ```
//!
//! Left is what people type, right is what algorithms, theory and pictures use.
//! The same text and seed give the same bits on every machine; there is no
//! clock, no thread and no output here, and files are read only where one is named.
//!
//! ```
//! use consort_graph::{GraphFacts, GraphSpec, MixingSpec, Spectrum};
//!
//! let topology = "torus:4x8".parse::<GraphSpec>()?.build(0)?;
//! assert_eq!(GraphFacts::new(&topology).diameter, Some(6));
//!
//! let weights = MixingSpec::Auto.build(topology.at(0))?;
//! weights.require_doubly_stochastic()?;
//!
//! let spectrum = Spectrum::new(&weights)?;
//! assert!((spectrum.gap - 0.11716).abs() < 5e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod catalogue;
mod distances;
mod error;
mod facts;
mod families;
mod files;
mod graph;
mod layout;
mod mixing;
mod mixing_check;
mod mixing_error;
mod mixing_file;
mod mixing_spec;
mod size;
mod spec;
mod spec_parse;
mod spec_text;
mod spectrum;
mod symmetry;
mod topology;

pub use catalogue::KindHelp;
pub use error::GraphError;
pub use facts::GraphFacts;
pub use graph::Graph;
pub use layout::{DrawnEdge, EdgeShape, Layout};
pub use mixing::MixingMatrix;
pub use mixing_check::Stochastic;
pub use mixing_error::MixingError;
pub use mixing_spec::MixingSpec;
pub use size::{MAX_AGENTS, MAX_ARCS, MAX_FILE_BYTES};
pub use spec::GraphSpec;
pub use spectrum::{
    JointEigenvalues, PeriodFacts, Spectrum, SpectrumError, SpectrumMethod, TYPICAL_DECAY,
    effective_neighbours, joint_eigenvalues, product_gap,
};
pub use topology::{DEFAULT_PHASES, Topology};
