//! Every method in stages computes its equation: the crate's fused `f32` loops, driven through the
//! round protocol, against dense `f64` arithmetic written from the printed equations
//! (`support/staged_equations.rs`, and `support/equations.rs` behind local steps).
//!
//! Heterogeneous quadratics in eight dimensions, 200 rounds, a warm-up and a decay of the step
//! size. Models and first probes are compared after every round, relative to the largest model.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use consort_algo::{GraphNeeds, Method};
use support::equations::{self, Setting};
use support::graphs;
use support::local_steps::LocalSteps;
use support::losses::Quadratics;
use support::matrix::Matrix;
use support::methods::{local_step_variants, staged_variants};
use support::random::Random;
use support::staged_equations;
use support::staged_team::StagedTeam;
use support::warm_up_and_decay;

const ROUNDS: usize = 200;
const TENSORS: [usize; 2] = [3, 5];

/// How far models and probes may be off: about three times the worst measured, which is 2.1e-6.
/// Adam divides small gradients by small numbers: 9.7e-6. Where an agent has more neighbours than a
/// tensor has numbers, CGA's programme has many solutions that differ little: 4.0e-4.
fn tolerance(text: &str) -> f64 {
    match text {
        _ if text.contains("adam") => 3e-5,
        _ if text.starts_with("cga") => 1.2e-3,
        _ => 6e-6,
    }
}

/// The worst relative error of models and first probes.
fn error(text: &str, phases: &[Matrix]) -> f64 {
    let method: Method = text.parse().unwrap();
    let w = &phases[0];
    let (losses, etas) = (Quadratics::new(w.rows, 8, 7), warm_up_and_decay(ROUNDS));
    let x0 = Matrix::repeat(w.rows, Matrix::random(1, 8, &mut Random::new(4)).row(0));
    let mut team = StagedTeam::new(&method, phases, &x0.row_f32(0), &TENSORS);
    let local = LocalSteps::of(&method);
    let setting = Setting { w, losses: &losses, x0, etas: &etas, sent: &[], local: &local };
    let expected = if local_step_variants().iter().any(|variant| variant == text) {
        let rounds = equations::run(&method, &setting).into_iter();
        rounds.map(|round| (round.probe, round.x)).collect()
    } else {
        staged_equations::run(&method, &setting, phases, &TENSORS)
    };
    let (mut scale, mut worst) = (0.0_f64, 0.0_f64);
    for (&eta, (probe, x)) in etas.iter().zip(&expected) {
        team.learn(&losses, eta);
        scale = scale.max(x.max_abs());
        for off in [&team.models() - x, &team.first_probes() - probe] {
            worst = worst.max(off.max_abs());
        }
    }
    assert!(scale < 10.0, "{text} is unstable here: its models reach {scale:.1e}");
    worst / scale
}

/// The graph as `text` bears it: Led and ED need eigenvalues above -1/3.
fn check(text: &str, graph: &Matrix) {
    let name = text.split(':').next().unwrap();
    let w = if ["led", "ed", "choco"].contains(&name) {
        graphs::slowed(graph, 0.5)
    } else {
        graph.clone()
    };
    let off = error(text, &[w]);
    assert!(off < tolerance(text), "{text}: off by {off:.1e}");
}

fn needs_trees(text: &str) -> bool {
    text.parse::<Method>().unwrap().info().needs == GraphNeeds::Trees
}

/// Codecs are compared in `compression.rs`: they jump where rounding errors decide.
fn comparable() -> impl Iterator<Item = String> {
    staged_variants().into_iter().filter(|text| !text.starts_with("comp-"))
}

#[test]
fn every_staged_method_computes_its_equation_on_a_ring() {
    let ring = graphs::ring(16);
    comparable().filter(|text| !needs_trees(text)).for_each(|text| check(&text, &ring));
}

#[test]
fn every_staged_method_computes_its_equation_on_a_random_graph_with_unequal_weights() {
    let graph = graphs::random(12, 6, 3);
    comparable().filter(|text| !needs_trees(text)).for_each(|text| check(&text, &graph));
}

#[test]
fn relaysgd_computes_its_equation_on_a_chain_and_on_a_random_tree() {
    for tree in [graphs::chain(8), graphs::random(12, 0, 5)] {
        comparable().filter(|text| needs_trees(text)).for_each(|text| check(&text, &tree));
    }
}

/// Each half of the model over its own tree, one exchange after the other.
#[test]
fn relaysgd_computes_its_equation_on_two_trees_that_share_the_work() {
    let trees = [graphs::random(9, 0, 5), graphs::random(9, 0, 6)];
    for text in comparable().filter(|text| needs_trees(text)) {
        let off = error(&text, &trees);
        assert!(off < tolerance(&text), "{text}: off by {off:.1e}");
    }
}
