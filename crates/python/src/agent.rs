//! The state machine itself: one agent of one method, without any transport.

use std::sync::{Mutex, MutexGuard, PoisonError};

use consort_algo::{Outgoing, Site};
use consort_sim::rows_of;
use consort_train::{Config, MethodEntry, PlannedNetwork};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::OrPython;
use crate::graph::GraphLike;

/// One agent of one method: gradients go in, messages come out, messages go in.
///
/// A round: `probe()`, then `gradient(g, eta)`, which returns the messages by receiver once all
/// gradients of the round are given; `receive(sender, exchange, message)` of every neighbour;
/// `advance()`, which is true once the exchange is over.
#[pyclass(frozen, module = "consort")]
pub(crate) struct Agent {
    inner: Mutex<consort_algo::Agent>,
    /// Who hears this agent, per phase.
    receivers: Vec<Vec<usize>>,
}

#[pymethods]
impl Agent {
    #[new]
    #[pyo3(signature = (method, graph, agent, x0))]
    fn new<'py>(
        py: Python<'py>,
        method: String,
        graph: GraphLike<'py>,
        agent: usize,
        x0: PyReadonlyArray1<'py, f32>,
    ) -> PyResult<Self> {
        let graph = graph.build(py)?;
        let graph = graph.get();
        if agent >= graph.agents() {
            let text = format!("there is no agent {agent}: there are {}", graph.agents());
            return Err(PyValueError::new_err(text));
        }
        let config = Config { methods: vec![MethodEntry::plain(method)], ..Config::default() };
        let parts = (graph.topology.clone(), graph.weights.clone());
        let network = PlannedNetwork::from_parts(&config, parts, true).or_value()?;
        let planned = &network.methods[0];
        let weights = &planned.weights;
        let rows: Vec<_> = weights.iter().map(|phase| rows_of(phase)[agent].clone()).collect();
        let site = Site::new(planned.topology.agents(), &rows);
        let algorithm = planned.method.build_staged(x0.as_slice()?, &site).or_value()?;
        let hears = |phase: &consort_graph::MixingMatrix| -> Vec<usize> {
            let hears = |other: &usize| phase.row(*other).any(|(from, _)| from == agent);
            (0..phase.agents()).filter(|other| *other != agent && hears(other)).collect()
        };
        let receivers = weights.iter().map(hears).collect();
        // Agents that are driven by hand keep step; a sender can be one exchange ahead.
        let lookahead = 1;
        let inner = consort_algo::Agent::staged(agent, rows, lookahead, algorithm);
        Ok(Agent { inner: Mutex::new(inner), receivers })
    }

    /// The agent's number.
    #[getter]
    fn id(&self) -> usize {
        self.inner().id()
    }

    /// The round that is under way.
    #[getter]
    fn round(&self) -> u64 {
        self.inner().round()
    }

    /// The exchange that is under way, counted over all rounds.
    #[getter]
    fn exchange(&self) -> u64 {
        self.inner().exchange()
    }

    /// How many gradients the round still takes.
    #[getter]
    fn gradients_left(&self) -> usize {
        self.inner().gradients_left()
    }

    /// The agent's own model, as a new array.
    #[getter]
    fn x<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, self.inner().params())
    }

    /// The point at which the next gradient is taken, as a new array.
    fn probe<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        let inner = self.inner();
        let mut at = vec![0.0; inner.params().len()];
        inner.probe(&mut at);
        PyArray1::from_vec(py, at)
    }

    /// Takes the gradient at the probe. Returns the messages by receiver, or None while the round
    /// takes more gradients.
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        grad: PyReadonlyArray1<'py, f32>,
        eta: f32,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let mut inner = self.inner();
        let sent = inner.gradient(grad.as_slice()?, eta).or_value()?;
        sent.map(|sent| self.messages(py, &inner, &sent)).transpose()
    }

    /// A neighbour's message of an exchange.
    fn receive(
        &self,
        sender: usize,
        exchange: u64,
        message: PyReadonlyArray1<'_, f32>,
    ) -> PyResult<()> {
        self.inner().receive(sender, exchange, message.as_slice()?.into()).or_value()
    }

    /// Ends the exchange if all messages are there. Returns false if not.
    fn advance(&self) -> bool {
        self.inner().advance()
    }

    /// The messages of the next exchange of the round, by receiver, if it has one.
    fn outgoing<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let inner = self.inner();
        let sent = inner.outgoing();
        sent.map(|sent| self.messages(py, &inner, &sent)).transpose()
    }

    /// The neighbours whose messages the exchange still needs.
    #[getter]
    fn missing(&self) -> Vec<usize> {
        self.inner().missing().collect()
    }

    /// All that the method remembers, by the paper's symbols, as new arrays.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = PyDict::new(py);
        for tensor in self.inner().tensors() {
            state.set_item(tensor.name.as_ref(), PyArray1::from_slice(py, tensor.values))?;
        }
        Ok(state)
    }

    fn __repr__(&self) -> String {
        let inner = self.inner();
        format!("consort.Agent {} in round {}", inner.id(), inner.round())
    }
}

impl Agent {
    fn inner(&self) -> MutexGuard<'_, consort_algo::Agent> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn messages<'py>(
        &self,
        py: Python<'py>,
        inner: &consort_algo::Agent,
        sent: &Outgoing,
    ) -> PyResult<Bound<'py, PyDict>> {
        let messages = PyDict::new(py);
        for &receiver in &self.receivers[inner.phase()] {
            if let Some(body) = sent.body_for(receiver) {
                messages.set_item(receiver, PyArray1::from_slice(py, body))?;
            }
        }
        Ok(messages)
    }
}
