//! The models at work: one per thread, for gradients in a round and for tests between rounds.

use std::sync::Arc;

use consort_algo::OracleError;
use consort_data::{DataError, Dataset, Samples};
use consort_model::{Answers, Engine, Isa, ModelError, ModelSpec, Parameter};
use consort_records::Quality;
use consort_sim::PerThread;
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::collapse::{Collapse, Guess};
use crate::score::Score;

/// Test images that a thread takes at a time: the sum of their losses is one number, whatever
/// the number of threads.
const TEST_PORTION: usize = 250;

/// Samples on which nobody trains.
#[derive(Clone, Copy)]
enum HeldOut {
    Test,
    Validation,
}

/// A model with room for a batch of images.
struct ModelSlot {
    engine: Engine,
    images: Vec<f32>,
    labels: Vec<u32>,
    /// In place of labels, of a regression.
    targets: Vec<f32>,
}

/// What the outputs are compared with: the task of the data decides.
fn answers<'a>(dataset: &Dataset, labels: &'a [u32], targets: &'a [f32]) -> Answers<'a> {
    match dataset.task.target() {
        Some(_) => Answers::Numbers(targets),
        None => Answers::Classes(labels),
    }
}

/// One model per thread, and the data that they work on.
///
/// The agents of a [`Trial`](crate::Trial) share one pool; an agent that has a process of its own
/// has one to itself.
pub struct ModelPool {
    dataset: Arc<Dataset>,
    slots: PerThread<ModelSlot>,
}

impl ModelPool {
    /// A pool for `threads` threads; any number gives the same bits.
    ///
    /// # Errors
    /// If the model cannot be built.
    pub fn new(
        spec: &ModelSpec,
        dataset: &Arc<Dataset>,
        threads: usize,
    ) -> Result<Self, ModelError> {
        let slot = || {
            let engine = Engine::new(spec, Engine::default_micro_batch(spec), Isa::detect())?;
            let (images, labels, targets) = (Vec::new(), Vec::new(), Vec::new());
            Ok::<_, ModelError>(ModelSlot { engine, images, labels, targets })
        };
        Ok(ModelPool { dataset: dataset.clone(), slots: PerThread::try_new(threads, slot)? })
    }

    /// How many models there are.
    pub fn threads(&self) -> usize {
        self.slots.count()
    }

    /// The instructions of the kernels in use, such as `avx2`: what a run records.
    pub fn instructions(&self) -> String {
        self.slots.own().engine.isa().to_string()
    }

    /// Bytes of activations and packed weights, all models together.
    pub fn memory_bytes(&self) -> usize {
        self.slots.count() * self.slots.own().engine.memory_bytes()
    }

    /// How many parameters the model has.
    pub fn parameters(&self) -> usize {
        self.slots.own().engine.parameters().len()
    }

    /// The lengths of the model's tensors.
    pub(crate) fn tensors(&self) -> Vec<usize> {
        self.slots.own().engine.parameters().iter().map(Parameter::len).collect()
    }

    /// Loss and gradient at `at` on training samples, each with the key of its augmentation;
    /// tells `batch_is_there` between reading and computing.
    pub(crate) fn loss_and_grad(
        &self,
        samples: impl ExactSizeIterator<Item = (usize, u64)>,
        at: &[f32],
        grad: &mut [f32],
        batch_is_there: impl FnOnce(),
    ) -> Result<f32, OracleError> {
        let mut slot = self.slots.own();
        let ModelSlot { engine, images, labels, targets } = &mut *slot;
        let pixels = self.dataset.input.iter().product::<usize>();
        images.resize(samples.len() * pixels, 0.0);
        labels.clear();
        targets.clear();
        for ((index, key), image) in samples.zip(images.chunks_exact_mut(pixels)) {
            let written = self.dataset.write_train(index, key, image);
            written.map_err(|error| OracleError::Failed { reason: error.to_string() })?;
            labels.push(self.dataset.train.labels[index]);
            targets.extend(self.dataset.train.targets.get(index));
        }
        batch_is_there();
        Ok(engine.loss_and_grad(at, images, answers(&self.dataset, labels, targets), grad)?)
    }

    /// How the model `x` does on the whole test set, over all threads of `pool`.
    ///
    /// # Errors
    /// If a test sample cannot be read.
    pub fn test(&self, x: &[f32], pool: &ThreadPool) -> Result<Score, DataError> {
        self.score_all(HeldOut::Test, x, pool)
    }

    /// How the model `x` does on all validation samples, over all threads of `pool`.
    ///
    /// # Errors
    /// If a sample cannot be read.
    pub fn validate(&self, x: &[f32], pool: &ThreadPool) -> Result<Score, DataError> {
        self.score_all(HeldOut::Validation, x, pool)
    }

    fn score_all(
        &self,
        held_out: HeldOut,
        x: &[f32],
        pool: &ThreadPool,
    ) -> Result<Score, DataError> {
        let count = self.samples(held_out).len();
        let portion =
            |first: usize| self.score(held_out, x, first..count.min(first + TEST_PORTION));
        let firsts: Vec<usize> = (0..count).step_by(TEST_PORTION).collect();
        let scores: Vec<Score> = pool.install(|| {
            firsts.into_par_iter().with_max_len(1).map(portion).collect::<Result<_, _>>()
        })?;
        Ok(scores.into_iter().fold(Score::default(), Score::and))
    }

    /// How each of `models` does on `wanted` test samples, evenly spaced over all.
    pub(crate) fn test_each<'x>(
        &self,
        models: impl IndexedParallelIterator<Item = &'x [f32]>,
        wanted: usize,
        pool: &ThreadPool,
    ) -> Result<Vec<Score>, DataError> {
        let all = self.dataset.test.labels.len();
        let one = |x: &[f32]| {
            let mut score = Score::default();
            for first in (0..wanted).step_by(TEST_PORTION) {
                let portion = first..wanted.min(first + TEST_PORTION);
                score =
                    score.and(self.score(HeldOut::Test, x, portion.map(|k| k * all / wanted))?);
            }
            Ok(score)
        };
        pool.install(|| models.with_max_len(1).map(one).collect())
    }

    /// That a model this good on the test set (on validation samples, if there is no test set) is no
    /// better than a guess; none if it is. Only then is `model` called, to see where it is dead.
    ///
    /// # Errors
    /// If a test sample cannot be read.
    pub fn collapse(
        &self,
        quality: Quality,
        model: impl FnOnce() -> Vec<f32>,
    ) -> Result<Option<Collapse>, DataError> {
        let Some(guess) = Guess::found(quality, &self.samples(self.judged()).labels) else {
            return Ok(None);
        };
        Ok(Some(Collapse { guess, dead_layer: self.dead_layer(&model())? }))
    }

    /// What a model is judged by.
    fn judged(&self) -> HeldOut {
        if self.dataset.test.is_empty() { HeldOut::Validation } else { HeldOut::Test }
    }

    fn samples(&self, held_out: HeldOut) -> &Samples {
        match held_out {
            HeldOut::Test => &self.dataset.test,
            HeldOut::Validation => &self.dataset.validation,
        }
    }

    /// The model `x` on some samples.
    fn score(
        &self,
        held_out: HeldOut,
        x: &[f32],
        samples: impl Iterator<Item = usize>,
    ) -> Result<Score, DataError> {
        let mut slot = self.slots.own();
        self.read(held_out, samples, &mut slot)?;
        let ModelSlot { engine, images, labels, targets } = &mut *slot;
        if labels.is_empty() {
            return Ok(Score::default());
        }
        let answers = answers(&self.dataset, labels, targets);
        let (mean_loss, correct) = engine.evaluate(x, images, answers);
        Ok(match answers {
            Answers::Classes(labels) => Score::from_batch(mean_loss, correct, labels.len()),
            Answers::Numbers(targets) => Score::from_targets(mean_loss, targets),
        })
    }

    /// The last layer of the model `x` through which no gradient passes, on samples evenly spaced
    /// over those that it is judged by; none if there is no such layer.
    fn dead_layer(&self, x: &[f32]) -> Result<Option<String>, DataError> {
        const SAMPLES: usize = 256;
        let mut slot = self.slots.own();
        let held_out = self.judged();
        let all = self.samples(held_out).len();
        let wanted = SAMPLES.min(all);
        self.read(held_out, (0..wanted).map(|k| k * all / wanted), &mut slot)?;
        let ModelSlot { engine, images, labels, targets } = &mut *slot;
        if labels.is_empty() {
            return Ok(None);
        }
        Ok(engine.dead_layer(x, images, answers(&self.dataset, labels, targets)))
    }

    /// Samples and their answers in place of those that are there.
    fn read(
        &self,
        held_out: HeldOut,
        samples: impl Iterator<Item = usize>,
        slot: &mut ModelSlot,
    ) -> Result<(), DataError> {
        let ModelSlot { images, labels, targets, .. } = slot;
        let pixels = self.dataset.input.iter().product::<usize>();
        images.clear();
        labels.clear();
        targets.clear();
        for index in samples {
            let first = images.len();
            images.resize(first + pixels, 0.0);
            let image = &mut images[first..];
            match held_out {
                HeldOut::Test => self.dataset.write_test(index, image)?,
                HeldOut::Validation => self.dataset.write_validation(index, image)?,
            }
            let from = self.samples(held_out);
            labels.push(from.labels[index]);
            targets.extend(from.targets.get(index));
        }
        Ok(())
    }
}
