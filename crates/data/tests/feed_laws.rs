//! What every feed of mini-batches promises.

use std::collections::HashSet;

use consort_data::{Feed, FeedError};
use proptest::prelude::*;

fn feed(len: u32, batch: usize, seed: u64, agent: usize) -> Feed {
    Feed::new((0..len).map(|i| 3 * i + 1).collect(), batch, seed, agent).expect("a feed")
}

fn epoch(feed: &mut Feed, epoch: u64) -> Vec<u32> {
    let batches = feed.batches_per_epoch();
    (epoch * batches..(epoch + 1) * batches).flat_map(|r| feed.indices(r).to_vec()).collect()
}

proptest! {
    #[test]
    fn every_sample_is_seen_once_per_epoch(
        len in 1..200_u32,
        batch in 1..70_usize,
        seed: u64,
        number in 0..1_000_000_u64,
    ) {
        let mut feed = feed(len, batch, seed, 2);
        let mut seen = epoch(&mut feed, number);
        seen.sort_unstable();
        prop_assert_eq!(&seen[..], feed.share());
    }

    /// All batches are whole but the last of an epoch, which keeps what is left.
    #[test]
    fn the_last_batch_keeps_what_is_left(len in 1..200_u32, batch in 1..70_usize) {
        let mut feed = feed(len, batch, 1, 0);
        let batches = feed.batches_per_epoch();
        prop_assert_eq!(batches, u64::from(len).div_ceil(batch as u64));
        for round in 0..2 * batches {
            let is_last = round % batches == batches - 1;
            let expected = if is_last { len as usize - (batches - 1) as usize * batch } else { batch };
            prop_assert_eq!(feed.indices(round).len(), expected);
            prop_assert_eq!(feed.epoch(round), round / batches);
        }
    }

    #[test]
    fn a_jump_sees_what_a_walk_sees(
        len in 1..50_u32,
        batch in 1..20_usize,
        seed: u64,
        jumps in prop::collection::vec(0..200_u64, 1..20),
    ) {
        let mut walker = feed(len, batch, seed, 5);
        let walk: Vec<Vec<u32>> = (0..200).map(|round| walker.indices(round).to_vec()).collect();
        let mut jumper = feed(len, batch, seed, 5);
        for round in jumps {
            prop_assert_eq!(jumper.indices(round), &walk[round as usize][..]);
            prop_assert_eq!(jumper.key(round, 0), walker.key(round, 0));
        }
    }
}

#[test]
fn seeds_agents_and_epochs_have_orders_of_their_own() {
    let mut orders = HashSet::new();
    for seed in 0..5 {
        for agent in 0..5 {
            let mut feed = feed(50, 8, seed, agent);
            for number in 0..5 {
                orders.insert(epoch(&mut feed, number));
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
            let feed = feed(50, 8, seed, agent);
            for round in 0..50 {
                keys.extend((0..8).map(|position| feed.key(round, position)));
            }
        }
    }
    assert_eq!(keys.len(), 3 * 3 * 50 * 8);
}

/// Each of 10 samples should stand in each of 10 places in a tenth of all epochs: a table
/// with 81 degrees of freedom, whose chi-squared exceeds 126.1 once in a thousand.
#[test]
fn every_sample_may_stand_anywhere() {
    let mut feed = feed(10, 10, 3, 1);
    let mut table = [[0.0_f64; 10]; 10];
    for round in 0..10_000 {
        for (place, sample) in feed.indices(round).iter().enumerate() {
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
    let mut feed = feed(10, 10, 3, 1);
    let place = feed.indices(0).as_ptr();
    assert!((0..100).all(|round| feed.indices(round).as_ptr() == place));
}

#[test]
fn how_a_share_is_listed_does_not_matter() {
    let mut forward = Feed::new(vec![1, 2, 3, 4], 2, 7, 0).unwrap();
    let mut backward = Feed::new(vec![4, 3, 2, 1], 2, 7, 0).unwrap();
    assert_eq!(epoch(&mut forward, 3), epoch(&mut backward, 3));
}

#[test]
fn extremes_are_no_panic() {
    assert_eq!(Feed::new(vec![], 2, 7, 4).unwrap_err(), FeedError::NoSamples { agent: 4 });
    assert_eq!(Feed::new(vec![1], 0, 7, 0).unwrap_err(), FeedError::EmptyBatch);
    let mut feed = Feed::new(vec![9], usize::MAX, u64::MAX, usize::MAX).unwrap();
    assert_eq!(feed.indices(u64::MAX), [9]);
}
