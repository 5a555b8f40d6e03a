//! A method as the user names it: `qg-gutm`, or `qg-gutm:mu=0.05,reading=printed`.
//!
//! Enums outside, types inside: configuration and command line use the enums of this module,
//! and `build` turns them into the [`Algorithm`](crate::Algorithm) type whose loop has no
//! branches.

mod build;
mod catalogue;
mod compression;
mod error;
mod facts;
mod optimizer;
mod parameters;
mod parse;
mod site;
mod staged;

pub use catalogue::CATALOGUE;
pub use compression::Compression;
pub use error::MethodError;
pub use facts::{
    GradientsPerRound, GraphNeeds, LostMessage, MethodInfo, MomentumOn, ParameterInfo, Recursion,
};
pub use optimizer::Optimizer;
pub use site::Site;
pub use staged::RoundTraffic;

use crate::algorithms::MissingModels;

/// The methods, by the paper's names ([`as_str`](MethodName::as_str) is the name on the command
/// line). A `match` on a method lists all of them, so that the compiler points out every place
/// that a new method must be added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MethodName {
    /// Decentralized SGD.
    Dsgd,
    /// DSGD with local heavy-ball momentum.
    Dsgdm,
    /// DSGD with local Nesterov momentum.
    DsgdmN,
    /// DSGD with quasi-global momentum.
    QgDsgdm,
    /// DSGD with quasi-global Nesterov momentum.
    QgDsgdmN,
    /// Global Update Tracking.
    Gut,
    /// GUT on the local momentum.
    Gutm,
    /// GUT on the local Nesterov momentum.
    GutmN,
    /// GUT with momentum on the tracked update.
    QgGutm,
    /// GUT with Nesterov momentum on the tracked update.
    QgGutmN,
    /// GUT with mu = 1 and the averaging rate that keeps it stable.
    ExactGut,
    /// The paper's first ablation rule.
    RuleA,
    /// The paper's second ablation rule.
    RuleB,
    /// Gradient tracking.
    Gt,
    /// D².
    D2,
    /// Exact diffusion.
    Ed,
    /// Exact diffusion with momentum.
    Edm,
    /// DecentLaM: momentum on the DSGD update.
    DecentLam,
    /// Momentum Tracking.
    Mt,
    /// Stochastic Gradient Push.
    Sgp,
    /// SGP with local heavy-ball momentum.
    Sgpm,
    /// SGP with local Nesterov momentum.
    SgpmN,
    /// GUT on push-sum.
    GutSgp,
    /// GUT on push-sum with momentum on the tracked update.
    QgGutmSgp,
    /// GUT on push-sum with Nesterov momentum on the tracked update.
    QgGutmSgpN,

    /// CHOCO-SGD: DSGD with coded messages.
    Choco,
    /// CHOCO-SGD with local heavy-ball momentum.
    Chocom,
    /// CHOCO-SGD with local Nesterov momentum.
    ChocomN,
    /// CHOCO-SGD whose consensus step adapts itself.
    AdaGossip,
    /// GUT with coded messages.
    Cgut,
    /// QG-GUTm with coded messages.
    QgCgutm,
    /// QG-GUTm-N with coded messages.
    QgCgutmN,
    /// RelaySGD: models are relayed along a tree.
    RelaySgd,
    /// RelaySGD with local heavy-ball momentum.
    RelaySgdm,
    /// RelaySGD with local Nesterov momentum.
    RelaySgdmN,
    /// Cross-Gradient Aggregation.
    Cga,
    /// CGA with coded gradients.
    CompCga,
    /// Neighborhood Gradient Clustering.
    Ngc,
    /// NGC with coded gradients.
    CompNgc,
    /// Gradient tracking with local steps.
    KGt,
    /// Exact diffusion with local steps.
    Led,
    /// Centralised SGD.
    Sgd,
    /// Centralised SGD with heavy-ball momentum.
    Sgdm,
    /// Centralised SGD with Nesterov momentum.
    SgdmN,
    /// Centralised SGD that averages after several steps.
    LocalSgd,
}

/// A number, or `auto`: chosen before a run from the spectrum of the mixing matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tunable {
    /// Chosen before the run starts.
    Auto,
    /// Given.
    Value(f64),
}

/// Which of the three versions of GUT is meant (see the header of `gut.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// As the algorithms of the paper are printed.
    Printed,
    /// As the paper's "PyTorch" algorithm is printed.
    PrintedPytorch,
    /// As the authors ran it; reproduces the paper's tables.
    Released,
}

/// Where the gradient is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GradientAt {
    /// At the mixed model `s_i = Σ_j w_ij x_j`.
    Mixed,
    /// At the agent's own model `x_i`.
    Local,
}

/// What GUT keeps of its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Only their weighted sum: O(1) memory.
    Sum,
    /// A copy of every neighbour's model, as Algorithm 1 prints it.
    Copies,
}

/// Which momentum "quasi-global" means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Heavy ball on the whole update: the paper's algorithms and tables.
    HeavyBall,
    /// The original quasi-global momentum (eq. qgm); produced the consensus figure.
    QuasiGlobal,
    /// The momentum of the consensus equation as printed (eq. ac_qggut).
    OwnMoves,
}

/// Whether a method mixes its step too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Adapt then combine: `x <- W (x - eta y)`. CHOCO-SGD's ICML paper: send, then mix.
    Atc,
    /// Adapt while combining: `x <- W x - eta y`. CHOCO-SGD's released codes: mix, then send.
    Awc,
}

/// What Momentum Tracking starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackingStart {
    /// Nothing: the first direction is the agent's own gradient.
    Zero,
    /// The agent's first gradient less the mean of all agents', as its paper prints it: the first
    /// direction is that mean.
    Average,
}

/// A method with all its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Method {
    /// Which one.
    pub name: MethodName,
    /// The tracking scale.
    pub mu: Tunable,
    /// The momentum coefficient.
    pub beta: f64,
    /// The decay of the original quasi-global momentum; `None` means `beta`.
    pub mu_q: Option<f64>,
    /// The reading of GUT.
    pub reading: Reading,
    /// Which momentum "quasi-global" means.
    pub form: Form,
    /// Where the gradient is taken.
    pub gradient_at: GradientAt,
    /// What GUT keeps of its neighbours.
    pub memory: Memory,
    /// The averaging rate: `W <- (1-gamma) I + gamma W`.
    pub gamma: Tunable,
    /// Whether gradient and momentum tracking mix the step too.
    pub order: Order,
    /// What Momentum Tracking starts from.
    pub start: TrackingStart,
    /// What a message is made of, for the methods that code them.
    pub codec: Compression,
    /// How slowly AdaGossip forgets the differences it has seen.
    pub decay: f64,
    /// Gradients between two exchanges.
    pub steps: u32,
    /// What makes a direction of a local gradient.
    pub optimizer: Optimizer,
    /// What stands for models that RelaySGD has not relayed yet.
    pub missing: MissingModels,
    /// NGC's share of the neighbours' gradients at the own model.
    pub alpha: f64,
    /// K-GT's step size of the exchange, relative to the local one.
    pub outer: f64,
    /// LED's dual step, relative to `1/steps`.
    pub dual: f64,
}

impl Method {
    /// The method with the defaults of the catalogue.
    pub fn new(name: MethodName) -> Self {
        let info = name.info();
        Method {
            name,
            mu: Tunable::Value(info.default_mu),
            beta: if name.has_momentum() { 0.9 } else { 0.0 },
            mu_q: None,
            reading: Reading::Released,
            form: Form::HeavyBall,
            gradient_at: name.default_place(),
            memory: Memory::Sum,
            gamma: info.default_gamma,
            // As in the paper of each.
            order: if name == MethodName::Mt { Order::Awc } else { Order::Atc },
            start: TrackingStart::Zero,
            codec: name.default_codec(),
            decay: 0.999,
            steps: name.default_steps(),
            optimizer: Optimizer::Sgd,
            missing: MissingModels::Own,
            alpha: 1.0,
            outer: 1.0,
            dual: 1.0,
        }
    }

    /// Its row of the catalogue.
    pub fn info(&self) -> &'static MethodInfo {
        self.name.info()
    }

    /// The averaging rate that W is to be given, once gamma is a number: gamma, but 1 where gamma
    /// acts inside the method ([`MethodName::steps_by_gamma`]).
    pub fn averaging_rate(&self) -> Option<f64> {
        match self.gamma {
            _ if self.name.steps_by_gamma() => Some(1.0),
            Tunable::Value(gamma) => Some(gamma),
            Tunable::Auto => None,
        }
    }

    /// True if every coordinate of the model evolves by itself, so that a model may be cut into
    /// pieces. A codec looks at all of them, and trees that take turns share them out.
    pub fn treats_coordinates_alone(&self) -> bool {
        self.codec == Compression::None && self.info().needs != GraphNeeds::Trees
    }

    /// How many mini-batches an agent takes in a round.
    pub fn batches_per_round(&self) -> u32 {
        match self.info().gradients {
            GradientsPerRound::One | GradientsPerRound::Steps => self.steps,
            GradientsPerRound::Neighbourhood => 1,
        }
    }

    /// True if it must be told, before it starts, by how much an agent's first gradient differs
    /// from the mean over all agents ([`Site::with_first_gradient`]).
    pub fn starts_from_first_gradients(&self) -> bool {
        self.start == TrackingStart::Average
    }

    /// True if what a lost message leaves behind fades, so that a run can go on without it.
    pub fn forgets_lost_messages(&self) -> bool {
        match self.info().lost_message {
            LostMessage::Forgotten => true,
            LostMessage::FadesByMu => self.mu != Tunable::Value(1.0),
            LostMessage::Remembered | LostMessage::LosesWeight => false,
        }
    }
}

impl MethodName {
    /// Its row of the catalogue.
    pub fn info(self) -> &'static MethodInfo {
        // A test checks that the catalogue lists every name in the order of the enum.
        &CATALOGUE[self as usize]
    }

    /// The name on the command line, such as `qg-gutm-n`.
    pub fn as_str(self) -> &'static str {
        self.info().name
    }

    /// True if it adds a share mu of the neighbourhood's update.
    pub fn tracks(self) -> bool {
        self.info().tracks
    }

    /// True if beta is a parameter.
    pub fn has_momentum(self) -> bool {
        self.info().momentum != MomentumOn::Nothing
    }

    /// True if the momentum is on the update, gossip included, not on the gradient.
    pub fn has_global_momentum(self) -> bool {
        self.info().momentum == MomentumOn::Update
    }

    /// True if it divides by a push-sum weight: it needs columns that sum to 1, and its rows come
    /// from [`Row::from_columns`](crate::Row::from_columns).
    pub fn is_push_sum(self) -> bool {
        self.info().needs == GraphNeeds::ColumnStochastic
    }

    /// True if messages go through a codec.
    pub fn codes_messages(self) -> bool {
        self.info().parameters().any(|parameter| parameter.name == "codec")
    }

    /// The codec it has unless another is named. Tracking bears no rougher one at full scale.
    fn default_codec(self) -> Compression {
        match (self.codes_messages(), self.tracks()) {
            (false, _) => Compression::None,
            (true, false) => Compression::Sign,
            (true, true) => Compression::Quantize(4),
        }
    }

    /// Where its gradient is taken unless another place is named: CGA's authors take it at the own
    /// model.
    fn default_place(self) -> GradientAt {
        match self {
            MethodName::Cga | MethodName::CompCga => GradientAt::Local,
            _ => GradientAt::Mixed,
        }
    }

    /// How many local steps it has unless another number is named.
    fn default_steps(self) -> u32 {
        match self {
            MethodName::KGt | MethodName::Led | MethodName::LocalSgd => 4,
            _ => 1,
        }
    }

    /// True if gamma acts inside the method instead of being the averaging rate of W.
    pub fn steps_by_gamma(self) -> bool {
        self == MethodName::AdaGossip
    }

    /// True for the versions with Nesterov's look-ahead.
    pub fn is_nesterov(self) -> bool {
        self.info().nesterov
    }

    /// The version with Nesterov's look-ahead, or the one without; `None` if there is none.
    pub fn with_nesterov(self, nesterov: bool) -> Option<Self> {
        let stem = |info: &MethodInfo| info.name.trim_end_matches("-n");
        let wanted =
            |other: &&MethodInfo| stem(other) == stem(self.info()) && other.nesterov == nesterov;
        CATALOGUE.iter().find(wanted).map(|info| info.id)
    }
}
