//! Every method in stages computes its equation: the crate's fused `f32` loops, driven through the
//! round protocol, against dense `f64` arithmetic written from the printed equations
//! (`support/staged_equations.rs`, and `support/equations.rs` behind local steps).
//!
//! Heterogeneous quadratics in eight dimensions, 200 rounds, a warm-up and a decay of the step
//! size. Models and first probes are compared after every round, relative to the largest model.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use std::collections::HashSet;

use consort_algo::{CATALOGUE, GraphNeeds, Method, MethodName};
use support::equations::{self, Setting};
use support::graphs;
use support::local_steps::LocalSteps;
use support::losses::Quadratics;
use support::matrix::Matrix;
use support::methods::{every_variant, staged_variants};
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
        _ if text.contains("cga") => 1.2e-3,
        _ => 6e-6,
    }
}

/// The worst relative error of models and first probes.
fn error(text: &str, phases: &[Matrix]) -> f64 {
    let method: Method = text.parse().unwrap();
    let w = &phases[0];
    let (losses, etas) = (Quadratics::new(w.rows, 8, 7), warm_up_and_decay(ROUNDS));
    let x0 = Matrix::repeat(w.rows, Matrix::random(1, 8, &mut Random::new(4)).row(0));
    let (start, first) = (x0.row_f32(0), losses.gradients(&x0));
    let mut team = StagedTeam::from_first_gradients(&method, phases, &start, &TENSORS, &first);
    let (mut observed, mut sent) = (Vec::new(), Vec::new());
    for (round, &eta) in etas.iter().enumerate() {
        team.learn(&losses, eta);
        observed.push((team.first_probes(), team.models()));
        if text.starts_with("comp-") {
            sent.push(team.crossed_messages(&method, round as u32));
        }
    }
    let local = LocalSteps::new(&method);
    let turns = if needs_trees(text) { &[] } else { phases };
    let setting =
        Setting { w, turns, losses: &losses, x0, etas: &etas, sent: &sent, local: &local };
    let expected = if staged_equations::has(method.name) {
        staged_equations::run(&method, &setting, phases, &TENSORS)
    } else {
        let rounds = equations::run(&method, &setting).into_iter();
        rounds.map(|round| (round.probe, round.x)).collect()
    };
    let (mut scale, mut worst) = (0.0_f64, 0.0_f64);
    for ((got_probe, got), (probe, x)) in observed.iter().zip(&expected) {
        scale = scale.max(x.max_abs());
        worst = worst.max((got - x).max_abs()).max((got_probe - probe).max_abs());
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

/// A codec that leaves values out, or rounds them to a few levels, makes the gradients of a short
/// tensor parallel. CGA's programme then has many solutions, and rounding decides: CompCGA is
/// compared without a codec and with signs.
fn well_posed() -> impl Iterator<Item = String> {
    let coarse = |text: &String| text.contains("-k/") || text.contains("quantize");
    staged_variants().into_iter().filter(move |text| !text.starts_with("comp-cga") || !coarse(text))
}

fn needs_trees(text: &str) -> bool {
    text.parse::<Method>().unwrap().info().needs == GraphNeeds::Trees
}

/// A method of the catalogue that no test compares with its equation would be found here.
#[test]
fn every_method_of_the_catalogue_is_compared() {
    let named = |text: &String| text.parse::<Method>().unwrap().name;
    let all = every_variant().into_iter().chain(staged_variants());
    let compared: HashSet<MethodName> = all.map(|text| named(&text)).collect();
    for info in &CATALOGUE {
        assert!(compared.contains(&info.id), "{}: add it to support/methods.rs", info.name);
    }
}

#[test]
fn every_staged_method_computes_its_equation_on_a_ring() {
    let ring = graphs::ring(16);
    well_posed().filter(|text| !needs_trees(text)).for_each(|text| check(&text, &ring));
}

#[test]
fn every_staged_method_computes_its_equation_on_a_random_graph_with_unequal_weights() {
    let graph = graphs::random(12, 6, 3);
    well_posed().filter(|text| !needs_trees(text)).for_each(|text| check(&text, &graph));
}

/// Those that need no symmetric weights, on directed graphs that take turns.
#[test]
fn staged_methods_for_any_graph_compute_their_equation_on_changing_graphs() {
    use GraphNeeds::{ColumnStochastic, DoublyStochastic};
    let turns = graphs::one_peer_exponential(8);
    for text in staged_variants() {
        let needs = text.parse::<Method>().unwrap().info().needs;
        if matches!(needs, DoublyStochastic | ColumnStochastic) {
            let off = error(&text, &turns);
            assert!(off < tolerance(&text), "{text}: off by {off:.1e}");
        }
    }
}

#[test]
fn relaysgd_computes_its_equation_on_a_chain_and_on_a_random_tree() {
    for tree in [graphs::chain(8), graphs::random(12, 0, 5)] {
        well_posed().filter(|text| needs_trees(text)).for_each(|text| check(&text, &tree));
    }
}

/// Each half of the model over its own tree, one exchange after the other.
#[test]
fn relaysgd_computes_its_equation_on_two_trees_that_share_the_work() {
    let trees = [graphs::random(9, 0, 5), graphs::random(9, 0, 6)];
    for text in well_posed().filter(|text| needs_trees(text)) {
        let off = error(&text, &trees);
        assert!(off < tolerance(&text), "{text}: off by {off:.1e}");
    }
}
