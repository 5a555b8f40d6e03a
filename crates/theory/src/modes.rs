//! How one mode of disagreement evolves under each method, without gradients.
//!
//! Along an eigenvector of W with eigenvalue `l`, mixing is multiplication by `l`.
//! The state is `[x, c, m, p]`: the mode's size, what the method carries over to the next round
//! (the bracket of GUT), its momentum, and, on push-sum, the pull of the last mixing. All updates
//! are in model units, as if eta were 1.
//! The lines of [`step`] are those of the method's file in `consort-algo`; the catalogue there
//! says which recursion a method has. Of a method that codes its messages it is the recursion
//! without losses.

use consort_algo::{Form, Method, Reading, Recursion};

/// `[x, c, m, p]` of one mode.
pub type State = [f64; 4];

/// One round of `method` with tracking scale `mu` on a mode with eigenvalue `l`.
pub fn step(method: &Method, mu: f64, l: f64, state: State) -> State {
    let [x, c, m, p] = state;
    let pull = (l - 1.0) * x; // s - x
    let delta = -pull;
    let momentum = UpdateMomentum::new(method);
    match method.info().recursion {
        Recursion::Gossip | Recursion::AdaptiveGossip => [l * x, 0.0, 0.0, 0.0],
        Recursion::D2 => {
            let next = l * (x + c);
            [next, next - x, 0.0, 0.0]
        }
        Recursion::Led => {
            // c is the dual variable.
            let phi = x - method.dual * c;
            [l * phi, c + (1.0 - l) * phi, 0.0, 0.0]
        }
        // There are no modes of W; `Relay` has the rate.
        Recursion::Relay => [0.0; 4],
        Recursion::RuleA => {
            let y = delta + mu * c;
            [x - y, l * y - delta, 0.0, 0.0]
        }
        Recursion::RuleB => {
            let y = delta - mu * c;
            [x - y, -(l - 1.0) * y, 0.0, 0.0]
        }
        Recursion::UpdateMomentum => {
            let (d, m) = if method.form == Form::QuasiGlobal {
                // Mixed after the step: x <- l (x - beta m).
                let mut slot = m;
                let stepped = l * (x - momentum.direct(&mut slot, 0.0));
                (x - stepped, momentum.settle(slot, x - stepped))
            } else {
                let mut slot = m;
                (momentum.direct(&mut slot, delta), slot)
            };
            [x - d, 0.0, m, 0.0]
        }
        Recursion::Gut => {
            let b = momentum.gain();
            let this_round = method.reading != Reading::Released;
            let reference = if this_round { b * pull } else { 0.0 };
            let y = delta + mu * (c - reference);
            let mut slot = m;
            let d = momentum.direct(&mut slot, y);
            let own = if this_round { delta } else { (b - 1.0) * pull };
            [x - d, l * d - own, momentum.settle(slot, l * d), 0.0]
        }
        Recursion::PushGut => {
            // x is the mixed model S, and p = S - X.
            let b = momentum.gain();
            let mut slot = m;
            let d = momentum.direct(&mut slot, mu * c - p);
            let sent = x - p - d;
            let moved = x - l * sent; // P d
            [l * sent, moved - (b - 1.0) * p, momentum.settle(slot, moved), l * sent - sent]
        }
    }
}

/// The matrix of [`step`]: its columns are the images of the unit states.
pub fn transition(method: &Method, mu: f64, l: f64) -> [[f64; 4]; 4] {
    let mut t = [[0.0; 4]; 4];
    for j in 0..4 {
        let mut unit = [0.0; 4];
        unit[j] = 1.0;
        let column = step(method, mu, l, unit);
        for i in 0..4 {
            t[i][j] = column[i];
        }
    }
    t
}

/// The momentum on the update, in f64; the counterpart of `consort_algo::momentum`.
#[derive(Clone, Copy)]
enum UpdateMomentum {
    Plain,
    HeavyBall { beta: f64, nesterov: bool },
    Average { beta: f64, nesterov: bool },
    QuasiGlobal { beta: f64, mu_q: f64, nesterov: bool },
    OwnMoves { beta: f64 },
}

impl UpdateMomentum {
    fn new(method: &Method) -> Self {
        if !method.name.has_global_momentum() {
            return UpdateMomentum::Plain;
        }
        let (beta, nesterov) = (method.beta, method.name.is_nesterov());
        let averages = method.name.tracks() && method.reading == Reading::Printed;
        match method.form {
            Form::HeavyBall if averages => UpdateMomentum::Average { beta, nesterov },
            Form::HeavyBall => UpdateMomentum::HeavyBall { beta, nesterov },
            Form::QuasiGlobal => {
                UpdateMomentum::QuasiGlobal { beta, mu_q: method.mu_q.unwrap_or(beta), nesterov }
            }
            Form::OwnMoves => UpdateMomentum::OwnMoves { beta },
        }
    }

    fn direct(self, m: &mut f64, u: f64) -> f64 {
        match self {
            UpdateMomentum::Plain => u,
            UpdateMomentum::HeavyBall { beta, nesterov } => {
                *m = beta * *m + u;
                if nesterov { u + beta * *m } else { *m }
            }
            UpdateMomentum::Average { beta, nesterov } => {
                *m = beta * *m + (1.0 - beta) * u;
                if nesterov { (1.0 - beta) * u + beta * *m } else { *m }
            }
            UpdateMomentum::QuasiGlobal { beta, nesterov: false, .. } => u + beta * *m,
            UpdateMomentum::QuasiGlobal { beta, nesterov: true, .. } => u + beta * (u + beta * *m),
            UpdateMomentum::OwnMoves { beta } => {
                let d = beta * *m + (1.0 - beta) * u;
                *m = beta * *m + (1.0 - beta) * d;
                d
            }
        }
    }

    fn settle(self, m: f64, mixed: f64) -> f64 {
        match self {
            UpdateMomentum::QuasiGlobal { mu_q, .. } => mu_q * m + (1.0 - mu_q) * mixed,
            UpdateMomentum::Plain => 0.0, // no memory, so no root of 1
            UpdateMomentum::HeavyBall { .. }
            | UpdateMomentum::Average { .. }
            | UpdateMomentum::OwnMoves { .. } => m,
        }
    }

    fn gain(self) -> f64 {
        match self {
            UpdateMomentum::HeavyBall { beta, nesterov: false } => 1.0 + beta,
            UpdateMomentum::HeavyBall { beta, nesterov: true } => 1.0 + beta + beta * beta,
            UpdateMomentum::Plain
            | UpdateMomentum::Average { .. }
            | UpdateMomentum::QuasiGlobal { .. }
            | UpdateMomentum::OwnMoves { .. } => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x+ = l x + mu k (x - x'), with k = l (released) or 2l - 1 (printed).
    #[test]
    fn gut_follows_its_two_term_recursion() {
        for (reading, k) in [("released", 0.3), ("printed", 2.0 * 0.3 - 1.0)] {
            let (l, mu) = (0.3, 0.4);
            let method: Method = format!("gut:reading={reading}").parse().unwrap();
            let mut state = [1.0, 0.0, 0.0, 0.0];
            let mut history = vec![1.0];
            for _ in 0..6 {
                state = step(&method, mu, l, state);
                history.push(state[0]);
            }
            for t in 1..6 {
                let expected = l * history[t] + mu * k * (history[t] - history[t - 1]);
                assert!((history[t + 1] - expected).abs() < 1e-14, "{reading}, round {t}");
            }
        }
    }

    /// x+ = x + (beta + mu l)(x - x') - (1-l) x - mu beta (1-l) x'.
    #[test]
    fn released_qg_gutm_follows_its_recursion() {
        let (l, mu, beta) = (-0.2, 0.05, 0.9);
        let method: Method = "qg-gutm".parse().unwrap();
        let mut state = [1.0, 0.0, 0.0, 0.0];
        let mut x = vec![1.0];
        for _ in 0..6 {
            state = step(&method, mu, l, state);
            x.push(state[0]);
        }
        for t in 1..6 {
            let expected = x[t] + (beta + mu * l) * (x[t] - x[t - 1])
                - (1.0 - l) * x[t]
                - mu * beta * (1.0 - l) * x[t - 1];
            assert!((x[t + 1] - expected).abs() < 1e-14, "round {t}");
        }
    }
}
