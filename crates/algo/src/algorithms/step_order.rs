//! The two orders of a step and of mixing, as types, so that the loops have no branch.
//!
//! ```text
//! Atc, adapt then combine:        x <- W (x - eta d)
//! Awc, adapt while combining:     x <- W x - eta d
//! ```

/// Whether the step is mixed too.
pub trait StepOrder: Copy + Send + Sync + 'static {
    /// True if the step comes first, so that the stepped model is sent.
    const STEP_FIRST: bool;
}

/// Adapt then combine.
#[derive(Clone, Copy, Debug)]
pub struct Atc;

/// Adapt while combining.
#[derive(Clone, Copy, Debug)]
pub struct Awc;

impl StepOrder for Atc {
    const STEP_FIRST: bool = true;
}

impl StepOrder for Awc {
    const STEP_FIRST: bool = false;
}
