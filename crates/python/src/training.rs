//! A whole run from a configuration, in memory: `consort.train`. And its gradients, one by one.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use consort_algo::{Draw, Oracle};
use consort_data::{BatchSampler, DataDir, Partition};
use consort_records::{Quantity, Record, TrialRecords, XAxis, curves};
use consort_sim::start_threads;
use consort_train::{Config, MiniBatches, ModelPool, Plan, PlannedMethod, Trial, partition_for};
use consort_view::{ChartStyle, chart_svg};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rayon::ThreadPool;

use crate::errors::{OrPython, check_length};

/// A larger loss is divergence.
const RUNAWAY_LOSS: f32 = 1e6;

/// Runs all trials of a configuration. See `consort.train`.
#[pyfunction]
#[pyo3(signature = (toml, *, data_dir, threads, watch))]
pub(crate) fn train<'py>(
    py: Python<'py>,
    toml: &str,
    data_dir: Option<PathBuf>,
    threads: usize,
    watch: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let plan = load(py, toml, data_dir)?;
    let mut finished = Vec::new();
    let trials = PyList::empty(py);
    for method in &plan.network.methods {
        for &seed in &plan.config.seeds {
            let partition = partition_for(&plan, seed).or_value()?;
            let run = TrialRun { plan: &plan, method, seed, partition: &partition, threads };
            let (records, model) = run.until_its_end(py, watch.as_ref())?;
            let trial = PyDict::new(py);
            trial.set_item("method", &records.method)?;
            trial.set_item("label", &records.label)?;
            trial.set_item("seed", seed)?;
            trial.set_item("diverged", &records.diverged)?;
            trial.set_item("collapsed", &records.collapsed)?;
            trial.set_item("records", as_python(py, &records.records)?)?;
            trial.set_item("model", PyArray1::from_vec(py, model))?;
            trials.append(trial)?;
            finished.push(records);
        }
    }
    let figures = PyDict::new(py);
    for (name, quantity, x) in [
        ("accuracy", Quantity::TestAccuracy, XAxis::Epochs),
        ("accuracy-by-bytes", Quantity::TestAccuracy, XAxis::Megabytes),
        ("train-loss", Quantity::TrainLoss, XAxis::Epochs),
        ("consensus-distance", Quantity::ConsensusDistance, XAxis::Epochs),
    ] {
        // What cannot be drawn (all diverged at once, say) has no figure.
        if let Ok(picture) = chart_svg(&curves(&finished, quantity, x), &ChartStyle::default()) {
            figures.set_item(name, picture.svg())?;
        }
    }
    let result = PyDict::new(py);
    result.set_item("config", plan.config.to_toml().or_failure()?)?;
    result.set_item("parameters", plan.parameters.len())?;
    result.set_item("trials", trials)?;
    result.set_item("figures", figures)?;
    Ok(result)
}

fn load(py: Python<'_>, toml: &str, data_dir: Option<PathBuf>) -> PyResult<Plan> {
    let config = Config::from_toml(toml, &[]).or_value()?;
    let data_dir = DataDir::find(data_dir.as_deref()).or_value()?;
    py.detach(|| Plan::new(&config, &data_dir)).or_value()
}

/// Records as dicts, with the names of their fields.
fn as_python<'py>(py: Python<'py>, records: &[Record]) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(records).or_failure()?;
    py.import("json")?.call_method1("loads", (text,))
}

/// One method with one seed.
struct TrialRun<'a> {
    plan: &'a Plan,
    method: &'a PlannedMethod,
    seed: u64,
    partition: &'a Partition,
    threads: usize,
}

impl TrialRun<'_> {
    /// The records, and the averaged model.
    fn until_its_end(
        self,
        py: Python<'_>,
        watch: Option<&Py<PyAny>>,
    ) -> PyResult<(TrialRecords, Vec<f32>)> {
        let TrialRun { plan, method, seed, partition, threads } = self;
        let started = Instant::now();
        let mut trial =
            py.detach(|| Trial::start(plan, method, seed, partition, threads)).or_value()?;
        let mut records = vec![py.detach(|| trial.evaluate(0.0)).or_failure()?];
        let mut diverged = None;
        while trial.rounds_done() < trial.rounds() {
            py.check_signals()?;
            let report = match py.detach(|| trial.round()) {
                Ok(report) => report,
                Err(error) if error.is_divergence() => {
                    diverged = Some(error.to_string());
                    break;
                }
                Err(error) => return Err(error).or_failure(),
            };
            if report.loss.abs() > RUNAWAY_LOSS {
                let round = trial.rounds_done();
                diverged = Some(format!("the training loss is {} in round {round}", report.loss));
                break;
            }
            if trial.evaluation_is_due() {
                let seconds = started.elapsed().as_secs_f64();
                records.push(py.detach(|| trial.evaluate(seconds)).or_failure()?);
            }
            if let Some(watch) = watch {
                let accuracy = records.last().and_then(|record| record.test_accuracy);
                let place = (trial.rounds_done(), trial.rounds(), accuracy);
                watch.call1(py, (&method.label, seed, place))?;
            }
        }
        let last = records.last().copied();
        let collapsed = match (&diverged, &last) {
            (None, Some(last)) => trial.collapse(last).or_failure()?,
            _ => None,
        };
        let model = trial.average();
        let (key, label) = (method.key.clone(), method.label.clone());
        let collapsed = collapsed.map(|collapse| collapse.to_string());
        Ok((TrialRecords { method: key, label, seed, records, diverged, collapsed }, model))
    }
}

/// The model and the agents' data of a configuration, as a gradient function: what
/// `consort train` computes, bit by bit.
///
/// >>> import consort
/// >>> problem = consort.problem(model="mlp:16", graph="ring:4", partition="iid", seeds=[1])
/// >>> loss, gradient = problem.gradient(0, 0, problem.x0)
/// >>> len(gradient) == len(problem.x0) == problem.parameters
/// True
#[pyclass(frozen, module = "consort")]
pub(crate) struct Problem {
    oracle: MiniBatches,
    models: Arc<ModelPool>,
    tests: ThreadPool,
    x0: Vec<f32>,
    names: Vec<String>,
    agents: usize,
    rounds: u64,
    eta: f64,
}

#[pymethods]
impl Problem {
    #[new]
    #[pyo3(signature = (toml, *, data_dir, threads))]
    fn new(
        py: Python<'_>,
        toml: &str,
        data_dir: Option<PathBuf>,
        threads: usize,
    ) -> PyResult<Self> {
        let plan = load(py, toml, data_dir)?;
        let seed = match plan.config.seeds[..] {
            [seed] => seed,
            _ => return Err(PyValueError::new_err("a problem has one seed: seeds=[1]")),
        };
        let partition = partition_for(&plan, seed).or_value()?;
        let method = &plan.network.methods[0];
        let models = Arc::new(ModelPool::new(&plan.model, &plan.dataset, threads).or_failure()?);
        let shares = partition.shares().iter().enumerate();
        let sampler = |(agent, share): (usize, &Vec<u32>)| {
            BatchSampler::new(share.clone(), plan.config.batch, seed, agent)
        };
        let samplers = shares.map(sampler).collect::<Result<_, _>>().or_value()?;
        let per_round = method.method.batches_per_round();
        let per_epoch = method.rounds_per_epoch(plan.batches_per_epoch(&partition));
        Ok(Problem {
            oracle: MiniBatches::new(models.clone(), samplers, per_round, method.rule),
            models,
            tests: start_threads(threads).or_failure()?,
            x0: plan.parameters.initial(seed),
            names: plan.parameters.iter().map(|part| part.name.clone()).collect(),
            agents: partition.agents(),
            rounds: plan.rounds(per_epoch),
            eta: method.eta,
        })
    }

    /// How many agents there are.
    #[getter]
    fn agents(&self) -> usize {
        self.agents
    }

    /// How many parameters the model has.
    #[getter]
    fn parameters(&self) -> usize {
        self.x0.len()
    }

    /// The names and lengths of the model's tensors.
    #[getter]
    fn tensors(&self) -> Vec<(String, usize)> {
        self.names.iter().cloned().zip(self.oracle.tensors()).collect()
    }

    /// The model at the start.
    #[getter]
    fn x0<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, &self.x0)
    }

    /// How many rounds the configuration asks for.
    #[getter]
    fn rounds(&self) -> u64 {
        self.rounds
    }

    /// The step size at the start.
    #[getter]
    fn eta(&self) -> f64 {
        self.eta
    }

    /// Loss and gradient at x, on the mini-batch of this agent, round and step.
    #[pyo3(signature = (agent, round, x, step = 0))]
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        agent: usize,
        round: u64,
        x: PyReadonlyArray1<'py, f32>,
        step: u32,
    ) -> PyResult<(f32, Bound<'py, PyArray1<f32>>)> {
        if agent >= self.agents {
            let text = format!("there is no agent {agent}: there are {}", self.agents);
            return Err(PyKeyError::new_err(text));
        }
        let x = x.as_slice()?;
        check_length("x", self.x0.len(), x.len())?;
        let mut grad = vec![0.0; x.len()];
        let draw = Draw { agent, round, step };
        let loss = py.detach(|| self.oracle.loss_and_grad(draw, x, &mut grad)).or_failure()?;
        Ok((loss, PyArray1::from_vec(py, grad)))
    }

    /// The share of the test set that the model x classifies correctly.
    fn accuracy(&self, py: Python<'_>, x: PyReadonlyArray1<'_, f32>) -> PyResult<f64> {
        let x = x.as_slice()?;
        check_length("x", self.x0.len(), x.len())?;
        let score = py.detach(|| self.models.test(x, &self.tests)).or_failure()?;
        Ok(score.quality().accuracy().unwrap_or(f64::NAN))
    }
}
