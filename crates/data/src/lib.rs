//! Datasets, their partition over agents, and mini-batches that depend on a seed alone.
//!
//! ```text
//!   files ─► Dataset (train, test) ─► Partition (who holds which sample) ─► BatchSampler
//! ```

mod augment;
mod batch_sampler;
pub mod catalogue;
mod check;
mod column;
mod data_dir;
mod dataset;
mod digits;
mod error;
#[cfg(feature = "download")]
pub mod fetch;
mod folder;
pub mod formats;
mod image_reader;
mod image_store;
mod load;
mod lookup;
mod partition;
mod presence;
mod random_stream;
mod source;
mod split;
mod table;
mod target_ranges;
mod task;

pub use augment::Augmentation;
pub use batch_sampler::{BatchSampler, BatchSamplerError, EpochOrder, batches_per_epoch};
pub use check::{Damage, Inspection, check};
pub use column::{Column, ColumnKind};
pub use data_dir::DataDir;
pub use dataset::{Dataset, Normalisation, Samples};
pub use error::DataError;
pub use image_reader::{Fit, ImageReader};
pub use load::load;
pub use partition::{Heterogeneity, Partition, PartitionError, SCHEMES, Scheme, SchemeHelp};
pub use presence::{Presence, presence};
pub use source::{Augment, CsvSource, FolderSource, Source};
pub use split::stratified;
pub use task::{Target, Task};
