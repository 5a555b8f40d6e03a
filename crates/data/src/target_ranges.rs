//! Ranges of a target, each with about a tenth of the training samples: what a regression is shared
//! out by, where a classification has classes.

use crate::formats::csv::shortest;

/// How many ranges there are, unless values are so frequent that they fill several.
const RANGES: usize = 10;

/// Ranges of numbers, ascending.
pub(crate) struct TargetRanges {
    /// Every range but the last ends with one of these, included.
    ends: Vec<f64>,
}

impl TargetRanges {
    /// The ranges of the targets of the training samples.
    pub(crate) fn of(targets: &[f64]) -> Self {
        let mut sorted = targets.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (Some(&least), Some(&most)) = (sorted.first(), sorted.last()) else {
            return TargetRanges { ends: Vec::new() };
        };
        let mut ends: Vec<f64> =
            (1..RANGES).map(|k| sorted[(k * sorted.len()).div_ceil(RANGES) - 1]).collect();
        ends.dedup();
        ends.retain(|end| *end < most);
        if ends.is_empty() && least < most {
            ends.push(sorted.iter().copied().rfind(|value| *value < most).unwrap_or(least));
        }
        TargetRanges { ends }
    }

    /// The range in which `target` lies.
    pub(crate) fn place(&self, target: f64) -> u32 {
        self.ends.iter().filter(|end| target > **end).count() as u32
    }

    /// What the ranges are called.
    pub(crate) fn names(&self) -> Vec<String> {
        let text = |value: &f64| shortest(*value);
        let Some((first, last)) = self.ends.first().zip(self.ends.last()) else {
            return vec!["all".to_owned()];
        };
        let between = self.ends.windows(2).map(|pair| {
            let (from, to) = (text(&pair[0]), text(&pair[1]));
            format!("{from} to {to}")
        });
        let (first, last) = (format!("up to {}", text(first)), format!("above {}", text(last)));
        [first].into_iter().chain(between).chain([last]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_range_has_a_tenth_of_the_samples() {
        let targets: Vec<f64> = (0..1000).map(|i| f64::from(i * 7 % 1000)).collect();
        let ranges = TargetRanges::of(&targets);
        let mut counts = [0; 10];
        targets.iter().for_each(|target| counts[ranges.place(*target) as usize] += 1);
        assert_eq!(counts, [100; 10]);
        let names = ranges.names();
        assert_eq!((&*names[0], &*names[1], &*names[9]), ("up to 99", "99 to 199", "above 899"));
        assert_eq!((ranges.place(-1e9), ranges.place(1e9)), (0, 9));
    }

    #[test]
    fn frequent_values_make_fewer_ranges_but_never_one() {
        let mostly_zero: Vec<f64> = (0..100).map(|i| f64::from((i - 97).max(0))).collect();
        let ranges = TargetRanges::of(&mostly_zero);
        assert_eq!(ranges.names().len(), 2);
        assert_ne!(ranges.place(0.0), ranges.place(2.0));
        let mostly_one = [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        let ranges = TargetRanges::of(&mostly_one);
        assert_ne!(ranges.place(0.0), ranges.place(1.0));
        assert_eq!(TargetRanges::of(&[3.0, 3.0]).names(), ["all"]);
    }
}
