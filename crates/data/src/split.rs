//! Training and test samples of data that come without such a division.

use crate::random_stream::RandomStream;

/// Which samples are for training and which, one in five of every class, for testing. Each list
/// ascends; the choice depends on the labels and `seed` alone. A class of one sample is trained on.
pub fn stratified(labels: &[u32], classes: usize, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let mut members = vec![Vec::new(); classes];
    for (sample, &label) in labels.iter().enumerate() {
        members[label as usize].push(sample);
    }
    let mut random = RandomStream::from_word(seed);
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for mut class in members {
        random.shuffle(&mut class);
        // Rounded, but one at least if there are two.
        let tests = ((class.len() + 2) / 5).max(usize::from(class.len() > 1));
        test.extend_from_slice(&class[..tests]);
        train.extend_from_slice(&class[tests..]);
    }
    train.sort_unstable();
    test.sort_unstable();
    (train, test)
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
    }
}
