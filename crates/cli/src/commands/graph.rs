//! `consort graph`: properties, spectrum and picture of a graph.

use std::path::Path;

use consort_graph::{GraphFacts, GraphSpec, Spectrum, product_gap};
use consort_records::folder::write_file;
use consort_view::{NetworkStyle, Picture, network_svg};
use serde_json::{Value, json};

use super::{print_json, print_text};
use crate::arguments::GraphOptions;
use crate::failure::{Blame, Failure, tell};
use crate::network::Network;
use crate::network_picture::{MOST_ARCS, network_picture};
use crate::table::{self, significant};

pub(crate) fn run(options: &GraphOptions) -> Result<(), Failure> {
    let Some(graph) = options.graph.as_ref().filter(|_| !options.list) else {
        return list(options.json);
    };
    let mut network = Network::build(graph, &options.weights)?;
    for w in &mut network.weights {
        let slowed = w.clone().with_averaging_rate(options.gamma);
        *w = slowed.map_err(|error| Failure::input(format!("--gamma: {error}")))?;
    }
    let facts = GraphFacts::of(&network.topology);
    // For a graph that changes, a single matrix says nothing; the product over a period does.
    let one_matrix = facts.connected && network.topology.is_fixed();
    let spectrum = match one_matrix.then(|| network.spectrum()).transpose() {
        Ok(spectrum) => spectrum,
        Err(failure) => {
            tell(&format!("warning: no spectrum: {failure}"));
            None
        }
    };
    if options.json {
        print_json(&as_json(&network, &facts, spectrum.as_ref()))?;
    } else {
        print_text(&as_text(&network, &facts, spectrum.as_ref()))?;
    }
    if options.svg.is_some() || options.png.is_some() {
        let picture = draw(&network)?;
        save(options.svg.as_deref(), || Ok(picture.svg().as_bytes().to_vec()))?;
        save(options.png.as_deref(), || picture.png(2.0).or_work())?;
    }
    network.require_connected()
}

fn list(as_json: bool) -> Result<(), Failure> {
    if as_json {
        let kind =
            |kind: &consort_graph::KindHelp| json!({"graph": kind.pattern, "about": kind.about});
        return print_json(&GraphSpec::catalogue().iter().map(kind).collect::<Vec<_>>());
    }
    let rows: Vec<Vec<String>> = GraphSpec::catalogue()
        .iter()
        .map(|kind| vec![kind.pattern.to_string(), kind.about.to_string()])
        .collect();
    print_text(&table::render(&["graph", "description"], &rows))
}

fn as_json(network: &Network, facts: &GraphFacts, spectrum: Option<&Spectrum>) -> Value {
    let mut value = json!(facts);
    value["weights"] = json!(network.weights_name);
    if let Some(spectrum) = spectrum {
        value["lambda_2"] = json!(significant(spectrum.lambda_2, 12));
        value["lambda_min"] = json!(significant(spectrum.lambda_min, 12));
        value["spectral_gap"] = json!(significant(spectrum.gap, 12));
        value["spectrum"] = json!(spectrum.how);
    }
    if let Some(seed) = network.seed {
        value["graph_seed"] = json!(seed);
    }
    if !network.topology.is_fixed() {
        value["period_gap"] = json!(product_gap(&network.weights));
    }
    value
}

fn as_text(network: &Network, facts: &GraphFacts, spectrum: Option<&Spectrum>) -> String {
    let yes = |fact: bool| if fact { "yes" } else { "no" }.to_string();
    let number = |fact: Option<usize>, exact: bool| match fact {
        Some(value) if exact => value.to_string(),
        Some(value) => format!("at least {value}"),
        None => "none".into(),
    };
    let degree = if facts.degree_min == facts.degree_max {
        facts.degree_min.to_string()
    } else {
        format!("{} to {}, mean {:.2}", facts.degree_min, facts.degree_max, facts.degree_mean)
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
        ("degree", degree),
        ("connected", yes(facts.connected)),
        ("bipartite", yes(facts.bipartite)),
        ("diameter", number(facts.diameter, facts.diameter_exact)),
        ("girth", girth),
        ("weights", network.weights_name.clone()),
    ];
    if facts.period > 1 {
        let period = format!("{} rounds; properties are those of their union", facts.period);
        lines.push(("period", period));
        if let Some(gap) = product_gap(&network.weights) {
            lines.push(("gap of a period", format!("{:.5}", gap)));
        }
    } else if let Some(spectrum) = spectrum {
        lines.push(("lambda_2", format!("{:.8}", spectrum.lambda_2)));
        lines.push(("lambda_min", format!("{:.8}", spectrum.lambda_min)));
        lines.push(("spectral gap", significant(spectrum.gap, 5).to_string()));
    }
    lines.iter().map(|(name, value)| format!("{name:<16} {value}\n")).collect()
}

fn draw(network: &Network) -> Result<Picture, Failure> {
    let Some(picture) = network_picture(&network.spec, &network.topology) else {
        return Err(Failure::input(format!(
            "{} has {} arcs, but a picture can show at most {MOST_ARCS}; \
             draw a smaller graph of this kind",
            network.topology.name(),
            network.topology.union().arcs().count()
        )));
    };
    network_svg(&picture, &NetworkStyle::default()).or_work()
}

fn save(
    path: Option<&Path>,
    bytes: impl FnOnce() -> Result<Vec<u8>, Failure>,
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    write_file(path, &bytes()?).or_work()?;
    tell(&format!("wrote {}", path.display()));
    Ok(())
}
