//! An averaging rate that changes over the run: round t mixes with `W_t = (1 - f_t) I + f_t W`. Each
//! method follows its published update with `W_t` in the place of W, in `f64` and written down here
//! without looking at its code; what holds for one W holds for all of them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use consort_algo::Method;
use support::graphs;
use support::losses::Quadratics;
use support::matrix::Matrix;
use support::random::Random;
use support::staged_team::StagedTeam;

const ROUNDS: usize = 120;
const DIMENSION: usize = 4;

/// Falls along a cosine, with a jump at two thirds; never 0.
fn rate(round: usize) -> f64 {
    let done = round as f64 / ROUNDS as f64;
    let fallen = 0.6 + 0.4 * (3.0 * done).cos();
    // As the agents have it.
    f64::from(if round < 2 * ROUNDS / 3 { fallen as f32 } else { 0.25 })
}

/// Falls to a fifth half-way.
fn eta(round: usize) -> f32 {
    if round < ROUNDS / 2 { 0.05 } else { 0.01 }
}

fn x0() -> Vec<f32> {
    Matrix::random(1, DIMENSION, &mut Random::new(4)).row_f32(0)
}

fn team(method: &str, w: &Matrix) -> StagedTeam {
    let method: Method = method.parse().unwrap();
    StagedTeam::new(&method, std::slice::from_ref(w), &x0(), &[DIMENSION])
}

/// One round at the rate of its number.
fn round(team: &mut StagedTeam, losses: &Quadratics, round: usize) {
    let (last, now) = (rate(round.saturating_sub(1)) as f32, rate(round) as f32);
    team.agents.iter_mut().for_each(|agent| agent.set_averaging_rates(last, now));
    team.learn(losses, eta(round));
}

/// W_t of the round.
fn slowed(w: &Matrix, round: usize) -> Matrix {
    graphs::slowed(w, rate(round))
}

/// What an equation remembers between two rounds.
struct Dense {
    x: Matrix,
    /// `(S - X)/eta` of the last round.
    pull: Matrix,
    delta: Matrix,
    /// The direction of the last round, which is sent.
    d: Matrix,
    m: Matrix,
}

/// Which of the family of GUT.
#[derive(Clone, Copy)]
struct Family {
    mu: f64,
    /// None: no momentum.
    beta: Option<f64>,
    printed: bool,
    /// Rule-a: no reference at all.
    without_reference: bool,
}

/// A round of GUT, QG-GUTm or Rule-a; `mixed` is the W at which what was sent last was mixed.
fn gut(family: Family, dense: &mut Dense, mixed: &Matrix, losses: &Quadratics, eta: f64) {
    let s = mixed * &dense.x;
    let g = losses.gradients(&s);
    let pull = (1.0 / eta) * (&s - &dense.x);
    let delta = &g - &pull;
    let b = family.beta.map_or(1.0, |beta| 1.0 + beta);
    let reference = match family {
        Family { without_reference: true, .. } => 0.0 * &pull,
        Family { printed: true, .. } => b * &pull,
        _ => b * &dense.pull,
    };
    let bracket = mixed * &dense.d - &reference - &dense.delta;
    let y = &delta + &(family.mu * bracket);
    dense.m = family.beta.unwrap_or(0.0) * &dense.m + &y;
    dense.x = &dense.x - &(eta * &dense.m);
    (dense.d, dense.pull, dense.delta) = (dense.m.clone(), pull, delta);
}

/// `x <- (1 - gamma_t) x + gamma_t W x - eta g`, DSGD-AC (Wang, Johansson, 2026, arXiv:2602.02899).
/// Measured: 1.8e-7.
#[test]
fn dsgd_with_a_falling_rate_is_dsgd_ac() {
    let w = graphs::random(12, 9, 3);
    let losses = Quadratics::new(12, DIMENSION, 11);
    let mut team = team("dsgd:gradient_at=local", &w);
    let mut x = team.models();
    for t in 0..ROUNDS {
        let (gamma, g) = (rate(t), losses.gradients(&x));
        let mixed = (1.0 - gamma) * &x + &(gamma * (&w * &x));
        x = mixed - &(f64::from(eta(t)) * g);
        round(&mut team, &losses, t);
        let off = (team.models() - &x).max_abs();
        assert!(off < 7e-7, "round {t}: {off:.1e}");
    }
}

/// The pull `s - x` that GUT sums up over all rounds is that of W_t in every round, whatever the
/// rate did before. Measured: 8.0e-7 for QG-GUTm, at most 2.9e-7 for the others.
#[test]
fn gut_and_its_kin_follow_their_equations_at_a_rate_that_changes() {
    let plain = Family { mu: 0.5, beta: None, printed: false, without_reference: false };
    for (method, family) in [
        ("gut:mu=0.5", plain),
        ("gut:mu=0.5,memory=copies", plain),
        ("gut:mu=0.1,reading=printed", Family { mu: 0.1, printed: true, ..plain }),
        ("exact-gut", Family { mu: 1.0, ..plain }),
        ("rule-a:mu=0.1", Family { mu: 0.1, without_reference: true, ..plain }),
        ("qg-gutm:mu=0.05,beta=0.9", Family { mu: 0.05, beta: Some(0.9), ..plain }),
        ("cgut:mu=0.5,codec=none", plain),
    ] {
        let w = graphs::slowed(&graphs::torus(3, 4), 0.8);
        let losses = Quadratics::new(12, DIMENSION, 11);
        let mut team = team(method, &w);
        let zero = 0.0 * &team.models();
        let mut dense = Dense {
            x: team.models(),
            pull: zero.clone(),
            delta: zero.clone(),
            d: zero.clone(),
            m: zero,
        };
        for t in 0..ROUNDS {
            let mixed = slowed(&w, t.saturating_sub(1));
            gut(family, &mut dense, &mixed, &losses, f64::from(eta(t)));
            round(&mut team, &losses, t);
            let off = (team.models() - &dense.x).max_abs();
            assert!(off < 3e-6, "{method}, round {t}: {off:.1e}");
        }
    }
}

/// mu = 0 is DSGD, and QG-DSGDm with momentum, at the same rates: the mixed model of GUT is the
/// model of DSGD. Measured: 4.5e-7, with momentum 8.9e-7.
#[test]
fn without_tracking_it_is_dsgd_at_the_same_rates() {
    let w = graphs::ring(16);
    let losses = Quadratics::new(16, DIMENSION, 11);
    let (mut gut, mut dsgd) = (team("gut:mu=0", &w), team("dsgd", &w));
    let (mut qg_gutm, mut qg_dsgdm) = (team("qg-gutm:mu=0", &w), team("qg-dsgdm", &w));
    for t in 0..ROUNDS {
        for team in [&mut gut, &mut dsgd, &mut qg_gutm, &mut qg_dsgdm] {
            round(team, &losses, t);
        }
        let mut probes = vec![vec![0.0; DIMENSION]; 16];
        for (agent, at) in gut.agents.iter().zip(&mut probes) {
            agent.probe(at);
        }
        let off = (Matrix::stack(probes.iter().map(Vec::as_slice)) - dsgd.models()).max_abs();
        assert!(off < 2e-6, "round {t}: {off:.1e}");
        let off = (qg_gutm.models() - qg_dsgdm.models()).max_abs();
        assert!(off < 4e-6, "with momentum, round {t}: {off:.1e}");
    }
}

/// CHOCO-SGD without compression in the order of its first paper is DSGD, at any rates.
/// Measured: at most 4.5e-7.
#[test]
fn choco_without_compression_is_dsgd_at_the_same_rates() {
    let w = graphs::ring(16);
    let losses = Quadratics::new(16, DIMENSION, 11);
    let (mut choco, mut dsgd) = (team("choco:codec=none,order=icml", &w), team("dsgd", &w));
    for t in 0..ROUNDS {
        round(&mut choco, &losses, t);
        round(&mut dsgd, &losses, t);
        let off = (choco.models() - dsgd.models()).max_abs();
        assert!(off < 2e-6, "round {t}: {off:.1e}");
    }
}

/// The columns that agents really compute with sum to 1 at every rate, so the weights of push-sum
/// sum to n. Measured: 1.4e-6 of 12.
#[test]
fn the_weights_of_push_sum_sum_to_n_at_any_rate() {
    let w = graphs::digraph(12, 15, 3);
    let losses = Quadratics::new(12, DIMENSION, 11);
    for method in ["sgp", "gut-sgp:mu=0.3", "qg-gutm-sgp:mu=0.05"] {
        let mut team = team(method, &w);
        for t in 0..ROUNDS {
            round(&mut team, &losses, t);
        }
        let weights = team.agents.iter_mut().map(|agent| {
            let tensors = agent.tensors();
            f64::from(tensors.iter().find(|tensor| tensor.name == "w").unwrap().values[0])
        });
        let weights: Vec<f64> = weights.collect();
        assert!(weights.iter().any(|w| (w - 1.0).abs() > 0.1), "{weights:?} tests nothing");
        let sum: f64 = weights.iter().sum();
        assert!((sum - 12.0).abs() < 5e-6, "{method}: {sum}");
    }
}

/// A rate of 1 changes no bit, and agents that are told the rates once more, as after a restart, do
/// not either.
#[test]
fn a_rate_of_one_is_no_rate() {
    let losses = Quadratics::new(12, DIMENSION, 11);
    for method in ["dsgd", "gut", "exact-gut", "qg-gutm-n", "choco", "adagossip", "sgp", "ngc"] {
        let w = graphs::slowed(&graphs::torus(3, 4), 0.5);
        let (mut plain, mut told) = (team(method, &w), team(method, &w));
        for _ in 0..20 {
            plain.learn(&losses, 0.05);
            told.agents.iter_mut().for_each(|agent| agent.set_averaging_rates(1.0, 1.0));
            told.learn(&losses, 0.05);
        }
        assert!((plain.models() - told.models()).max_abs() == 0.0, "{method}");
    }
}
