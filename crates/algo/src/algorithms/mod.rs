//! One method per file; each header cites its source and states the update.
//!
//! The loops are index loops over slices of one length: they read like the equations, and
//! reslicing lets the compiler drop the bounds checks and vectorise.

mod d2;
mod dsgd;
mod gradient_tracking;
mod gut;
mod gut_copies;
mod pull;
mod qg_dsgdm;
mod qgm;
mod rule_a;
mod rule_b;

mod gut_sgp;
mod push_sum;
mod qg_gutm_sgp;
mod sgp;

pub use d2::D2;
pub use dsgd::{Dsgd, DsgdLocal};
pub use gradient_tracking::GradientTracking;
pub use gut::{Gut, Printed, ReadingKind, Released};
pub use gut_copies::GutCopies;
pub use pull::{ExactPull, Pull, RoundedPull};
pub use qg_dsgdm::QgDsgdm;
pub use qgm::Qgm;
pub use rule_a::RuleA;
pub use rule_b::RuleB;

pub use gut_sgp::GutSgp;
pub use qg_gutm_sgp::QgGutmSgp;
pub use sgp::Sgp;

/// Moves a parameter by about `q` and returns how far it really moved: the difference of two
/// `f32` values, which the neighbours can add without any rounding of their own.
#[inline(always)]
fn move_by(x: &mut f32, q: f32) -> f32 {
    let before = *x;
    *x = before + q;
    *x - before
}

/// Subtracts `weight (theirs - own)`, what one neighbour contributed to a mixed model, from `x`.
fn remove_contribution(x: &mut [f32], weight: f32, theirs: &[f32], own: &[f32]) {
    let n = x.len();
    let (theirs, own) = (&theirs[..n], &own[..n]);
    for i in 0..n {
        x[i] -= weight * (theirs[i] - own[i]);
    }
}
