//! How far a constant gradient moves the averaged model per round, in units of eta.
//!
//! Momentum adds up past gradients: under a constant gradient, heavy-ball momentum moves the model
//! by eta/(1 - beta) a round. QG-GUTm tracks the update, momentum included, and moves it further:
//! by eta (1 - mu)/(1 - beta - mu), in the readings without the factor (1 - beta). At beta = 0.9
//! and mu = 0.05 this is 19 eta; momentum alone gives 10 eta. The model cannot tell why a step is
//! too long. EDM's momentum is a mean of the past gradients, not their sum, and moves the model by
//! eta. With local steps it is the movement per local step: all steps of a round together, divided
//! by their number.

use consort_algo::{Form, Method, MomentumOn, Reading};

/// The effective step size of `method` with tracking scale `mu`, divided by eta; infinite if the
/// averaged model diverges.
pub fn average_gain(method: &Method, mu: f64) -> f64 {
    let beta = method.beta;
    let name = method.name;
    let alone = match method.info().momentum {
        MomentumOn::Nothing | MomentumOn::GradientMean => 1.0,
        MomentumOn::Gradient | MomentumOn::Update => 1.0 / (1.0 - beta),
    };
    if !name.has_global_momentum() {
        return alone; // mean(Y) = mean(D) (Lemma 1): tracking adds nothing
    }
    let averages = method.form == Form::OwnMoves
        || (method.form == Form::HeavyBall && name.tracks() && method.reading == Reading::Printed);
    if averages {
        return 1.0; // m = beta m + (1 - beta) y: a mean of the past, not a sum
    }
    if !name.tracks() {
        return alone;
    }
    // d = u/(1 - beta) with u = g + mu (d - g).
    let rest = 1.0 - beta - mu;
    if rest > 0.0 { (1.0 - mu) / rest } else { f64::INFINITY }
}
