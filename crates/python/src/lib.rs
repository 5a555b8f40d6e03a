//! The half of the Python package `consort` that is written in Rust; `python/consort` is the other.
//!
//! ```text
//!   graph.rs      consort.graph(...): who talks to whom, spectrum, picture
//!   analysis.rs   consort.analyze(...), consort.methods()
//!   agent.rs      consort.Agent: the state machine itself
//!   simulate.rs   consort.simulate(...): all agents in this process, gradients from Python
//!   method.rs     a method written in Python, for both
//!   training.rs   consort.train(...): a whole run from a configuration
//!   datasets.rs   consort.dataset(...), consort.partition(...): arrays
//!   session.rs    one agent over the network, driven by a training loop; plan.rs has its keys and
//!                 addresses, watch.rs what it does while it waits
//! ```
//!
//! Arrays are NumPy's and are read and written in place. Everything that may take long runs
//! without Python's lock and looks for Ctrl-C a few times a second.

#![allow(clippy::disallowed_methods, reason = "like the command line, Python's half has the clock")]

mod agent;
mod analysis;
mod datasets;
mod errors;
mod graph;
mod method;
mod plan;
mod session;
mod simulate;
mod training;
mod watch;

use pyo3::prelude::*;

/// Consort's core. Use the package `consort`.
#[pymodule]
mod _consort {
    #[pymodule_export]
    use super::agent::Agent;
    #[pymodule_export]
    use super::analysis::{analyze, methods};
    #[pymodule_export]
    use super::datasets::{dataset, partition};
    #[pymodule_export]
    use super::errors::{ConsortError, NotFinite};
    #[pymodule_export]
    use super::graph::Graph;
    #[pymodule_export]
    use super::plan::{free_port, make_key, public_key, read_key_file, read_plan};
    #[pymodule_export]
    use super::session::Session;
    #[pymodule_export]
    use super::simulate::simulate;
    #[pymodule_export]
    use super::training::{Problem, train};
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
