//! The answer to "will this run converge, and how fast?", in numbers and in words.

use consort_algo::{Compression, Method, Recursion};
use consort_graph::{Spectrum, Topology};
use serde::Serialize;

use crate::automatic::{largest_mu_of_average, resolve_on};
use crate::compression::usual_gamma;
use crate::gain::average_gain;
use crate::relay::Relay;
use crate::stability::{Ends, Stability, average_memory};
use crate::theorem::Theorem1;

/// What to analyse.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The method with its parameters; `auto` is resolved.
    pub method: Method,
    /// The smoothness constant L of the losses, for the limits of Theorem 1.
    pub smoothness: Option<f64>,
}

impl Question {
    /// A question about a method, without Theorem 1.
    pub fn new(method: Method) -> Self {
        Question { method, smoothness: None }
    }
}

/// What is known before a run.
#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    /// The method, with `auto` replaced by numbers.
    pub method: String,
    /// The tracking scale.
    pub mu: f64,
    /// The momentum coefficient.
    pub beta: f64,
    /// The reading of GUT, for methods that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<String>,
    /// The averaging rate.
    pub gamma: f64,
    /// How many graphs take turns, if the graph changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<usize>,
    /// The second largest eigenvalue of W, averaging rate included. Of a directed graph: the
    /// second largest modulus; of graphs that take turns, that of a period, per round.
    pub lambda_2: f64,
    /// The smallest eigenvalue of W, averaging rate included. Of a directed graph: the smallest
    /// real part. 0 if graphs that take turns have no eigenvectors in common.
    pub lambda_min: f64,
    /// `1 - max(|lambda_2|, |lambda_min|)`.
    pub spectral_gap: f64,
    /// The mu below which consensus does not converge; 0 except for some momentum methods.
    pub smallest_stable_mu: f64,
    /// The mu above which consensus does not converge; `None` if it converges for every mu up to
    /// 10, and 0 if no mu is stable.
    pub largest_stable_mu: Option<f64>,
    /// The mu at which the averaged model diverges (methods with momentum on the update).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_mu_of_average: Option<f64>,
    /// How far a constant gradient moves the averaged model in a round, in units of eta; `None`
    /// if the averaged model diverges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    /// True if disagreement shrinks and the averaged model does not diverge.
    pub stable: bool,
    /// The factor by which disagreement shrinks per round in the long run.
    pub consensus_rate: f64,
    /// Rounds until disagreement has shrunk to a tenth.
    pub rounds_per_digit: Option<f64>,
    /// The rate of plain gossip on the same W.
    pub gossip_rate: f64,
    /// The mu with the fastest consensus.
    pub best_mu: f64,
    /// The rate at `best_mu`.
    pub best_rate: f64,
    /// The largest averaging rate that makes mu stable, if it is unstable now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stable_gamma: Option<f64>,
    /// The largest averaging rate at which this mu is stable, for tracking on push-sum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_stable_gamma: Option<f64>,
    /// The limits of Theorem 1, if L was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theorem_1: Option<Theorem1>,
    /// The result in one or two sentences.
    pub verdict: String,
}

impl Analysis {
    /// Analyses a symmetric mixing matrix with this spectrum; gamma is not yet applied to it.
    pub fn new(question: &Question, spectrum: &Spectrum) -> Self {
        Self::on(question, &Stability::new(spectrum))
    }

    /// Analyses any mixing matrices, also of directed and of time-varying graphs; gamma is not yet
    /// applied to them.
    pub fn on(question: &Question, plain_w: &Stability) -> Self {
        let resolved = resolve_on(&question.method, plain_w, f64::INFINITY);
        let (method, mu, gamma) = (resolved.method, resolved.mu, resolved.gamma);
        let stability = plain_w.with_averaging_rate(gamma);
        let tracks = method.name.tracks();

        let Ends { lambda_2, lambda_min, gap: spectral_gap } = stability.ends();
        let range = if tracks { stability.stable_interval(&method) } else { None };
        let (smallest, largest) = range.unwrap_or((0.0, 0.0));
        let limit = (tracks && largest.is_finite()).then_some(largest);
        let momentum_limit =
            (tracks && method.name.has_global_momentum()).then(|| largest_mu_of_average(&method));
        let agrees = stability.is_stable(&method, mu);
        let stable = agrees && average_is_stable(&method, mu);
        let consensus_rate = stability.rate(&method, mu);
        let usable = limit.unwrap_or(1.0).min(momentum_limit.unwrap_or(1.0)).min(1.0);
        let (best_mu, best_rate) =
            if tracks { stability.best_mu(&method, usable) } else { (0.0, consensus_rate) };
        let stable_gamma = if agrees { None } else { plain_w.largest_stable_gamma(&method, mu) };

        let largest_stable_gamma = (tracks && method.name.is_push_sum())
            .then(|| plain_w.largest_stable_gamma(&method, mu))
            .flatten();

        let mut analysis = Analysis {
            method: method.to_string(),
            mu,
            beta: method.beta,
            reading: has_readings(&method).then(|| method.reading.to_string()),
            gamma,
            period: Some(plain_w.period()).filter(|&period| period > 1),
            lambda_2,
            lambda_min,
            spectral_gap,
            smallest_stable_mu: smallest,
            largest_stable_mu: limit,
            largest_mu_of_average: momentum_limit,
            gain: Some(average_gain(&method, mu)).filter(|gain| gain.is_finite()),
            stable,
            consensus_rate,
            rounds_per_digit: (consensus_rate < 1.0).then(|| -1.0 / consensus_rate.log10()),
            gossip_rate: 1.0 - spectral_gap,
            best_mu,
            best_rate,
            stable_gamma,
            largest_stable_gamma,
            theorem_1: question.smoothness.map(|l| Theorem1::new(spectral_gap, l)),
            verdict: String::new(),
        };
        analysis.verdict = analysis.verdict_text(&method, agrees) + &analysis.of_losses(&method);
        analysis
    }

    /// What is known of a method on this graph beside its weights: RelaySGD follows the tree and
    /// not W.
    pub fn on_graph(mut self, method: &Method, topology: &Topology) -> Self {
        if method.info().recursion != Recursion::Relay {
            return self;
        }
        let Some(relay) = Relay::on(topology) else { return self };
        self.consensus_rate = relay.rate;
        self.rounds_per_digit = Some(-1.0 / relay.rate.log10()).filter(|r| r.is_finite());
        self.best_rate = relay.rate;
        self.gain = self.gain.map(|gain| gain / (1.0 + relay.mean_delay));
        let title = method.info().title;
        let digit = match self.rounds_per_digit {
            Some(rounds) if rounds > 0.05 => {
                format!("shrinks disagreement tenfold every {rounds:.1} rounds")
            }
            _ => "agrees at once".into(),
        };
        self.verdict = format!(
            "STABLE: {title} {digit}; models are {:.1} rounds late on average, which shortens the \
             step and bears no long one. This is about the agents' disagreement; whether the loss \
             falls depends on eta.",
            relay.mean_delay
        );
        self
    }

    fn verdict_text(&self, method: &Method, agrees: bool) -> String {
        let title = method.info().title;
        let mu = format!("mu = {}", rounded(self.mu));
        if !agrees {
            let limit = self.largest_stable_mu.filter(|&limit| limit > 0.0);
            let mut text = match limit {
                Some(_) if self.mu < self.smallest_stable_mu => format!(
                    "DIVERGES: on this W {title} needs a mu of at least {:.4}; it has {mu}.",
                    self.smallest_stable_mu
                ),
                Some(limit) => {
                    format!("DIVERGES: {title} with {mu} is above the limit {limit:.4} of this W.")
                }
                None => format!("DIVERGES: disagreement grows under {title} on this W."),
            };
            if let Some(gamma) = self.stable_gamma {
                text += &format!(
                    " An averaging rate gamma below {gamma:.3} makes it stable (gamma = auto \
                     chooses one)"
                );
                text += if limit.is_some() { "; so does a mu within the limits." } else { "." };
            }
            return text;
        }
        if !self.stable {
            return format!(
                "RUNS AWAY in training: with {mu} and beta = {} the momentum of the averaged model \
                 never fades. Keep mu below {:.4}.",
                method.beta,
                self.largest_mu_of_average.unwrap_or(1.0)
            );
        }
        let rounds = self.rounds_per_digit.unwrap_or(f64::INFINITY);
        let with_mu = if method.name.tracks() { format!(" with {mu}") } else { String::new() };
        let mut text = if rounds > 0.05 {
            format!(
                "STABLE: {title}{with_mu} shrinks disagreement tenfold every {rounds:.1} rounds"
            )
        } else {
            format!("STABLE: {title}{with_mu} agrees after every round")
        };
        let gossip = -1.0 / self.gossip_rate.log10();
        if method.name.tracks() || method.name.has_global_momentum() {
            text += &format!(" (plain gossip: {gossip:.1}).");
        } else {
            text += ".";
        }
        let near = self.largest_stable_mu.filter(|limit| self.mu > 0.95 * limit);
        if let Some(limit) = near {
            text +=
                &format!(" mu is close to the limit {limit:.4}: with gradients it may diverge.");
        }
        text + " This is about the agents' disagreement; whether the loss falls depends on eta."
    }
}

impl Analysis {
    /// What has to be said of a method whose messages lose something; empty for others.
    fn of_losses(&self, method: &Method) -> String {
        if method.codec == Compression::None || !method.name.codes_messages() {
            return String::new();
        }
        let codec = method.codec;
        let mut text =
            format!(" This is without losses; the messages are coded (codec = {codec}).");
        if method.info().recursion == Recursion::AdaptiveGossip {
            text += " AdaGossip shortens its steps where they make models differ more.";
        } else if let Some(usual) = usual_gamma(method, self.mu) {
            let usual = (usual * 1e3).floor() / 1e3;
            text += " How large gamma may then be is not known exactly;";
            text += &if self.gamma <= usual + 1e-3 {
                format!(" up to about {usual}, the usual rule, it was stable on quadratics.")
            } else {
                let gamma = rounded(self.gamma);
                format!(
                    " {gamma} is more than {usual}, what the usual rule allows, and may diverge \
                     (gamma = auto follows the rule)."
                )
            };
        }
        text
    }
}

/// Whether the method has several readings: the family of GUT.
fn has_readings(method: &Method) -> bool {
    method.info().parameters().any(|parameter| parameter.name == "reading")
}

/// Whether the averaged model does not diverge. Without momentum on the update the average follows
/// the gradients exactly (Lemma 1), so its memory, mu, is never excited and may be 1.
fn average_is_stable(method: &Method, mu: f64) -> bool {
    let memory = average_memory(method, mu);
    if method.name.has_global_momentum() { memory < 1.0 - 1e-9 } else { memory <= 1.0 + 1e-9 }
}

fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
