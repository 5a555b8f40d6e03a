//! Graphs with their mixing weights: `consort.graph("dyck").spectral_gap`.

use consort_graph::{
    EdgeShape, GraphSpec, Layout, MixingMatrix, MixingSpec, Spectrum, TYPICAL_DECAY, Topology,
};
use consort_view::{NetworkPicture, NetworkStyle, PictureEdge, PictureEdgeShape};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::errors::OrPython;

/// Who talks to whom, with which weights.
///
/// >>> import consort
/// >>> dyck = consort.graph("dyck")
/// >>> dyck.agents, round(dyck.spectral_gap, 5)
/// (32, 0.19098)
#[pyclass(frozen, module = "consort")]
pub(crate) struct Graph {
    pub(crate) spec: GraphSpec,
    pub(crate) topology: Topology,
    pub(crate) weights: Vec<MixingMatrix>,
    spectrum: Spectrum,
}

#[pymethods]
impl Graph {
    #[new]
    #[pyo3(signature = (name, *, weights = "auto", seed = 1))]
    fn new(py: Python<'_>, name: &str, weights: &str, seed: u64) -> PyResult<Self> {
        let spec: GraphSpec = name.parse().or_value()?;
        let mixing: MixingSpec = weights.parse().or_value()?;
        py.detach(|| {
            let topology = spec.build(seed).or_value()?;
            let weights = mixing.build_all(&topology).or_value()?;
            let spectrum = Spectrum::from_period(&weights).or_failure()?;
            Ok(Graph { spec, topology, weights, spectrum })
        })
    }

    /// The name, as in "ring:16".
    #[getter]
    fn name(&self) -> &str {
        self.topology.name()
    }

    /// How many agents there are.
    #[getter]
    pub(crate) fn agents(&self) -> usize {
        self.topology.agents()
    }

    /// How many graphs take turns; a fixed graph has one.
    #[getter]
    fn period(&self) -> usize {
        self.topology.period()
    }

    /// False if some agents hear others that do not hear them.
    #[getter]
    fn is_undirected(&self) -> bool {
        self.topology.is_undirected()
    }

    /// The part of a disagreement that one round of averaging removes, at worst.
    #[getter]
    fn spectral_gap(&self) -> f64 {
        self.spectrum.gap
    }

    /// The second largest eigenvalue of the weights.
    #[getter]
    fn lambda_2(&self) -> f64 {
        self.spectrum.lambda_2
    }

    /// The smallest eigenvalue of the weights.
    #[getter]
    fn lambda_min(&self) -> f64 {
        self.spectrum.lambda_min
    }

    /// All eigenvalues, descending, if they are known.
    #[getter]
    fn eigenvalues<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.spectrum.eigenvalues.as_ref().map(|all| PyArray1::from_slice(py, all))
    }

    /// The effective number of neighbours (Vogels et al., 2022), if it is known.
    #[getter]
    fn effective_neighbours(&self) -> Option<f64> {
        self.spectrum.effective_neighbours(TYPICAL_DECAY)
    }

    /// The pairs (from, to) of one phase; of an undirected graph each pair once.
    #[pyo3(signature = (phase = 0))]
    fn edges(&self, phase: usize) -> PyResult<Vec<(usize, usize)>> {
        let graph = self.topology.phases().get(phase).ok_or_else(|| self.no_phase(phase))?;
        let directed = !graph.is_undirected();
        Ok(if directed { graph.arcs().collect() } else { graph.edges().collect() })
    }

    /// Whom an agent hears in one phase, itself excluded.
    #[pyo3(signature = (agent, phase = 0))]
    fn neighbours(&self, agent: usize, phase: usize) -> PyResult<Vec<usize>> {
        let weights = self.weights.get(phase).ok_or_else(|| self.no_phase(phase))?;
        if agent >= self.agents() {
            let text = format!("there is no agent {agent}: there are {}", self.agents());
            return Err(PyIndexError::new_err(text));
        }
        let heard = weights.row(agent).map(|(from, _)| from);
        Ok(heard.filter(|&from| from != agent).collect())
    }

    /// The mixing matrix W of one phase: row i has the weights with which agent i mixes.
    #[pyo3(signature = (phase = 0))]
    fn weights<'py>(&self, py: Python<'py>, phase: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let weights = self.weights.get(phase).ok_or_else(|| self.no_phase(phase))?;
        let n = self.agents();
        let mut dense = vec![vec![0.0; n]; n];
        for (i, row) in dense.iter_mut().enumerate() {
            weights.row(i).for_each(|(j, weight)| row[j] = weight);
        }
        PyArray2::from_vec2(py, &dense).or_failure()
    }

    /// The picture of the graph, as SVG.
    fn svg(&self) -> PyResult<String> {
        let layout = Layout::new(&self.spec, &self.topology);
        let edges = layout.edges.iter().map(|edge| PictureEdge {
            from: edge.from,
            to: edge.to,
            shape: match edge.shape {
                EdgeShape::Straight => PictureEdgeShape::Straight,
                EdgeShape::Arc => PictureEdgeShape::Arc,
                EdgeShape::Bend(degrees) => PictureEdgeShape::Bend(degrees),
            },
            dashed: edge.dashed,
            directed: edge.directed,
        });
        let picture = NetworkPicture {
            title: self.topology.name().to_string(),
            nodes: layout.positions.clone(),
            edges: edges.collect(),
            labels: false,
        };
        let picture = consort_view::network_svg(&picture, &NetworkStyle::default());
        Ok(picture.or_failure()?.svg().to_owned())
    }

    /// What a notebook shows.
    fn _repr_svg_(&self) -> PyResult<String> {
        self.svg()
    }

    fn __repr__(&self) -> String {
        format!("consort.graph({:?}): {} agents", self.topology.name(), self.agents())
    }

    fn __len__(&self) -> usize {
        self.agents()
    }
}

impl Graph {
    fn no_phase(&self, phase: usize) -> PyErr {
        let period = self.topology.period();
        PyIndexError::new_err(format!("there is no phase {phase}: the graph has {period}"))
    }
}

/// What is given as a graph: one, or its name.
#[derive(FromPyObject)]
pub(crate) enum GraphLike<'py> {
    Built(Bound<'py, Graph>),
    Name(String),
}

impl GraphLike<'_> {
    /// The graph itself.
    pub(crate) fn build(self, py: Python<'_>) -> PyResult<Py<Graph>> {
        match self {
            GraphLike::Built(graph) => Ok(graph.unbind()),
            GraphLike::Name(name) => Py::new(py, Graph::new(py, &name, "auto", 1)?),
        }
    }
}
