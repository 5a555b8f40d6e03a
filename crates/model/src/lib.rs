//! Models described by data.
//!
//! A model is a list of layers ([`ModelSpec`]), built in ([`zoo`]) or written by the user in
//! TOML. From the list follow the shapes of all activations and the parameters: one flat
//! vector with named views, in PyTorch's names and layouts, so that safetensors files go
//! both ways.
//!
//! ```text
//! TOML or zoo ─► ModelSpec ─► Parameters (names, shapes, offsets) ─► init(seed) ─► flat f32
//!                  └► Engine: loss and gradient of a batch          └► safetensors ◄─► torch
//! ```
//!
//! ```
//! let spec = consort_model::zoo::lenet5();
//! let parameters = consort_model::Parameters::new(&spec)?;
//! assert_eq!(parameters.len(), 61_706);
//! let x0 = parameters.initial(1);
//! assert_eq!(x0.len(), 61_706);
//! # Ok::<(), consort_model::ModelError>(())
//! ```

mod description;
mod engine;
mod error;
mod exchange;
mod facts;
mod init;
mod layer;
mod layer_kinds;
mod normal;
mod parameters;
mod spec;
pub mod zoo;

pub use consort_kernel::Isa;
pub use consort_kernel::conv::ConvAlgorithm;
pub use description::TEMPLATE;
pub use engine::{Answers, Engine, Moment, NonFinite, Pass};
pub use error::ModelError;
pub use exchange::{load_safetensors, read_metadata, save_safetensors};
pub use facts::LayerFacts;
pub use init::Init;
pub use layer::{EvoNormForm, Layer};
pub use layer_kinds::{KeyValue, LAYER_KINDS, LayerKey, LayerKind};
pub use parameters::{Initial, Parameter, Parameters};
pub use spec::{Extent, ModelSpec};
