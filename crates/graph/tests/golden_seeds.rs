//! The same seed is the same graph on every machine and in every release.
//!
//! The numbers below were printed by this test; a change of any of them changes
//! every published run on a random topology and needs a new seed convention.

use consort_graph::{Graph, GraphSpec, MixingMatrix, Topology};

/// FNV-1a over the arcs: a fingerprint that needs nothing but integers.
fn fingerprint(graph: &Graph) -> u64 {
    let numbers = graph.arcs().flat_map(|(i, j)| [i as u64, j as u64]);
    numbers.fold(0xcbf2_9ce4_8422_2325, |hash, number| {
        (hash ^ number).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[test]
fn random_graphs_are_what_they_always_were() {
    let mut found = Vec::new();
    for (spec, expected) in [
        ("random-regular:64:4:seed=7", 0xc5f3_eaa0_7d09_61b1_u64),
        ("erdos-renyi:64:0.1:seed=7", 0x1321_92aa_56cd_db41),
        ("watts-strogatz:64:4:0.2:seed=7", 0xf558_0948_94e4_2395),
        ("barabasi-albert:64:2:seed=7", 0x3d2c_e779_9c24_2f93),
    ] {
        let topology = spec.parse::<GraphSpec>().unwrap().build(0).unwrap();
        let fingerprint = fingerprint(topology.at(0));
        if fingerprint != expected {
            found.push(format!("{spec}: {fingerprint:#018x}, expected {expected:#018x}"));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// All phases one after the other.
fn fingerprint_of_all(topology: &Topology) -> u64 {
    topology.phases().iter().fold(0, |hash: u64, graph| {
        hash.rotate_left(1).wrapping_mul(0x0000_0100_0000_01b3) ^ fingerprint(graph)
    })
}

#[test]
fn random_sequences_are_what_they_always_were() {
    let mut found = Vec::new();
    for (spec, expected) in [
        ("equi-static:64:4:seed=7", 0xce51_0c20_94c8_2351_u64),
        ("equi-static:64:4:directed:seed=7", 0xe89b_1d0b_3f05_15f1),
        ("equi-dyn:64:seed=7", 0x7058_90fd_0bbc_08a6),
        ("equi-dyn:64:directed:seed=7", 0x5a74_7d77_7433_b631),
        ("random-matching:65:seed=7", 0x4284_9eb8_8173_ecaf),
        ("random-regular-dyn:64:4:seed=7", 0x890d_71cc_7f0d_9bd9),
        ("random-digraph:64:4:seed=7", 0x4938_92cd_5d4c_1427),
        ("spanning-tree:random-regular:64:4:seed=7", 0x478f_98d0_12e6_1121),
        ("base:25:1", 0x0ff4_6cf2_4819_1bac),
        ("base:100:2", 0xf3c5_9387_a62a_2bd8),
        ("double-binary-tree:14", 0xba3d_20e2_3c14_2f99),
    ] {
        let topology = spec.parse::<GraphSpec>().unwrap().build(0).unwrap();
        let fingerprint = fingerprint_of_all(&topology);
        if fingerprint != expected {
            found.push(format!("{spec}: {fingerprint:#018x}, expected {expected:#018x}"));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The weights of constructions, down to the last bit: agents on unlike machines compare them.
#[test]
fn weights_of_constructions_are_what_they_always_were() {
    let mut found = Vec::new();
    for (spec, expected) in [
        ("base:25:1", 0xdb7f_683b_60e8_412a_u64),
        ("base:100:2", 0xa555_a609_427f_f901),
        ("equi-static:64:4:seed=7", 0xe980_5819_ff6e_6a08),
        ("equi-dyn:64:directed:seed=7", 0x1353_149a_3c5b_3642),
    ] {
        let topology = spec.parse::<GraphSpec>().unwrap().build(0).unwrap();
        let fingerprint = topology.construction_weights().unwrap().iter().fold(0, of_weights);
        if fingerprint != expected {
            found.push(format!("{spec}: {fingerprint:#018x}, expected {expected:#018x}"));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn of_weights(before: u64, w: &MixingMatrix) -> u64 {
    let entries = (0..w.agents()).flat_map(|i| w.row(i));
    entries.fold(before.rotate_left(1), |hash, (j, weight)| {
        (hash ^ j as u64 ^ weight.to_bits()).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
