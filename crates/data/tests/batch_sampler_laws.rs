//! What every sampler of mini-batches promises.

use std::collections::HashSet;

use consort_data::{BatchSampler, BatchSamplerError, EpochOrder};
use proptest::prelude::*;

fn sampler(len: u32, batch: usize, seed: u64, agent: usize) -> BatchSampler {
    BatchSampler::new((0..len).map(|i| 3 * i + 1).collect(), batch, seed, agent).expect("a sampler")
}

fn epoch(sampler: &BatchSampler, epoch: u64) -> Vec<u32> {
    let batches = sampler.batches_per_epoch();
    (epoch * batches..(epoch + 1) * batches).flat_map(|r| sampler.samples(r)).collect()
}

proptest! {
    #[test]
    fn every_sample_is_seen_once_per_epoch(
        len in 1..200_u32,
        batch in 1..70_usize,
        seed: u64,
        number in 0..1_000_000_u64,
    ) {
        let sampler = sampler(len, batch, seed, 2);
        let mut seen = epoch(&sampler, number);
        seen.sort_unstable();
        prop_assert_eq!(&seen[..], sampler.share());
    }

    /// All batches are whole but the last of an epoch, which keeps what is left.
    #[test]
    fn the_last_batch_keeps_what_is_left(len in 1..200_u32, batch in 1..70_usize) {
        let sampler = sampler(len, batch, 1, 0);
        let batches = sampler.batches_per_epoch();
        prop_assert_eq!(batches, u64::from(len).div_ceil(batch as u64));
        for round in 0..2 * batches {
            let is_last = round % batches == batches - 1;
            let expected = if is_last { len as usize - (batches - 1) as usize * batch } else { batch };
            prop_assert_eq!(sampler.samples(round).len(), expected);
            prop_assert_eq!(sampler.epoch(round), round / batches);
        }
    }

    #[test]
    fn a_jump_sees_what_a_walk_sees(
        len in 1..50_u32,
        batch in 1..20_usize,
        seed: u64,
        jumps in prop::collection::vec(0..200_u64, 1..20),
    ) {
        let sampler = sampler(len, batch, seed, 5);
        let mut walked = EpochOrder::default();
        let walk: Vec<Vec<u32>> =
            (0..200).map(|round| sampler.samples_in(&mut walked, round).to_vec()).collect();
        let mut jumped = EpochOrder::default();
        for round in jumps {
            prop_assert_eq!(sampler.samples_in(&mut jumped, round), &walk[round as usize][..]);
            prop_assert_eq!(sampler.samples(round), &walk[round as usize][..]);
        }
    }
}

#[test]
fn seeds_agents_and_epochs_have_orders_of_their_own() {
    let mut orders = HashSet::new();
    for seed in 0..5 {
        for agent in 0..5 {
            let sampler = sampler(50, 8, seed, agent);
            for number in 0..5 {
                orders.insert(epoch(&sampler, number));
            }
        }
    }
    assert_eq!(orders.len(), 125);
}

#[test]
fn no_two_augmentations_have_the_same_key() {
    let mut keys = HashSet::new();
    for seed in 0..3 {
        for agent in 0..3 {
            let sampler = sampler(50, 8, seed, agent);
            for round in 0..50 {
                keys.extend((0..8).map(|position| sampler.key(round, position)));
            }
        }
    }
    assert_eq!(keys.len(), 3 * 3 * 50 * 8);
}

/// Each of 10 samples should stand in each of 10 places in a tenth of all epochs: a table
/// with 81 degrees of freedom, whose chi-squared exceeds 126.1 once in a thousand.
#[test]
fn every_sample_may_stand_anywhere() {
    let sampler = sampler(10, 10, 3, 1);
    let mut table = [[0.0_f64; 10]; 10];
    for round in 0..10_000 {
        for (place, sample) in sampler.samples(round).iter().enumerate() {
            table[place][(sample / 3) as usize] += 1.0;
        }
    }
    let cells = table.as_flattened().iter();
    let chi_squared: f64 = cells.map(|n| (n - 1e3) * (n - 1e3) / 1e3).sum();
    assert!(chi_squared < 126.1, "{chi_squared}");
}

/// The buffer that batches are lent from is made once.
#[test]
fn nothing_moves_after_the_start() {
    let (sampler, mut order) = (sampler(10, 10, 3, 1), EpochOrder::default());
    let place = sampler.samples_in(&mut order, 0).as_ptr();
    assert!((0..100).all(|round| sampler.samples_in(&mut order, round).as_ptr() == place));
}

#[test]
fn how_a_share_is_listed_does_not_matter() {
    let forward = BatchSampler::new(vec![1, 2, 3, 4], 2, 7, 0).unwrap();
    let backward = BatchSampler::new(vec![4, 3, 2, 1], 2, 7, 0).unwrap();
    assert_eq!(epoch(&forward, 3), epoch(&backward, 3));
}

#[test]
fn extremes_are_no_panic() {
    assert_eq!(
        BatchSampler::new(vec![], 2, 7, 4).unwrap_err(),
        BatchSamplerError::NoSamples { agent: 4 }
    );
    assert_eq!(BatchSampler::new(vec![1], 0, 7, 0).unwrap_err(), BatchSamplerError::EmptyBatch);
    let sampler = BatchSampler::new(vec![9], usize::MAX, u64::MAX, usize::MAX).unwrap();
    assert_eq!(sampler.samples(u64::MAX), [9]);
}
