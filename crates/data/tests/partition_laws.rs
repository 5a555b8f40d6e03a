//! What every partition, and each scheme, promises.

use consort_data::{Partition, PartitionError, Scheme};
use proptest::prelude::*;

fn scheme(text: &str) -> Scheme {
    text.parse().expect("a scheme")
}

/// `each` samples of each of `classes` classes, in turn.
fn balanced(classes: u32, each: u32) -> Vec<u32> {
    (0..classes * each).map(|i| i % classes).collect()
}

fn dealt(text: &str, labels: &[u32], classes: usize, agents: usize, seed: u64) -> Partition {
    scheme(text).partition(labels, classes, agents, seed).expect("a partition")
}

fn sizes(partition: &Partition) -> Vec<usize> {
    partition.shares().iter().map(Vec::len).collect()
}

/// Disjoint, in range and ascending; whatever is missing is told. Written without
/// `Partition`'s own check.
fn assert_sound(partition: &Partition, samples: usize) {
    let mut seen = vec![false; samples];
    for share in partition.shares() {
        assert!(!share.is_empty());
        assert!(share.windows(2).all(|pair| pair[0] < pair[1]));
        for &sample in share {
            assert!(!std::mem::replace(&mut seen[sample as usize], true));
        }
    }
    assert_eq!(seen.iter().filter(|&&held| !held).count(), partition.unassigned());
}

fn any_scheme() -> impl Strategy<Value = Scheme> {
    prop_oneof![
        (0.01..100.0_f64).prop_map(|alpha| Scheme::Dirichlet { alpha }),
        (0.3..100.0_f64, 1..3_usize).prop_map(|(alpha, min)| Scheme::PlainDirichlet { alpha, min }),
        Just(Scheme::Iid),
        (1..5_usize).prop_map(|shards| Scheme::Shards { shards }),
        (1..6_usize).prop_map(|labels| Scheme::Labels { labels }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Any labels (classes without samples included), any number of agents: a sound partition
    /// that a second call repeats, or an error that says something; never a panic.
    #[test]
    fn any_partition_is_sound_or_refused(
        scheme in any_scheme(),
        labels in prop::collection::vec(0..7_u32, 0..300),
        agents in 0..25_usize,
        seed: u64,
    ) {
        match scheme.partition(&labels, 7, agents, seed) {
            Ok(partition) => {
                prop_assert_eq!(partition.agents(), agents);
                assert_sound(&partition, labels.len());
                let again = scheme.partition(&labels, 7, agents, seed).unwrap();
                prop_assert_eq!(partition.hash(), again.hash());
                prop_assert_eq!(partition, again);
            }
            Err(error) => prop_assert!(error.to_string().len() > 20),
        }
    }

    /// Sizes are equal and fewer samples than agents (for shards: than shards) are left over.
    #[test]
    fn sizes_are_equal_where_promised(
        n in 1..40_usize,
        per_class in 40..80_u32,
        which in 0..3_usize,
        seed: u64,
    ) {
        let labels = balanced(10, per_class);
        let partition = dealt(["dirichlet:1", "iid", "shards:2"][which], &labels, 10, n, seed);
        let pieces = if which == 2 { 2 * n } else { n };
        let expected = labels.len() / pieces * (pieces / n);
        prop_assert_eq!(sizes(&partition), vec![expected; n]);
        prop_assert_eq!(partition.unassigned(), labels.len() % pieces);
    }

    /// Nothing is left over where sizes may differ.
    #[test]
    fn nothing_is_left_over_where_sizes_differ(n in 5..30_usize, seed: u64) {
        let labels = balanced(10, 60);
        for text in ["plain-dirichlet:1,min=2", "labels:2"] {
            let partition = dealt(text, &labels, 10, n, seed);
            prop_assert_eq!(partition.unassigned(), 0);
        }
    }

    #[test]
    fn a_stored_partition_is_the_same(n in 1..20_usize, seed: u64) {
        let partition = dealt("plain-dirichlet:1", &balanced(10, 40), 10, n, seed);
        let text = serde_json::to_string(&partition).unwrap();
        prop_assert_eq!(serde_json::from_str::<Partition>(&text).unwrap(), partition);
    }
}

#[test]
fn every_number_of_agents_from_none_to_too_many_is_an_answer() {
    let labels = balanced(10, 5);
    for text in ["dirichlet:0.5", "plain-dirichlet:100", "iid", "shards:1", "labels:10"] {
        assert_eq!(scheme(text).partition(&labels, 10, 0, 1), Err(PartitionError::NoAgents));
        for agents in [1, 2, 9, 10, 11, 21, 50] {
            if let Ok(partition) = scheme(text).partition(&labels, 10, agents, 1) {
                assert_sound(&partition, labels.len());
            }
        }
        for agents in [51, 1000, usize::MAX] {
            let error = scheme(text).partition(&labels, 10, agents, 1).unwrap_err();
            assert!(
                matches!(error, PartitionError::TooFewSamples { needed, .. } if needed == agents)
            );
        }
    }
    assert!(scheme("iid").partition(&[], 10, 1, 1).is_err());
    assert!(scheme("iid").partition(&labels, 10, 50, 1).is_ok());
}

#[test]
fn values_that_mean_nothing_are_refused_however_they_came() {
    for scheme in [
        Scheme::Dirichlet { alpha: 0.0 },
        Scheme::Dirichlet { alpha: f64::NAN },
        Scheme::PlainDirichlet { alpha: 1.0, min: 0 },
        Scheme::Shards { shards: 0 },
        Scheme::Shards { shards: usize::MAX },
        Scheme::Labels { labels: 0 },
        Scheme::Labels { labels: usize::MAX },
    ] {
        assert!(scheme.partition(&balanced(10, 10), 10, 4, 1).is_err(), "{scheme}");
    }
    let error = scheme("iid").partition(&[0, 1, 2], 2, 1, 1).unwrap_err();
    assert_eq!(error, PartitionError::Label { sample: 2, label: 2, classes: 2 });
}

/// Section 5 of the paper trains with alpha from 0.01 to 1 on 16 to 40 agents; 0.001 is
/// beyond. Sizes are equal throughout.
#[test]
fn every_setting_of_the_paper_has_a_partition() {
    let labels = balanced(10, 5000);
    for alpha in ["1", "0.1", "0.01", "0.001"] {
        for agents in [5, 10, 16, 20, 32, 40] {
            for seed in 0..3 {
                let partition = dealt(&format!("dirichlet:{alpha}"), &labels, 10, agents, seed);
                assert_sound(&partition, labels.len());
                assert_eq!(sizes(&partition), vec![labels.len() / agents; agents]);
            }
        }
    }
}

/// Agents are taken in tens: 16 = 10 + 6, 20 = 10 + 10, 32 = 10 + 10 + 10 + 2. What shows: a
/// group's samples are a random part of all, so that the group as a whole is as near to iid as
/// drawing m samples allows (total variation about K/2 sqrt(2/pi) sqrt(p (1 - p) / m), p = 1/K)
/// while its agents are not, nor is a part of a group: the first 8 of 10 are at 0.17 to 0.19.
#[test]
fn agents_are_grouped_by_tens() {
    let labels = balanced(10, 4800);
    for (agents, groups) in
        [(16, vec![10, 6]), (20, vec![10, 10]), (32, vec![10, 10, 10, 2]), (7, vec![7])]
    {
        let partition = dealt("dirichlet:0.05", &labels, 10, agents, 3);
        let counts = partition.counts(&labels, 10);
        let distance = |from: usize, to: usize| {
            let mut row = [0.0; 10];
            for agent in from..to {
                for class in 0..10 {
                    row[class] += counts[agent][class] as f64;
                }
            }
            let total: f64 = row.iter().sum();
            row.iter().map(|count| (count / total - 0.1).abs()).sum::<f64>() / 2.0
        };
        let mut first = 0;
        for group in groups {
            let found = distance(first, first + group);
            let drawn = (group * labels.len() / agents) as f64;
            let noise = 5.0 * 0.798 * (0.09 / drawn).sqrt();
            assert!(found < 2.0 * noise, "{agents} agents, from {first}: {found} over {noise}");
            first += group;
        }
        if agents > 10 {
            assert!(distance(0, 8) > 0.1, "{agents} agents: {}", distance(0, 8));
        }
    }
}

/// Mean total variation over 200 seeds against a plain program with another generator
/// and another way to draw gammas. The second figure is the standard deviation over seeds; the
/// tolerance is four standard errors of the difference of two means.
#[test]
fn the_paper_s_partition_is_as_heterogeneous_as_its_reference() {
    let labels = balanced(10, 960);
    // Printed by tests/golden/dirichlet.py.
    for (alpha, agents, expected, deviation) in [
        (0.05, 5, 0.6813, 0.0374),
        (0.05, 16, 0.7239, 0.0226),
        (0.05, 32, 0.7185, 0.0152),
        (0.1, 5, 0.6303, 0.0423),
        (0.1, 16, 0.6670, 0.0224),
        (0.1, 32, 0.6624, 0.0156),
        (1.0, 5, 0.3571, 0.0381),
        (1.0, 16, 0.3753, 0.0223),
        (1.0, 32, 0.3751, 0.0178),
    ] {
        let scheme = Scheme::Dirichlet { alpha };
        let found = (0..200).map(|seed| {
            let partition = scheme.partition(&labels, 10, agents, seed).unwrap();
            partition.heterogeneity(&labels, 10).total_variation
        });
        let mean = found.sum::<f64>() / 200.0;
        let error = deviation * (2.0_f64 / 200.0).sqrt();
        assert!((mean - expected).abs() < 4.0 * error, "{scheme}, {agents} agents: {mean}");
    }
}

/// One class an agent is what Dirichlet(0.01) means: where groups have ten agents and ten
/// classes, nearly all of an agent's samples are of one class. Alpha to infinity is iid: what
/// remains of the distance is the noise of drawing.
#[test]
fn alpha_goes_from_one_class_to_iid() {
    let labels = balanced(10, 6000);
    let figures = |text: &str| dealt(text, &labels, 10, 10, 1).heterogeneity(&labels, 10);
    let (one, iid) = (figures("dirichlet:0.01"), figures("iid"));
    assert!(one.total_variation > 0.8, "{one:?}"); // of at most 0.9
    assert!(one.classes < 2.0, "{one:?}");
    assert!(one.entropy < 0.2, "{one:?}");
    for text in ["dirichlet:1e9", "plain-dirichlet:1e9"] {
        let far = figures(text);
        assert!(far.total_variation < 0.02, "{far:?}");
        assert_eq!(far.classes, 10.0);
        assert!(far.entropy > 0.999, "{far:?}");
    }
    assert!(iid.total_variation < 0.02, "{iid:?}");
    let steps = ["dirichlet:0.01", "dirichlet:0.1", "dirichlet:1", "dirichlet:10", "dirichlet:100"];
    let distances: Vec<f64> = steps.iter().map(|text| figures(text).total_variation).collect();
    assert!(distances.windows(2).all(|pair| pair[0] > pair[1]), "{distances:?}");
}

/// The part of class 0 that agent 0 gets has mean 1/n and variance (1/n)(1 - 1/n)/(n alpha +
/// 1), n = 5, over 2,000 seeds. Tolerances: four standard errors; rounding down to samples
/// moves a part by less than 1/500 besides.
#[test]
fn plain_dirichlet_parts_have_the_mean_and_variance_of_dirichlet() {
    let labels = balanced(4, 500);
    let (n, seeds) = (5.0_f64, 2000.0_f64);
    for alpha in [0.5, 2.0] {
        let parts: Vec<f64> = (0..seeds as u64)
            .map(|seed| {
                let text = format!("plain-dirichlet:{alpha}");
                let partition = dealt(&text, &labels, 4, 5, seed);
                partition.counts(&labels, 4)[0][0] as f64 / 500.0
            })
            .collect();
        let mean = parts.iter().sum::<f64>() / seeds;
        let moment = |k: i32| parts.iter().map(|p| (p - 1.0 / n).powi(k)).sum::<f64>() / seeds;
        let variance = (1.0 / n) * (1.0 - 1.0 / n) / (n * alpha + 1.0);
        let error = 4.0 * (variance / seeds).sqrt() + 0.002;
        assert!((mean - 1.0 / n).abs() < error, "alpha {alpha}: mean {mean}");
        let error = 4.0 * ((moment(4) - moment(2).powi(2)) / seeds).sqrt() + 0.002;
        assert!((moment(2) - variance).abs() < error, "alpha {alpha}: variance {}", moment(2));
    }
}

/// Two classes cannot keep ten agents busy when each class goes to one agent.
#[test]
fn an_alpha_too_small_is_refused_with_a_remedy() {
    for (text, agents) in [("dirichlet:0.001", 10), ("plain-dirichlet:0.001", 50)] {
        let error = scheme(text).partition(&balanced(2, 100), 2, agents, 1).unwrap_err();
        assert!(matches!(error, PartitionError::Redraws { .. }));
        let message = error.to_string();
        assert!(message.contains(text) && message.contains("raise alpha"), "{message}");
    }
}

/// Section 3 of McMahan et al.: 200 shards of 300, two for each of 100 agents, so that most
/// have samples of two digits and nobody of more than a few.
#[test]
fn shards_are_of_few_classes() {
    let labels = balanced(10, 6000);
    let partition = dealt("shards:2", &labels, 10, 100, 1);
    assert_eq!(sizes(&partition), vec![600; 100]);
    for row in partition.counts(&labels, 10) {
        let mut held: Vec<usize> = row.into_iter().filter(|&count| count > 0).collect();
        held.sort_unstable();
        assert!(held == [600] || held == [300, 300], "{held:?}");
    }
}

#[test]
fn labels_are_as_many_as_asked_and_evenly_owned() {
    let labels = balanced(10, 600);
    for (each, agents) in [(1, 10), (2, 16), (3, 7), (10, 4)] {
        let partition = dealt(&format!("labels:{each}"), &labels, 10, agents, 1);
        let counts = partition.counts(&labels, 10);
        for row in &counts {
            assert_eq!(row.iter().filter(|&&count| count > 0).count(), each);
        }
        let owners = |class: usize| counts.iter().filter(|row| row[class] > 0).count();
        let (least, most) = (agents * each / 10, (agents * each).div_ceil(10));
        assert!((0..10).all(|class| (least..=most).contains(&owners(class))));
    }
    let error = scheme("labels:2").partition(&labels, 10, 3, 1).unwrap_err().to_string();
    assert!(error.contains("leaves 4 of 10 classes to nobody; ask for labels:4"), "{error}");
    let error = scheme("labels:11").partition(&labels, 10, 3, 1).unwrap_err().to_string();
    assert!(error.contains("the data have 10"), "{error}");
}

#[test]
fn another_seed_is_another_partition() {
    let labels = balanced(10, 100);
    for text in ["dirichlet:0.1", "plain-dirichlet:1", "iid", "shards:2", "labels:2"] {
        let hashes: Vec<u64> =
            (0..3).map(|seed| dealt(text, &labels, 10, 8, seed).hash()).collect();
        assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2], "{text}");
    }
}
