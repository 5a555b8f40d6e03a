//! Datasets as NumPy arrays, scaled as the models see them.

use std::path::PathBuf;

use consort_data::{Augmentation, DataDir, DataError, Dataset, Partition, Scheme};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::OrPython;

/// A dataset by name, "folder:PATH" or "csv:PATH". See `consort.dataset`.
#[pyfunction]
#[pyo3(signature = (name, *, data_dir))]
pub(crate) fn dataset<'py>(
    py: Python<'py>,
    name: &str,
    data_dir: Option<PathBuf>,
) -> PyResult<Bound<'py, PyDict>> {
    let data_dir = DataDir::find(data_dir.as_deref()).or_value()?;
    let set = py.detach(|| consort_data::load(name, &data_dir)).or_value()?;
    let set = set.augmented(Augmentation::None);
    let read = PyDict::new(py);
    read.set_item("name", &set.name)?;
    read.set_item("classes", &set.classes)?;
    let write_train = |set: &Dataset, k: usize, out: &mut [f32]| set.write_train(k, 0, out);
    read.set_item("train", part(py, &set, &set.train.labels, write_train)?)?;
    read.set_item("test", part(py, &set, &set.test.labels, Dataset::write_test)?)?;
    Ok(read)
}

/// Samples and labels of one part: samples by rows, columns and channels.
fn part<'py>(
    py: Python<'py>,
    set: &Dataset,
    labels: &[u32],
    write: impl Fn(&Dataset, usize, &mut [f32]) -> Result<(), DataError> + Sync,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyArray1<i64>>)> {
    let length = set.sample_len();
    let mut values = vec![0.0_f32; labels.len() * length];
    py.detach(|| {
        let mut samples = values.chunks_exact_mut(length.max(1)).enumerate();
        samples.try_for_each(|(k, out)| write(set, k, out))
    })
    .or_failure()?;
    let [height, width, channels] = set.input;
    let shape = [labels.len(), height, width, channels];
    let values = PyArray1::from_vec(py, values).reshape(shape)?.into_any();
    let labels = labels.iter().map(|&label| i64::from(label)).collect();
    Ok((values, PyArray1::from_vec(py, labels)))
}

/// Which samples each agent has. See `consort.partition`.
#[pyfunction]
pub(crate) fn partition<'py>(
    py: Python<'py>,
    labels: Vec<u32>,
    scheme: &str,
    agents: usize,
    seed: u64,
) -> PyResult<Vec<Bound<'py, PyArray1<i64>>>> {
    let scheme: Scheme = scheme.parse().or_value()?;
    let classes = labels.iter().max().map_or(0, |&largest| largest as usize + 1);
    let partition: Partition = scheme.partition(&labels, classes, agents, seed).or_value()?;
    let share = |share: &Vec<u32>| {
        PyArray1::from_vec(py, share.iter().map(|&index| i64::from(index)).collect())
    };
    Ok(partition.shares().iter().map(share).collect())
}
