//! Methods that must agree because one is a special case of the other: mu = 0 gives the method
//! without tracking, and a complete graph gives centralised SGD.
//!
//! Errors are absolute; the models' entries are at most about 1.

mod support;

use support::graphs;
use support::losses::Quadratics;
use support::matrix::Matrix;
use support::random::Random;
use support::team::Team;
use support::warm_up_and_decay;

const ROUNDS: usize = 200;

/// What a team shows after each round.
fn trace(method: &str, w: &Matrix, shown: fn(&Team) -> Matrix) -> Vec<Matrix> {
    let losses = Quadratics::new(w.rows, 8, 7);
    let x0 = Matrix::repeat(w.rows, Matrix::random(1, 8, &mut Random::new(4)).row(0));
    let mut team = Team::new(method, w, &x0);
    warm_up_and_decay(ROUNDS)
        .into_iter()
        .map(|eta| {
            team.learn(&losses, eta);
            shown(&team)
        })
        .collect()
}

fn models(method: &str, w: &Matrix) -> Vec<Matrix> {
    trace(method, w, Team::models)
}

/// Where the next gradient is taken; for GUT that is the mixed model s.
fn mixed_models(method: &str, w: &Matrix) -> Vec<Matrix> {
    trace(method, w, Team::next_probes)
}

fn furthest_apart(one: &[Matrix], other: &[Matrix]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b).max_abs()).fold(0.0, f64::max)
}

/// Section 3 of the paper: "we can recover the DSGD update by using delta in the update
/// rule". GUT steps before it mixes, so its *mixed* model is DSGD's model:
/// W (x - eta delta) = W (s - eta g(s)). Measured: 2.3e-6.
#[test]
fn gut_without_tracking_is_dsgd() {
    let w = graphs::torus(4, 8);
    for (gut, dsgd) in [("gut", "dsgd"), ("gutm", "dsgdm"), ("gutm-n", "dsgdm-n")] {
        for reading in ["released", "printed", "printed-pytorch"] {
            let gut = format!("{gut}:mu=0,reading={reading}");
            let apart = furthest_apart(&mixed_models(&gut, &w), &models(dsgd, &w));
            assert!(apart < 1e-5, "{gut} and {dsgd} are {apart:.1e} apart");
        }
    }
}

/// The same with the gradient at the agent's own model, where both are
/// W x - eta g(x). Measured: 2.7e-6.
#[test]
fn gut_without_tracking_is_dsgd_with_gradients_at_the_own_model() {
    let w = graphs::torus(4, 8);
    for (gut, dsgd) in [("gut", "dsgd"), ("gutm", "dsgdm"), ("gutm-n", "dsgdm-n")] {
        let gut = models(&format!("{gut}:mu=0,gradient_at=local"), &w);
        let dsgd = models(&format!("{dsgd}:gradient_at=local"), &w);
        let apart = furthest_apart(&gut, &dsgd);
        assert!(apart < 1e-5, "{apart:.1e} apart");
    }
}

/// Tables of the paper's appendix list QG-DSGDm as QG-GUTm with mu = 0; as released, and
/// in the consensus form of eq. (ac_qggut), both step before they mix. Measured: 9.1e-6.
#[test]
fn qg_gutm_without_tracking_is_qg_dsgdm() {
    let w = graphs::slowed(&graphs::torus(4, 8), 0.5);
    for (gut, dsgd) in [
        ("qg-gutm:mu=0", "qg-dsgdm"),
        ("qg-gutm-n:mu=0", "qg-dsgdm-n"),
        ("qg-gutm:mu=0,form=own-moves", "qg-dsgdm:form=own-moves"),
    ] {
        let apart = furthest_apart(&models(gut, &w), &models(dsgd, &w));
        assert!(apart < 3e-5, "{gut} and {dsgd} are {apart:.1e} apart");
    }
}

/// Eq. (qgm) mixes after its step, so there the mixed model is to be compared:
/// W (x - eta (delta + beta m)) = W (s - eta (g(s) + beta m)), and m follows the moves
/// of s, which are eta W d. Measured: 7.5e-6.
#[test]
fn qg_gutm_without_tracking_is_qg_dsgdm_in_the_original_form() {
    let w = graphs::torus(4, 8);
    let gut = mixed_models("qg-gutm:mu=0,form=quasi-global", &w);
    let apart = furthest_apart(&gut, &models("qg-dsgdm:form=quasi-global", &w));
    assert!(apart < 3e-5, "{apart:.1e} apart");
}

/// Gradient descent on the averaged loss.
fn centralised(agents: usize) -> Vec<Vec<f64>> {
    let losses = Quadratics::new(agents, 8, 7);
    let mut x = Matrix::random(1, 8, &mut Random::new(4)).row(0).to_vec();
    let etas = warm_up_and_decay(ROUNDS).into_iter();
    etas.map(|eta| {
        let g = losses.gradients(&Matrix::repeat(agents, &x)).mean_row();
        for (x, g) in x.iter_mut().zip(g) {
            *x -= f64::from(eta) * g;
        }
        x.clone()
    })
    .collect()
}

/// On a complete graph with uniform weights W averages exactly, so DSGD of eq. (dsgd) is
/// centralised SGD on the averaged loss at *every* agent. The agents agree up to one rounding,
/// since an agent's own weight is what the rounded weights of the others leave of 1.
#[test]
fn dsgd_on_a_complete_graph_is_centralised_sgd() {
    let n = 10;
    for (models, central) in models("dsgd", &graphs::complete(n)).iter().zip(centralised(n)) {
        let apart = (models - Matrix::repeat(n, &central)).max_abs();
        assert!(apart < 5e-6, "{apart:.1e} from centralised SGD");
        let disagreement = (models - Matrix::repeat(n, models.row(0))).max_abs();
        assert!(disagreement < 5e-7, "{disagreement:.1e} between agents");
    }
}

/// On a complete graph all mixed models equal the average, and the average moves by the mean
/// gradient (Lemma 1): GUT's *mixed* model is centralised SGD for every mu, at every agent,
/// although the agents' own models differ. The printed reading is stable for mu < 1/2 there.
/// Measured: 1.3e-5 (7e-8 with copies).
#[test]
fn the_mixed_model_of_gut_on_a_complete_graph_is_centralised_sgd() {
    let n = 10;
    for method in ["gut:mu=0.9", "gut:mu=0.9,memory=copies", "gut:mu=0.4,reading=printed"] {
        let central = centralised(n);
        let mut worst: f64 = 0.0;
        for (models, central) in mixed_models(method, &graphs::complete(n)).iter().zip(central) {
            worst = worst.max((models - Matrix::repeat(n, &central)).max_abs());
        }
        assert!(worst < 5e-5, "{method}: {worst:.1e} from centralised SGD");
    }
}

/// D² is X <- W (2X - X' - eta G + eta' G') (Tang et al., 2018), exact diffusion X <- W (Psi + X -
/// Psi') with Psi = X - eta G (Yuan et al., 2019): the same iteration, at every step size, because
/// each Psi keeps its own. So they are one method with the same bits.
#[test]
fn exact_diffusion_is_d2_to_the_bit() {
    let w = graphs::slowed(&graphs::torus(4, 8), 0.5);
    assert_eq!(furthest_apart(&models("ed", &w), &models("d2", &w)), 0.0);
}

/// EDM (Hu et al., 2025) with beta = 0 averages over the last gradient alone.
#[test]
fn edm_without_momentum_is_exact_diffusion_to_the_bit() {
    let w = graphs::slowed(&graphs::torus(4, 8), 0.5);
    assert_eq!(furthest_apart(&models("edm:beta=0", &w), &models("ed", &w)), 0.0);
}

/// DecentLaM (Yuan et al., 2021) with beta = 0: X - eta (X - W Z)/eta = W Z. Measured: 2.5e-7.
#[test]
fn decentlam_without_momentum_is_dsgd() {
    let w = graphs::torus(4, 8);
    let apart = furthest_apart(&models("decentlam:beta=0", &w), &models("dsgd", &w));
    assert!(apart < 1e-6, "{apart:.1e} apart");
}

/// Momentum Tracking (Takezawa et al., 2023) tracks u = beta u' + g; with beta = 0 that is the
/// gradient. The paper's order is not that of eq. (gt). Measured: 1.2e-7.
#[test]
fn momentum_tracking_without_momentum_is_gradient_tracking_in_the_same_order() {
    let w = graphs::torus(4, 8);
    for order in ["awc", "atc"] {
        let gt = models(&format!("gt:order={order}"), &w);
        let apart = furthest_apart(&models(&format!("mt:beta=0,order={order}"), &w), &gt);
        assert!(apart < 5e-7, "{order}: {apart:.1e} apart");
    }
    let other_order = furthest_apart(&models("mt:beta=0", &w), &models("gt", &w));
    assert!(other_order > 1e-3, "the orders are only {other_order:.1e} apart");
}

/// SGD on the averaged loss with m = beta m' + scale g.
fn centralised_momentum(agents: usize, beta: f64, scale: f64) -> Vec<Vec<f64>> {
    let losses = Quadratics::new(agents, 8, 7);
    let mut x = Matrix::random(1, 8, &mut Random::new(4)).row(0).to_vec();
    let mut m = vec![0.0; x.len()];
    let step = |eta: f32| {
        let g = losses.gradients(&Matrix::repeat(agents, &x)).mean_row();
        for ((x, m), g) in x.iter_mut().zip(&mut m).zip(g) {
            *m = beta * *m + scale * g;
            *x -= f64::from(eta) * *m;
        }
        x.clone()
    };
    warm_up_and_decay(ROUNDS).into_iter().map(step).collect()
}

/// Where W averages exactly, EDM and DecentLaM are centralised SGD with momentum at every agent,
/// across the warm-up and the decay: EDM with the averaged one, DecentLaM with heavy ball.
/// Measured: 5.2e-7 and 9.8e-8.
#[test]
fn edm_and_decentlam_on_a_complete_graph_are_centralised_momentum_sgd() {
    let n = 10;
    for (method, beta, scale) in [("edm", 0.9, 1.0 - 0.9), ("decentlam:beta=0.5", 0.5, 1.0)] {
        let central = centralised_momentum(n, beta, scale);
        let mut worst: f64 = 0.0;
        for (models, central) in models(method, &graphs::complete(n)).iter().zip(central) {
            worst = worst.max((models - Matrix::repeat(n, &central)).max_abs());
        }
        assert!(worst < 1.5e-6, "{method}: {worst:.1e} from centralised SGD with momentum");
    }
}
