//! A method written in Python: two functions on NumPy arrays, in the simulator and over the network.
//!
//! The Python object (a `consort.Method`) holds its state in arrays; their names are in `state`, the
//! model first. A copy of each lives here, because a checkpoint reads and writes the state without
//! Python. Before a call the copies go to Python if a checkpoint was read, after it they come back.

use std::sync::Mutex;

use consort_algo::{Algorithm, Inbox, Tensor};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::check_length;

/// The first exception of any agent, to be raised once the round is over: in the middle of it there
/// is nobody to hear.
pub(crate) type Raised = std::sync::Arc<Mutex<Option<PyErr>>>;

/// Raises what was caught, if anything was.
pub(crate) fn raise(raised: &Raised) -> PyResult<()> {
    let mut slot = raised.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    slot.take().map_or(Ok(()), Err)
}

/// A `consort.Method` as an [`Algorithm`].
pub(crate) struct PythonMethod {
    object: Py<PyAny>,
    names: Vec<String>,
    state: Vec<Vec<f32>>,
    message: usize,
    /// Somebody may have written into `state`.
    touched: bool,
    raised: Raised,
}

impl PythonMethod {
    /// Makes the object of one agent: `class(x0)`.
    pub(crate) fn new(
        py: Python<'_>,
        class: &Bound<'_, PyAny>,
        x0: &[f32],
        raised: Raised,
    ) -> PyResult<Self> {
        let object = class.call1((PyArray1::from_slice(py, x0),))?;
        let names: Vec<String> = object.getattr("state")?.extract()?;
        if names.first().map(String::as_str) != Some("x") {
            let text = "state must be a tuple of the names of all arrays, the model \"x\" first";
            return Err(PyTypeError::new_err(text));
        }
        let message: Option<usize> = object.getattr("message_length")?.extract()?;
        let mut method = PythonMethod {
            object: object.unbind(),
            names,
            state: Vec::new(),
            message: message.unwrap_or(x0.len()),
            touched: false,
            raised,
        };
        method.read_state(py)?;
        check_length("the model x of the method", x0.len(), method.state[0].len())?;
        Ok(method)
    }

    fn read_state(&mut self, py: Python<'_>) -> PyResult<()> {
        let read = |name: &String| -> PyResult<Vec<f32>> {
            let array = self.object.bind(py).getattr(name.as_str())?;
            let array = array.cast_into::<PyArray1<f32>>().map_err(|_| {
                PyTypeError::new_err(format!("{name} must be a flat array of float32"))
            })?;
            Ok(array.readonly().as_slice()?.to_vec())
        };
        self.state = self.names.iter().map(read).collect::<PyResult<_>>()?;
        Ok(())
    }

    fn write_state(&mut self, py: Python<'_>) -> PyResult<()> {
        if std::mem::take(&mut self.touched) {
            for (name, values) in self.names.iter().zip(&self.state) {
                self.object.bind(py).setattr(name, PyArray1::from_slice(py, values))?;
            }
        }
        Ok(())
    }

    /// Calls Python; an exception is kept, and the numbers stay as they are.
    fn call(&mut self, work: impl FnOnce(&mut Self, Python<'_>) -> PyResult<()>) {
        let done = Python::attach(|py| {
            self.write_state(py)?;
            work(self, py)?;
            self.read_state(py)
        });
        if let Err(error) = done {
            let mut slot = self.raised.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            slot.get_or_insert(error);
        }
    }
}

impl Algorithm for PythonMethod {
    fn params(&self) -> &[f32] {
        &self.state[0]
    }

    fn probe(&self, at: &mut [f32]) {
        at.copy_from_slice(&self.state[0]);
        let own_point = Python::attach(|py| -> PyResult<()> {
            let point = self.object.bind(py).call_method0("probe")?;
            let point = point.cast_into::<PyArray1<f32>>().map_err(PyErr::from)?;
            let point = point.readonly();
            check_length("the probe", at.len(), point.len()?)?;
            at.copy_from_slice(point.as_slice()?);
            Ok(())
        });
        if let Err(error) = own_point {
            let mut slot = self.raised.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            slot.get_or_insert(error);
        }
    }

    fn message_len(&self) -> usize {
        self.message
    }

    fn local_step(&mut self, grad: &[f32], eta: f32, message: &mut [f32]) {
        self.call(|method, py| {
            let grad = PyArray1::from_slice(py, grad);
            let sent = method.object.bind(py).call_method1("local_step", (grad, eta))?;
            let sent = sent.cast_into::<PyArray1<f32>>().map_err(|_| {
                PyTypeError::new_err("local_step must return a flat array of float32")
            })?;
            let sent = sent.readonly();
            check_length("the message of local_step", message.len(), sent.len()?)?;
            message.copy_from_slice(sent.as_slice()?);
            Ok(())
        });
    }

    fn mix(&mut self, inbox: &dyn Inbox, eta: f32) {
        self.call(|method, py| {
            let all = 0..inbox.senders();
            let messages: Vec<_> =
                all.clone().map(|k| PyArray1::from_slice(py, inbox.message(k))).collect();
            let weights: Vec<f32> = all.map(|k| inbox.weight(k)).collect();
            let weights = PyArray1::from_vec(py, weights);
            let object = method.object.bind(py);
            object.call_method1("mix", (messages, weights, inbox.own(), eta)).map(drop)
        });
    }

    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        self.touched = true; // the caller may write
        let tensors = self.names.iter().zip(&mut self.state);
        tensors
            .map(|(name, values)| Tensor { name: name.clone().into(), values: &mut values[..] })
            .collect()
    }
}

/// What is given as a method: a name with parameters, or a class.
pub(crate) enum MethodLike<'py> {
    Named(String),
    Class(Bound<'py, PyAny>),
}

impl<'py> MethodLike<'py> {
    pub(crate) fn new(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = given.extract::<String>() {
            return Ok(MethodLike::Named(name));
        }
        if given.is_callable() && given.hasattr("local_step")? && given.hasattr("mix")? {
            return Ok(MethodLike::Class(given.clone()));
        }
        Err(PyValueError::new_err(
            "method must be a name, as in \"gut:mu=0.5\", or a class derived from consort.Method",
        ))
    }
}
