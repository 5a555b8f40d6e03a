//! What is known of a method: the columns of the catalogue.

use super::parameters::PARAMETERS;
use super::{MethodName, Tunable};

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
    /// How many gradients a round takes.
    pub gradients: GradientsPerRound,
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
    pub(super) accepts: &'static [&'static str],
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
    /// A tree, or trees that take turns. Of another fixed, undirected graph a driver takes a
    /// spanning tree.
    Trees,
    /// Everybody hears everybody, all with the same weight: exact averaging.
    AllToAll,
}

/// How many gradients a round takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GradientsPerRound {
    /// One; several with local steps, which any such method can take (`steps`).
    One,
    /// As many as it has local steps, which are part of the method (`steps`).
    Steps,
    /// One at the own model and one at each neighbour's, all on one mini-batch.
    Neighbourhood,
}

impl GradientsPerRound {
    /// In words, for tables.
    pub fn describe(self) -> &'static str {
        match self {
            Self::One => "1",
            Self::Steps => "steps",
            Self::Neighbourhood => "1 + neighbours",
        }
    }
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
    /// LED: `phi = x - y;  x <- l phi;  y <- y + phi - l phi`, the dual step being 1.
    Led,
    /// RelaySGD: all models are equal once the tree has been crossed.
    Relay,
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
        let local: &[&str] = match self.gradients {
            GradientsPerRound::One => &["steps", "optimizer"],
            GradientsPerRound::Steps => &["steps"],
            GradientsPerRound::Neighbourhood => &[],
        };
        let has = move |name: &&str| accepts.contains(name) || local.contains(name);
        PARAMETERS.iter().filter(move |parameter| has(&parameter.name))
    }
}

impl GraphNeeds {
    /// In a few words, for a column.
    pub fn name(self) -> &'static str {
        match self {
            Self::DoublyStochastic => "any",
            Self::FixedSymmetric => "undirected",
            Self::FixedSymmetricAboveMinusThird => "undirected, λ > -1/3",
            Self::ColumnStochastic => "any, directed",
            Self::Trees => "trees",
            Self::AllToAll => "all-to-all",
        }
    }

    /// As a phrase for errors and details.
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
            Self::Trees => "a tree, or trees that take turns; of any other graph a spanning tree",
            Self::AllToAll => "a complete graph with equal weights",
        }
    }
}
