//! Will it converge, and how fast? And which methods are there?

use consort_algo::{CATALOGUE, Method};
use consort_theory::{Analysis, Question, RunStability, admit, graph_of};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::OrPython;
use crate::graph::{Graph, GraphLike};

/// What is known of a method on a graph before any run, as a dict: whether it is stable, the largest
/// stable mu, the rate of consensus, a verdict in words.
///
/// >>> import consort
/// >>> consort.analyze("gut:mu=0.9,reading=printed", "ring:16")["stable"]
/// False
#[pyfunction]
pub(crate) fn analyze<'py>(
    py: Python<'py>,
    method: &str,
    graph: GraphLike<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let method: Method = method.parse().or_value()?;
    let graph = graph.build(py)?;
    let graph = graph.get();
    let analysis = py.detach(|| analyse(&method, graph))?;
    let text = serde_json::to_string(&analysis).or_failure()?;
    py.import("json")?.call_method1("loads", (text,))
}

fn analyse(method: &Method, graph: &Graph) -> PyResult<Analysis> {
    let own = match graph_of(method, &graph.topology).or_value()? {
        Some(topology) => {
            let weights = consort_graph::MixingSpec::Auto.build_all(&topology).or_value()?;
            Some((topology, weights))
        }
        None => None,
    };
    let (topology, weights) =
        own.as_ref().map_or((&graph.topology, &graph.weights), |(t, w)| (t, w));
    let spectrum = consort_graph::Spectrum::from_period(weights).or_failure()?;
    let known = RunStability::new(weights, &spectrum);
    let stability = known.of(method).or_value()?;
    let analysis = Analysis::on(&Question::new(*method), stability).on_graph(method, topology);
    admit(method, topology, weights, analysis.lambda_min).or_value()?;
    Ok(analysis)
}

/// All methods, as dicts: name, title, source, update, traffic, memory and graphs.
///
/// >>> import consort
/// >>> [m["title"] for m in consort.methods() if m["name"] == "qg-gutm"]
/// ['QG-GUTm']
#[pyfunction]
pub(crate) fn methods(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for info in &CATALOGUE {
        let entry = PyDict::new(py);
        entry.set_item("name", info.name)?;
        entry.set_item("title", info.title)?;
        entry.set_item("source", info.source)?;
        entry.set_item("update", info.update)?;
        entry.set_item("sends", info.sends)?;
        entry.set_item("traffic", info.traffic)?;
        entry.set_item("gradients", info.gradients.describe())?;
        entry.set_item("memory", info.memory)?;
        entry.set_item("graphs", info.needs.describe())?;
        let parameters: Vec<&str> = info.parameters().map(|parameter| parameter.name).collect();
        entry.set_item("parameters", parameters)?;
        list.append(entry)?;
    }
    Ok(list)
}
