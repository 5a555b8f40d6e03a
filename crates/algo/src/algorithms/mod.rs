//! One method per file; each header cites its source and states the update.
//!
//! The loops are index loops over slices of one length: they read like the equations, and
//! reslicing lets the compiler drop the bounds checks and vectorise.

mod adagossip;
mod cga;
mod choco;
mod compressed_gut;
mod cross_gradients;
mod d2;
mod decentlam;
mod dsgd;
mod exact_diffusion;
mod gradient_tracking;
mod gut;
mod gut_copies;
mod gut_sgp;
mod hats;
mod k_gt;
mod led;
mod local_optimizer;
mod local_steps;
mod momentum_tracking;
mod ngc;
mod pull;
mod push_sum;
mod qg_dsgdm;
mod qg_gutm_sgp;
mod qgm;
mod relaysgd;
mod rule_a;
mod rule_b;
mod sgp;
mod square_root;
mod step_order;

pub use adagossip::AdaGossip;
pub use cga::CgaStep;
pub use choco::Choco;
pub use compressed_gut::CompressedGut;
pub use cross_gradients::{Aggregate, CrossGradients};
pub use d2::D2;
pub use decentlam::DecentLam;
pub use dsgd::{Dsgd, DsgdLocal};
pub use exact_diffusion::ExactDiffusion;
pub use gradient_tracking::GradientTracking;
pub use gut::{Gut, Printed, ReadingKind, Released};
pub use gut_copies::GutCopies;
pub use gut_sgp::GutSgp;
pub use k_gt::KGt;
pub use led::Led;
pub use local_optimizer::{AdamW, LocalOptimizer, Sgd};
pub use local_steps::LocalSteps;
pub use momentum_tracking::MomentumTracking;
pub use ngc::NgcStep;
pub use pull::{ExactPull, Pull, RoundedPull};
pub use qg_dsgdm::QgDsgdm;
pub use qg_gutm_sgp::QgGutmSgp;
pub use qgm::Qgm;
pub use relaysgd::{MissingModels, RelaySgd};
pub use rule_a::RuleA;
pub use rule_b::RuleB;
pub use sgp::Sgp;
pub use step_order::{Atc, Awc, StepOrder};

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
