//! The step size over the rounds; `mix.rs` has the mixing.

use serde::{Deserialize, Serialize};

use super::{ConfigError, Mix};

/// How the step size falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Not at all.
    Constant,
    /// By a factor at every milestone.
    Milestones,
    /// Along half a cosine, to zero at the end.
    Cosine,
}

/// How the step size changes over a run of known length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Schedule {
    /// How it falls.
    pub shape: Shape,
    /// When it falls, in parts of the run.
    pub milestones: Vec<f64>,
    /// By what it is multiplied at a milestone.
    pub factor: f64,
    /// Over which part of the run it rises to its full size at the start.
    pub warmup: f64,
    /// How the agents' models are mixed over the run.
    #[serde(skip_serializing_if = "Mix::is_default")]
    pub mix: Mix,
}

impl Default for Schedule {
    /// The paper's: a tenth after a half and again after three quarters of the run.
    fn default() -> Self {
        Schedule {
            shape: Shape::Milestones,
            milestones: vec![0.5, 0.75],
            factor: 0.1,
            warmup: 0.0,
            mix: Mix::default(),
        }
    }
}

impl Schedule {
    /// The step size of `round` (counted from 0) of `rounds`, as a part of the full one.
    ///
    /// ```
    /// use consort_train::Schedule;
    ///
    /// let factor = |round| Schedule::default().factor_at(round, 100);
    /// assert_eq!([factor(0), factor(49), factor(50)], [1.0, 1.0, 0.1]);
    /// assert!((factor(75) - 0.01).abs() < 1e-15);
    /// ```
    pub fn factor_at(&self, round: u64, rounds: u64) -> f64 {
        let done = round as f64 / rounds.max(1) as f64;
        let rising = self.warmup * rounds as f64;
        let risen = if (round as f64) < rising { (round + 1) as f64 / (rising + 1.0) } else { 1.0 };
        let fallen = match self.shape {
            Shape::Constant => 1.0,
            Shape::Milestones => {
                let passed = self.milestones.iter().filter(|&&at| done >= at).count();
                self.factor.powi(passed as i32)
            }
            Shape::Cosine => 0.5 * (1.0 + (std::f64::consts::PI * done).cos()),
        };
        risen * fallen
    }

    /// Whether the step size of a round depends on how many rounds there are.
    ///
    /// ```
    /// use consort_train::{Schedule, Shape};
    ///
    /// assert!(Schedule::default().depends_on_length());
    /// let constant = Schedule { shape: Shape::Constant, ..Schedule::default() };
    /// assert!(!constant.depends_on_length());
    /// ```
    pub fn depends_on_length(&self) -> bool {
        self.shape != Shape::Constant || self.warmup > 0.0 || self.mix.depends_on_length()
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let range = |key: &str, expected: &str, got: String| {
            let (key, expected) = (format!("schedule.{key}"), expected.to_string());
            Err(ConfigError::Range { key, expected, got })
        };
        if let Some(at) = self.milestones.iter().find(|at| !(0.0..=1.0).contains(*at)) {
            return range("milestones", "parts of the run from 0 to 1", at.to_string());
        }
        if !(self.factor.is_finite() && self.factor > 0.0) {
            return range("factor", "more than 0", self.factor.to_string());
        }
        if !(0.0..1.0).contains(&self.warmup) {
            return range("warmup", "a part of the run, 0 to less than 1", self.warmup.to_string());
        }
        self.mix.check("schedule.mix")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cosine_falls_from_one_to_nearly_zero() {
        let schedule = Schedule { shape: Shape::Cosine, ..Schedule::default() };
        assert_eq!(schedule.factor_at(0, 100), 1.0);
        assert!((schedule.factor_at(50, 100) - 0.5).abs() < 1e-12);
        assert!(schedule.factor_at(99, 100) < 1e-3);
        let falling = |round| schedule.factor_at(round, 100) > schedule.factor_at(round + 1, 100);
        assert!((0..99).all(falling));
    }

    #[test]
    fn a_warm_up_rises_in_even_steps_to_the_full_size() {
        let schedule = Schedule { shape: Shape::Constant, warmup: 0.1, ..Schedule::default() };
        let first: Vec<f64> = (0..11).map(|round| schedule.factor_at(round, 100)).collect();
        for (round, factor) in first.iter().enumerate() {
            assert!((factor - (round + 1) as f64 / 11.0).abs() < 1e-12, "{first:?}");
        }
        assert_eq!(schedule.factor_at(50, 100), 1.0);
    }
}
