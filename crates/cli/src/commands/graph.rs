//! `consort graph`: properties, spectrum and picture of a graph.

mod report;

use std::path::Path;

use consort_graph::{GraphFacts, GraphSpec};
use consort_records::folder::write_file;
use consort_view::{NetworkStyle, Picture, network_svg};
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
    if options.svg.is_some() || options.png.is_some() {
        let picture = draw(&network)?;
        save(options.svg.as_deref(), || Ok(picture.svg().as_bytes().to_vec()))?;
        save(options.png.as_deref(), || picture.png(2.0).or_work())?;
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
