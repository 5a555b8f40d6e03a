//! The models at work: one per thread, for gradients in a round and for tests between rounds.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use consort_algo::OracleError;
use consort_data::{DataError, Dataset, Feed};
use consort_model::{Engine, Isa, ModelError, ModelSpec};
use consort_sim::{Part, Watch, Worker};
use rayon::prelude::*;

use crate::collapse::{Collapse, chance, is_at_chance};
use crate::gradient_rule::GradientRule;

/// Test images that a thread takes at a time: the sum of their losses is one number, whatever
/// the number of threads.
pub(crate) const TEST_PORTION: usize = 250;

/// A model with room for a batch of images.
pub(crate) struct Station {
    engine: Engine,
    images: Vec<f32>,
    labels: Vec<u32>,
}

/// One station per thread.
#[derive(Clone)]
pub(crate) struct Stations {
    dataset: Arc<Dataset>,
    all: Arc<[Mutex<Station>]>,
}

impl Stations {
    pub(crate) fn new(
        spec: &ModelSpec,
        dataset: &Arc<Dataset>,
        threads: usize,
    ) -> Result<Self, ModelError> {
        let station = |_| {
            let engine = Engine::new(spec, Engine::default_micro_batch(spec), Isa::detect())?;
            Ok(Mutex::new(Station { engine, images: Vec::new(), labels: Vec::new() }))
        };
        let all = (0..threads.max(1)).map(station).collect::<Result<Arc<[_]>, ModelError>>()?;
        Ok(Stations { dataset: dataset.clone(), all })
    }

    /// Workers for a world, one per station.
    pub(crate) fn workers(&self, feeds: Vec<Feed>, rule: GradientRule) -> Vec<Box<dyn Worker>> {
        let feeds: Arc<[Mutex<Feed>]> = feeds.into_iter().map(Mutex::new).collect();
        let worker = |own: usize| {
            let (stations, feeds) = (self.clone(), feeds.clone());
            Box::new(MiniBatches { stations, own, feeds, rule }) as Box<dyn Worker>
        };
        (0..self.all.len()).map(worker).collect()
    }

    /// The instructions in use: what a run records.
    pub(crate) fn isa(&self) -> Isa {
        self.at(0).engine.isa()
    }

    /// Bytes of activations and packed weights, all stations together.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.all.len() * self.at(0).engine.memory_bytes()
    }

    /// How many parameters the model has.
    pub(crate) fn parameters(&self) -> usize {
        self.at(0).engine.parameters().len()
    }

    /// Loss and gradient at `at` on the mini-batch of `round` that `feed` deals, computed at
    /// one of the stations; tells `watch` when the mini-batch is there.
    #[allow(clippy::too_many_arguments, reason = "what, where, and who looks on")]
    pub(crate) fn loss_and_grad(
        &self,
        station: usize,
        feed: &mut Feed,
        round: u64,
        rule: &GradientRule,
        at: &[f32],
        grad: &mut [f32],
        watch: Watch<'_>,
    ) -> Result<f32, OracleError> {
        let mut station = self.at(station);
        let Station { engine, images, labels } = &mut *station;
        let dataset = &self.dataset;
        let pixels = dataset.input.iter().product::<usize>();
        let count = feed.indices(round).len();
        images.resize(count * pixels, 0.0);
        labels.clear();
        for position in 0..count {
            let index = feed.indices(round)[position] as usize;
            let image = &mut images[position * pixels..][..pixels];
            let written = dataset.write_train(index, feed.key(round, position), image);
            written.map_err(|error| OracleError::Failed { reason: error.to_string() })?;
            labels.push(dataset.train.labels[index]);
        }
        watch(Part::Batch);
        let loss = engine.loss_and_grad(at, images, labels, grad)?;
        rule.apply(at, grad);
        Ok(loss)
    }

    /// The summed loss and the number of right answers of the model `x` on test samples.
    pub(crate) fn test(
        &self,
        x: &[f32],
        samples: impl Iterator<Item = usize>,
    ) -> Result<Score, DataError> {
        let mut station = self.at(rayon::current_thread_index().unwrap_or(0));
        let Station { engine, images, labels } = &mut *station;
        self.take_test(samples, images, labels)?;
        if labels.is_empty() {
            return Ok(Score::default());
        }
        let (mean_loss, correct) = engine.evaluate(x, images, labels);
        let samples = labels.len();
        Ok(Score { loss: f64::from(mean_loss) * samples as f64, correct, samples })
    }

    /// [`test`](Self::test) on the whole test set, over all threads of `pool`.
    pub(crate) fn test_whole(
        &self,
        x: &[f32],
        pool: &rayon::ThreadPool,
    ) -> Result<Score, DataError> {
        let count = self.dataset.test.labels.len();
        let portion = |first: usize| self.test(x, first..count.min(first + TEST_PORTION));
        let firsts: Vec<usize> = (0..count).step_by(TEST_PORTION).collect();
        let scores: Vec<Score> = pool.install(|| {
            firsts.into_par_iter().with_max_len(1).map(portion).collect::<Result<_, _>>()
        })?;
        Ok(scores.into_iter().fold(Score::default(), Score::and))
    }

    /// That a model with this accuracy on the test set is no better than a guess; none if it is.
    /// Only then is `model` called, to see where it is dead.
    pub(crate) fn collapse(
        &self,
        accuracy: f64,
        model: impl FnOnce() -> Vec<f32>,
    ) -> Result<Option<Collapse>, DataError> {
        let labels = &self.dataset.test.labels;
        let chance = chance(labels);
        if !is_at_chance(accuracy, chance, labels.len()) {
            return Ok(None);
        }
        Ok(Some(Collapse { accuracy, chance, dead_layer: self.dead_layer(&model())? }))
    }

    /// The last layer of the model `x` through which no gradient passes, on test samples evenly
    /// spaced over all; none if there is no such layer.
    fn dead_layer(&self, x: &[f32]) -> Result<Option<String>, DataError> {
        const SAMPLES: usize = 256;
        let mut station = self.at(0);
        let Station { engine, images, labels } = &mut *station;
        let all = self.dataset.test.labels.len();
        let wanted = SAMPLES.min(all);
        self.take_test((0..wanted).map(|k| k * all / wanted), images, labels)?;
        Ok(if labels.is_empty() { None } else { engine.dead_layer(x, images, labels) })
    }

    /// Test samples and their labels in place of those that are there.
    fn take_test(
        &self,
        samples: impl Iterator<Item = usize>,
        images: &mut Vec<f32>,
        labels: &mut Vec<u32>,
    ) -> Result<(), DataError> {
        let pixels = self.dataset.input.iter().product::<usize>();
        images.clear();
        labels.clear();
        for index in samples {
            let first = images.len();
            images.resize(first + pixels, 0.0);
            self.dataset.write_test(index, &mut images[first..])?;
            labels.push(self.dataset.test.labels[index]);
        }
        Ok(())
    }

    /// Only the thread with this number asks for it, so it never waits.
    fn at(&self, thread: usize) -> MutexGuard<'_, Station> {
        self.all[thread % self.all.len()].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a model did on some samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Summed over the samples.
    loss: f64,
    correct: usize,
    samples: usize,
}

impl Score {
    pub(crate) fn and(self, other: Score) -> Score {
        Score {
            loss: self.loss + other.loss,
            correct: self.correct + other.correct,
            samples: self.samples + other.samples,
        }
    }

    /// The loss of a sample, on average.
    pub fn mean_loss(&self) -> f64 {
        self.loss / self.samples as f64
    }

    /// The share of samples that were classified correctly, 0 to 1.
    pub fn accuracy(&self) -> f64 {
        self.correct as f64 / self.samples as f64
    }
}

/// A thread's worker: any agent's mini-batch of any round.
struct MiniBatches {
    stations: Stations,
    own: usize,
    feeds: Arc<[Mutex<Feed>]>,
    rule: GradientRule,
}

impl Worker for MiniBatches {
    fn len(&self) -> usize {
        self.stations.parameters()
    }

    fn loss_and_grad(
        &mut self,
        agent: usize,
        round: u64,
        at: &[f32],
        grad: &mut [f32],
    ) -> Result<f32, OracleError> {
        self.loss_and_grad_watched(agent, round, at, grad, &|_| {})
    }

    fn loss_and_grad_watched(
        &mut self,
        agent: usize,
        round: u64,
        at: &[f32],
        grad: &mut [f32],
        watch: Watch<'_>,
    ) -> Result<f32, OracleError> {
        // An agent is with one thread at a time.
        let mut feed = self.feeds[agent].lock().unwrap_or_else(PoisonError::into_inner);
        self.stations.loss_and_grad(self.own, &mut feed, round, &self.rule, at, grad, watch)
    }
}
