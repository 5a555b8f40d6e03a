//! All agents in this process, with gradients from a Python function.

use std::sync::Arc;

use consort_algo::{Agent, Draw, Method, Oracle, OracleError};
use consort_sim::{World, rows_of};
use consort_train::{Config, MethodEntry, PlannedNetwork};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::{ConsortError, OrPython, check_length};
use crate::graph::{Graph, GraphLike};
use crate::method::{MethodLike, PythonMethod, Raised, raise};

/// Python's gradient function as an oracle.
struct PythonGradients {
    function: Py<PyAny>,
    parameters: usize,
    raised: Raised,
}

impl Oracle for PythonGradients {
    fn len(&self) -> usize {
        self.parameters
    }

    fn loss_and_grad(&self, draw: Draw, at: &[f32], grad: &mut [f32]) -> Result<f32, OracleError> {
        let answer = Python::attach(|py| -> PyResult<f32> {
            let x = PyArray1::from_slice(py, at);
            let arguments = (draw.agent, draw.round, x, draw.step);
            let answer = self.function.bind(py).call1(arguments)?;
            let (loss, got): (f32, Bound<'_, PyAny>) = answer.extract().map_err(|_| {
                PyTypeError::new_err("the gradient function must return (loss, gradient)")
            })?;
            let got = got.cast_into::<PyArray1<f32>>().map_err(|_| {
                PyTypeError::new_err(
                    "the gradient must be a flat NumPy array of float32 (gradient.astype('f4'))",
                )
            })?;
            let got = got.readonly();
            check_length("the gradient", grad.len(), got.len()?)?;
            grad.copy_from_slice(got.as_slice()?);
            Ok(loss)
        });
        answer.map_err(|error| {
            let reason = error.to_string();
            let mut slot = self.raised.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            slot.get_or_insert(error);
            OracleError::Failed { reason }
        })
    }
}

/// The step size of a round: a number, or a function of the round.
pub(crate) enum StepSize {
    Fixed(f32),
    Function(Py<PyAny>),
}

impl StepSize {
    fn new(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if given.is_callable() {
            return Ok(StepSize::Function(given.clone().unbind()));
        }
        Ok(StepSize::Fixed(given.extract()?))
    }

    fn at(&self, py: Python<'_>, round: u64) -> PyResult<f32> {
        let eta: f32 = match self {
            StepSize::Fixed(eta) => *eta,
            StepSize::Function(function) => function.call1(py, (round,))?.extract(py)?,
        };
        if eta.is_finite() && eta > 0.0 {
            return Ok(eta);
        }
        Err(PyValueError::new_err(format!("eta must be above 0, got {eta} in round {round}")))
    }
}

/// Runs all agents of a graph in this process. See `consort.simulate`.
#[pyfunction]
#[pyo3(signature = (gradient, x0, *, graph, method, rounds, eta, threads, every, watch))]
#[allow(clippy::too_many_arguments, reason = "keywords in Python")]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    gradient: &Bound<'py, PyAny>,
    x0: PyReadonlyArray1<'py, f32>,
    graph: GraphLike<'py>,
    method: &Bound<'py, PyAny>,
    rounds: u64,
    eta: &Bound<'py, PyAny>,
    threads: usize,
    every: u64,
    watch: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let raised = Raised::default();
    let x0 = x0.as_slice()?.to_vec();
    let eta = StepSize::new(eta)?;
    let graph = graph.build(py)?;
    let oracle: Arc<dyn Oracle> = Arc::new(PythonGradients {
        function: gradient.clone().unbind(),
        parameters: x0.len(),
        raised: raised.clone(),
    });
    let mut world = match MethodLike::new(method)? {
        MethodLike::Named(name) => named_world(py, &name, graph.get(), &x0, oracle, threads)?,
        MethodLike::Class(class) => {
            own_world(py, &class, graph.get(), &x0, oracle, threads, &raised)?
        }
    };
    let history = PyList::empty(py);
    for round in 0..rounds {
        py.check_signals()?;
        let step = eta.at(py, round)?;
        let report = py.detach(|| world.round(step));
        raise(&raised)?;
        let report = report.or_failure()?;
        let done = round + 1;
        if done % every == 0 || done == rounds {
            let distance = py.detach(|| world.consensus_distance(&world.average()));
            let entry = PyDict::new(py);
            entry.set_item("round", done)?;
            entry.set_item("eta", step)?;
            entry.set_item("loss", report.loss)?;
            entry.set_item("gradient_norm", report.gradient_norm)?;
            entry.set_item("consensus_distance", distance)?;
            if let Some(watch) = &watch {
                watch.call1(py, (entry.clone(),))?;
            }
            history.append(entry)?;
        }
    }
    let models: Vec<Vec<f32>> = (0..world.agents()).map(|k| world.params(k).to_vec()).collect();
    let average: Vec<f32> = world.average().into_iter().map(|x| x as f32).collect();
    let result = PyDict::new(py);
    result.set_item("models", PyArray2::from_vec2(py, &models).or_failure()?)?;
    result.set_item("average", PyArray1::from_vec(py, average))?;
    result.set_item("history", history)?;
    Ok(result)
}

/// A method of the catalogue, with `auto` resolved as in a run.
fn named_world(
    py: Python<'_>,
    name: &str,
    graph: &Graph,
    x0: &[f32],
    oracle: Arc<dyn Oracle>,
    threads: usize,
) -> PyResult<World> {
    name.parse::<Method>().or_value()?;
    let config = Config {
        graph: graph.topology.name().to_owned(),
        methods: vec![MethodEntry::plain(name)],
        ..Config::default()
    };
    py.detach(|| {
        let parts = (graph.topology.clone(), graph.weights.clone());
        let network = PlannedNetwork::from_parts(&config, parts, true).or_value()?;
        let planned = &network.methods[0];
        let (topology, weights) = (&planned.topology, &planned.weights);
        World::new(topology, weights, &planned.method, x0, oracle, threads).or_failure()
    })
}

/// A method that is written in Python.
fn own_world(
    py: Python<'_>,
    class: &Bound<'_, PyAny>,
    graph: &Graph,
    x0: &[f32],
    oracle: Arc<dyn Oracle>,
    threads: usize,
    raised: &Raised,
) -> PyResult<World> {
    let mut agents = Vec::with_capacity(graph.agents());
    let by_phase: Vec<_> = graph.weights.iter().map(rows_of).collect();
    for id in 0..graph.agents() {
        let rows = by_phase.iter().map(|rows| rows[id].clone()).collect();
        let method = PythonMethod::new(py, class, x0, raised.clone())?;
        agents.push(Agent::new(id, rows, 1, Box::new(method)));
    }
    World::from_agents(agents, &graph.weights, oracle, threads)
        .map_err(|error| ConsortError::new_err(error.to_string()))
}
