//! Every parameter that a method can have, with its range and its meaning.

use super::facts::ParameterInfo;
use super::{Compression, Optimizer};

/// Every parameter of every method.
pub(super) const PARAMETERS: [ParameterInfo; 19] = [
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
        meaning: "which version: as the authors' code has it (the tables), or as the paper prints it",
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
    ParameterInfo {
        name: "start",
        range: "zero or average",
        meaning: "what the momentum starts from: nothing, or the first gradient less the mean of all agents' (in simulations)",
    },
    ParameterInfo {
        name: "steps",
        range: "a whole number from 1 to 10000",
        meaning: "gradients between two exchanges, each on a mini-batch of its own",
    },
    ParameterInfo {
        name: "optimizer",
        range: Optimizer::RANGE,
        meaning: "what makes a direction of a local gradient, before it is mixed or tracked",
    },
    ParameterInfo {
        name: "missing",
        range: "own, start or skip",
        meaning: "what stands for models that have not arrived yet: the agent's own, x0, or nothing",
    },
    ParameterInfo {
        name: "alpha",
        range: "a number from 0 to 1",
        meaning: "share of the neighbours' gradients at the own model; 0 sends models alone",
    },
    ParameterInfo {
        name: "outer",
        range: "a number above 0 up to 10",
        meaning: "step size of the exchange, relative to that of the local steps (eta_s)",
    },
    ParameterInfo {
        name: "dual",
        range: "a number above 0 up to 1",
        meaning: "step of the dual variable, relative to 1/steps",
    },
];
