//! How unlike the agents' data are, in a few figures.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Figures of a partition. The global distribution is that of all dealt samples together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heterogeneity {
    /// Mean total-variation distance between an agent's distribution of labels and the global
    /// one: 0 if all are alike, 1 - 1/K if each has one of K equally frequent classes.
    pub total_variation: f64,
    /// Mean number of classes that make at least 1 % of an agent's samples.
    pub classes: f64,
    /// Mean entropy of an agent's labels over ln K: 0 if each has one class, 1 if all K are
    /// equally frequent everywhere.
    pub entropy: f64,
    /// The fewest samples an agent has.
    pub smallest: usize,
    /// The mean number of samples an agent has.
    pub mean: f64,
    /// The most samples an agent has.
    pub largest: usize,
}

impl Heterogeneity {
    /// The figures of a table of samples, agents by classes. Agents without samples count as
    /// like the others; a table without agents gives zeros.
    pub fn of(counts: &[Vec<usize>]) -> Heterogeneity {
        let classes = counts.first().map_or(0, Vec::len);
        let column = |class: usize| counts.iter().map(|row| row[class]).sum::<usize>();
        let all = distribution(&(0..classes).map(column).collect::<Vec<_>>());
        let mut sum = [0.0; 3];
        for row in counts {
            let own = if row.iter().sum::<usize>() == 0 { all.clone() } else { distribution(row) };
            sum[0] += own.iter().zip(&all).map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0;
            sum[1] += own.iter().filter(|&&p| p >= 0.01).count() as f64;
            sum[2] += normalised_entropy(&own);
        }
        let agents = counts.len().max(1) as f64;
        let sizes = || counts.iter().map(|row| row.iter().sum::<usize>());
        Heterogeneity {
            total_variation: sum[0] / agents,
            classes: sum[1] / agents,
            entropy: sum[2] / agents,
            smallest: sizes().min().unwrap_or(0),
            mean: sizes().sum::<usize>() as f64 / agents,
            largest: sizes().max().unwrap_or(0),
        }
    }
}

impl fmt::Display for Heterogeneity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Heterogeneity { total_variation, classes, smallest, largest, .. } = self;
        write!(f, "total variation {total_variation:.2}, {classes:.1} classes an agent, ")?;
        if smallest == largest {
            return write!(f, "{smallest} samples each");
        }
        write!(f, "{smallest} to {largest} samples each")
    }
}

fn distribution(row: &[usize]) -> Vec<f64> {
    let total = row.iter().sum::<usize>().max(1) as f64;
    row.iter().map(|&count| count as f64 / total).collect()
}

/// Entropy over its largest value; 0 where there are not two classes to tell apart.
fn normalised_entropy(distribution: &[f64]) -> f64 {
    if distribution.len() < 2 {
        return 0.0;
    }
    let terms = distribution.iter().filter(|&&p| p > 0.0).map(|&p| -p * libm::log(p));
    terms.sum::<f64>() / libm::log(distribution.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_that_are_alike_are_not_heterogeneous() {
        let found = Heterogeneity::of(&[vec![5, 5, 5, 5], vec![10, 10, 10, 10]]);
        let expected = Heterogeneity {
            total_variation: 0.0,
            classes: 4.0,
            entropy: 1.0,
            smallest: 20,
            mean: 30.0,
            largest: 40,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn one_class_an_agent_is_the_extreme() {
        let found = Heterogeneity::of(&[vec![9, 0, 0], vec![0, 9, 0], vec![0, 0, 9]]);
        assert!((found.total_variation - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!((found.classes, found.entropy), (1.0, 0.0));
    }

    #[test]
    fn a_class_of_less_than_one_percent_does_not_count() {
        let found = Heterogeneity::of(&[vec![99, 1, 0], vec![199, 1, 0]]);
        assert_eq!(found.classes, 1.5);
    }

    #[test]
    fn empty_tables_and_rows_are_no_panic() {
        assert_eq!(Heterogeneity::of(&[]).mean, 0.0);
        assert_eq!(Heterogeneity::of(&[vec![0, 0]]).total_variation, 0.0);
        assert_eq!(Heterogeneity::of(&[vec![]]).entropy, 0.0);
    }
}
