//! The methods a second time, from the printed equations: dense, `f64`, one matrix per
//! symbol, all agents at once. Nothing but the names comes from the crate.
//!
//! Symbols: X the models (one row per agent), W the mixing matrix, S = W X, G the
//! gradients, P = (S - X)/eta the gossip part. A prime is the previous round. A term
//! of a round is divided by the step size of that round.

use consort_algo::{
    Compression, Form, GradientAt, Method, MethodName, Order, Reading, TrackingStart, Tunable,
};

use super::local_steps::LocalSteps;
use super::losses::Quadratics;
use super::matrix::Matrix;

/// What can be observed of one round.
pub(crate) struct Round {
    /// Where the gradients were taken.
    pub(crate) probe: Matrix,
    /// What was sent.
    pub(crate) message: Matrix,
    /// The models afterwards.
    pub(crate) x: Matrix,
}

/// What an equation is run on.
pub(crate) struct Setting<'a> {
    pub(crate) w: &'a Matrix,
    /// The matrices that take turns, `w` first; empty if there is no other.
    pub(crate) turns: &'a [Matrix],
    pub(crate) losses: &'a Quadratics,
    pub(crate) x0: Matrix,
    pub(crate) etas: &'a [f32],
    /// What the messages of each round said, for codecs that lose something. An equation goes on
    /// with that, after checking that it is C of what the equation would have sent: a codec jumps
    /// (which value is the largest, which sign has a zero), and a rounding error may decide.
    pub(crate) sent: &'a [Matrix],
    /// What the agents do with their gradients before the equation sees them.
    pub(crate) local: &'a LocalSteps,
}

impl<'a> Setting<'a> {
    /// W of a round, for methods that run on graphs that change.
    pub(crate) fn w_of(&self, round: usize) -> &'a Matrix {
        if self.turns.is_empty() { self.w } else { &self.turns[round % self.turns.len()] }
    }

    /// The gradient that the equation sees: of local steps the sum of all directions.
    fn gradients(&self, probe: &Matrix, eta: impl Into<f64>) -> Matrix {
        self.local.walk(self.losses, probe, eta.into())
    }
}

/// Runs the equation that `method` names.
pub(crate) fn run(method: &Method, setting: &Setting<'_>) -> Vec<Round> {
    use MethodName::*;
    let Tunable::Value(mu) = method.mu else { panic!("mu is auto") };
    let beta = method.beta;
    let local = match method.name {
        Sgdm => Momentum::HeavyBall { beta },
        SgdmN => Momentum::Nesterov { beta },
        Dsgdm | Gutm => Momentum::HeavyBall { beta },
        DsgdmN | GutmN => Momentum::Nesterov { beta },
        Chocom => Momentum::HeavyBall { beta },
        ChocomN => Momentum::Nesterov { beta },
        _ => Momentum::None,
    };
    let place = method.gradient_at;
    match (method.name, method.form) {
        (Dsgd | Dsgdm | DsgdmN, _) => dsgd(setting, local, place),
        (QgDsgdm | QgDsgdmN, Form::QuasiGlobal) => qgm(setting, quasi_global(method)),
        (QgDsgdm | QgDsgdmN, _) => momentum_on_the_dsgd_update(setting, on_update(method), place),
        (Gut | Gutm | GutmN | ExactGut, _) => {
            gut(setting, mu, method.reading, 1.0, local, Momentum::None, place)
        }
        (QgGutm | QgGutmN, _) => {
            let b = change_of_reference(method);
            gut(setting, mu, method.reading, b, Momentum::None, on_update(method), place)
        }
        (RuleA, _) => rule_a(setting, mu, place),
        (RuleB, _) => rule_b(setting, mu, place),
        (Gt, _) => gradient_tracking(setting, method.order),
        (D2, _) => d2(setting),
        (Ed, _) => exact_diffusion(setting, Momentum::None),
        (Edm, _) => exact_diffusion(setting, Momentum::Average { beta }),
        (DecentLam, _) => decentlam(setting, beta),
        (Mt, _) => momentum_tracking(setting, beta, method.order, method.start),
        (Sgp, _) => sgp(setting, Momentum::None),
        (Sgpm, _) => sgp(setting, Momentum::HeavyBall { beta }),
        (SgpmN, _) => sgp(setting, Momentum::Nesterov { beta }),
        (GutSgp, _) => gut_on_push_sum(setting, mu, 1.0, Momentum::None),
        (QgGutmSgp | QgGutmSgpN, _) => {
            gut_on_push_sum(setting, mu, change_of_reference(method), on_update(method))
        }
        (Choco | Chocom | ChocomN, _) => choco(setting, local, method.codec, method.order),
        (AdaGossip, _) => adagossip(setting, method),
        (Cgut, _) => compressed_gut(setting, mu, method.codec, 1.0, Momentum::None, place),
        (QgCgutm | QgCgutmN, _) => {
            let b = change_of_reference(method);
            compressed_gut(setting, mu, method.codec, b, on_update(method), place)
        }
        // Centralised: W is 1/n everywhere, so all models are equal.
        (Sgd | Sgdm | SgdmN | LocalSgd, _) => dsgd(setting, local, GradientAt::Mixed),
        (RelaySgd | RelaySgdm | RelaySgdmN | Cga | CompCga | Ngc | CompNgc | KGt | Led, _) => {
            panic!("{} is in staged_equations.rs", method.name.as_str())
        }
    }
}

/// What turns an update U into the direction D in which the models move.
#[derive(Clone, Copy)]
enum Momentum {
    /// D = U.
    None,
    /// M = beta M' + U; D = M.
    HeavyBall { beta: f64 },
    /// M = beta M' + U; D = U + beta M.
    Nesterov { beta: f64 },
    /// M = beta M' + (1-beta) U; D = M (Algorithm QG-GUTm, line 7).
    Average { beta: f64 },
    /// M = beta M' + (1-beta) U; D = (1-beta) U + beta M: the same look-ahead for the
    /// average, which the paper does not print.
    AverageNesterov { beta: f64 },
    /// D = U + beta M', then M = mu_q M' + (1-mu_q) W D (eq. qgm).
    QuasiGlobal { beta: f64, mu_q: f64 },
    /// D = U + beta (U + beta M'), then M as above (Lin et al., 2021, Nesterov).
    QuasiGlobalNesterov { beta: f64, mu_q: f64 },
    /// D = beta M + (1-beta) U, where M averages the moves until now (eq. ac_qggut).
    OwnMoves { beta: f64 },
}

impl Momentum {
    fn direct(self, m: &mut Matrix, u: &Matrix) -> Matrix {
        match self {
            Momentum::None => u.clone(),
            Momentum::HeavyBall { beta } => {
                *m = beta * &*m + u;
                m.clone()
            }
            Momentum::Nesterov { beta } => {
                *m = beta * &*m + u;
                u + beta * &*m
            }
            Momentum::Average { beta } => {
                *m = beta * &*m + (1.0 - beta) * u;
                m.clone()
            }
            Momentum::AverageNesterov { beta } => {
                *m = beta * &*m + (1.0 - beta) * u;
                (1.0 - beta) * u + beta * &*m
            }
            Momentum::QuasiGlobal { beta, .. } => u + beta * &*m,
            Momentum::QuasiGlobalNesterov { beta, .. } => u + beta * (u + beta * &*m),
            Momentum::OwnMoves { beta } => {
                let d = beta * &*m + (1.0 - beta) * u;
                *m = beta * &*m + (1.0 - beta) * &d;
                d
            }
        }
    }

    /// Updates M with the move of the neighbourhood, in units of the step size.
    fn settle(self, m: &mut Matrix, neighbourhood: &Matrix) {
        use Momentum::{QuasiGlobal, QuasiGlobalNesterov};
        if let QuasiGlobal { mu_q, .. } | QuasiGlobalNesterov { mu_q, .. } = self {
            *m = mu_q * &*m + (1.0 - mu_q) * neighbourhood;
        }
    }
}

fn quasi_global(method: &Method) -> Momentum {
    let (beta, mu_q) = (method.beta, method.mu_q.unwrap_or(method.beta));
    if method.name.is_nesterov() {
        Momentum::QuasiGlobalNesterov { beta, mu_q }
    } else {
        Momentum::QuasiGlobal { beta, mu_q }
    }
}

/// The momentum of the quasi-global methods on the update: line 7 of Algorithm QG-GUTm
/// averages; line 7 of its "PyTorch" version and the released code add.
fn on_update(method: &Method) -> Momentum {
    let beta = method.beta;
    let tracks = matches!(method.name, MethodName::QgGutm | MethodName::QgGutmN);
    let averages = tracks && method.reading == Reading::Printed;
    match (method.form, averages, method.name.is_nesterov()) {
        (Form::QuasiGlobal, ..) => quasi_global(method),
        (Form::OwnMoves, ..) => Momentum::OwnMoves { beta },
        (Form::HeavyBall, true, false) => Momentum::Average { beta },
        (Form::HeavyBall, true, true) => Momentum::AverageNesterov { beta },
        (Form::HeavyBall, false, false) => Momentum::HeavyBall { beta },
        (Form::HeavyBall, false, true) => Momentum::Nesterov { beta },
    }
}

/// The factor of the reference in line 6: 1 as Algorithm QG-GUTm prints it, 1 + beta in
/// its "PyTorch" version and as released, 1 + beta + beta² as released with Nesterov.
fn change_of_reference(method: &Method) -> f64 {
    let beta = method.beta;
    match (method.form, method.reading, method.name.is_nesterov()) {
        (Form::QuasiGlobal | Form::OwnMoves, ..) | (_, Reading::Printed, _) => 1.0,
        (_, _, false) => 1.0 + beta,
        (_, _, true) => 1.0 + beta + beta * beta,
    }
}

fn place_of<'a>(place: GradientAt, s: &'a Matrix, x: &'a Matrix) -> &'a Matrix {
    if place == GradientAt::Mixed { s } else { x }
}

/// Eq. (dsgd): X <- W (X - eta G(X)). With the gradient at the agent's own model before
/// mixing: X <- W X - eta G(X).
fn dsgd(on: &Setting<'_>, local: Momentum, place: GradientAt) -> Vec<Round> {
    let mut x = on.x0.clone();
    let mut v = Matrix::zeros(x.rows, x.cols);
    let mut rounds = Vec::new();
    for (t, &eta) in on.etas.iter().enumerate() {
        let (w, eta) = (on.w_of(t), f64::from(eta));
        let probe = x.clone();
        let d = local.direct(&mut v, &on.gradients(&probe, eta));
        let message = if place == GradientAt::Mixed { &x - eta * &d } else { x.clone() };
        x = if place == GradientAt::Mixed { w * &message } else { w * &x - eta * &d };
        rounds.push(Round { probe, message, x: x.clone() });
    }
    rounds
}

/// Eq. (qgm): X <- W [X - eta (G + beta M')]; M = mu M' + (1-mu) (X' - X)/eta.
fn qgm(on: &Setting<'_>, momentum: Momentum) -> Vec<Round> {
    let (w, mut x) = (on.w, on.x0.clone());
    let mut m = Matrix::zeros(x.rows, x.cols);
    let mut rounds = Vec::new();
    for &eta in on.etas {
        let eta = f64::from(eta);
        let probe = x.clone();
        let d = momentum.direct(&mut m, &on.gradients(&probe, eta));
        let message = &x - eta * d;
        let next = w * &message;
        momentum.settle(&mut m, &((&x - &next) / eta));
        x = next;
        rounds.push(Round { probe, message, x: x.clone() });
    }
    rounds
}

/// QG-DSGDm as released: delta = G - P, with momentum on delta. Models are sent.
fn momentum_on_the_dsgd_update(
    on: &Setting<'_>,
    momentum: Momentum,
    place: GradientAt,
) -> Vec<Round> {
    let (w, mut x) = (on.w, on.x0.clone());
    let mut m = Matrix::zeros(x.rows, x.cols);
    let mut rounds = Vec::new();
    for &eta in on.etas {
        let eta = f64::from(eta);
        let s = w * &x;
        let probe = place_of(place, &s, &x).clone();
        let delta = on.gradients(&probe, eta) - (&s - &x) / eta;
        x = &x - eta * momentum.direct(&mut m, &delta);
        rounds.push(Round { probe, message: x.clone(), x: x.clone() });
    }
    rounds
}

/// Algorithm 1 (GUT), Algorithm QG-GUTm and its "PyTorch" version, line by line; as
/// released, the reference in line 6 is the gossip part of the round before.
fn gut(
    on: &Setting<'_>,
    mu: f64,
    reading: Reading,
    b: f64,
    local: Momentum,
    momentum: Momentum,
    place: GradientAt,
) -> Vec<Round> {
    let (w, mut x) = (on.w, on.x0.clone());
    let zero = Matrix::zeros(x.rows, x.cols);
    let (mut v, mut m) = (zero.clone(), zero.clone());
    let (mut sent, mut p_before, mut delta_before) = (zero.clone(), zero.clone(), zero);
    let mut rounds = Vec::new();
    for &eta in on.etas {
        let eta = f64::from(eta);
        let s = w * &x;
        let probe = place_of(place, &s, &x).clone();
        let u = local.direct(&mut v, &on.gradients(&probe, eta)); // line 4
        let p = (&s - &x) / eta;
        let delta = u - &p; // line 5
        let reference = if reading == Reading::Released { &p_before } else { &p };
        let y = &delta + mu * (w * &sent - b * reference - &delta_before); // line 6
        let d = momentum.direct(&mut m, &y); // line 7 of QG-GUTm
        momentum.settle(&mut m, &(w * &d));
        let message = -eta * &d;
        x = &x + &message; // line 8
        rounds.push(Round { probe, message, x: x.clone() });
        (sent, p_before, delta_before) = (d, p, delta);
    }
    rounds
}

/// Table split, Rule-a: Y = G - P + mu [W Y' - (G' - P')].
fn rule_a(on: &Setting<'_>, mu: f64, place: GradientAt) -> Vec<Round> {
    let (w, mut x) = (on.w, on.x0.clone());
    let zero = Matrix::zeros(x.rows, x.cols);
    let (mut y, mut delta_before) = (zero.clone(), zero);
    let mut rounds = Vec::new();
    for &eta in on.etas {
        let eta = f64::from(eta);
        let s = w * &x;
        let probe = place_of(place, &s, &x).clone();
        let delta = on.gradients(&probe, eta) - (&s - &x) / eta;
        y = &delta + mu * (w * &y - &delta_before);
        delta_before = delta;
        let message = -eta * &y;
        x = &x + &message;
        rounds.push(Round { probe, message, x: x.clone() });
    }
    rounds
}

/// Table split, Rule-b: Y = G - P - mu (W - I)(X - X')/eta, where eta is this round's, so
/// that the models move by mu (W - I)(X - X') whatever the step size.
fn rule_b(on: &Setting<'_>, mu: f64, place: GradientAt) -> Vec<Round> {
    let (w, mut x) = (on.w, on.x0.clone());
    let mut x_before = x.clone();
    let mut rounds = Vec::new();
    for &eta in on.etas {
        let eta = f64::from(eta);
        let s = w * &x;
        let probe = place_of(place, &s, &x).clone();
        let moved = &x - &x_before;
        let bias = (w * &moved - &moved) / eta;
        let y = on.gradients(&probe, eta) - (&s - &x) / eta - mu * bias;
        let message = -eta * &y;
        x_before = x.clone();
        x = &x + &message;
        rounds.push(Round { probe, message, x: x.clone() });
    }
    rounds
}

/// Eq. (gt): Y = W Y' - G' + G; X <- W (X - eta Y). Both are sent. In the other order:
/// X <- W X - eta Y, and X is sent.
fn gradient_tracking(on: &Setting<'_>, order: Order) -> Vec<Round> {
    let mut x = on.x0.clone();
    let zero = Matrix::zeros(x.rows, x.cols);
    let (mut mixed, mut g_before) = (zero.clone(), zero);
    let mut rounds = Vec::new();
    for (t, &eta) in on.etas.iter().enumerate() {
        let w = on.w_of(t);
        let probe = x.clone();
        let g = on.gradients(&probe, eta);
        let y = mixed - g_before + &g; // what was sent is mixed by the W of its round
        g_before = g;
        let (sent, next) = step_and_mix(order, w, &x, f64::from(eta) * &y);
        (x, mixed) = (next, w * &y);
        rounds.push(Round { probe, message: sent.beside(&y), x: x.clone() });
    }
    rounds
}

/// D² (Tang et al., 2018): X <- W (2X - X' - eta G + eta' G'); first X <- W (X - eta G).
fn d2(on: &Setting<'_>) -> Vec<Round> {
    let (w, mut x) = (on.w, on.x0.clone());
    let mut before: Option<(Matrix, Matrix)> = None;
    let mut rounds = Vec::new();
    for &eta in on.etas {
        let probe = x.clone();
        let step = f64::from(eta) * on.gradients(&probe, eta);
        let message = match before {
            None => &x - &step,
            Some((x_before, step_before)) => 2.0 * &x - x_before - &step + step_before,
        };
        before = Some((x, step));
        x = w * &message;
        rounds.push(Round { probe, message, x: x.clone() });
    }
    rounds
}

/// What is sent of the models, and the mixed models.
fn step_and_mix(order: Order, w: &Matrix, x: &Matrix, step: Matrix) -> (Matrix, Matrix) {
    match order {
        Order::Atc => (x - &step, w * (x - step)),
        Order::Awc => (x.clone(), w * x - step),
    }
}

/// Exact diffusion (Yuan et al., 2019, Part I, adapt, correct, combine): Psi = X - eta D;
/// Phi = Psi + X - Psi'; X <- W Phi, and Psi' = X at first. EDM: D = M, the averaged momentum.
fn exact_diffusion(on: &Setting<'_>, momentum: Momentum) -> Vec<Round> {
    let (w, mut x) = (on.w, on.x0.clone());
    let (mut psi_before, mut m) = (x.clone(), Matrix::zeros(x.rows, x.cols));
    let mut rounds = Vec::new();
    for &eta in on.etas {
        let probe = x.clone();
        let psi = &x - f64::from(eta) * momentum.direct(&mut m, &on.gradients(&probe, eta));
        let phi = &psi + &x - psi_before;
        psi_before = psi;
        x = w * &phi;
        rounds.push(Round { probe, message: phi, x: x.clone() });
    }
    rounds
}

/// DecentLaM (Yuan et al., 2021): G~ = X/eta - W (X - eta G)/eta; M = beta M' + G~; X <- X - eta M.
fn decentlam(on: &Setting<'_>, beta: f64) -> Vec<Round> {
    let (w, mut x) = (on.w, on.x0.clone());
    let mut m = Matrix::zeros(x.rows, x.cols);
    let mut rounds = Vec::new();
    for &eta in on.etas {
        let eta = f64::from(eta);
        let probe = x.clone();
        let z = &x - eta * on.gradients(&probe, eta);
        m = beta * m + (&x - w * &z) / eta;
        x = x - eta * &m;
        rounds.push(Round { probe, message: z, x: x.clone() });
    }
    rounds
}

/// Momentum Tracking as published (Takezawa et al., 2023): U = beta U' + G;
/// X <- W X - eta (U - C); C <- W (C - U) + U. Models and U - C are sent. It starts from U = C =
/// (G_0 - mean of G_0)/(1-beta), as its paper prints it, or from zero.
pub(crate) fn momentum_tracking(
    on: &Setting<'_>,
    beta: f64,
    order: Order,
    start: TrackingStart,
) -> Vec<Round> {
    let mut x = on.x0.clone();
    let mut u = Matrix::zeros(x.rows, x.cols);
    if start == TrackingStart::Average {
        u = on.losses.gradients(&x).disagreement() / (1.0 - beta);
    }
    let mut c = u.clone();
    let mut rounds = Vec::new();
    for (t, &eta) in on.etas.iter().enumerate() {
        let w = on.w_of(t);
        let probe = x.clone();
        u = beta * u + on.gradients(&probe, eta);
        let direction = &u - &c;
        let (sent, next) = step_and_mix(order, w, &x, f64::from(eta) * &direction);
        c = w * (&c - &u) + &u;
        x = next;
        rounds.push(Round { probe, message: sent.beside(&direction), x: x.clone() });
    }
    rounds
}

/// Every row divided by the weight of its agent.
fn debiased(x: &Matrix, w: &Matrix) -> Matrix {
    Matrix::from_fn(x.rows, x.cols, |i, k| x.at(i, k) / w.at(i, 0))
}

/// A weight of 1 at every agent, as a column.
fn ones(agents: usize) -> Matrix {
    Matrix::from_fn(agents, 1, |_, _| 1.0)
}

/// SGP (Assran et al., 2019, Algorithm 1), with column-stochastic P in place of W:
/// X <- P (X - eta G(Z)); w <- P w; Z = X / w.
fn sgp(on: &Setting<'_>, local: Momentum) -> Vec<Round> {
    let mut x = on.x0.clone();
    let (mut v, mut w) = (Matrix::zeros(x.rows, x.cols), ones(x.rows));
    let mut rounds = Vec::new();
    for (t, &eta) in on.etas.iter().enumerate() {
        let p = on.w_of(t);
        let probe = debiased(&x, &w);
        let h = &x - f64::from(eta) * local.direct(&mut v, &on.gradients(&probe, eta));
        let message = h.beside(&w);
        (x, w) = (p * &h, p * &w);
        rounds.push(Round { probe, message, x: debiased(&x, &w) });
    }
    rounds
}

/// Lines 5 to 9 of GUT and of its version with momentum, as released, with column-stochastic P in
/// place of W: S = P X, G at S/w, w <- P w, and P D' is (S' - S)/eta', because S moves by P times
/// what X moves by. Counted from the common start, if there is one. Before the first round
/// nothing has been mixed: S = X.
fn gut_on_push_sum(on: &Setting<'_>, mu: f64, b: f64, momentum: Momentum) -> Vec<Round> {
    let equal = (0..on.x0.rows).all(|i| on.x0.row(i) == on.x0.row(0));
    let origin = if equal { on.x0.clone() } else { Matrix::zeros(on.x0.rows, on.x0.cols) };
    let mut x = &on.x0 - &origin;
    let (mut s, mut w) = (x.clone(), ones(x.rows));
    let zero = Matrix::zeros(x.rows, x.cols);
    let mut m = zero.clone();
    let (mut mixed_before, mut pull_before, mut delta_before) = (zero.clone(), zero.clone(), zero);
    let mut rounds = Vec::new();
    for (t, &eta) in on.etas.iter().enumerate() {
        let (p, eta) = (on.w_of(t), f64::from(eta));
        let probe = &origin + debiased(&s, &w);
        let pull = (&s - &x) / eta;
        let delta = on.gradients(&probe, eta) - &pull;
        let y = &delta + mu * (&mixed_before - b * &pull_before - &delta_before);
        let d = momentum.direct(&mut m, &y);
        x = &x - eta * &d;
        let message = x.beside(&w);
        let s_before = s;
        (s, w) = (p * &x, p * &w);
        let mixed = (s_before - &s) / eta;
        momentum.settle(&mut m, &mixed);
        rounds.push(Round { probe, message, x: &origin + debiased(&s, &w) });
        (mixed_before, pull_before, delta_before) = (mixed, pull, delta);
    }
    rounds
}

/// What is sent in this round in place of `v`.
fn coded(on: &Setting<'_>, codec: Compression, round: usize, v: &Matrix) -> Matrix {
    if codec == Compression::None {
        return v.clone();
    }
    let q = on.sent[round].clone();
    let rounding = 8e-5; // measured: 3.1e-5
    (0..v.rows).for_each(|i| check_coded(codec, v.row(i), q.row(i), rounding));
    q
}

/// Checks that `q` is C(v) by the definition of C, up to `rounding`; a vector here is shorter than one
/// block of a codec.
pub(crate) fn check_coded(codec: Compression, v: &[f64], q: &[f64], rounding: f64) {
    let near = |a: f64, b: f64| (a - b).abs() <= rounding;
    let largest = v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    let pairs = || v.iter().zip(q);
    match codec {
        Compression::None => assert!(pairs().all(|(&v, &q)| near(v, q))),
        Compression::Sign => {
            let mean = v.iter().map(|v| v.abs()).sum::<f64>() / v.len() as f64;
            let signed = |v: f64, q: f64| v * q > 0.0 || v.abs() <= rounding;
            assert!(pairs().all(|(&v, &q)| near(q.abs(), mean) && signed(v, q)), "{v:?}: {q:?}");
        }
        Compression::TopK(share) | Compression::RandomK(share) => {
            let told = pairs().filter(|&(_, &q)| q != 0.0);
            let least = told.clone().fold(f64::INFINITY, |least, (v, _)| least.min(v.abs()));
            let left = pairs().filter(|&(_, &q)| q == 0.0).map(|(v, _)| v.abs());
            let most_left = left.fold(0.0, f64::max);
            assert!(told.clone().count() <= (share * v.len() as f64) as usize, "{q:?}");
            assert!(told.clone().all(|(&v, &q)| near(v, q)), "{v:?}: {q:?}");
            let of_largest = matches!(codec, Compression::TopK(_));
            assert!(!of_largest || least >= most_left - rounding, "{v:?}: {q:?}");
        }
        Compression::Quantize(bits) => {
            let level = largest / f64::from((1 << (bits - 1)) - 1);
            let omega = v.len() as f64 * level * level / 4.0 / (largest * largest).max(1e-30);
            let off = |v: f64| level + omega * v.abs() + rounding;
            assert!(pairs().all(|(&v, &q)| (v - q).abs() <= off(v)), "{v:?}: {q:?}");
        }
    }
}

/// CHOCO-SGD with the copies of all models, both orders; W has the consensus step in it:
/// gamma (W - I) = ((1-gamma) I + gamma W) - I.
fn choco(on: &Setting<'_>, local: Momentum, codec: Compression, order: Order) -> Vec<Round> {
    let (w, mut x) = (on.w, on.x0.clone());
    let mut hats = x.clone();
    let mut v = Matrix::zeros(x.rows, x.cols);
    let mut rounds = Vec::new();
    for (t, &eta) in on.etas.iter().enumerate() {
        let probe = x.clone();
        let d = local.direct(&mut v, &on.gradients(&probe, eta));
        let stepped = &x - f64::from(eta) * d;
        let message;
        if order == Order::Atc {
            message = coded(on, codec, t, &(&stepped - &hats));
            hats = &hats + &message;
            x = stepped + (w * &hats - &hats);
        } else {
            x = stepped + (w * &hats - &hats);
            message = coded(on, codec, t, &(&x - &hats));
            hats = &hats + &message;
        }
        rounds.push(Round { probe, message, x: x.clone() });
    }
    rounds
}

/// AdaGossip: CHOCO-SGD (ICML) with a step of its own for every parameter.
fn adagossip(on: &Setting<'_>, method: &Method) -> Vec<Round> {
    let (w, mut x) = (on.w, on.x0.clone());
    let Tunable::Value(gamma) = method.gamma else { panic!("gamma is auto") };
    let b = method.decay;
    let mut hats = x.clone();
    let mut v = Matrix::zeros(x.rows, x.cols);
    let mut rounds = Vec::new();
    for (t, &eta) in on.etas.iter().enumerate() {
        let probe = x.clone();
        let stepped = &x - f64::from(eta) * on.gradients(&probe, eta);
        let message = coded(on, method.codec, t, &(&stepped - &hats));
        hats = &hats + &message;
        let r = w * &hats - &hats;
        let squares = Matrix::from_fn(r.rows, r.cols, |i, k| r.at(i, k) * r.at(i, k));
        v = b * &v + (1.0 - b) * squares;
        let unbiased = 1.0 / (1.0 - b.powi(t as i32 + 1));
        let step = |i, k| (gamma / ((v.at(i, k) * unbiased).sqrt() + 1e-8)).min(1.0);
        x = stepped + Matrix::from_fn(r.rows, r.cols, |i, k| step(i, k) * r.at(i, k));
        rounds.push(Round { probe, message, x: x.clone() });
    }
    rounds
}

/// Compressed GUT, from the header of its file: the pull of the copies, and z = d - (W - I) Q/eta.
fn compressed_gut(
    on: &Setting<'_>,
    mu: f64,
    codec: Compression,
    b: f64,
    momentum: Momentum,
    place: GradientAt,
) -> Vec<Round> {
    let (w, mut x) = (on.w, on.x0.clone());
    let mut hats = x.clone();
    let zero = Matrix::zeros(x.rows, x.cols);
    let mut m = zero.clone();
    let (mut z, mut r_before, mut delta_before) = (zero.clone(), zero.clone(), zero);
    let mut rounds = Vec::new();
    for (t, &eta) in on.etas.iter().enumerate() {
        let eta = f64::from(eta);
        let pull = w * &hats - &hats;
        let probe = if place == GradientAt::Mixed { &x + &pull } else { x.clone() };
        let r = pull / eta;
        let delta = on.gradients(&probe, eta) - &r;
        let y = &delta + mu * (&z - b * &r_before - &delta_before);
        let d = momentum.direct(&mut m, &y);
        x = &x - eta * &d;
        let message = coded(on, codec, t, &(&x - &hats));
        hats = &hats + &message;
        z = d - (w * &message - &message) / eta;
        (r_before, delta_before) = (r, delta);
        rounds.push(Round { probe, message, x: x.clone() });
    }
    rounds
}
