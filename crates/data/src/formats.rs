//! File formats: pure functions from bytes to samples. A path is for messages only, so every
//! one of them can be fuzzed (`fuzz/`), and none allocates more than its input justifies.

pub mod archive;
pub mod cifar;
pub mod csv;
pub mod gzip;
pub mod idx;
pub mod image;
mod resample;
mod signature;

pub(crate) use signature::describe;
