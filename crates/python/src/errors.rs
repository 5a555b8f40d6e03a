//! Errors, as Python sees them: wrong input is a `ValueError`, anything else a `ConsortError`.

use std::fmt::Display;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(consort, ConsortError, PyException, "A run cannot go on; the text says why.");
create_exception!(consort, NotFinite, ConsortError, "A loss or gradient is infinite or NaN.");

/// Says whose fault an error is.
pub(crate) trait OrPython<T> {
    /// The caller gave something that cannot be used.
    fn or_value(self) -> PyResult<T>;
    /// The work could not be done.
    fn or_failure(self) -> PyResult<T>;
}

impl<T, E: Display> OrPython<T> for Result<T, E> {
    fn or_value(self) -> PyResult<T> {
        self.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn or_failure(self) -> PyResult<T> {
        self.map_err(|error| ConsortError::new_err(error.to_string()))
    }
}

/// Refuses an array of another length.
pub(crate) fn check_length(what: &str, expected: usize, got: usize) -> PyResult<()> {
    if expected == got {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("{what} has {got} numbers, expected {expected}")))
}
