//! What `consort graph` says of a graph, as text and as JSON.

use consort_graph::{
    GraphFacts, GraphSpec, PeriodFacts, Spectrum, SpectrumMethod, Stochastic, TYPICAL_DECAY,
    effective_neighbours,
};
use serde_json::{Value, json};

use crate::network::Network;
use crate::table::significant;

/// Everything that is known of a graph and its weights.
pub(super) struct Report<'a> {
    network: &'a Network,
    facts: &'a GraphFacts,
    /// Of a graph that does not change, if it was found.
    spectrum: Option<&'a Spectrum>,
    /// Of one that does.
    period: Option<PeriodFacts>,
    /// What of every matrix sums to 1.
    stochastic: Stochastic,
    effective_neighbours: Option<f64>,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        network: &'a Network,
        facts: &'a GraphFacts,
        spectrum: Option<&'a Spectrum>,
    ) -> Self {
        let stochastic = in_every_round(network);
        // The walk that counts neighbours is one of averages, so rows have to sum to 1.
        let averages = matches!(stochastic, Stochastic::Doubly | Stochastic::Rows);
        let counted = || {
            let from_eigenvalues =
                spectrum.and_then(|spectrum| spectrum.effective_neighbours(TYPICAL_DECAY));
            from_eigenvalues.or_else(|| effective_neighbours(&network.weights, TYPICAL_DECAY))
        };
        Report {
            network,
            facts,
            spectrum,
            period: network.period(),
            stochastic,
            effective_neighbours: averages.then(counted).flatten(),
        }
    }

    pub(super) fn as_json(&self) -> Value {
        let mut value = json!(self.facts);
        value["weights"] = json!(self.network.weights_name);
        value["stochastic"] = json!(self.stochastic);
        if let Some(spectrum) = self.spectrum {
            value["lambda_2"] = json!(significant(spectrum.lambda_2, 12));
            value["lambda_min"] = json!(significant(spectrum.lambda_min, 12));
            value["spectral_gap"] = json!(significant(spectrum.gap, 12));
            value["spectrum"] = json!(spectrum.how);
            if let Some((real, imaginary)) = spectrum.complex_2 {
                value["complex_2"] = json!([significant(real, 12), significant(imaginary, 12)]);
            }
        }
        if let Some(neighbours) = self.effective_neighbours {
            value["effective_neighbours"] = json!(significant(neighbours, 6));
            value["decay"] = json!(TYPICAL_DECAY);
        }
        if let Some(seed) = self.network.seed {
            value["graph_seed"] = json!(seed);
        }
        if let Some(period) = self.period {
            value["period_gap"] = json!(significant(1.0 - period.contraction, 12));
            value["period_contraction"] = json!(significant(period.contraction, 12));
            value["period_contraction_is_lower_bound"] = json!(period.lower_bound);
            value["exact_averaging"] = json!(period.is_exact());
        }
        value
    }

    pub(super) fn as_text(&self) -> String {
        let mut lines = self.lines_of_the_graph();
        lines.push(("weights", self.network.weights_name.clone()));
        lines.push(("sums to 1", self.sums().into()));
        lines.extend(self.lines_of_a_period());
        lines.extend(self.lines_of_the_spectrum());
        lines.push(("neighbours", self.neighbours()));
        lines.iter().map(|(name, value)| format!("{name:<16} {value}\n")).collect()
    }

    fn lines_of_the_graph(&self) -> Vec<(&'static str, String)> {
        let facts = self.facts;
        let yes = |fact: bool| if fact { "yes" } else { "no" }.to_string();
        let number = |fact: Option<usize>, exact: bool| match fact {
            Some(value) if exact => value.to_string(),
            Some(value) => format!("at least {value}"),
            None => "none".into(),
        };
        let range = |least: usize, most: usize| {
            if least == most {
                least.to_string()
            } else {
                format!("{least} to {most}, mean {:.2}", facts.degree_mean)
            }
        };
        let girth = if facts.girth.is_none() && !facts.girth_exact {
            "not computed (large graph)".into()
        } else {
            number(facts.girth, facts.girth_exact)
        };
        let mut lines = vec![
            ("graph", facts.name.clone()),
            ("agents", facts.agents.to_string()),
            (if facts.directed { "arcs" } else { "edges" }, facts.edges.to_string()),
        ];
        let degree = range(facts.degree_min, facts.degree_max);
        if facts.directed {
            lines.push(("out-degree", degree));
            lines.push(("in-degree", range(facts.in_degree_min, facts.in_degree_max)));
            lines.push(("connected", yes(facts.connected) + " (strongly)"));
        } else {
            lines.push(("degree", degree));
            lines.push(("connected", yes(facts.connected)));
        }
        lines.push(("bipartite", yes(facts.bipartite)));
        lines.push(("diameter", number(facts.diameter, facts.diameter_exact)));
        lines.push(("girth", girth));
        lines
    }

    fn sums(&self) -> &'static str {
        match self.stochastic {
            Stochastic::Doubly => "rows and columns",
            Stochastic::Rows if self.facts.directed => {
                "rows only: the mean drifts (--weights out-degree: columns, for push-sum)"
            }
            Stochastic::Rows => "rows only: the mean drifts",
            Stochastic::Columns => "columns only: for push-sum methods",
            Stochastic::Neither => "neither rows nor columns in every round",
        }
    }

    fn lines_of_a_period(&self) -> Vec<(&'static str, String)> {
        let Some(period) = self.period else { return Vec::new() };
        let mut lines = vec![
            ("period", format!("{} rounds; facts are of their union", period.rounds)),
            ("degree a round", format!("at most {}", self.facts.round_degree_max)),
            ("gap of a period", format!("{:.5}", 1.0 - period.contraction)),
        ];
        let left = period.contraction;
        let exactly = if period.is_exact() {
            format!("yes, every {} rounds: their product is J/n within {left:.0e}", period.rounds)
        } else {
            let least = if period.lower_bound { "at least " } else { "" };
            format!(
                "no: a period leaves {least}{:.2e} of the disagreement, a round {:.4}",
                left,
                period.rate()
            )
        };
        lines.push(("exact averaging", exactly + self.advice(period)));
        lines
    }

    /// What to take instead, where the name promises what this size cannot keep.
    fn advice(&self, period: PeriodFacts) -> &'static str {
        match self.network.spec {
            GraphSpec::OnePeerExponential { .. } if !period.is_exact() => {
                " (exact for N = 2^k only; base:N:1 is for every N)"
            }
            GraphSpec::Base { .. } if !period.is_exact() => {
                " (exact with the weights of its construction)"
            }
            _ => "",
        }
    }

    fn lines_of_the_spectrum(&self) -> Vec<(&'static str, String)> {
        let Some(spectrum) = self.spectrum else { return Vec::new() };
        let found = format!("{:.8}", spectrum.lambda_2);
        let (second, smallest) = match (spectrum.complex_2, spectrum.how) {
            (Some((real, imaginary)), _) if imaginary > 1e-12 => {
                let both = format!("{found} ({real:.5} +- {imaginary:.5}i)");
                (("|lambda_2|", both), "least real part")
            }
            (Some(_), _) => (("|lambda_2|", found), "least real part"),
            (None, SpectrumMethod::PowerIteration { .. }) => {
                (("|lambda_2|", found), "real parts above")
            }
            (None, _) => (("lambda_2", found), "lambda_min"),
        };
        vec![
            second,
            (smallest, format!("{:.8}", spectrum.lambda_min)),
            ("spectral gap", significant(spectrum.gap, 5).to_string()),
        ]
    }

    fn neighbours(&self) -> String {
        match self.effective_neighbours {
            Some(count) => {
                format!("{count:.2} effective, of {} (decay {TYPICAL_DECAY})", self.facts.agents)
            }
            None if self.stochastic == Stochastic::Columns => "not defined for push-sum".into(),
            None => "not computed (large graph)".into(),
        }
    }
}

/// What of the matrices of all rounds sums to 1.
fn in_every_round(network: &Network) -> Stochastic {
    let each = network.weights.iter().map(consort_graph::MixingMatrix::stochastic);
    let both = |a: Stochastic, b: Stochastic| match (a, b) {
        (Stochastic::Doubly, other) | (other, Stochastic::Doubly) => other,
        (a, b) if a == b => a,
        _ => Stochastic::Neither,
    };
    each.fold(Stochastic::Doubly, both)
}
