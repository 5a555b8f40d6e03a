//! The largest stable mu, from both sides: pure consensus (zero gradients, unequal models)
//! shrinks the disagreement just below the limit and makes it explode just above.
//!
//! A mode with eigenvalue l of W obeys x+ = l x + mu l (x - x') as released and
//! x+ = l x + mu (2l - 1)(x - x') as printed (Algorithm 1). With l = lambda_min < 0 the
//! limits are mu = (-1/l - 1)/2 and mu = (1 + l)/(2 (1 - 2l)).

mod support;

use support::graphs;
use support::matrix::Matrix;
use support::random::Random;
use support::team::Team;

/// By what factor the disagreement has changed after that many rounds of gossip.
fn growth(method: &str, w: &Matrix, rounds: usize) -> f64 {
    let x0 = Matrix::random(w.rows, 2, &mut Random::new(9));
    let before = x0.disagreement().max_abs();
    let mut team = Team::new(method, w, &x0);
    for _ in 0..rounds {
        team.gossip();
    }
    team.models().disagreement().max_abs() / before
}

fn check_limit(method: &str, w: &Matrix, rounds: usize, below: f64, above: f64) {
    let shrunk = growth(&format!("{method}:mu={below}"), w, rounds);
    let grown = growth(&format!("{method}:mu={above}"), w, rounds);
    assert!(shrunk < 1e-3, "{method}: mu = {below} leaves {shrunk:.1e} of the disagreement");
    assert!(grown > 1e3, "{method}: mu = {above} gives {grown:.1e} of the disagreement");
}

/// Torus 4x8: lambda_min = -3/5, so the limit is (5/3 - 1)/2 = 1/3.
#[test]
fn released_gut_on_a_torus_is_stable_up_to_one_third() {
    check_limit("gut", &graphs::torus(4, 8), 1500, 0.32, 0.35);
}

/// Ring: lambda_min = -1/3, so the limit is (2/3)/(10/3) = 1/5.
#[test]
fn printed_gut_on_a_ring_is_stable_up_to_one_fifth() {
    let w = graphs::ring(16);
    let printed = |mu: f64| growth(&format!("gut:mu={mu},reading=printed"), &w, 600);
    assert!(printed(0.19) < 1e-3);
    assert!(printed(0.21) > 1e3);
}

/// The paper's mu = 0.9 for GUT is stable on its ring as released, not as printed.
#[test]
fn the_papers_mu_is_stable_as_released_and_not_as_printed() {
    let w = graphs::ring(16);
    let released = growth("gut:mu=0.9", &w, 600);
    assert!(released < 1e-3);
    assert!(growth("gut:mu=0.9,reading=printed", &w, 20) > 1e3);
}

/// QG-GUTm as released with beta = 0.9: the paper's mu of 0.04 to 0.09 is just below 0.1.
#[test]
fn released_qg_gutm_on_a_ring_is_stable_up_to_one_tenth() {
    check_limit("qg-gutm", &graphs::ring(16), 8000, 0.095, 0.105);
}

/// Exact diffusion obeys x+ = l (2x - x') without gradients, with or without momentum, so it needs
/// lambda_min > -1/3. Torus 4x8 at the averaging rate gamma: 1 - 1.6 gamma > -1/3, gamma < 5/6.
#[test]
fn exact_diffusion_is_stable_above_minus_one_third() {
    for method in ["d2", "ed", "edm"] {
        let growth = |gamma| growth(method, &graphs::slowed(&graphs::torus(4, 8), gamma), 600);
        let (below, above) = (growth(0.81), growth(0.85));
        assert!(below < 1e-3, "{method}: {below:.1e} of the disagreement is left");
        assert!(above > 1e3, "{method}: the disagreement grows only to {above:.1e}");
    }
}

/// Without gradients DecentLaM is heavy ball on gossip, x+ = x - m, m = beta m' + (1 - l) x, which
/// is stable for 1 - l < 2 (1 + beta), that is for every l above -1. Two agents that swap nearly
/// everything: l = -0.98.
#[test]
fn decentlam_is_stable_on_every_symmetric_w() {
    let w = Matrix::from_fn(2, 2, |i, j| if i == j { 0.01 } else { 0.99 });
    for method in ["decentlam", "decentlam:beta=0", "decentlam:beta=0.5"] {
        let left = growth(method, &w, 1000);
        assert!(left < 1e-3, "{method}: {left:.1e} of the disagreement is left");
    }
}
