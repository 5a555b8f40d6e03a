//! `consort graph`: properties, spectrum and picture of a graph.

mod report;

use consort_graph::{GraphFacts, GraphSpec};
use consort_view::{Picture, network_svg};
use serde_json::json;

use self::report::Report;
use super::{print_json, print_text};
use crate::arguments::GraphOptions;
use crate::failure::{Blame, Failure, tell};
use crate::network::Network;
use crate::network_picture::{MOST_ARCS, network_picture};
use crate::table;

pub(crate) fn run(options: &GraphOptions) -> Result<(), Failure> {
    let Some(graph) = options.graph.as_ref().filter(|_| !options.list) else {
        return list(options.json);
    };
    options.files.check()?;
    let mut network = Network::build(graph, &options.weights)?;
    for w in &mut network.weights {
        let slowed = w.clone().with_averaging_rate(options.gamma);
        *w = slowed.map_err(|error| Failure::input(format!("--gamma: {error}")))?;
    }
    let facts = GraphFacts::new(&network.topology);
    // For a graph that changes, a single matrix says nothing; the product over a period does.
    let one_matrix = facts.connected && network.topology.is_fixed();
    let spectrum = match one_matrix.then(|| network.spectrum()).transpose() {
        Ok(spectrum) => spectrum,
        Err(failure) => {
            tell(&format!("warning: no spectrum: {failure}"));
            None
        }
    };
    let report = Report::new(&network, &facts, spectrum.as_ref());
    if options.json {
        print_json(&report.as_json())?;
    } else {
        print_text(&report.as_text())?;
    }
    if options.files.any() {
        options.files.write(&draw(&network, options)?, &options.figure)?;
    }
    network.require_connected()
}

fn list(as_json: bool) -> Result<(), Failure> {
    if as_json {
        let kind = |kind: &consort_graph::KindHelp| json!({"graph": kind.pattern, "example": kind.example, "about": kind.about});
        return print_json(&GraphSpec::catalogue().iter().map(kind).collect::<Vec<_>>());
    }
    let rows: Vec<Vec<String>> = GraphSpec::catalogue()
        .iter()
        .map(|kind| [kind.pattern, kind.example, kind.about].map(str::to_string).to_vec())
        .collect();
    print_text(&table::render(&["graph", "for example", "what it is"], &rows))
}

fn draw(network: &Network, options: &GraphOptions) -> Result<Picture, Failure> {
    let Some(picture) = network_picture(&network.spec, &network.topology) else {
        return Err(Failure::input(format!(
            "{} has {} arcs, but a picture can show at most {MOST_ARCS}; \
             draw a smaller graph of this kind",
            network.topology.name(),
            network.topology.union().arcs().count()
        )));
    };
    network_svg(&picture, &options.figure.network_style()).or_input()
}
