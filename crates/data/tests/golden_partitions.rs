//! The same seed is the same partition and the same mini-batches on every machine and in
//! every release.
//!
//! The numbers below were printed by these tests; a change of any of them changes every
//! published run and needs a new seed convention.

use consort_data::{BatchSampler, Scheme};

#[test]
fn partitions_are_what_they_always_were() {
    // Ten classes, unequally frequent, in no simple order.
    let labels: Vec<u32> = (0..5000_u32).map(|i| (i * i + i / 7) % 10).collect();
    let mut found = Vec::new();
    for (text, expected) in [
        ("dirichlet:0.1", 0xde22_2d22_273f_3796_u64),
        ("dirichlet:1", 0x2b62_fb4a_1eb3_f707),
        ("plain-dirichlet:0.5,min=5", 0x922a_82fe_ea82_8b7c),
        ("iid", 0xe231_50aa_40ac_1c6f),
        ("shards:2", 0x1299_347e_86e2_f8e7),
        ("labels:3", 0x85e1_b3d3_4888_f740),
    ] {
        let scheme: Scheme = text.parse().unwrap();
        let hash = scheme.partition(&labels, 10, 16, 7).unwrap().hash();
        if hash != expected {
            found.push(format!("{text}: {hash:#018x}, expected {expected:#018x}"));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn batches_are_what_they_always_were() {
    let sampler = BatchSampler::new((100..110).collect(), 4, 7, 3).unwrap();
    let rounds: Vec<Vec<u32>> = (0..4).map(|round| sampler.samples(round)).collect();
    let expected: [&[u32]; 4] =
        [&[108, 106, 109, 104], &[103, 100, 107, 101], &[105, 102], &[104, 106, 102, 100]];
    assert_eq!(rounds, expected);
    assert_eq!(sampler.key(5, 2), 6_457_775_586_378_355_224);
}
