//! From a [`Method`] to what a driver runs: any method, local steps included.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{Method, MethodError, MethodName, Optimizer, Reading, Site};
use crate::algorithms::{
    AdamW, CgaStep, CrossGradients, KGt, Led, LocalSteps, NgcStep, RelaySgd, Sgd,
};
use crate::momentum::{HeavyBall, Momentum, Nesterov, Plain};
use crate::{Exchange, OneExchange, Row, StagedAlgorithm};

/// What an agent sends to each neighbour in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTraffic {
    /// 32-bit words, in each phase of the graph that a round passes.
    pub words_per_phase: usize,
    /// How many phases a round passes.
    pub phases_per_round: usize,
}

impl RoundTraffic {
    /// 32-bit words of a round, to a neighbour in every phase.
    pub fn words(&self) -> usize {
        self.words_per_phase * self.phases_per_round
    }
}

type Built = Box<dyn StagedAlgorithm>;

impl Method {
    /// The method at an agent that starts from `x0`, for a driver.
    ///
    /// The averaging rate gamma is not used here: it belongs to W
    /// ([`averaging_rate`](Method::averaging_rate)).
    ///
    /// # Errors
    /// If parameters do not go together or are not resolved, or the method has to know what
    /// `site` does not say.
    pub fn build_staged(&self, x0: &[f32], site: &Site<'_>) -> Result<Built, MethodError> {
        self.check()?;
        let beta = self.beta as f32;
        let method: Built = match self.name {
            MethodName::RelaySgd => self.relaysgd(x0, site, Plain),
            MethodName::RelaySgdm => self.relaysgd(x0, site, HeavyBall { beta }),
            MethodName::RelaySgdmN => self.relaysgd(x0, site, Nesterov { beta }),
            MethodName::Cga | MethodName::CompCga => self.cga(x0, site),
            MethodName::Ngc | MethodName::CompNgc if self.alpha == 0.0 => {
                self.ngc::<false>(x0, site)
            }
            MethodName::Ngc | MethodName::CompNgc => self.ngc::<true>(x0, site),
            MethodName::KGt => Box::new(KGt::new(x0, self.steps as usize, self.outer as f32)),
            MethodName::Led => {
                let steps = self.steps as usize;
                Box::new(Led::new(x0, steps, (self.dual / f64::from(self.steps)) as f32))
            }
            MethodName::Mt if self.starts_from_first_gradients() => {
                let method = self.name.as_str();
                let first = site.first_gradient.ok_or(MethodError::FirstGradients { method })?;
                Box::new(OneExchange::new(self.momentum_tracking(x0, Some(first))))
            }
            _ => {
                let one = self.build_without_local_steps(x0, site.senders())?;
                Box::new(OneExchange::new(one))
            }
        };
        if !self.wraps_local_steps() {
            return Ok(method);
        }
        let steps = self.steps as usize;
        Ok(match self.optimizer {
            Optimizer::Sgd => Box::new(LocalSteps::new(method, steps, Sgd)),
            Optimizer::AdamW { decay, beta1, beta2 } => {
                let adamw = AdamW::new(x0.len(), beta1 as f32, beta2 as f32, decay as f32);
                Box::new(LocalSteps::new(method, steps, adamw))
            }
        })
    }

    /// What an agent sends to a neighbour in a round, for a model of that many parameters on a
    /// graph with that many phases.
    ///
    /// # Errors
    /// If the method cannot be built.
    pub fn traffic(&self, parameters: usize, phases: usize) -> Result<RoundTraffic, MethodError> {
        let built = self.anywhere(parameters, phases)?;
        let words: usize = built.exchanges().iter().map(|exchange| exchange.words).sum();
        let phases_per_round = built.phases_per_round();
        Ok(RoundTraffic { words_per_phase: words / phases_per_round, phases_per_round })
    }

    /// The exchanges of a round, for a model of that many parameters on a graph with that many
    /// phases.
    ///
    /// # Errors
    /// If the method cannot be built.
    pub fn exchanges(
        &self,
        parameters: usize,
        phases: usize,
    ) -> Result<Vec<Exchange>, MethodError> {
        Ok(self.anywhere(parameters, phases)?.exchanges().to_vec())
    }

    /// At an agent with one neighbour: messages are the same whoever is heard.
    fn anywhere(&self, parameters: usize, phases: usize) -> Result<Built, MethodError> {
        let rows = alloc::vec![Row::new(0, [(1, 0.5)]); phases];
        let zeros = alloc::vec![0.0; parameters];
        self.build_staged(&zeros, &Site::new(2, &rows).with_first_gradient(&zeros))
    }

    /// True if local steps or an optimizer stand before the method, which takes one gradient.
    pub(super) fn wraps_local_steps(&self) -> bool {
        let own = matches!(self.name, MethodName::KGt | MethodName::Led);
        !own && (self.steps != 1 || self.optimizer != Optimizer::Sgd)
    }

    fn relaysgd<L: Momentum>(&self, x0: &[f32], site: &Site<'_>, local: L) -> Built {
        Box::new(RelaySgd::new(x0, local, self.missing, site.agents, site.rows))
    }

    /// The bound on v is 0 as printed and 0.5 in the authors' code.
    fn cga(&self, x0: &[f32], site: &Site<'_>) -> Built {
        let bound = if self.reading == Reading::Released { 0.5 } else { 0.0 };
        let tensors: Vec<usize> = site.tensors_of(x0.len());
        let (beta, at) = (self.beta as f32, self.gradient_at);
        let step = CgaStep::new(beta, bound, at, &tensors, site.senders());
        Box::new(CrossGradients::new(x0, site.row(), step, self.gradient_codec()))
    }

    fn ngc<const HEARS: bool>(&self, x0: &[f32], site: &Site<'_>) -> Built {
        let (weights, printed) = (site.row().weights(), self.reading != Reading::Released);
        let (alpha, beta) = (self.alpha as f32, self.beta as f32);
        let step = NgcStep::<HEARS>::new(x0.len(), weights, alpha, beta, printed);
        Box::new(CrossGradients::new(x0, site.row(), step, self.gradient_codec()))
    }

    /// The codec of cross-gradients, for the methods that have one.
    fn gradient_codec(&self) -> Option<Box<dyn crate::codec::Codec>> {
        self.name.codes_messages().then(|| self.codec.codec())
    }
}
