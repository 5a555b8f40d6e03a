//! How the agents' models are mixed over the run: at which rate, over which graphs, and when all of
//! them are averaged exactly.
//!
//! ```toml
//! [schedule.mix]
//! shape = "step-size"        # DSGD-AC: gamma_t = gamma (eta_t/eta_max)^power
//! exact-every = 48           # Gossip-PGA: an exact average of all models every 48 rounds
//! final-merge = true         # one exact average at the end
//! graphs = [{ from = 0.5, graph = "complete:16" }]   # another graph from half of the run on
//! ```

use serde::{Deserialize, Serialize};

use super::{ConfigError, Schedule};

/// How the averaging rate falls over the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MixShape {
    /// Not at all.
    #[default]
    Constant,
    /// With the step size, as a power of it (DSGD-AC).
    StepSize,
    /// By a factor at every milestone.
    Milestones,
}

/// How the agents' models are mixed over a run of known length. By default as the method and the
/// graph say, in every round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Mix {
    /// How the averaging rate falls from the method's gamma: `constant`, `step-size` (with the step
    /// size: gamma (eta_t/eta_max)^power, as in DSGD-AC), or `milestones`.
    pub shape: MixShape,
    /// The power of the step size, for the shape `step-size`.
    pub power: f64,
    /// When the averaging rate falls, in parts of the run, for the shape `milestones`.
    pub milestones: Vec<f64>,
    /// By what it is multiplied at a milestone.
    pub factor: f64,
    /// Rounds between two exact averages of all models (Gossip-PGA). Without a number, there are
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact_every: Option<u64>,
    /// Whether all models are averaged exactly once the last round is over.
    pub final_merge: bool,
    /// The graphs that replace the run's, one after the other.
    pub graphs: Vec<GraphChange>,
}

/// A graph that replaces the one before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GraphChange {
    /// When, in parts of the run.
    pub from: f64,
    /// Who talks to whom from then on, with as many agents.
    pub graph: String,
}

impl Default for Mix {
    fn default() -> Self {
        Mix {
            shape: MixShape::Constant,
            power: 1.0,
            milestones: vec![0.5, 0.75],
            factor: 0.1,
            exact_every: None,
            final_merge: false,
            graphs: Vec::new(),
        }
    }
}

impl Mix {
    /// True if all is at its default.
    pub(crate) fn is_default(&self) -> bool {
        *self == Mix::default()
    }

    /// The averaging rate of `round` (counted from 0) of `rounds`, as a part of the method's gamma.
    /// `steps` is the schedule of the step size.
    ///
    /// ```
    /// use consort_train::{Mix, MixShape, Schedule};
    ///
    /// let mix = Mix { shape: MixShape::StepSize, power: 2.0, ..Mix::default() };
    /// // The step size falls to a tenth half-way.
    /// let rate = |round| mix.rate_at(round, 100, &Schedule::default());
    /// assert_eq!(rate(49), 1.0);
    /// assert!((rate(50) - 0.01).abs() < 1e-15);
    /// ```
    pub fn rate_at(&self, round: u64, rounds: u64, steps: &Schedule) -> f64 {
        match self.shape {
            MixShape::Constant => 1.0,
            MixShape::StepSize => steps.factor_at(round, rounds).powf(self.power),
            MixShape::Milestones => {
                let done = round as f64 / rounds.max(1) as f64;
                let passed = self.milestones.iter().filter(|&&at| done >= at).count();
                self.factor.powi(passed as i32)
            }
        }
    }

    /// True if a longer run would have mixed otherwise in the rounds that a shorter one has; with the
    /// shape `step-size`, that is so if its step sizes differ.
    pub fn depends_on_length(&self) -> bool {
        self.shape == MixShape::Milestones || !self.graphs.is_empty() || self.final_merge
    }

    /// What differs from the usual mixing, in a few words; empty if nothing does.
    pub fn describe(&self) -> String {
        let mut parts = Vec::new();
        match self.shape {
            MixShape::Constant => {}
            MixShape::StepSize => parts.push(format!("gamma by eta^{}", self.power)),
            MixShape::Milestones => {
                parts.push(format!("gamma x {} at {:?}", self.factor, self.milestones));
            }
        }
        parts.extend(self.exact_every.map(|every| format!("exact every {every}")));
        let graphs = self.graphs.iter();
        parts.extend(graphs.map(|change| format!("{} from {}", change.graph, change.from)));
        parts.extend(self.final_merge.then(|| "final merge".to_string()));
        parts.join(", ")
    }

    /// Checks the values; `place` is the key of the table.
    pub(super) fn check(&self, place: &str) -> Result<(), ConfigError> {
        let range = |key: &str, fits: bool, expected: &str, got: String| {
            let (key, expected) = (format!("{place}.{key}"), expected.to_string());
            if fits { Ok(()) } else { Err(ConfigError::Range { key, expected, got }) }
        };
        let part = |at: f64| (0.0..=1.0).contains(&at);
        range("power", (0.0..=10.0).contains(&self.power), "0 to 10", self.power.to_string())?;
        if let Some(at) = self.milestones.iter().find(|&&at| !part(at)) {
            range("milestones", false, "parts of the run from 0 to 1", at.to_string())?;
        }
        let fits = self.factor > 0.0 && self.factor <= 1.0;
        range("factor", fits, "more than 0, up to 1", self.factor.to_string())?;
        range("exact-every", self.exact_every != Some(0), "at least 1 round", "0".into())?;
        let mut before = 0.0;
        for GraphChange { from, graph } in &self.graphs {
            let expected =
                "parts of the run between 0 and 1, ascending; the first graph is `graph`";
            let fits = *from > before && *from < 1.0;
            range("graphs.from", fits, expected, format!("{from} for {graph}"))?;
            before = *from;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Shape};
    use super::*;

    fn mix(toml: &str) -> Mix {
        let config = Config::from_toml(&format!("[schedule.mix]\n{toml}"), &[]).unwrap();
        let again = Config::from_toml(&config.to_toml().unwrap(), &[]).unwrap();
        assert_eq!(config, again, "survives a round trip");
        config.schedule.mix
    }

    #[test]
    fn what_is_at_its_default_is_not_written() {
        let written = Config::default().to_toml().unwrap();
        assert!(!written.contains("mix"), "{written}");
        assert!(mix("shape = 'constant'").is_default());
    }

    #[test]
    fn it_is_described_by_what_is_unusual() {
        assert_eq!(Mix::default().describe(), "");
        let all = "shape = 'step-size'\npower = 2\nexact-every = 48\nfinal-merge = true\n\
                   graphs = [{ from = 0.5, graph = 'dyck' }]";
        assert_eq!(
            mix(all).describe(),
            "gamma by eta^2, exact every 48, dyck from 0.5, final merge"
        );
        let falling = mix("shape = 'milestones'\nfactor = 0.5").describe();
        assert_eq!(falling, "gamma x 0.5 at [0.5, 0.75]");
    }

    #[test]
    fn dsgd_ac_multiplies_gamma_by_a_power_of_the_step_size() {
        let mix = mix("shape = 'step-size'\npower = 0.5");
        let cosine = Schedule { shape: Shape::Cosine, ..Schedule::default() };
        for round in [0, 10, 50, 99] {
            let expected = cosine.factor_at(round, 100).sqrt();
            assert_eq!(mix.rate_at(round, 100, &cosine), expected);
        }
        assert_eq!(mix.rate_at(0, 100, &cosine), 1.0);
    }

    #[test]
    fn at_milestones_the_rate_falls_by_a_factor_whatever_the_step_size_does() {
        let mix = mix("shape = 'milestones'\nmilestones = [0.25]\nfactor = 0.5");
        let cosine = Schedule { shape: Shape::Cosine, ..Schedule::default() };
        assert_eq!([24, 25, 99].map(|round| mix.rate_at(round, 100, &cosine)), [1.0, 0.5, 0.5]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_key() {
        let told = |toml: &str| {
            let text = format!("[schedule.mix]\n{toml}");
            Config::from_toml(&text, &[]).unwrap_err().to_string()
        };
        for (toml, parts) in [
            (
                "shpae = 'constant'",
                &["schedule.mix.shpae", "did you mean `schedule.mix.shape`?"][..],
            ),
            ("shape = 'cosine'", &["cosine", "step-size"]),
            ("power = -1", &["schedule.mix.power", "-1"]),
            ("factor = 1.5", &["schedule.mix.factor", "up to 1"]),
            ("exact-every = 0", &["schedule.mix.exact-every", "at least 1"]),
            ("graphs = [{ from = 0, graph = 'ring:4' }]", &["schedule.mix.graphs.from", "ring:4"]),
            ("graphs = [{ from = 0.5, grph = 'ring:4' }]", &["grph", "did you mean `graph`?"]),
            (
                "graphs = [{ from = 0.5, graph = 'a' }, { from = 0.2, graph = 'b' }]",
                &["ascending", "0.2 for b"],
            ),
        ] {
            let message = told(toml);
            for part in parts {
                assert!(message.contains(part), "{toml}: {message}");
            }
        }
        let own = "methods = [{ method = 'dsgd', mix = { powr = 2 } }]";
        let message = Config::from_toml(own, &[]).unwrap_err().to_string();
        assert!(message.contains("did you mean `mix.power`?"), "{message}");
    }

    #[test]
    fn a_method_may_mix_in_its_own_way() {
        let text =
            "methods = ['dsgd', { method = 'dsgd', label = 'AC', mix = { shape = 'step-size' } }]";
        let config = Config::from_toml(text, &[]).unwrap();
        assert_eq!(config.methods[1].mix.as_ref().map(|mix| mix.shape), Some(MixShape::StepSize));
        assert_eq!(Config::from_toml(&config.to_toml().unwrap(), &[]).unwrap(), config);
    }

    #[test]
    fn overrides_reach_it() {
        let set = ["schedule.mix.exact-every=5", "schedule.mix.milestones=0.5"].map(String::from);
        let mix = Config::from_toml("", &set).unwrap().schedule.mix;
        assert_eq!((mix.exact_every, mix.milestones), (Some(5), vec![0.5]));
        let set = ["schedule.mix.graphs={ from = 0.5, graph = 'complete:16' }".to_string()];
        assert_eq!(Config::from_toml("", &set).unwrap().schedule.mix.graphs[0].from, 0.5);
    }
}
