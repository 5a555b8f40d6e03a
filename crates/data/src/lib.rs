//! Datasets, their partition over agents, and mini-batches that depend on a seed alone.
//!
//! ```text
//!   files ─► Dataset (train, test) ─► Partition (who holds which sample) ─► BatchSampler
//! ```

mod augment;
mod batch_sampler;
pub mod catalogue;
mod check;
mod data_dir;
mod dataset;
mod digits;
mod error;
#[cfg(feature = "download")]
pub mod fetch;
mod folder;
pub mod formats;
mod image_store;
mod load;
mod lookup;
mod partition;
mod random_stream;
mod split;
mod table;

pub use augment::Augmentation;
pub use batch_sampler::{BatchSampler, BatchSamplerError, EpochOrder, batches_per_epoch};
pub use check::{Damage, Inspection, check};
pub use data_dir::DataDir;
pub use dataset::{Dataset, Normalisation, Samples};
pub use error::DataError;
pub use folder::load as load_folder;
pub use load::{is_here, load};
pub use partition::{Heterogeneity, Partition, PartitionError, SCHEMES, Scheme, SchemeHelp};
pub use split::stratified;
