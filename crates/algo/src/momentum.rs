//! How an update becomes a direction: every momentum of the paper, as a type.
//!
//! Types instead of an enum, because a `match` inside the fused loop keeps it from
//! being vectorised (2.7 times slower). `Slot` is the state per parameter; it is `()` for
//! [`Plain`], and a `Vec<()>` takes no memory.

/// Turns the update `u` of one parameter into the direction in which it moves.
pub trait Momentum: Copy + Send + Sync + 'static {
    /// The state per parameter.
    type Slot: Copy + Default + Send + Sync;

    /// The direction, given the update `u`.
    fn direct(self, slot: &mut Self::Slot, u: f32) -> f32;

    /// Updates the state with the mixed direction `Σ_j w_ij d_j` of the neighbourhood.
    fn settle(self, slot: &mut Self::Slot, mixed: f32) {
        let _ = (slot, mixed);
    }

    /// `b`: how much of the gossip part of two rounds a direction contains. GUT's bracket
    /// multiplies its reference by it.
    fn gain(self) -> f32 {
        1.0
    }

    /// The slots as numbers to save, if the momentum has a state.
    fn values(slots: &mut [Self::Slot]) -> Option<&mut [f32]>;
}

/// The items that are equal for every momentum whose state is one float per parameter.
macro_rules! one_float_per_parameter {
    () => {
        type Slot = f32;
        fn values(slots: &mut [f32]) -> Option<&mut [f32]> {
            Some(slots)
        }
    };
}

/// No momentum: `d = u`.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Momentum for Plain {
    type Slot = ();
    #[inline(always)]
    fn direct(self, _: &mut (), u: f32) -> f32 {
        u
    }
    fn values(_: &mut [()]) -> Option<&mut [f32]> {
        None
    }
}

/// Heavy ball: `m = beta m + u; d = m`.
#[derive(Clone, Copy, Debug)]
pub struct HeavyBall {
    /// The momentum coefficient.
    pub beta: f32,
}

impl Momentum for HeavyBall {
    one_float_per_parameter!();
    #[inline(always)]
    fn direct(self, m: &mut f32, u: f32) -> f32 {
        *m = self.beta * *m + u;
        *m
    }
    fn gain(self) -> f32 {
        1.0 + self.beta
    }
}

/// Nesterov: `m = beta m + u; d = u + beta m`.
#[derive(Clone, Copy, Debug)]
pub struct Nesterov {
    /// The momentum coefficient.
    pub beta: f32,
}

impl Momentum for Nesterov {
    one_float_per_parameter!();
    #[inline(always)]
    fn direct(self, m: &mut f32, u: f32) -> f32 {
        *m = self.beta * *m + u;
        u + self.beta * *m
    }
    fn gain(self) -> f32 {
        1.0 + self.beta + self.beta * self.beta
    }
}

/// Average: `m = beta m + (1-beta) u; d = m` (Algorithm QG-GUTm, line 7).
#[derive(Clone, Copy, Debug)]
pub struct Average {
    /// The momentum coefficient.
    pub beta: f32,
}

impl Momentum for Average {
    one_float_per_parameter!();
    #[inline(always)]
    fn direct(self, m: &mut f32, u: f32) -> f32 {
        *m = self.beta * *m + (1.0 - self.beta) * u;
        *m
    }
}

/// Average with Nesterov's look-ahead: `d = (1-beta) u + beta m`. The paper does not print
/// it; it is to [`Average`] what [`Nesterov`] is to [`HeavyBall`].
#[derive(Clone, Copy, Debug)]
pub struct AverageNesterov {
    /// The momentum coefficient.
    pub beta: f32,
}

impl Momentum for AverageNesterov {
    one_float_per_parameter!();
    #[inline(always)]
    fn direct(self, m: &mut f32, u: f32) -> f32 {
        let fresh = (1.0 - self.beta) * u;
        *m = self.beta * *m + fresh;
        fresh + self.beta * *m
    }
}

/// Quasi-global momentum (Lin et al., ICML 2021; the paper's eq. qgm):
/// `d = u + beta m`, then `m = mu_q m + (1-mu_q) Σ_j w_ij d_j`.
///
/// `m` follows how the *neighbourhood* moved, not the agent's own gradient.
#[derive(Clone, Copy, Debug)]
pub struct QuasiGlobal {
    /// How much of the neighbourhood's move is added to the step.
    pub beta: f32,
    /// How slowly `m` forgets; the original sets it equal to `beta`.
    pub mu_q: f32,
}

impl Momentum for QuasiGlobal {
    one_float_per_parameter!();
    #[inline(always)]
    fn direct(self, m: &mut f32, u: f32) -> f32 {
        u + self.beta * *m
    }
    #[inline(always)]
    fn settle(self, m: &mut f32, mixed: f32) {
        *m = self.mu_q * *m + (1.0 - self.mu_q) * mixed;
    }
}

/// Quasi-global momentum with Nesterov's look-ahead: `d = u + beta (u + beta m)`.
#[derive(Clone, Copy, Debug)]
pub struct QuasiGlobalNesterov {
    /// How much of the neighbourhood's move is added to the step.
    pub beta: f32,
    /// How slowly `m` forgets.
    pub mu_q: f32,
}

impl Momentum for QuasiGlobalNesterov {
    one_float_per_parameter!();
    #[inline(always)]
    fn direct(self, m: &mut f32, u: f32) -> f32 {
        u + self.beta * (u + self.beta * *m)
    }
    #[inline(always)]
    fn settle(self, m: &mut f32, mixed: f32) {
        *m = self.mu_q * *m + (1.0 - self.mu_q) * mixed;
    }
}

/// The momentum of the consensus section as printed (eq. ac_qggut):
/// `d = beta m + (1-beta) u`, then `m = beta m + (1-beta) d`, on the agent's own moves.
#[derive(Clone, Copy, Debug)]
pub struct OwnMoves {
    /// The momentum coefficient.
    pub beta: f32,
}

impl Momentum for OwnMoves {
    one_float_per_parameter!();
    #[inline(always)]
    fn direct(self, m: &mut f32, u: f32) -> f32 {
        let d = self.beta * *m + (1.0 - self.beta) * u;
        *m = self.beta * *m + (1.0 - self.beta) * d;
        d
    }
}
