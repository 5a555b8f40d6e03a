//! The codecs: lengths known before the run, contractions, and decoders that stand any bits.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use consort_algo::Compression;
use consort_algo::codec::{Codec, TopK};
use proptest::prelude::*;
use support::random::Random;

const ALL: [&str; 10] = [
    "none",
    "sign",
    "top-k/0.01",
    "top-k/0.3",
    "top-k/1",
    "random-k/0.01",
    "random-k/0.3",
    "quantize/2",
    "quantize/4",
    "quantize/16",
];

fn codec(name: &str) -> Box<dyn Codec> {
    name.parse::<Compression>().unwrap().codec()
}

fn encoded(codec: &dyn Codec, round: u32, values: &[f32]) -> Vec<f32> {
    let mut message = vec![0.0; codec.words(values.len())];
    codec.encode(round, values, &mut message);
    message
}

/// C(v).
fn coded(codec: &dyn Codec, round: u32, values: &[f32]) -> Vec<f32> {
    let mut out = vec![0.0; values.len()];
    codec.add_decoded(round, &encoded(codec, round, values), 1.0, &mut out);
    out
}

/// A vector as gradients are: many small values, few large ones.
fn heavy_tailed(len: usize, seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..len).map(|_| (random.symmetric().powi(5) * 3.0) as f32).collect()
}

fn square(v: impl Iterator<Item = f64>) -> f64 {
    v.map(|v| v * v).sum()
}

/// |C(v) - v|² / |v|².
fn relative_error(codec: &dyn Codec, round: u32, v: &[f32]) -> f64 {
    let c = coded(codec, round, v);
    let off = square(c.iter().zip(v).map(|(c, v)| f64::from(*c) - f64::from(*v)));
    off / square(v.iter().map(|&v| f64::from(v)))
}

/// LeNet-5 has 61,706 parameters. Top-k of 1 %: 617 values and 617 places of 16 bits. Sign: 61 means
/// and a bit each. Four bits each: 965 scales and 7,714 words.
#[test]
fn messages_have_the_length_that_arithmetic_says() {
    for (name, len, words, numbers) in [
        ("none", 61_706, 61_706, 61_706),
        ("sign", 61_706, 61 + 1929, 61),
        ("top-k/0.01", 61_706, 617 + 309, 617),
        ("top-k/0.29", 100, 29 + 4, 29), // 100 marks are shorter than 29 places of 7 bits
        ("top-k/0.01", 8, 1 + 1, 1),
        ("top-k/1", 100, 100, 100),
        ("top-k/0.97", 100, 100, 100), // 97 values and 4 words of marks would be longer
        ("top-k/0.5", 1, 1, 1),
        ("random-k/0.01", 61_706, 617, 617),
        ("random-k/0.01", 3, 1, 1),
        ("quantize/4", 61_706, 965 + 7714, 965),
        ("quantize/3", 65, 2 + 7, 2),
    ] {
        let codec = codec(name);
        assert_eq!((codec.words(len), codec.numbers(len)), (words, numbers), "{name}, {len}");
        assert_eq!(encoded(&*codec, 3, &heavy_tailed(len, 1)).len(), words);
    }
    for name in ALL {
        assert_eq!(coded(&*codec(name), 0, &[]), []);
    }
}

/// What a codec leaves out is less than what there is: |C(v) - v|² <= (1 - delta) |v|² with the
/// delta of its header, in every round; for the random ones on average over 400 rounds.
#[test]
fn every_codec_is_a_contraction() {
    for (len, seed) in [(1, 1), (7, 2), (64, 3), (1000, 4), (3000, 5)] {
        let v = heavy_tailed(len, seed);
        let one_norm = |v: &[f32]| v.iter().map(|v| f64::from(v.abs())).sum::<f64>();
        let all = square(v.iter().map(|&v| f64::from(v)));
        let of_blocks = v.chunks(1024).map(|b| one_norm(b).powi(2) / b.len() as f64).sum::<f64>();
        for (name, delta) in [
            ("none", 1.0),
            ("sign", of_blocks / all),
            ("top-k/0.01", codec("top-k/0.01").numbers(len) as f64 / len as f64),
            ("top-k/0.3", codec("top-k/0.3").numbers(len) as f64 / len as f64),
        ] {
            let left = relative_error(&*codec(name), 0, &v);
            assert!(left <= 1.0 - delta + 1e-6, "{name}, {len}: {left} with delta {delta}");
        }
        let stretch = |name: &str| len.div_ceil(codec(name).words(len)) as f64;
        for (name, delta) in [
            ("random-k/0.01", 1.0 / stretch("random-k/0.01")),
            ("random-k/0.3", 1.0 / stretch("random-k/0.3")),
            ("quantize/2", 1.0 / (1.0 + 8.0)),
            ("quantize/4", 1.0 / (1.0 + 64.0 / (4.0 * 49.0))),
            ("quantize/16", 1.0 - 1e-6),
        ] {
            let codec = codec(name);
            let left =
                (0..400).map(|round| relative_error(&*codec, round, &v)).sum::<f64>() / 400.0;
            // Four standard errors of the mean where one large value is found or not.
            let slack = if name == "random-k/0.01" { 0.03 } else { 0.01 };
            assert!(left <= 1.0 - delta + slack, "{name}, {len}: {left} with delta {delta}");
        }
    }
}

/// Scaling makes the quantised vector a contraction; without it, it is v on average.
#[test]
fn quantisation_points_the_right_way_on_average() {
    let v = heavy_tailed(64, 9);
    let codec = codec("quantize/3");
    let mut sum = vec![0.0; 64];
    for round in 0..4000 {
        codec.add_decoded(round, &encoded(&*codec, round, &v), 1.0 / 4000.0, &mut sum);
    }
    let largest = |v: &[f32]| v.iter().fold(0.0_f32, |most, v| most.max(v.abs()));
    let shrunk = largest(&sum) / largest(&v); // the largest value is never rounded
    assert!(shrunk > 0.8 && shrunk < 1.0, "{shrunk}");
    for (sum, v) in sum.iter().zip(&v) {
        assert!((sum / shrunk - v).abs() < 0.03, "{sum} {v}"); // a level is 0.9 wide
    }
}

/// Agents that hold other values round otherwise: their errors do not add up.
#[test]
fn agents_do_not_round_alike() {
    let codec = codec("quantize/4");
    let one: Vec<f32> = (0..64).map(|k| if k == 0 { 1.0 } else { 0.5 / 7.0 }).collect();
    let other: Vec<f32> = one.iter().map(|v| 1.001 * v).collect();
    let up = |v: &[f32]| coded(&*codec, 0, v).iter().map(|&c| c != 0.0).collect::<Vec<_>>();
    let same = up(&one).iter().zip(up(&other)).filter(|(a, b)| *a == b).count();
    assert!((16..48).contains(&same), "{same} of 64 values are rounded alike");
}

/// Which k of equal values are sent must not depend on how they are found.
#[test]
fn of_equal_magnitudes_top_k_takes_the_first() {
    let v = [1.0, -2.0, 2.0, 0.5, -2.0, 2.0, 1.0, 0.0];
    let c = coded(&TopK { share: 0.375 }, 0, &v);
    assert_eq!(c, [0.0, -2.0, 2.0, 0.0, -2.0, 0.0, 0.0, 0.0]);
    let zeros = coded(&TopK { share: 0.5 }, 0, &[0.0; 64]);
    assert_eq!(zeros, [0.0; 64]);
}

#[test]
fn random_k_takes_every_place_equally_often_and_the_same_at_all_agents() {
    let codec = codec("random-k/0.1");
    let ones = [1.0; 95]; // 9 stretches of 10 or 11
    let mut taken = [0.0; 95];
    for round in 0..5000 {
        codec.add_decoded(round, &encoded(&*codec, round, &ones), 1.0, &mut taken);
    }
    for (place, &count) in taken.iter().enumerate() {
        assert!((380.0..580.0).contains(&count), "place {place}: {count} times of about 474");
    }
    let places = |v: &[f32]| coded(&*codec, 7, v).iter().map(|&c| c != 0.0).collect::<Vec<_>>();
    assert_eq!(places(&ones), places(&[-3.0; 95]));
}

/// The first message of a driver stands in a fresh buffer, the third in a used one.
#[test]
fn every_word_of_a_message_is_written() {
    for name in ALL {
        let codec = codec(name);
        for len in [1, 5, 31, 32, 33, 64, 65, 1000, 1025] {
            let v = heavy_tailed(len, 3);
            let mut used = vec![f32::NAN; codec.words(len)];
            codec.encode(5, &v, &mut used);
            let bits = |m: &[f32]| m.iter().map(|word| word.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&used), bits(&encoded(&*codec, 5, &v)), "{name}, {len}");
        }
    }
}

/// 32 negative values are a word of ones, which is a NaN to whoever takes it for a number.
#[test]
fn packed_words_may_look_like_nan() {
    let message = encoded(&*codec("sign"), 0, &[-1.5; 64]);
    assert!(message[1].is_nan() && message[2].to_bits() == u32::MAX);
    assert_eq!(coded(&*codec("sign"), 0, &[-1.5; 64]), [-1.5; 64]);
}

/// A model that is lost must not look well after coding: a NaN or an infinity shows in the numbers,
/// where a driver checks them, as soon as it is sent at all.
#[test]
fn what_is_not_finite_stays_so() {
    for bad in [f32::NAN, f32::INFINITY] {
        for name in ALL.into_iter().filter(|name| !name.starts_with("random-k")) {
            let codec = codec(name);
            let mut v = heavy_tailed(300, 4);
            v[137] = bad;
            let message = encoded(&*codec, 0, &v);
            let numbers = &message[..codec.numbers(300)];
            assert!(numbers.iter().any(|number| !number.is_finite()), "{name}: {bad} is hidden");
        }
    }
}

/// The k largest by sorting, the first of equal ones.
fn by_sorting(v: &[f32], k: usize) -> Vec<f32> {
    let mut places: Vec<usize> = (0..v.len()).collect();
    places.sort_by(|&a, &b| v[b].abs().total_cmp(&v[a].abs()).then(a.cmp(&b)));
    let mut out = vec![0.0; v.len()];
    places[..k].iter().for_each(|&place| out[place] = v[place]);
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    /// Coarse values, so that there are ties.
    #[test]
    fn top_k_is_what_sorting_finds(
        v in prop::collection::vec((-8_i8..8).prop_map(f32::from), 1..300),
        share in 0.001..1.0_f64,
    ) {
        let codec = TopK { share };
        let k = codec.numbers(v.len());
        prop_assert_eq!(coded(&codec, 0, &v), by_sorting(&v, k));
    }

    /// A message comes from somebody else. Whatever its bits, decoding ends, and writes inside the
    /// vector alone (beyond it, a slice would panic). With another length it changes nothing.
    #[test]
    fn decoding_stands_any_bits(
        which in 0..ALL.len(),
        len in 0..3000_usize,
        round: u32,
        seed: u64,
        longer in -3_isize..4,
    ) {
        let codec = codec(ALL[which]);
        let mut random = Random::new(seed);
        let words = codec.words(len).saturating_add_signed(longer);
        let message: Vec<f32> =
            (0..words).map(|_| f32::from_bits(random.below(1 << 32) as u32)).collect();
        let mut into = vec![0.5_f32; len];
        codec.add_decoded(round, &message, 0.25, &mut into);
        if words != codec.words(len) {
            prop_assert!(into.iter().all(|&x| x == 0.5));
        }
    }

    /// Sender and receiver add the same numbers, so what one end takes away the other gets.
    #[test]
    fn adding_and_subtracting_a_message_cancels(which in 0..ALL.len(), seed: u64, round: u32) {
        let codec = codec(ALL[which]);
        let message = encoded(&*codec, round, &heavy_tailed(500, seed));
        let mut sum = vec![0.0; 500];
        codec.add_decoded(round, &message, 0.3, &mut sum);
        codec.add_decoded(round, &message, -0.3, &mut sum);
        prop_assert!(sum.iter().all(|&x| x == 0.0));
    }
}
