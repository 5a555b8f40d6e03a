//! k-peer hyper-hypercubes: agents on a box, averaged along one axis a round.
//!
//! If the number of agents is a product `f_1 f_2 ... f_L` of factors up to k + 1, agent
//! `i` is the place with the mixed-radix digits of `i`. In round `l` the `f_l` agents
//! that differ in digit `l` alone average among themselves: k neighbours at most, and
//! after all L axes everyone holds the mean. With all factors 2 it is the hypercube.

use std::collections::BTreeMap;

use super::Stage;

/// The rounds for so many agents, groups of at most `largest`; `None` if a prime factor
/// is larger. A lone agent needs none.
pub(super) fn stages(agents: usize, largest: usize) -> Option<Vec<Stage>> {
    let mut known = BTreeMap::new();
    let mut factors = fewest_factors(agents, &divisors(agents, largest), &mut known)?;
    factors.sort_unstable();
    let mut stride = 1;
    let mut stages = Vec::with_capacity(factors.len());
    for factor in factors {
        stages.push(along_one_axis(agents, stride, factor));
        stride *= factor;
    }
    Some(stages)
}

fn along_one_axis(agents: usize, stride: usize, factor: usize) -> Stage {
    let weight = 1.0 / factor as f64;
    let first_places = (0..agents).filter(|i| (i / stride).is_multiple_of(factor));
    let pairs = first_places.flat_map(|first| {
        let place = move |digit: usize| first + digit * stride;
        (0..factor).flat_map(move |b| (0..b).map(move |a| (place(a), place(b), weight)))
    });
    pairs.collect()
}

/// The divisors from `largest` down to 2.
fn divisors(number: usize, largest: usize) -> Vec<usize> {
    let candidates = (2..=largest.min(number)).rev();
    candidates.filter(|factor| number.is_multiple_of(*factor)).collect()
}

/// The shortest list of these divisors whose product is `number`.
fn fewest_factors(
    number: usize,
    divisors: &[usize],
    known: &mut BTreeMap<usize, Option<Vec<usize>>>,
) -> Option<Vec<usize>> {
    if number == 1 {
        return Some(Vec::new());
    }
    if let Some(found) = known.get(&number) {
        return found.clone();
    }
    let mut best: Option<Vec<usize>> = None;
    for &factor in divisors.iter().filter(|factor| number.is_multiple_of(**factor)) {
        let rest = fewest_factors(number / factor, divisors, known);
        let shorter =
            rest.filter(|rest| best.as_ref().is_none_or(|best| rest.len() + 1 < best.len()));
        if let Some(mut factors) = shorter {
            factors.push(factor);
            best = Some(factors);
        }
    }
    known.insert(number, best.clone());
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(agents: usize, largest: usize) -> Option<usize> {
        stages(agents, largest).map(|stages| stages.len())
    }

    #[test]
    fn as_few_rounds_as_there_are_factors() {
        assert_eq!(rounds(1, 2), Some(0));
        assert_eq!(rounds(8, 2), Some(3));
        assert_eq!(rounds(6, 3), Some(2));
        assert_eq!(rounds(12, 5), Some(2));
        assert_eq!(rounds(6, 2), None);
        assert_eq!(rounds(14, 6), None);
    }

    /// Taking the largest factor first would give 12 = 6 * 2 here as well, but
    /// 16 * 9 = 144 with groups up to 9 as 9 * 8 * 2; 12 * 12 has too large groups.
    #[test]
    fn the_list_of_factors_is_the_shortest() {
        for (number, largest) in [(144, 9), (60, 9), (180, 15), (1000, 20), (5040, 12)] {
            let mut least = usize::MAX;
            search(number, largest, 0, &mut least);
            assert_eq!(rounds(number, largest), Some(least), "{number} by up to {largest}");
        }
    }

    fn search(rest: usize, largest: usize, used: usize, least: &mut usize) {
        if rest == 1 {
            *least = (*least).min(used);
        }
        for factor in 2..=largest {
            if rest.is_multiple_of(factor) {
                search(rest / factor, largest, used + 1, least);
            }
        }
    }
}
