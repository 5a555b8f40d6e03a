//! One agent over the network, driven by a training loop.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Instant;

use consort_algo::{Agent, MethodError};
use consort_node::{Session as Driven, SessionError, SessionPlan};
use consort_protocol::Policy;
use consort_sim::rows_of;
use consort_train::{Config, GradientRule, MethodEntry, PlannedNetwork};
use consort_transport::{
    Discovery, Neighbour, NetworkProfile, PublicKey, TlsTransport, TransportSettings,
};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{ConsortError, NotFinite, OrPython, check_length};
use crate::graph::GraphLike;
use crate::method::{MethodLike, PythonMethod, Raised, raise};
use crate::plan::{address, secret_from};
use crate::watch::Watch;

/// One agent among its neighbours. Use `consort.SGD` or `consort.gossip`.
#[pyclass(frozen, module = "consort")]
pub(crate) struct Session {
    inner: Mutex<Inner>,
    process: u32,
    started: Instant,
    tell: Py<PyAny>,
    raised: Raised,
}

struct Inner {
    driven: Driven,
    /// Room for a gradient with weight decay.
    decayed: Vec<f32>,
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (
        *, agent, method, graph, tensors, x0, normalises, beta, policy, rounds, save_every,
        shared, secret, bind, peers, largest, folder, tell
    ))]
    #[allow(clippy::too_many_arguments, reason = "keywords in Python")]
    fn new<'py>(
        py: Python<'py>,
        agent: usize,
        method: &Bound<'py, PyAny>,
        graph: GraphLike<'py>,
        tensors: Vec<usize>,
        x0: PyReadonlyArray1<'py, f32>,
        normalises: bool,
        beta: Option<f64>,
        policy: &str,
        rounds: Option<u64>,
        save_every: u64,
        shared: String,
        secret: &[u8],
        bind: &str,
        peers: Vec<(usize, String, Vec<String>)>,
        largest: f32,
        folder: Option<PathBuf>,
        tell: Py<PyAny>,
    ) -> PyResult<Self> {
        let policy = match policy {
            "wait" => Policy::Wait,
            "continue" => Policy::Continue,
            other => {
                let text = format!("policy must be \"wait\" or \"continue\", got {other:?}");
                return Err(PyValueError::new_err(text));
            }
        };
        let graph = graph.build(py)?;
        let graph = graph.get();
        if agent >= graph.agents() {
            let text = format!(
                "there is no agent {agent}: {} has {}",
                graph.topology.name(),
                graph.agents()
            );
            return Err(PyValueError::new_err(text));
        }
        let (given, mut shared) = (MethodLike::new(method)?, shared);
        let name = match &given {
            MethodLike::Named(name) => with_beta(name, beta)?,
            // Only graph and weights are taken from the plan of DSGD.
            MethodLike::Class(class) => {
                shared += &format!("python-method = {}\n", class.getattr("__name__")?);
                "dsgd".to_owned()
            }
        };
        let config = Config { methods: vec![MethodEntry::plain(name)], ..Config::default() };
        let parts = (graph.topology.clone(), graph.weights.clone());
        let network = PlannedNetwork::from_parts(&config, parts, normalises).or_value()?;
        let planned = network.methods.into_iter().next();
        let method = planned.ok_or_else(|| PyRuntimeError::new_err("no method was planned"))?;
        if policy == Policy::Continue {
            consort_node::check_can_continue(&method).or_value()?;
        }
        let plan = SessionPlan {
            method,
            tensors,
            policy,
            rounds,
            save_every: save_every.max(1),
            more: shared,
        };
        let x0 = x0.as_slice()?;
        check_length("the model at the start", plan.parameters(), x0.len())?;
        let raised = Raised::default();
        let driven_agent = match &given {
            MethodLike::Named(_) => plan.agent(agent, x0).or_value()?,
            MethodLike::Class(class) => {
                let method = PythonMethod::new(py, class, x0, raised.clone())?;
                let weights = &plan.method.weights;
                let rows = weights.iter().map(|phase| rows_of(phase)[agent].clone()).collect();
                Agent::new(agent, rows, consort_node::lookahead(weights, agent), Box::new(method))
            }
        };
        let limits = plan.limits(&driven_agent).ok_or_else(|| {
            PyValueError::new_err("the model is too large for a message over the network")
        })?;
        let settings = TransportSettings {
            own: agent,
            secret: secret_from(secret)?,
            bind: address(bind)?,
            neighbours: neighbours(&plan, agent, peers)?,
            limits,
            largest,
            profile: NetworkProfile::Lan,
            discovery: Discovery::default(),
        };
        let mut told = Vec::new();
        let driven = py.detach(|| {
            let transport = Box::new(TlsTransport::start(settings).or_failure()?);
            let mut hear = |text: &str| told.push(text.to_owned());
            Driven::new(plan, driven_agent, transport, folder.as_deref(), &mut hear).or_failure()
        })?;
        for text in told {
            tell.call1(py, (text,))?;
        }
        let decayed = vec![0.0; driven.plan().parameters()];
        let inner = Mutex::new(Inner { driven, decayed });
        let (process, started) = (std::process::id(), Instant::now());
        Ok(Session { inner, process, started, tell, raised })
    }

    /// Waits until a gradient is wanted.
    fn until_gradient(&self, py: Python<'_>) -> PyResult<()> {
        self.drive(py, |driven, watch| driven.until_gradient(watch))
    }

    /// Gives the gradient at the probe with step size eta, ends the round or the local step, and
    /// writes the next probe into `at`.
    #[pyo3(signature = (grad, eta, at, weight_decay = 0.0))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        grad: PyReadonlyArray1<'py, f32>,
        eta: f32,
        mut at: PyReadwriteArray1<'py, f32>,
        weight_decay: f64,
    ) -> PyResult<()> {
        let grad = grad.as_slice()?;
        let at = at.as_slice_mut()?;
        let finite = grad.iter().all(|g| g.is_finite());
        let Inner { driven, decayed } = &mut *self.inner()?;
        let expected = decayed.len();
        check_length("the gradient", expected, grad.len())?;
        check_length("the parameters", expected, at.len())?;
        if !finite {
            let round = driven.agent().round();
            return Err(NotFinite::new_err(format!(
                "the gradient of round {round} is not finite: lower lr or mu, or clip it"
            )));
        }
        if !(eta.is_finite() && eta > 0.0) {
            return Err(PyValueError::new_err(format!(
                "lr must be above 0, got {eta}: a method that tracks divides by it. Let a warm-up \
                 begin above 0"
            )));
        }
        let mut watch = Watch::new(&self.tell, self.started);
        let rule = GradientRule { weight_decay, ..GradientRule::default() };
        let done = py.detach(|| {
            driven.until_gradient(&mut watch)?;
            let given = if weight_decay != 0.0 {
                driven.agent().probe(at);
                decayed.copy_from_slice(grad);
                rule.apply(at, decayed);
                &decayed[..]
            } else {
                grad
            };
            driven.step(given, eta, &mut watch)
        });
        watch.end(py, done)?;
        raise(&self.raised)?;
        driven.agent().probe(at);
        Ok(())
    }

    /// Writes the point of the next gradient into `at`.
    fn probe(&self, mut at: PyReadwriteArray1<'_, f32>) -> PyResult<()> {
        let inner = self.inner()?;
        let at = at.as_slice_mut()?;
        check_length("the parameters", inner.decayed.len(), at.len())?;
        inner.driven.agent().probe(at);
        Ok(())
    }

    /// Writes the agent's own model into `x`.
    fn model(&self, mut x: PyReadwriteArray1<'_, f32>) -> PyResult<()> {
        let inner = self.inner()?;
        let x = x.as_slice_mut()?;
        check_length("the parameters", inner.decayed.len(), x.len())?;
        x.copy_from_slice(inner.driven.agent().params());
        Ok(())
    }

    /// Rounds that are over.
    #[getter]
    fn round(&self) -> PyResult<u64> {
        Ok(self.inner()?.driven.agent().round())
    }

    /// Gradients that the round still takes.
    #[getter]
    fn gradients_left(&self) -> PyResult<usize> {
        Ok(self.inner()?.driven.agent().gradients_left())
    }

    /// The method with all its parameters.
    #[getter]
    fn method(&self) -> PyResult<String> {
        Ok(self.inner()?.driven.plan().method.method.to_string())
    }

    /// What is known of the method on this graph, in words.
    #[getter]
    fn verdict(&self) -> PyResult<String> {
        Ok(self.inner()?.driven.plan().method.analysis.verdict.clone())
    }

    /// True if consensus converges.
    #[getter]
    fn stable(&self) -> PyResult<bool> {
        Ok(self.inner()?.driven.plan().method.analysis.stable)
    }

    /// The neighbours, with the traffic of their links.
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let links = PyDict::new(py);
        for (agent, statistics, present) in self.inner()?.driven.links() {
            let link = PyDict::new(py);
            link.set_item("present", present)?;
            link.set_item("bytes_sent", statistics.bytes_sent)?;
            link.set_item("bytes_received", statistics.bytes_received)?;
            link.set_item("connections", statistics.connections)?;
            links.set_item(agent, link)?;
        }
        Ok(links)
    }

    /// All that the method remembers, as new arrays. Only between two rounds.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut inner = self.inner()?;
        let agent = inner.driven.agent_mut();
        if !agent.is_between_rounds() {
            let text = "the state can be read between two rounds: after opt.step(), and with local \
                        steps after the last of them";
            return Err(ConsortError::new_err(text));
        }
        let state = PyDict::new(py);
        for tensor in agent.tensors() {
            state.set_item(tensor.name.as_ref(), PyArray1::from_slice(py, tensor.values))?;
        }
        Ok(state)
    }

    /// Begins with a state at the beginning of `round`: before the first step, on all agents.
    fn load_state(&self, state: &Bound<'_, PyDict>, round: u64) -> PyResult<()> {
        let mut inner = self.inner()?;
        let agent = inner.driven.agent_mut();
        let mut arrays = Vec::new();
        for tensor in agent.tensors() {
            let name = tensor.name.as_ref();
            let array = state.get_item(name)?.ok_or_else(|| {
                PyValueError::new_err(format!("the state has no {name}: it is another method's"))
            })?;
            let array = array.cast_into::<PyArray1<f32>>().map_err(PyErr::from)?.readonly();
            check_length(name, tensor.values.len(), array.len()?)?;
            arrays.push(array.as_slice()?.to_vec());
        }
        let write = |agent: &mut Agent| {
            for (tensor, array) in agent.tensors().into_iter().zip(arrays) {
                tensor.values.copy_from_slice(&array);
            }
        };
        inner.driven.begin_at(round, write).or_failure()
    }

    /// Leaves: sends what is still to be sent, and tells the neighbours why.
    #[pyo3(signature = (why, for_good = false))]
    fn close(&self, py: Python<'_>, why: &str, for_good: bool) -> PyResult<()> {
        let mut inner = self.inner()?;
        let driven = &mut inner.driven;
        py.detach(|| driven.close(why, for_good));
        Ok(())
    }
}

impl Session {
    /// The session, unless this is a fork of the process that it belongs to.
    fn inner(&self) -> PyResult<MutexGuard<'_, Inner>> {
        if std::process::id() != self.process {
            return Err(PyRuntimeError::new_err(
                "this process is a fork of the one that trains: its threads and links did not come \
                 along. Make the optimizer after forking, or use the start method \"spawn\"",
            ));
        }
        match self.inner.try_lock() {
            Ok(inner) => Ok(inner),
            Err(TryLockError::Poisoned(error)) => Ok(PoisonError::into_inner(error)),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "another thread is in opt.step(): one thread drives an agent",
            )),
        }
    }

    fn drive(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Driven, &mut Watch<'_>) -> Result<(), SessionError> + Send,
    ) -> PyResult<()> {
        let inner = &mut *self.inner()?;
        let mut watch = Watch::new(&self.tell, self.started);
        let done = py.detach(|| work(&mut inner.driven, &mut watch));
        watch.end(py, done)?;
        raise(&self.raised)
    }
}

/// The method with `beta` set, if it has momentum.
fn with_beta(name: &str, beta: Option<f64>) -> PyResult<String> {
    let mut method: consort_algo::Method = name.parse().or_value()?;
    let Some(beta) = beta else { return Ok(method.to_string()) };
    if beta == 0.0 && !method.name.has_momentum() {
        return Ok(method.to_string());
    }
    method.set("beta", &beta.to_string()).map_err(|error: MethodError| {
        PyValueError::new_err(format!(
            "momentum = {beta}: {error}. With momentum, use \"qg-gutm\", \"gutm\" or \"dsgdm\""
        ))
    })?;
    Ok(method.to_string())
}

/// The neighbours of `agent`, with their keys and addresses.
fn neighbours(
    plan: &SessionPlan,
    agent: usize,
    peers: Vec<(usize, String, Vec<String>)>,
) -> PyResult<Vec<Neighbour>> {
    let wanted = plan.neighbours(agent);
    let neighbour = |(peer, key, addresses): (usize, String, Vec<String>)| {
        let key: PublicKey = key.parse().or_value()?;
        let addresses = addresses.iter().map(|text| address(text)).collect::<PyResult<_>>()?;
        Ok(Neighbour { peer, key, addresses })
    };
    let found = peers.into_iter().filter(|(peer, ..)| wanted.contains(peer)).map(neighbour);
    let found: Vec<Neighbour> = found.collect::<PyResult<_>>()?;
    match wanted.iter().find(|id| !found.iter().any(|neighbour| neighbour.peer == **id)) {
        None => Ok(found),
        Some(id) => {
            Err(PyValueError::new_err(format!("the address of neighbour {id} is not known")))
        }
    }
}
