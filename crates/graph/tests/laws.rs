//! What must hold for every graph and every seed.

use consort_graph::{Graph, GraphFacts, GraphSpec, MixingMatrix, MixingSpec, Spectrum};
use proptest::prelude::*;

/// Every random kind, in sizes that can be connected.
fn random_kind() -> impl Strategy<Value = GraphSpec> {
    let seed = || proptest::option::of(any::<u64>());
    prop_oneof![
        (4_usize..40, 3_usize..4, seed()).prop_map(|(half, degree, seed)| {
            GraphSpec::RandomRegular { agents: 2 * half, degree, seed }
        }),
        (4_usize..60, seed()).prop_map(|(agents, seed)| GraphSpec::ErdosRenyi {
            agents,
            probability: (3.0 * (agents as f64).ln() / agents as f64).min(1.0),
            seed,
        }),
        (6_usize..60, 0.0..=1.0, seed()).prop_map(|(agents, probability, seed)| {
            GraphSpec::WattsStrogatz { agents, neighbours: 4, probability, seed }
        }),
        (5_usize..60, 1_usize..4, seed()).prop_map(|(agents, links, seed)| {
            GraphSpec::BarabasiAlbert { agents, links, seed }
        }),
    ]
}

/// Every kind that is drawn, in one round or in every round of a period.
fn drawn_kind() -> impl Strategy<Value = GraphSpec> {
    let seed = || proptest::option::of(any::<u64>());
    let rounds = 32_usize..80;
    prop_oneof![
        (2_usize..60, 2_usize..6, any::<bool>(), seed()).prop_map(
            |(agents, shifts, directed, seed)| {
                // A prime number of agents: any shift reaches everyone.
                let agents = (agents..).find(|&n| (2..n).all(|d| n % d != 0)).unwrap_or(2);
                GraphSpec::EquiStatic { agents, shifts, directed, seed }
            }
        ),
        (2_usize..40, rounds.clone(), any::<bool>(), seed()).prop_map(
            |(agents, phases, directed, seed)| GraphSpec::EquiDyn {
                agents,
                phases,
                directed,
                seed
            }
        ),
        (2_usize..40, rounds.clone(), seed())
            .prop_map(|(agents, phases, seed)| GraphSpec::RandomMatching { agents, phases, seed }),
        (3_usize..20, 1_usize..5, rounds, seed()).prop_map(|(half, degree, phases, seed)| {
            GraphSpec::RandomRegularDyn { agents: 2 * half, degree, phases, seed }
        }),
        (6_usize..60, 1_usize..5, seed()).prop_map(|(agents, out_degree, seed)| {
            GraphSpec::RandomDigraph { agents, out_degree, seed }
        }),
    ]
}

fn any_kind() -> impl Strategy<Value = GraphSpec> {
    let side = 1_usize..9;
    prop_oneof![
        random_kind(),
        drawn_kind(),
        (2_usize..99).prop_map(|agents| GraphSpec::Ring { agents }),
        (2_usize..99).prop_map(|agents| GraphSpec::DirectedRing { agents }),
        (2_usize..99).prop_map(|agents| GraphSpec::BinaryTree { agents }),
        (2_usize..99).prop_map(|agents| GraphSpec::DoubleBinaryTree { agents }),
        (1_usize..99, 1_usize..6).prop_map(|(agents, degree)| GraphSpec::Base { agents, degree }),
        random_kind().prop_map(|graph| GraphSpec::SpanningTree { graph: Box::new(graph) }),
        (2_usize..99).prop_map(|agents| GraphSpec::Chain { agents }),
        (2_usize..99).prop_map(|agents| GraphSpec::Star { agents }),
        (1_usize..30).prop_map(|agents| GraphSpec::Complete { agents }),
        (side.clone(), 2_usize..9).prop_map(|(rows, columns)| GraphSpec::Torus { rows, columns }),
        (2_usize..9, side).prop_map(|(rows, columns)| GraphSpec::Grid { rows, columns }),
        (1_u32..8).prop_map(|dimension| GraphSpec::Hypercube { dimension }),
        (5_usize..40, prop::collection::vec(1_usize..5, 1..4))
            .prop_map(|(agents, offsets)| GraphSpec::Circulant { agents, offsets }),
        (1_usize..9, 1_usize..9).prop_map(|(left, right)| GraphSpec::Bipartite { left, right }),
        Just(GraphSpec::Petersen),
        Just(GraphSpec::Dyck),
        Just(GraphSpec::DyckAsRun),
        Just(GraphSpec::TorusAsRun),
        (2_usize..40).prop_map(|agents| GraphSpec::Exponential { agents }),
        (2_usize..40).prop_map(|agents| GraphSpec::OnePeerExponential { agents }),
    ]
}

/// Sound compressed rows: ascending, in range, no loops, reverse arcs where promised.
fn sound(graph: &Graph) -> bool {
    (0..graph.agents()).all(|i| {
        let neighbours = graph.out_neighbours(i);
        neighbours.windows(2).all(|pair| pair[0] < pair[1])
            && neighbours.iter().all(|&j| {
                let j = j as usize;
                j != i
                    && j < graph.agents()
                    && graph.in_neighbours(j).contains(&(i as u32))
                    && (!graph.is_undirected() || graph.has_arc(j, i))
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn text_and_specification_are_inverse(spec in any_kind()) {
        prop_assert_eq!(&spec.to_string().parse::<GraphSpec>().unwrap(), &spec);
    }

    #[test]
    fn every_graph_is_sound_and_its_facts_are_consistent(spec in any_kind(), seed in any::<u64>()) {
        let topology = spec.build(seed).unwrap();
        prop_assert!(topology.phases().iter().all(sound));
        prop_assert!(sound(&topology.union()));
        let facts = GraphFacts::new(&topology);
        prop_assert!(facts.degree_min <= facts.degree_max);
        prop_assert_eq!(facts.connected, facts.diameter.is_some());
        if let (true, Some(girth)) = (facts.bipartite, facts.girth) {
            prop_assert_eq!(girth % 2, 0);
        }
    }

    #[test]
    fn random_kinds_repeat_and_are_connected(spec in random_kind(), seed in any::<u64>()) {
        let (first, second) = (spec.build(seed).unwrap(), spec.build(seed).unwrap());
        prop_assert_eq!(first.at(0), second.at(0));
        prop_assert!(first.at(0).is_connected());
        if !spec.needs_seed() {
            let third = spec.build(seed ^ 1).unwrap();
            prop_assert_eq!(first.at(0), third.at(0));
        }
    }

    #[test]
    fn drawn_kinds_repeat_and_are_connected_over_a_period(
        spec in drawn_kind(),
        seed in any::<u64>(),
    ) {
        let (first, second) = (spec.build(seed).unwrap(), spec.build(seed).unwrap());
        prop_assert_eq!(first.phases(), second.phases());
        prop_assert_eq!(first.construction_weights(), second.construction_weights());
        prop_assert!(first.union().is_connected());
        if !spec.needs_seed() {
            let third = spec.build(seed ^ 1).unwrap();
            prop_assert_eq!(first.phases(), third.phases());
        }
    }

    #[test]
    fn rounds_average_whatever_the_kind(spec in any_kind(), seed in any::<u64>()) {
        let topology = spec.build(seed).unwrap();
        let weights = MixingSpec::Auto.build_all(&topology).unwrap();
        prop_assert_eq!(weights.len(), topology.period());
        for (w, graph) in weights.iter().zip(topology.phases()) {
            w.require_row_stochastic().unwrap();
            w.require_support(graph).unwrap();
            // Regular digraphs too; irregular ones have no doubly stochastic weights at hand.
            if graph.is_undirected() || graph.is_regular() {
                w.require_doubly_stochastic().unwrap();
            }
            prop_assert!(!graph.is_undirected() || w.is_symmetric());
        }
        for w in MixingSpec::OutDegree.build_all(&topology).unwrap() {
            w.require_column_stochastic().unwrap();
        }
    }

    #[test]
    fn a_spanning_tree_is_a_tree_of_its_graph(spec in random_kind(), seed in any::<u64>()) {
        let graph = spec.build(seed).unwrap();
        let tree = GraphSpec::SpanningTree { graph: Box::new(spec) }.build(seed).unwrap();
        prop_assert!(tree.at(0).is_connected());
        prop_assert_eq!(tree.at(0).arc_count(), 2 * (graph.agents() - 1));
        prop_assert!(tree.at(0).arcs().all(|(i, j)| graph.at(0).has_arc(i, j)));
        let facts = [GraphFacts::new(&graph), GraphFacts::new(&tree)];
        // Edges that are left out only make ways longer.
        prop_assert!(facts[0].diameter <= facts[1].diameter);
    }

    #[test]
    fn metropolis_and_max_degree_are_symmetric_doubly_stochastic(
        spec in random_kind(),
        seed in any::<u64>(),
    ) {
        let topology = spec.build(seed).unwrap();
        let graph = topology.at(0);
        for w in [MixingMatrix::metropolis(graph).unwrap(), MixingMatrix::max_degree(graph).unwrap()] {
            w.require_symmetric().unwrap();
            w.require_doubly_stochastic().unwrap();
            w.require_support(graph).unwrap();
        }
    }

    #[test]
    fn connected_graphs_have_a_gap_and_lazy_ones_no_negative_eigenvalue(
        spec in any_kind(),
        seed in any::<u64>(),
    ) {
        let topology = spec.build(seed).unwrap();
        let graph = topology.union();
        prop_assume!(graph.is_undirected() && graph.agents() > 1);
        let spectrum = Spectrum::new(&MixingSpec::Auto.build(&graph).unwrap()).unwrap();
        prop_assert_eq!(spectrum.gap > 1e-9, graph.is_connected());
        prop_assert!((-1.0..=1.0 + 1e-12).contains(&spectrum.lambda_2));
        let lazy = Spectrum::new(&MixingSpec::Lazy.build(&graph).unwrap()).unwrap();
        prop_assert!(lazy.lambda_min > -1e-12);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[a-z0-9:x,=.-]{0,24}") {
        if let Ok(spec) = text.parse::<GraphSpec>() {
            prop_assert_eq!(spec.to_string().parse::<GraphSpec>().unwrap(), spec);
        }
    }
}
