//! Samples that are set apart: for testing, of data that come without such a division, and for
//! validation.

use crate::random_stream::RandomStream;

/// Which samples are for training and which, one in five of every class, for testing. Each list
/// ascends; the choice depends on the labels and `seed` alone. A class of one sample is trained on.
pub fn stratified(labels: &[u32], classes: usize, seed: u64) -> (Vec<usize>, Vec<usize>) {
    set_apart(labels, classes, 0.2, seed)
}

/// Which samples stay, and which are set apart: this share of every class, rounded, but one at least
/// if there are two, and never all. Each list ascends; the choice depends on the arguments alone.
pub(crate) fn set_apart(
    labels: &[u32],
    classes: usize,
    share: f64,
    seed: u64,
) -> (Vec<usize>, Vec<usize>) {
    let mut members = vec![Vec::new(); classes];
    for (sample, &label) in labels.iter().enumerate() {
        members[label as usize].push(sample);
    }
    let mut random = RandomStream::from_word(seed);
    let (mut stay, mut apart) = (Vec::new(), Vec::new());
    for mut class in members {
        random.shuffle(&mut class);
        let wanted = (class.len() as f64 * share).round() as usize;
        let most = class.len().saturating_sub(1);
        let count = wanted.max(1).min(most);
        apart.extend_from_slice(&class[..count]);
        stay.extend_from_slice(&class[count..]);
    }
    stay.sort_unstable();
    apart.sort_unstable();
    (stay, apart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_sample_is_in_one_part_and_every_class_in_proportion(
            labels in proptest::collection::vec(0_u32..6, 0..200), seed in 0_u64..50,
        ) {
            let (train, test) = stratified(&labels, 6, seed);
            let mut all = [train.clone(), test.clone()].concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..labels.len()).collect::<Vec<_>>());
            for class in 0..6 {
                let of = |part: &[usize]| part.iter().filter(|&&i| labels[i] == class).count();
                let (trains, tests) = (of(&train), of(&test));
                prop_assert!(trains > 0 || tests == 0);
                let fair = (trains + tests) as f64 / 5.0;
                prop_assert!((tests as f64 - fair).abs() <= 0.81, "{} of {}", tests, trains + tests);
            }
            prop_assert_eq!(stratified(&labels, 6, seed), (train, test));
        }

        #[test]
        fn a_share_of_every_class_is_set_apart_and_something_stays(
            labels in proptest::collection::vec(0_u32..4, 0..100), share in 0.01_f64..0.99,
        ) {
            let (stay, apart) = set_apart(&labels, 4, share, 1);
            let mut all = [stay.clone(), apart.clone()].concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..labels.len()).collect::<Vec<_>>());
            for class in 0..4 {
                let of = |part: &[usize]| part.iter().filter(|&&i| labels[i] == class).count();
                let (stays, aparts) = (of(&stay), of(&apart));
                prop_assert!(stays > 0 || aparts == 0);
                let fair = (stays + aparts) as f64 * share;
                // Rounding is half a sample off; one of two is always set apart, and one stays.
                prop_assert!((aparts as f64 - fair).abs() <= 1.0, "{aparts} for {fair}");
            }
        }
    }
}
