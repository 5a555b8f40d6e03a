//! What every method is, sends, keeps and needs: the one place for facts of a method, and the
//! table behind `consort methods`.

use super::{Compression, MethodName, Tunable};

/// One row of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct MethodInfo {
    /// Which method.
    pub id: MethodName,
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in papers.
    pub title: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its update, in the paper's symbols; `'` is the previous round.
    pub update: &'static str,
    /// What a message holds.
    pub sends: &'static str,
    /// Traffic relative to DSGD.
    pub traffic: u32,
    /// Memory in models, with default parameters and without messages.
    pub memory: u32,
    /// The graphs it accepts.
    pub needs: GraphNeeds,
    /// What its momentum acts on.
    pub momentum: MomentumOn,
    /// True for a version with Nesterov's look-ahead; its name ends in `-n`.
    pub nesterov: bool,
    /// True if it adds a share mu of the neighbourhood's update.
    pub tracks: bool,
    /// The default of mu; 0 for methods that do not track.
    pub default_mu: f64,
    /// The default of the averaging rate gamma.
    pub default_gamma: Tunable,
    /// How one mode of disagreement evolves under it.
    pub recursion: Recursion,
    /// What a lost message leaves behind.
    pub lost_message: LostMessage,
    /// Which of the `PARAMETERS` it has, by name.
    accepts: &'static [&'static str],
}

/// What a method requires of the graph and its weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphNeeds {
    /// Doubly stochastic weights; directed and time-varying graphs are fine.
    DoublyStochastic,
    /// A fixed, undirected graph with symmetric, doubly stochastic weights.
    FixedSymmetric,
    /// The same, and the smallest eigenvalue above -1/3.
    FixedSymmetricAboveMinusThird,
    /// Weights whose columns sum to 1, rows need not; directed and time-varying graphs are fine.
    ColumnStochastic,
}

/// What momentum acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentumOn {
    /// The method has no momentum.
    Nothing,
    /// The agent's own gradient.
    Gradient,
    /// The agent's own gradient, as a mean of the past instead of a sum.
    GradientMean,
    /// The whole update, gossip included.
    Update,
}

/// How one mode of disagreement evolves under a method, without gradients. The analysis before a
/// run has the equation of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recursion {
    /// `x <- l x`. Momentum on the gradient does not change it, and neither does tracking the
    /// gradient.
    Gossip,
    /// D² and exact diffusion: `x <- l (2x - x')`.
    D2,
    /// Momentum on the update.
    UpdateMomentum,
    /// The family of GUT.
    Gut,
    /// The first ablation rule.
    RuleA,
    /// The second ablation rule.
    RuleB,
    /// GUT on push-sum, in terms of the mixed model.
    PushGut,
    /// `x <- x - a (1-l) x`, with an `a` of up to 1 of its own for every parameter and agent, so
    /// that there are no modes; analysed with `a = 1`.
    AdaptiveGossip,
}

/// What a message that is lost on the way leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostMessage {
    /// Nothing: the method recovers.
    Forgotten,
    /// An error that shrinks by the factor mu a round, so it stays if mu is 1.
    FadesByMu,
    /// An error that stays for the rest of the run.
    Remembered,
    /// Less push-sum weight, for the rest of the run.
    LosesWeight,
}

impl LostMessage {
    /// Why a run cannot go on without a message; `None` if it can.
    pub fn forbids(self) -> Option<&'static str> {
        match self {
            Self::Forgotten => None,
            Self::FadesByMu => Some("at mu = 1 its tracker never forgets a lost message"),
            Self::Remembered => Some("it never forgets a lost message"),
            Self::LosesWeight => Some(
                "a lost message takes its share of the model and of the push-sum weight with it, \
                 and the receiver cannot make up for that: what a column lacks is the sender's",
            ),
        }
    }
}

/// A parameter of a method.
#[derive(Clone, Copy, Debug)]
pub struct ParameterInfo {
    /// Its name.
    pub name: &'static str,
    /// What it accepts.
    pub range: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

impl MethodInfo {
    /// The parameters it accepts.
    pub fn parameters(&self) -> impl Iterator<Item = &'static ParameterInfo> + use<> {
        let accepts = self.accepts;
        PARAMETERS.iter().filter(move |parameter| accepts.contains(&parameter.name))
    }
}

impl GraphNeeds {
    /// As a phrase for tables and errors.
    pub fn describe(self) -> &'static str {
        match self {
            Self::DoublyStochastic => {
                "any connected graph with doubly stochastic weights, directed and time-varying too"
            }
            Self::FixedSymmetric => "a fixed, connected, undirected graph with symmetric weights",
            Self::FixedSymmetricAboveMinusThird => {
                "a fixed, connected, undirected graph with symmetric weights and lambda_min > -1/3"
            }
            Self::ColumnStochastic => {
                "any connected graph, directed and time-varying too, with weights whose columns \
                 sum to 1"
            }
        }
    }
}

/// Every parameter of every method.
const PARAMETERS: [ParameterInfo; 12] = [
    ParameterInfo {
        name: "mu",
        range: "a number from 0 to 1, or auto",
        meaning: "tracking scale: how much of the neighbourhood's update is added",
    },
    ParameterInfo {
        name: "beta",
        range: "a number of at least 0 and below 1",
        meaning: "momentum coefficient",
    },
    ParameterInfo {
        name: "mu_q",
        range: "a number of at least 0 and below 1",
        meaning: "decay of the original quasi-global momentum",
    },
    ParameterInfo {
        name: "reading",
        range: "released, printed or printed-pytorch",
        meaning: "which version of the algorithm; released produced the paper's tables",
    },
    ParameterInfo {
        name: "form",
        range: "heavy-ball, quasi-global or own-moves",
        meaning: "which quasi-global momentum: that of the tables, of eq. (qgm) or of eq. (ac_qggut)",
    },
    ParameterInfo {
        name: "nesterov",
        range: "true or false",
        meaning: "Nesterov's look-ahead; true is the same as the name with -n",
    },
    ParameterInfo {
        name: "gradient_at",
        range: "mixed or local",
        meaning: "where the gradient is taken: at the mixed model or at the agent's own",
    },
    ParameterInfo {
        name: "memory",
        range: "sum or copies",
        meaning: "keep the weighted sum of the neighbours' models (O(1)), or a copy of each",
    },
    ParameterInfo {
        name: "gamma",
        range: "a number above 0 up to 1, or auto",
        meaning: "averaging rate: W <- (1-gamma) I + gamma W; CHOCO's consensus step (adagossip: of its step)",
    },
    ParameterInfo {
        name: "codec",
        range: Compression::RANGE,
        meaning: "how messages are compressed, the whole model at once",
    },
    ParameterInfo {
        name: "decay",
        range: "a number of at least 0 and below 1",
        meaning: "how slowly the differences that shorten the steps are forgotten",
    },
    ParameterInfo {
        name: "order",
        range: "atc or awc; for choco also icml (atc) or iclr (awc)",
        meaning: "adapt then combine, W (x - eta y), or adapt while combining, Wx - eta y",
    },
];

const LIAN: &str = "Lian et al., NeurIPS 2017";
const BALU: &str = "Balu et al., ICASSP 2021";
const LIN: &str = "Lin et al., ICML 2021";
const AKETI: &str = "Aketi, Hashemi, Roy, NeurIPS 2023";

const ASSRAN: &str = "Assran et al., ICML 2019";
const OURS_ON_PUSH_SUM: &str = "Consort: the paper's method on push-sum";

/// W as it is.
const GAMMA_ONE: Tunable = Tunable::Value(1.0);

const KOLOSKOVA: &str = "Koloskova, Stich, Jaggi, ICML 2019; Koloskova et al., ICLR 2020";
const CONSORT_CODED: &str = "Consort: GUT with the error feedback of CHOCO-SGD";

/// How large gamma may be depends on the codec.
const GAMMA_OF_CODED: Tunable = Tunable::Auto;

/// All methods, in the order of [`MethodName`].
pub const CATALOGUE: [MethodInfo; 32] = [
    MethodInfo {
        id: MethodName::Dsgd,
        name: "dsgd",
        title: "DSGD",
        source: LIAN,
        update: "x <- W (x - eta g)",
        sends: "model",
        traffic: 1,
        memory: 1,
        needs: GraphNeeds::DoublyStochastic,
        momentum: MomentumOn::Nothing,
        nesterov: false,
        tracks: false,
        default_mu: 0.0,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::Gossip,
        lost_message: LostMessage::Forgotten,
        accepts: &["gradient_at", "gamma"],
    },
    MethodInfo {
        id: MethodName::Dsgdm,
        name: "dsgdm",
        title: "DSGDm",
        source: BALU,
        update: "v = beta v + g;  x <- W (x - eta v)",
        sends: "model",
        traffic: 1,
        memory: 2,
        needs: GraphNeeds::DoublyStochastic,
        momentum: MomentumOn::Gradient,
        nesterov: false,
        tracks: false,
        default_mu: 0.0,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::Gossip,
        lost_message: LostMessage::Forgotten,
        accepts: &["beta", "nesterov", "gradient_at", "gamma"],
    },
    MethodInfo {
        id: MethodName::DsgdmN,
        name: "dsgdm-n",
        title: "DSGDm-N",
        source: BALU,
        update: "v = beta v + g;  x <- W (x - eta (g + beta v))",
        sends: "model",
        traffic: 1,
        memory: 2,
        needs: GraphNeeds::DoublyStochastic,
        momentum: MomentumOn::Gradient,
        nesterov: true,
        tracks: false,
        default_mu: 0.0,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::Gossip,
        lost_message: LostMessage::Forgotten,
        accepts: &["beta", "nesterov", "gradient_at", "gamma"],
    },
    MethodInfo {
        id: MethodName::QgDsgdm,
        name: "qg-dsgdm",
        title: "QG-DSGDm",
        source: LIN,
        update: "m = beta m + g - (Wx - x)/eta;  x -= eta m",
        sends: "model",
        traffic: 1,
        memory: 3,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Update,
        nesterov: false,
        tracks: false,
        default_mu: 0.0,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::UpdateMomentum,
        lost_message: LostMessage::Forgotten,
        accepts: &["beta", "mu_q", "form", "nesterov", "gradient_at", "gamma"],
    },
    MethodInfo {
        id: MethodName::QgDsgdmN,
        name: "qg-dsgdm-n",
        title: "QG-DSGDm-N",
        source: LIN,
        update: "d = g - (Wx - x)/eta;  m = beta m + d;  x -= eta (d + beta m)",
        sends: "model",
        traffic: 1,
        memory: 3,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Update,
        nesterov: true,
        tracks: false,
        default_mu: 0.0,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::UpdateMomentum,
        lost_message: LostMessage::Forgotten,
        accepts: &["beta", "mu_q", "form", "nesterov", "gradient_at", "gamma"],
    },
    MethodInfo {
        id: MethodName::Gut,
        name: "gut",
        title: "GUT",
        source: AKETI,
        update: "y = g - (Wx - x)/eta + mu (W y' - g');  x -= eta y",
        sends: "update",
        traffic: 1,
        memory: 3,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Nothing,
        nesterov: false,
        tracks: true,
        default_mu: 0.9,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::Gut,
        lost_message: LostMessage::FadesByMu,
        accepts: &["mu", "reading", "gradient_at", "memory", "gamma"],
    },
    MethodInfo {
        id: MethodName::Gutm,
        name: "gutm",
        title: "GUTm",
        source: AKETI,
        update: "v = beta v + g;  y = v - (Wx - x)/eta + mu (W y' - v');  x -= eta y",
        sends: "update",
        traffic: 1,
        memory: 4,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Gradient,
        nesterov: false,
        tracks: true,
        default_mu: 0.9,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::Gut,
        lost_message: LostMessage::FadesByMu,
        accepts: &["mu", "beta", "reading", "nesterov", "gradient_at", "memory", "gamma"],
    },
    MethodInfo {
        id: MethodName::GutmN,
        name: "gutm-n",
        title: "GUTm-N",
        source: AKETI,
        update: "v = beta v + g;  u = g + beta v;  y = u - (Wx - x)/eta + mu (W y' - u');  x -= eta y",
        sends: "update",
        traffic: 1,
        memory: 4,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Gradient,
        nesterov: true,
        tracks: true,
        default_mu: 0.9,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::Gut,
        lost_message: LostMessage::FadesByMu,
        accepts: &["mu", "beta", "reading", "nesterov", "gradient_at", "memory", "gamma"],
    },
    MethodInfo {
        id: MethodName::QgGutm,
        name: "qg-gutm",
        title: "QG-GUTm",
        source: AKETI,
        update: "d = g - (Wx - x)/eta;  y = d + mu (W m' - (1+beta)(Wx' - x')/eta' - d');  m = beta m' + y;  x -= eta m",
        sends: "update",
        traffic: 1,
        memory: 4,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Update,
        nesterov: false,
        tracks: true,
        default_mu: 0.05,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::Gut,
        lost_message: LostMessage::FadesByMu,
        accepts: &[
            "mu",
            "beta",
            "mu_q",
            "reading",
            "form",
            "nesterov",
            "gradient_at",
            "memory",
            "gamma",
        ],
    },
    MethodInfo {
        id: MethodName::QgGutmN,
        name: "qg-gutm-n",
        title: "QG-GUTm-N",
        source: AKETI,
        update: "as QG-GUTm with the step y + beta m, and 1+beta+beta^2 in the bracket",
        sends: "update",
        traffic: 1,
        memory: 4,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Update,
        nesterov: true,
        tracks: true,
        default_mu: 0.05,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::Gut,
        lost_message: LostMessage::FadesByMu,
        accepts: &[
            "mu",
            "beta",
            "mu_q",
            "reading",
            "form",
            "nesterov",
            "gradient_at",
            "memory",
            "gamma",
        ],
    },
    MethodInfo {
        id: MethodName::ExactGut,
        name: "exact-gut",
        title: "Exact GUT",
        source: "Consort: GUT with mu = 1 and gamma from the spectrum of W",
        update: "as GUT with mu = 1 on W <- (1-gamma) I + gamma W",
        sends: "update",
        traffic: 1,
        memory: 4,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Nothing,
        nesterov: false,
        tracks: true,
        default_mu: 1.0,
        default_gamma: Tunable::Auto,
        recursion: Recursion::Gut,
        lost_message: LostMessage::FadesByMu,
        accepts: &["reading", "gradient_at", "memory", "gamma"],
    },
    MethodInfo {
        id: MethodName::RuleA,
        name: "rule-a",
        title: "Rule-a",
        source: AKETI,
        update: "d = g - (Wx - x)/eta;  y = d + mu (W y' - d');  x -= eta y",
        sends: "update",
        traffic: 1,
        memory: 3,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Nothing,
        nesterov: false,
        tracks: true,
        default_mu: 0.9,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::RuleA,
        lost_message: LostMessage::FadesByMu,
        accepts: &["mu", "gradient_at", "gamma"],
    },
    MethodInfo {
        id: MethodName::RuleB,
        name: "rule-b",
        title: "Rule-b",
        source: AKETI,
        update: "y = g - (Wx - x)/eta - mu (W - I)(x - x')/eta;  x -= eta y",
        sends: "update",
        traffic: 1,
        memory: 3,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Nothing,
        nesterov: false,
        tracks: true,
        default_mu: 0.9,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::RuleB,
        lost_message: LostMessage::FadesByMu,
        accepts: &["mu", "gradient_at", "gamma"],
    },
    MethodInfo {
        id: MethodName::Gt,
        name: "gt",
        title: "GT",
        source: "Di Lorenzo & Scutari, TSIPN 2016; Koloskova et al., NeurIPS 2021",
        update: "y = W y' - g' + g;  x <- W (x - eta y)",
        sends: "model and tracking variable",
        traffic: 2,
        memory: 2,
        needs: GraphNeeds::DoublyStochastic,
        momentum: MomentumOn::Nothing,
        nesterov: false,
        tracks: false,
        default_mu: 0.0,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::Gossip,
        lost_message: LostMessage::Remembered,
        accepts: &["gamma", "order"],
    },
    MethodInfo {
        id: MethodName::D2,
        name: "d2",
        title: "D²",
        source: "Tang et al., ICML 2018",
        update: "x <- W (2x - x' - eta g + eta' g')",
        sends: "model",
        traffic: 1,
        memory: 2,
        needs: GraphNeeds::FixedSymmetricAboveMinusThird,
        momentum: MomentumOn::Nothing,
        nesterov: false,
        tracks: false,
        default_mu: 0.0,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::D2,
        lost_message: LostMessage::Remembered,
        accepts: &["gamma"],
    },
    MethodInfo {
        id: MethodName::Ed,
        name: "ed",
        title: "ED",
        source: "Yuan, Ying, Zhao, Sayed, IEEE TSP 2019",
        update: "psi = x - eta g;  x <- W (psi + x - psi')",
        sends: "corrected model",
        traffic: 1,
        memory: 2,
        needs: GraphNeeds::FixedSymmetricAboveMinusThird,
        momentum: MomentumOn::Nothing,
        nesterov: false,
        tracks: false,
        default_mu: 0.0,
        default_gamma: Tunable::Auto,
        recursion: Recursion::D2,
        lost_message: LostMessage::Remembered,
        accepts: &["gamma"],
    },
    MethodInfo {
        id: MethodName::Edm,
        name: "edm",
        title: "EDM",
        source: "Hu, Chen, Liu, Mao, arXiv:2501.19082, 2025",
        update: "m = beta m' + (1-beta) g;  psi = x - eta m;  x <- W (psi + x - psi')",
        sends: "corrected model",
        traffic: 1,
        memory: 3,
        needs: GraphNeeds::FixedSymmetricAboveMinusThird,
        momentum: MomentumOn::GradientMean,
        nesterov: false,
        tracks: false,
        default_mu: 0.0,
        default_gamma: Tunable::Auto,
        recursion: Recursion::D2,
        lost_message: LostMessage::Remembered,
        accepts: &["beta", "gamma"],
    },
    MethodInfo {
        id: MethodName::DecentLam,
        name: "decentlam",
        title: "DecentLaM",
        source: "Yuan et al., ICCV 2021",
        update: "z = x - eta g;  m = beta m' + (x - Wz)/eta;  x -= eta m",
        sends: "stepped model",
        traffic: 1,
        memory: 2,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Update,
        nesterov: false,
        tracks: false,
        default_mu: 0.0,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::UpdateMomentum,
        lost_message: LostMessage::Forgotten,
        accepts: &["beta", "gamma"],
    },
    MethodInfo {
        id: MethodName::Mt,
        name: "mt",
        title: "MT",
        source: "Takezawa et al., TMLR 2023",
        update: "u = beta u' + g;  y = W y' + u - u';  x <- Wx - eta y",
        sends: "model and tracking variable",
        traffic: 2,
        memory: 3,
        needs: GraphNeeds::DoublyStochastic,
        momentum: MomentumOn::Gradient,
        nesterov: false,
        tracks: false,
        default_mu: 0.0,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::Gossip,
        lost_message: LostMessage::Remembered,
        accepts: &["beta", "gamma", "order"],
    },
    MethodInfo {
        id: MethodName::Sgp,
        name: "sgp",
        title: "SGP",
        source: ASSRAN,
        update: "x <- P (x - eta g);  w <- P w;  z = x/w;  g at z",
        sends: "model and weight",
        traffic: 1,
        memory: 2,
        needs: GraphNeeds::ColumnStochastic,
        momentum: MomentumOn::Nothing,
        nesterov: false,
        tracks: false,
        default_mu: 0.0,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::Gossip,
        lost_message: LostMessage::LosesWeight,
        accepts: &["gamma"],
    },
    MethodInfo {
        id: MethodName::Sgpm,
        name: "sgpm",
        title: "SGPm",
        source: ASSRAN,
        update: "v = beta v + g;  x <- P (x - eta v);  w <- P w;  z = x/w;  g at z",
        sends: "model and weight",
        traffic: 1,
        memory: 3,
        needs: GraphNeeds::ColumnStochastic,
        momentum: MomentumOn::Gradient,
        nesterov: false,
        tracks: false,
        default_mu: 0.0,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::Gossip,
        lost_message: LostMessage::LosesWeight,
        accepts: &["beta", "nesterov", "gamma"],
    },
    MethodInfo {
        id: MethodName::SgpmN,
        name: "sgpm-n",
        title: "SGPm-N",
        source: ASSRAN,
        update: "v = beta v + g;  x <- P (x - eta (g + beta v));  w <- P w;  z = x/w;  g at z",
        sends: "model and weight",
        traffic: 1,
        memory: 3,
        needs: GraphNeeds::ColumnStochastic,
        momentum: MomentumOn::Gradient,
        nesterov: true,
        tracks: false,
        default_mu: 0.0,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::Gossip,
        lost_message: LostMessage::LosesWeight,
        accepts: &["beta", "nesterov", "gamma"],
    },
    MethodInfo {
        id: MethodName::GutSgp,
        name: "gut-sgp",
        title: "GUT-SGP",
        source: OURS_ON_PUSH_SUM,
        update: "x <- P (x - eta (g + mu ((x' - x)/eta' - g')));  w <- P w;  z = x/w;  g at z",
        sends: "model and weight",
        traffic: 1,
        memory: 4,
        needs: GraphNeeds::ColumnStochastic,
        momentum: MomentumOn::Nothing,
        nesterov: false,
        tracks: true,
        default_mu: 0.3,
        default_gamma: GAMMA_ONE,
        recursion: Recursion::PushGut,
        lost_message: LostMessage::LosesWeight,
        accepts: &["mu", "gamma"],
    },
    MethodInfo {
        id: MethodName::QgGutmSgp,
        name: "qg-gutm-sgp",
        title: "QG-GUTm-SGP",
        source: OURS_ON_PUSH_SUM,
        update: "as QG-GUTm with P for W, the gradient at z = x/w, and w <- P w",
        sends: "model and weight",
        traffic: 1,
        memory: 6,
        needs: GraphNeeds::ColumnStochastic,
        momentum: MomentumOn::Update,
        nesterov: false,
        tracks: true,
        default_mu: 0.05,
        default_gamma: Tunable::Auto,
        recursion: Recursion::PushGut,
        lost_message: LostMessage::LosesWeight,
        accepts: &["mu", "beta", "mu_q", "form", "nesterov", "gamma"],
    },
    MethodInfo {
        id: MethodName::QgGutmSgpN,
        name: "qg-gutm-sgp-n",
        title: "QG-GUTm-SGP-N",
        source: OURS_ON_PUSH_SUM,
        update: "as QG-GUTm-N with P for W, the gradient at z = x/w, and w <- P w",
        sends: "model and weight",
        traffic: 1,
        memory: 6,
        needs: GraphNeeds::ColumnStochastic,
        momentum: MomentumOn::Update,
        nesterov: true,
        tracks: true,
        default_mu: 0.05,
        default_gamma: Tunable::Auto,
        recursion: Recursion::PushGut,
        lost_message: LostMessage::LosesWeight,
        accepts: &["mu", "beta", "mu_q", "form", "nesterov", "gamma"],
    },
    MethodInfo {
        id: MethodName::Choco,
        name: "choco",
        title: "CHOCO-SGD",
        source: KOLOSKOVA,
        update: "h = x - eta g;  x̂ += C(h - x̂);  x <- h + (W - I) x̂",
        sends: "coded update",
        traffic: 1,
        memory: 3,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Nothing,
        nesterov: false,
        tracks: false,
        default_mu: 0.0,
        default_gamma: GAMMA_OF_CODED,
        recursion: Recursion::Gossip,
        lost_message: LostMessage::Remembered,
        accepts: &["codec", "order", "gamma"],
    },
    MethodInfo {
        id: MethodName::Chocom,
        name: "chocom",
        title: "CHOCO-SGDm",
        source: KOLOSKOVA,
        update: "v = beta v + g;  h = x - eta v;  x̂ += C(h - x̂);  x <- h + (W - I) x̂",
        sends: "coded update",
        traffic: 1,
        memory: 4,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Gradient,
        nesterov: false,
        tracks: false,
        default_mu: 0.0,
        default_gamma: GAMMA_OF_CODED,
        recursion: Recursion::Gossip,
        lost_message: LostMessage::Remembered,
        accepts: &["beta", "nesterov", "codec", "order", "gamma"],
    },
    MethodInfo {
        id: MethodName::ChocomN,
        name: "chocom-n",
        title: "CHOCO-SGDm-N",
        source: KOLOSKOVA,
        update: "v = beta v + g;  h = x - eta (g + beta v);  x̂ += C(h - x̂);  x <- h + (W - I) x̂",
        sends: "coded update",
        traffic: 1,
        memory: 4,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Gradient,
        nesterov: true,
        tracks: false,
        default_mu: 0.0,
        default_gamma: GAMMA_OF_CODED,
        recursion: Recursion::Gossip,
        lost_message: LostMessage::Remembered,
        accepts: &["beta", "nesterov", "codec", "order", "gamma"],
    },
    MethodInfo {
        id: MethodName::AdaGossip,
        name: "adagossip",
        title: "AdaGossip",
        source: "Aketi, Hashemi, Roy, 2024, arXiv 2404.05919",
        update: "h = x - eta g;  x̂ += C(h - x̂);  r = (W - I) x̂;  v = b v + (1-b) r²;  x <- h + min(1, gamma/sqrt(v)) r",
        sends: "coded update",
        traffic: 1,
        memory: 4,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Nothing,
        nesterov: false,
        tracks: false,
        default_mu: 0.0,
        default_gamma: Tunable::Value(0.05),
        recursion: Recursion::AdaptiveGossip,
        lost_message: LostMessage::Remembered,
        accepts: &["codec", "decay", "gamma"],
    },
    MethodInfo {
        id: MethodName::Cgut,
        name: "cgut",
        title: "Compressed GUT",
        source: CONSORT_CODED,
        update: "p = (W - I) x̂;  y = g - p/eta + mu (z' - g');  x -= eta y;  q = C(x - x̂);  x̂ += q;  z = y - (W - I) q/eta",
        sends: "coded update",
        traffic: 1,
        memory: 4,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Nothing,
        nesterov: false,
        tracks: true,
        default_mu: 0.9,
        default_gamma: GAMMA_OF_CODED,
        recursion: Recursion::Gut,
        lost_message: LostMessage::Remembered,
        accepts: &["mu", "gradient_at", "codec", "gamma"],
    },
    MethodInfo {
        id: MethodName::QgCgutm,
        name: "qg-cgutm",
        title: "Compressed QG-GUTm",
        source: CONSORT_CODED,
        update: "as Compressed GUT with m = beta m' + y for y in the step and in z, and - (1+beta) p'/eta' + p'/eta' in the bracket",
        sends: "coded update",
        traffic: 1,
        memory: 5,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Update,
        nesterov: false,
        tracks: true,
        default_mu: 0.05,
        default_gamma: GAMMA_OF_CODED,
        recursion: Recursion::Gut,
        lost_message: LostMessage::Remembered,
        accepts: &["mu", "beta", "form", "nesterov", "gradient_at", "codec", "gamma"],
    },
    MethodInfo {
        id: MethodName::QgCgutmN,
        name: "qg-cgutm-n",
        title: "Compressed QG-GUTm-N",
        source: CONSORT_CODED,
        update: "as Compressed QG-GUTm with the step y + beta m, and 1+beta+beta^2 in the bracket",
        sends: "coded update",
        traffic: 1,
        memory: 5,
        needs: GraphNeeds::FixedSymmetric,
        momentum: MomentumOn::Update,
        nesterov: true,
        tracks: true,
        default_mu: 0.05,
        default_gamma: GAMMA_OF_CODED,
        recursion: Recursion::Gut,
        lost_message: LostMessage::Remembered,
        accepts: &["mu", "beta", "form", "nesterov", "gradient_at", "codec", "gamma"],
    },
];
