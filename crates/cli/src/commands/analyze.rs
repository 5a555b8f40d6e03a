//! `consort analyze`: stability and speed of a method on a graph, before a run.

use consort_algo::Method;
use consort_graph::TYPICAL_DECAY;
use consort_theory::{Analysis, Question, admit};
use serde_json::json;

use super::{print_json, print_text};
use crate::arguments::AnalyzeOptions;
use crate::failure::{Blame, Failure, tell};
use crate::network::Network;
use crate::table::significant;

pub(crate) fn run(options: &AnalyzeOptions) -> Result<(), Failure> {
    let method = method_of(options)?;
    let smoothness = options.smoothness.map(positive).transpose()?;
    let network = Network::build_connected(&options.graph, &options.weights)?;
    let network = network.of_method(&method)?.unwrap_or(network);
    let spectrum = network.spectrum()?;
    let neighbours = spectrum.effective_neighbours(TYPICAL_DECAY);
    let known = network.stability(&spectrum);
    let stability = known.of(&method).or_input()?;
    let analysis = Analysis::on(&Question { method, smoothness }, stability);
    let analysis = analysis.on_graph(&method, &network.topology);

    // If the method cannot run on the graph, this is an error, except for a too small eigenvalue:
    // then the verdict says the same with numbers.
    let admitted = admit(&method, &network.topology, &network.weights, analysis.lambda_min);
    if let Err(error) = admitted
        && !matches!(error, consort_theory::AdmissionError::LambdaMin { .. })
    {
        return Err(error).or_input();
    }
    if options.json {
        let mut value = serde_json::to_value(&analysis).or_work()?;
        value["graph"] = json!(network.topology.name());
        value["agents"] = json!(network.topology.agents());
        value["weights"] = json!(network.weights_name);
        value["effective_neighbours"] = json!(neighbours);
        value["decay"] = json!(TYPICAL_DECAY);
        round_numbers(&mut value);
        return print_json(&value);
    }
    print_text(&report(&network, &analysis, neighbours))
}

/// The method, with parameters from flags.
fn method_of(options: &AnalyzeOptions) -> Result<Method, Failure> {
    let mut method: Method = options.method.parse().or_input()?;
    let flags = [
        ("mu", &options.mu),
        ("beta", &options.beta),
        ("reading", &options.reading),
        ("gamma", &options.gamma),
    ];
    for (key, value) in flags {
        let Some(value) = value else { continue };
        if key == "beta" && !method.name.has_momentum() {
            // So that one command line works for methods with and without momentum.
            tell(&format!(
                "note: {} has no momentum, so --beta has no effect",
                method.name.as_str()
            ));
            continue;
        }
        method.set(key, value).or_input()?;
    }
    Ok(method)
}

fn positive(value: f64) -> Result<f64, Failure> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(Failure::input(format!("--smoothness {value}: L must be a number above 0")))
}

fn report(network: &Network, analysis: &Analysis, neighbours: Option<f64>) -> String {
    let mut lines = vec![
        ("graph", format!("{}, {} agents", network.topology.name(), network.topology.agents())),
        (
            "weights",
            format!("{}, averaging rate gamma {:.4}", network.weights_name, analysis.gamma),
        ),
        ("method", analysis.method.clone()),
        ("period", analysis.period.map_or(String::new(), |period| format!("{period} graphs"))),
        ("lambda_2", format!("{:.6}", analysis.lambda_2)),
        ("lambda_min", format!("{:.6}", analysis.lambda_min)),
        ("spectral gap", format!("{}", significant(analysis.spectral_gap, 5))),
        (
            "consensus rate",
            format!(
                "{:.6} per round (gossip {:.6})",
                analysis.consensus_rate, analysis.gossip_rate
            ),
        ),
    ];
    if let Some(neighbours) = neighbours {
        let of_w = format!("{neighbours:.2} effective (gamma = 1, decay {TYPICAL_DECAY})");
        lines.push(("neighbours", of_w));
    }
    if let Some(gain) = analysis.gain {
        lines.push(("effective step", format!("eta x {}", significant(gain, 4))));
    }
    let tracks = analysis.largest_stable_mu.is_some() || analysis.mu > 0.0;
    if tracks {
        let limit =
            analysis.largest_stable_mu.map_or("none below 10".into(), |mu| format!("{mu:.4}"));
        lines.push(("mu", format!("{}", significant(analysis.mu, 6))));
        lines.push(("largest stable mu", limit));
        if let Some(gamma) = analysis.largest_stable_gamma {
            lines.push(("largest stable gamma", format!("{gamma:.4}")));
        }
        if let Some(mu) = analysis.largest_mu_of_average {
            lines.push((
                "... for the average",
                format!("{mu:.4} (above it the averaged model diverges)"),
            ));
        }
        lines.push((
            "fastest mu",
            format!("{:.4}, rate {:.6}", analysis.best_mu, analysis.best_rate),
        ));
    }
    if let Some(theorem) = analysis.theorem_1 {
        let limits = format!(
            "eta <= {}, mu <= {} for L = {}",
            significant(theorem.largest_eta, 4),
            significant(theorem.largest_mu, 4),
            theorem.smoothness
        );
        lines.push(("Theorem 1 covers", limits));
    }
    lines.retain(|(_, text)| !text.is_empty());
    let body: String = lines.iter().map(|(name, value)| format!("{name:<20} {value}\n")).collect();
    format!("{body}\n{}\n", analysis.verdict)
}

/// Rounds every number to 12 digits, to remove rounding noise.
fn round_numbers(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => map.values_mut().for_each(round_numbers),
        serde_json::Value::Number(number) if number.is_f64() => {
            if let Some(exact) = number.as_f64() {
                *value = json!(significant(exact, 12));
            }
        }
        _ => {}
    }
}
