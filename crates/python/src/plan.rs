//! Keys, addresses and plans of agents that are processes.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use consort_transport::SecretKey;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::errors::OrPython;

/// A new secret key: 32 bytes.
#[pyfunction]
pub(crate) fn make_key(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
    let key = SecretKey::generate().or_failure()?;
    Ok(PyBytes::new(py, key.as_bytes()))
}

/// The public half of a secret key, as hexadecimal digits.
#[pyfunction]
pub(crate) fn public_key(secret: &[u8]) -> PyResult<String> {
    Ok(secret_from(secret)?.public().or_value()?.to_string())
}

/// The secret key in a file that `consort key` or `consort init` has written.
#[pyfunction]
pub(crate) fn read_key_file(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyBytes>> {
    let key = consort_node::read_key(&path).or_value()?;
    Ok(PyBytes::new(py, key.as_bytes()))
}

/// A port of this machine that is free for TCP.
#[pyfunction]
pub(crate) fn free_port() -> PyResult<u16> {
    let found = consort_transport::free_addresses(1).or_failure()?;
    Ok(found[0].port())
}

/// A network plan that `consort init` has written, as a dict.
#[pyfunction]
pub(crate) fn read_plan<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyDict>> {
    let text = std::fs::read_to_string(&path).map_err(|error| {
        PyValueError::new_err(format!("cannot read {}: {error}", path.display()))
    })?;
    let plan = consort_node::NetworkPlan::from_toml(&text).or_value()?;
    let agents = PyList::empty(py);
    for agent in &plan.agents {
        let entry = PyDict::new(py);
        entry.set_item("key", agent.key.to_string())?;
        let addresses: Vec<String> = agent.addresses.iter().map(ToString::to_string).collect();
        entry.set_item("addresses", addresses)?;
        agents.append(entry)?;
    }
    let read = PyDict::new(py);
    read.set_item("transport", plan.transport.to_string())?;
    read.set_item("policy", plan.policy.to_string())?;
    read.set_item("largest_update", plan.largest_update)?;
    read.set_item("graph", &plan.run.graph)?;
    read.set_item("graph_seed", plan.run.graph_seed)?;
    read.set_item("weights", &plan.run.weights)?;
    read.set_item("method", &plan.method().key)?;
    read.set_item("rounds", plan.run.rounds)?;
    read.set_item("agents", agents)?;
    Ok(read)
}

pub(crate) fn secret_from(bytes: &[u8]) -> PyResult<SecretKey> {
    let bytes: [u8; consort_transport::KEY] = bytes.try_into().map_err(|_| {
        PyValueError::new_err(format!("a secret key has 32 bytes, got {}", bytes.len()))
    })?;
    Ok(SecretKey::from_bytes(bytes))
}

/// An address from its text.
pub(crate) fn address(text: &str) -> PyResult<SocketAddr> {
    let found = text.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.ok_or_else(|| PyValueError::new_err(format!("{text:?} is no address: give HOST:PORT")))
}
