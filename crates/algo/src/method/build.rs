//! From a [`Method`] to the type that runs it: `4 + N` matches instead of `4 x N`.

use alloc::boxed::Box;

use super::{
    Form, GradientAt, GradientsPerRound, Memory, Method, MethodError, MethodName, Order, Reading,
    Tunable,
};
use crate::Algorithm;
use crate::algorithms::{AdaGossip, Choco, CompressedGut};
use crate::algorithms::{
    Atc, Awc, D2, DecentLam, Dsgd, DsgdLocal, ExactDiffusion, ExactPull, GradientTracking, Gut,
    GutCopies, MomentumTracking, Printed, Pull, QgDsgdm, Qgm, ReadingKind, Released, RoundedPull,
    RuleA, RuleB, StepOrder,
};
use crate::algorithms::{GutSgp, QgGutmSgp, Sgp};
use crate::momentum::{
    Average, AverageNesterov, HeavyBall, Momentum, Nesterov, OwnMoves, Plain, QuasiGlobal,
    QuasiGlobalNesterov,
};

type Built = Result<Box<dyn Algorithm>, MethodError>;

impl Method {
    /// The algorithm at an agent that starts from `x0` and hears `senders` agents,
    /// itself included.
    ///
    /// The averaging rate gamma is not used here: it belongs to W
    /// ([`averaging_rate`](Method::averaging_rate)).
    ///
    /// # Errors
    /// If parameters do not go together or are not resolved, or if a round is more than one
    /// gradient and one message to all: [`build_staged`](Method::build_staged) builds any method.
    pub fn build(&self, x0: &[f32], senders: usize) -> Built {
        if self.wraps_local_steps() || self.starts_from_first_gradients() {
            return Err(MethodError::InStages { method: self.name.as_str() });
        }
        self.build_without_local_steps(x0, senders)
    }

    /// [`build`](Method::build) for one gradient a round, whatever `steps` and `optimizer` say.
    pub(super) fn build_without_local_steps(&self, x0: &[f32], senders: usize) -> Built {
        self.check()?;
        let beta = self.beta as f32;
        match self.name {
            // With equal weights over all, DSGD is SGD on the mean loss.
            MethodName::Sgd | MethodName::LocalSgd => Ok(Box::new(Dsgd::new(x0, Plain))),
            MethodName::Sgdm => Ok(Box::new(Dsgd::new(x0, HeavyBall { beta }))),
            MethodName::SgdmN => Ok(Box::new(Dsgd::new(x0, Nesterov { beta }))),
            MethodName::Dsgd => Ok(self.dsgd(x0, Plain)),
            MethodName::Dsgdm => Ok(self.dsgd(x0, HeavyBall { beta })),
            MethodName::DsgdmN => Ok(self.dsgd(x0, Nesterov { beta })),
            MethodName::QgDsgdm | MethodName::QgDsgdmN => Ok(self.qg_dsgdm(x0)),
            MethodName::Gut | MethodName::ExactGut => self.gut(x0, senders, Plain, Plain),
            MethodName::Gutm => self.gut(x0, senders, HeavyBall { beta }, Plain),
            MethodName::GutmN => self.gut(x0, senders, Nesterov { beta }, Plain),
            MethodName::QgGutm | MethodName::QgGutmN => self.qg_gutm(x0, senders),
            MethodName::RuleA => Ok(Box::new(RuleA::new(x0, self.mu()?, self.gradient_at))),
            MethodName::RuleB => Ok(Box::new(RuleB::new(x0, self.mu()?, self.gradient_at))),
            MethodName::Gt => Ok(self.gradient_tracking(x0)),
            MethodName::D2 => Ok(Box::new(D2::new(x0))),
            MethodName::Ed => Ok(Box::new(ExactDiffusion::new(x0, Plain))),
            MethodName::Edm => Ok(Box::new(ExactDiffusion::new(x0, Average { beta }))),
            MethodName::DecentLam => Ok(Box::new(DecentLam::new(x0, beta))),
            MethodName::Mt => Ok(self.momentum_tracking(x0, None)),
            MethodName::Sgp => Ok(Box::new(Sgp::new(x0, Plain))),
            MethodName::Sgpm => Ok(Box::new(Sgp::new(x0, HeavyBall { beta }))),
            MethodName::SgpmN => Ok(Box::new(Sgp::new(x0, Nesterov { beta }))),
            MethodName::GutSgp => Ok(Box::new(GutSgp::new(x0, self.mu()?))),
            MethodName::QgGutmSgp | MethodName::QgGutmSgpN => self.qg_gutm_sgp(x0),
            MethodName::Choco => Ok(self.choco(x0, Plain)),
            MethodName::Chocom => Ok(self.choco(x0, HeavyBall { beta })),
            MethodName::ChocomN => Ok(self.choco(x0, Nesterov { beta })),
            MethodName::AdaGossip => {
                let (gamma, codec) = (self.step_by_gamma()?, self.codec.codec());
                Ok(Box::new(AdaGossip::new(x0, gamma, self.decay, codec)))
            }
            MethodName::Cgut => self.compressed_gut(x0, Plain),
            MethodName::QgCgutm | MethodName::QgCgutmN => self.qg_cgutm(x0),
            MethodName::RelaySgd
            | MethodName::RelaySgdm
            | MethodName::RelaySgdmN
            | MethodName::Cga
            | MethodName::CompCga
            | MethodName::Ngc
            | MethodName::CompNgc
            | MethodName::KGt
            | MethodName::Led => Err(MethodError::InStages { method: self.name.as_str() }),
        }
    }

    /// Refuses parameters that contradict each other.
    pub(super) fn check(&self) -> Result<(), MethodError> {
        let method = self.name.as_str();
        let original = self.form == Form::QuasiGlobal
            && matches!(self.name, MethodName::QgDsgdm | MethodName::QgDsgdmN);
        if original && self.gradient_at == GradientAt::Local {
            let reason = "form=quasi-global takes the gradient at the mixed model; \
                          remove gradient_at=local";
            return Err(MethodError::Conflict { method, reason });
        }
        if self.form == Form::OwnMoves && self.name.is_nesterov() {
            let reason = "form=own-moves has no Nesterov version; use the name without -n";
            return Err(MethodError::Conflict { method, reason });
        }
        let tracks = matches!(self.name, MethodName::QgGutmN | MethodName::QgGutmSgpN);
        if self.form == Form::QuasiGlobal && tracks {
            // The look-ahead needs the gradient alone, which tracking has mixed with gossip.
            let reason = "form=quasi-global has no Nesterov version with tracking; use the name \
                          without -n";
            return Err(MethodError::Conflict { method, reason });
        }
        let compressed = matches!(self.name, MethodName::QgCgutm | MethodName::QgCgutmN);
        if self.form == Form::QuasiGlobal && compressed {
            let reason = "form=quasi-global follows how the neighbourhood moved, which coded \
                          messages do not tell; use heavy-ball or own-moves";
            return Err(MethodError::Conflict { method, reason });
        }
        let crossed = self.info().gradients == GradientsPerRound::Neighbourhood;
        if crossed && self.reading == Reading::PrintedPytorch {
            let reason = "there is no PyTorch listing of it; use reading=released or printed";
            return Err(MethodError::Conflict { method, reason });
        }
        if self.starts_from_first_gradients() && self.wraps_local_steps() {
            let reason = "start=average takes one plain gradient a round; remove steps and \
                          optimizer, or use start=zero";
            return Err(MethodError::Conflict { method, reason });
        }
        if self.name == MethodName::CompNgc && self.alpha == 0.0 {
            let reason = "with alpha=0 no gradients are sent, so there is nothing to compress; \
                          use ngc:alpha=0";
            return Err(MethodError::Conflict { method, reason });
        }
        Ok(())
    }

    fn dsgd<L: Momentum>(&self, x0: &[f32], local: L) -> Box<dyn Algorithm> {
        match self.gradient_at {
            GradientAt::Mixed => Box::new(Dsgd::new(x0, local)),
            GradientAt::Local => Box::new(DsgdLocal::new(x0, local)),
        }
    }

    fn qg_dsgdm(&self, x0: &[f32]) -> Box<dyn Algorithm> {
        let (beta, mu_q, at) = (self.beta as f32, self.decay(), self.gradient_at);
        match (self.form, self.name.is_nesterov()) {
            (Form::HeavyBall, false) => Box::new(QgDsgdm::new(x0, HeavyBall { beta }, at)),
            (Form::HeavyBall, true) => Box::new(QgDsgdm::new(x0, Nesterov { beta }, at)),
            (Form::QuasiGlobal, false) => Box::new(Qgm::new(x0, QuasiGlobal { beta, mu_q })),
            (Form::QuasiGlobal, true) => Box::new(Qgm::new(x0, QuasiGlobalNesterov { beta, mu_q })),
            (Form::OwnMoves, _) => Box::new(QgDsgdm::new(x0, OwnMoves { beta }, at)),
        }
    }

    /// The momentum of QG-GUTm: the printed algorithm averages, the other two add.
    fn qg_gutm(&self, x0: &[f32], senders: usize) -> Built {
        let (beta, mu_q) = (self.beta as f32, self.decay());
        match (self.form, self.reading, self.name.is_nesterov()) {
            (Form::HeavyBall, Reading::Printed, false) => {
                self.gut(x0, senders, Plain, Average { beta })
            }
            (Form::HeavyBall, Reading::Printed, true) => {
                self.gut(x0, senders, Plain, AverageNesterov { beta })
            }
            (Form::HeavyBall, _, false) => self.gut(x0, senders, Plain, HeavyBall { beta }),
            (Form::HeavyBall, _, true) => self.gut(x0, senders, Plain, Nesterov { beta }),
            (Form::QuasiGlobal, ..) => self.gut(x0, senders, Plain, QuasiGlobal { beta, mu_q }),
            (Form::OwnMoves, ..) => self.gut(x0, senders, Plain, OwnMoves { beta }),
        }
    }

    fn gut<L: Momentum, M: Momentum>(
        &self,
        x0: &[f32],
        senders: usize,
        local: L,
        momentum: M,
    ) -> Built {
        match self.reading {
            Reading::Released => self.gut_read::<L, M, Released>(x0, senders, local, momentum),
            Reading::Printed | Reading::PrintedPytorch => {
                self.gut_read::<L, M, Printed>(x0, senders, local, momentum)
            }
        }
    }

    fn gut_read<L: Momentum, M: Momentum, R: ReadingKind>(
        &self,
        x0: &[f32],
        senders: usize,
        local: L,
        momentum: M,
    ) -> Built {
        // Errors of the pull shrink by the factor mu each round. At mu = 1 they would stay.
        if self.mu()? < 1.0 {
            self.gut_pulled::<L, M, R, RoundedPull>(x0, senders, local, momentum)
        } else {
            self.gut_pulled::<L, M, R, ExactPull>(x0, senders, local, momentum)
        }
    }

    fn gut_pulled<L: Momentum, M: Momentum, R: ReadingKind, P: Pull + 'static>(
        &self,
        x0: &[f32],
        senders: usize,
        local: L,
        momentum: M,
    ) -> Built {
        let gut = Gut::<L, M, R, P>::new(x0, self.mu()?, local, momentum, self.gradient_at);
        Ok(match self.memory {
            Memory::Sum => Box::new(gut),
            Memory::Copies => Box::new(GutCopies::new(gut, senders)),
        })
    }

    fn gradient_tracking(&self, x0: &[f32]) -> Box<dyn Algorithm> {
        match self.order {
            Order::Atc => Box::new(GradientTracking::<Atc>::new(x0)),
            Order::Awc => Box::new(GradientTracking::<Awc>::new(x0)),
        }
    }

    /// `first` is by how much the agent's first gradient differs from the mean over all agents.
    pub(super) fn momentum_tracking(
        &self,
        x0: &[f32],
        first: Option<&[f32]>,
    ) -> Box<dyn Algorithm> {
        match self.order {
            Order::Atc => Box::new(self.momentum_tracking_in::<Atc>(x0, first)),
            Order::Awc => Box::new(self.momentum_tracking_in::<Awc>(x0, first)),
        }
    }

    fn momentum_tracking_in<O: StepOrder>(
        &self,
        x0: &[f32],
        first: Option<&[f32]>,
    ) -> MomentumTracking<O> {
        let plain = MomentumTracking::new(x0, self.beta as f32);
        match first {
            Some(difference) => plain.with_first_gradient(difference),
            None => plain,
        }
    }

    /// As released, so the momentum adds; all forms, as for QG-GUTm.
    fn qg_gutm_sgp(&self, x0: &[f32]) -> Built {
        let (mu, beta, mu_q) = (self.mu()?, self.beta as f32, self.decay());
        Ok(match (self.form, self.name.is_nesterov()) {
            (Form::HeavyBall, false) => Box::new(QgGutmSgp::new(x0, mu, HeavyBall { beta })),
            (Form::HeavyBall, true) => Box::new(QgGutmSgp::new(x0, mu, Nesterov { beta })),
            (Form::QuasiGlobal, _) => Box::new(QgGutmSgp::new(x0, mu, QuasiGlobal { beta, mu_q })),
            (Form::OwnMoves, _) => Box::new(QgGutmSgp::new(x0, mu, OwnMoves { beta })),
        })
    }

    fn choco<L: Momentum>(&self, x0: &[f32], local: L) -> Box<dyn Algorithm> {
        Box::new(Choco::new(x0, local, self.order, self.codec.codec()))
    }

    fn qg_cgutm(&self, x0: &[f32]) -> Built {
        let beta = self.beta as f32;
        match (self.form, self.name.is_nesterov()) {
            (Form::OwnMoves, _) => self.compressed_gut(x0, OwnMoves { beta }),
            (_, false) => self.compressed_gut(x0, HeavyBall { beta }),
            (_, true) => self.compressed_gut(x0, Nesterov { beta }),
        }
    }

    fn compressed_gut<M: Momentum>(&self, x0: &[f32], momentum: M) -> Built {
        let (mu, at, codec) = (self.mu()?, self.gradient_at, self.codec.codec());
        // As for GUT: at mu = 1 errors of the pull would stay.
        Ok(if mu < 1.0 {
            Box::new(CompressedGut::<M, RoundedPull>::new(x0, mu, momentum, at, codec))
        } else {
            Box::new(CompressedGut::<M, ExactPull>::new(x0, mu, momentum, at, codec))
        })
    }

    /// Gamma of a method that steps by it.
    fn step_by_gamma(&self) -> Result<f32, MethodError> {
        match self.gamma {
            Tunable::Value(gamma) => Ok(gamma as f32),
            Tunable::Auto => {
                Err(MethodError::Unresolved { method: self.name.as_str(), parameter: "gamma" })
            }
        }
    }

    fn mu(&self) -> Result<f32, MethodError> {
        match self.mu {
            Tunable::Value(mu) => Ok(mu as f32),
            Tunable::Auto => {
                Err(MethodError::Unresolved { method: self.name.as_str(), parameter: "mu" })
            }
        }
    }

    /// The decay of the original quasi-global momentum.
    fn decay(&self) -> f32 {
        self.mu_q.unwrap_or(self.beta) as f32
    }
}
