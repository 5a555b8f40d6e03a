//! Momentum Tracking is gradient tracking of the momentum, and its start does not matter for where
//! it ends: both in `f64`, from the published equations of Takezawa et al., TMLR 2023.

mod support;

use consort_algo::{Order, TrackingStart};
use support::equations::{Round, Setting, momentum_tracking};
use support::graphs;
use support::local_steps::LocalSteps;
use support::losses::Quadratics;
use support::matrix::{Matrix, largest};
use support::random::Random;
use support::warm_up_and_decay;

const DIMENSION: usize = 4;
const BETA: f64 = 0.9;

fn start(agents: usize) -> Matrix {
    Matrix::repeat(agents, Matrix::random(1, DIMENSION, &mut Random::new(4)).row(0))
}

fn published(w: &Matrix, etas: &[f32], order: Order, start_from: TrackingStart) -> Vec<Round> {
    let losses = Quadratics::new(w.rows, DIMENSION, 7);
    let setting = Setting {
        w,
        turns: &[],
        losses: &losses,
        x0: start(w.rows),
        etas,
        sent: &[],
        local: &LocalSteps::one(),
    };
    momentum_tracking(&setting, BETA, order, start_from)
}

/// Y = W Y' + U - U', from Y = U = 0, is U - C of the published form, and the models are equal.
/// Measured: 3.6e-15 for Y and 3e-16 for the models.
#[test]
fn it_is_gradient_tracking_of_the_momentum() {
    let w = graphs::torus(4, 8);
    let losses = Quadratics::new(w.rows, DIMENSION, 7);
    let etas = warm_up_and_decay(200);
    let mut x = start(w.rows);
    let zero = Matrix::zeros(x.rows, x.cols);
    let (mut u, mut y) = (zero.clone(), zero);
    for (round, &eta) in published(&w, &etas, Order::Awc, TrackingStart::Zero).iter().zip(&etas) {
        let u_before = u.clone();
        u = BETA * u + losses.gradients(&x);
        y = &w * &y + &u - u_before;
        let apart = (&round.message - x.beside(&y)).max_abs();
        x = &w * &x - f64::from(eta) * &y;
        assert!(apart < 1.2e-14, "the messages are {apart:.1e} apart");
        assert!((&round.x - &x).max_abs() < 1e-15, "{:.1e}", (&round.x - &x).max_abs());
    }
}

/// mean(c) = 0 from either start, so mean(u - c), the second half of a message, is mean(u).
/// u is rebuilt from the gradients. Measured: 8e-16.
#[test]
fn the_tracking_variable_has_the_mean_of_the_momentum_from_either_start() {
    let w = graphs::torus(4, 8);
    let losses = Quadratics::new(w.rows, DIMENSION, 7);
    for start_from in [TrackingStart::Zero, TrackingStart::Average] {
        let mut mean_u = [0.0; DIMENSION]; // the paper's start has mean zero too
        for round in published(&w, &warm_up_and_decay(200), Order::Awc, start_from) {
            let g = losses.gradients(&round.probe).mean_row();
            let sent = round.message.mean_row();
            for k in 0..DIMENSION {
                mean_u[k] = BETA * mean_u[k] + g[k];
            }
            let off: Vec<f64> = (0..DIMENSION).map(|k| sent[DIMENSION + k] - mean_u[k]).collect();
            assert!(largest(&off) < 3e-15, "{start_from:?}: {:.1e}", largest(&off));
        }
    }
}

/// The paper's start needs the mean of the first gradients over all agents, ours nothing. Every
/// agent ends at the optimum of the averaged loss from both. Measured: 1.5e-15.
#[test]
fn both_starts_reach_the_same_fixed_point() {
    let w = graphs::ring(16);
    let optimum = Matrix::repeat(w.rows, &Quadratics::new(w.rows, DIMENSION, 7).optimum());
    for order in [Order::Awc, Order::Atc] {
        let ends = [TrackingStart::Zero, TrackingStart::Average].map(|start_from| {
            let rounds = published(&w, &[0.005; 30_000], order, start_from);
            rounds[rounds.len() - 1].x.clone()
        });
        for end in &ends {
            let off = (end - &optimum).max_abs();
            assert!(off < 1e-14, "{order:?}: {off:.1e} from the optimum");
        }
    }
}
