//! Runs a model: loss and gradient of a batch at given parameters.
//!
//! The list of layers is compiled once into steps over *values* (the activations between two
//! layers) and *gradients* (buffers that values share, since few of them are in use at a time).
//!
//! A batch runs through all steps one *micro-batch* of a few images after the other. No layer
//! couples samples, so a small micro-batch keeps the activations in cache and changes nothing but
//! the order in which a bias or a scale sums over the batch. Where a micro-batch is too large for
//! the second-level cache, some steps take fewer images, and fewer channels, at a time (`cut`).
//! Nothing is allocated after construction.

mod answers;
mod build;
mod cut;
mod dead;
mod flatten;
mod gradients;
mod non_finite;
mod plan;
mod rematerialise;
mod step;

use std::ops::Range;

use consort_kernel::conv::{ConvAlgorithm, Scratch};
use consort_kernel::{Isa, Shape, residual, softmax, squared_error};

use crate::{ModelError, ModelSpec, Parameters};
pub use answers::Answers;
pub use non_finite::NonFinite;
use plan::{Held, Run};
use step::Step;
pub use step::{Moment, Pass};

/// The activations between two layers, or their gradient: images, or rows of numbers.
struct Value {
    shape: Shape,
    data: Vec<f32>,
    /// Holds only the images that run together now, not the whole micro-batch.
    few: bool,
}

impl Value {
    fn new(shape: Shape, images: Option<usize>, micro_batch: usize) -> Self {
        let data = vec![0.0; shape.batch_len(images.unwrap_or(micro_batch))];
        Value { shape, data, few: images.is_some() }
    }

    /// Where the images that run together begin, if `image` is the first of them.
    fn at(&self, image: usize) -> usize {
        if self.few { 0 } else { self.shape.batch_len(image) }
    }

    /// The images that run together.
    fn images(&self, images: &Range<usize>) -> &[f32] {
        &self.from(images.start)[..self.shape.batch_len(images.len())]
    }

    /// The images that run together, and whatever follows them.
    fn from(&self, image: usize) -> &[f32] {
        &self.data[self.at(image)..]
    }
}

/// Images of a micro-batch that run together in the backward pass.
struct Images {
    images: Range<usize>,
    /// They are the last images of the batch.
    last: bool,
}

/// A model ready to run on one thread.
pub struct Engine {
    isa: Isa,
    micro_batch: usize,
    outputs: usize,
    input_len: usize,
    parameters: Parameters,
    steps: Vec<Step>,
    runs: Vec<Run>,
    values: Vec<Value>,
    gradients: Vec<Value>,
    /// Working memory of the convolutions.
    scratch: Scratch,
    /// The buffer with the gradient of the logits, where the backward pass begins.
    logits_gradient: usize,
}

impl Engine {
    /// An engine that takes `micro_batch` images at a time.
    pub fn new(spec: &ModelSpec, micro_batch: usize, isa: Isa) -> Result<Self, ModelError> {
        Self::with_algorithm(spec, micro_batch, isa, ConvAlgorithm::Auto)
    }

    /// [`new`](Self::new), with a given algorithm for 3x3 convolutions.
    pub fn with_algorithm(
        spec: &ModelSpec,
        micro_batch: usize,
        isa: Isa,
        algorithm: ConvAlgorithm,
    ) -> Result<Self, ModelError> {
        isa.check()?;
        let parameters = Parameters::new(spec)?;
        let micro_batch = micro_batch.max(1);
        let plan = plan::plan(spec)?;
        let gradients = gradients::assign(&plan);
        let steps = build::build(&plan, &gradients, &parameters, micro_batch, isa, algorithm)?;
        let mut scratch = Scratch::default();
        steps.iter().for_each(|step| step.fit(&mut scratch));
        let values = plan.shapes.iter().zip(&plan.held);
        let value = |(shape, held): (&Shape, &Held)| Value::new(*shape, held.value, micro_batch);
        let buffers = gradients.buffers.iter();
        Ok(Engine {
            isa,
            micro_batch,
            outputs: spec.classes,
            input_len: spec.input_extent().len(),
            parameters,
            steps,
            runs: plan.runs,
            values: values.map(value).collect(),
            gradients: buffers.map(|&(shape, few)| Value::new(shape, few, micro_batch)).collect(),
            scratch,
            logits_gradient: gradients.logits,
        })
    }

    /// The fastest number of images in a micro-batch, about: as many as have their activations in
    /// cache or, if that is more, so many that reading the weights once per micro-batch takes
    /// little of the time. From 8 to 32.
    pub fn default_micro_batch(spec: &ModelSpec) -> usize {
        /// Floats in the last-level cache. (With half of it, a core's share, ResNet-20 was 2 %
        /// slower with AVX2 and 6 % slower with AVX-512.)
        const CACHED: usize = 8 << 20;
        /// Floats of activations for each weight that make up for reading the weight.
        const WORTH_READING: usize = 16;
        let kept = |(shape, held): (&Shape, &Held)| match held.value {
            None => shape.batch_len(1),
            Some(_) => 0,
        };
        let floats = |plan: plan::Plan| plan.shapes.iter().zip(&plan.held).map(kept).sum();
        let per_image = plan::plan(spec).map_or(1, floats).max(1);
        let weights = Parameters::new(spec).map_or(0, |parameters| parameters.len());
        let worth = (WORTH_READING * weights / per_image).next_power_of_two();
        // A power of two, as batches usually are, so that the last micro-batch is full.
        let fits = 1 << (CACHED / per_image).max(1).ilog2();
        worth.max(fits).clamp(8, 32)
    }

    /// The parameters of the model.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The instruction set in use, which a run records.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Images that run through all layers together.
    pub fn micro_batch(&self) -> usize {
        self.micro_batch
    }

    /// Bytes of activations, gradients and packed weights: `micro_batch * a + w`. Here `a` counts
    /// the activations and gradients of one image, borders included, and `w` the weights in the
    /// order of the kernels and the buffers that hold a few images only.
    pub fn memory_bytes(&self) -> usize {
        let floats = self.values.iter().chain(&self.gradients).map(|value| value.data.len());
        4 * floats.sum::<usize>()
            + self.scratch.memory_bytes()
            + self.steps.iter().map(Step::memory_bytes).sum::<usize>()
    }

    /// Floating-point operations of convolutions and linear layers for the loss and gradient of
    /// one image, counted by the definition: a multiply-add is two.
    pub fn flops_per_image(&self) -> u64 {
        self.steps.iter().map(Step::flops).sum()
    }

    /// The mean loss of a batch at `flat`, and its gradient in `grad`. `images` holds one
    /// image per answer, row by row, pixel by pixel, channels innermost. The answers, labels or
    /// numbers, say by which loss.
    ///
    /// # Errors
    /// If a number is not finite; the error names the first layer where one is.
    ///
    /// # Panics
    /// If a slice has the wrong length, or a label is not a class.
    pub fn loss_and_grad<'a>(
        &mut self,
        flat: &[f32],
        images: &[f32],
        answers: impl Into<Answers<'a>>,
        grad: &mut [f32],
    ) -> Result<f32, NonFinite> {
        self.loss_and_grad_watched(flat, images, answers, grad, &mut |_| {})
    }

    /// [`loss_and_grad`](Self::loss_and_grad) that calls `watch` after every part of the work.
    /// The caller, a profiler, reads the clock.
    pub fn loss_and_grad_watched<'a>(
        &mut self,
        flat: &[f32],
        images: &[f32],
        answers: impl Into<Answers<'a>>,
        grad: &mut [f32],
        watch: &mut dyn FnMut(Moment<'_>),
    ) -> Result<f32, NonFinite> {
        let answers = answers.into();
        self.check(flat, images, answers.len());
        assert_eq!(grad.len(), self.parameters.len(), "one gradient per parameter");
        self.steps.iter().for_each(|step| step.clear_gradient(grad));
        let mut loss = 0.0;
        let micro_batches = self.micro_batches(images, answers);
        let last = micro_batches.len().saturating_sub(1);
        for (number, (images, own_answers)) in micro_batches.enumerate() {
            let count = own_answers.len();
            self.forward(flat, images, count, number == 0, watch);
            let share = count as f32 / answers.len() as f32;
            let own_loss = self.start_backward(own_answers, share);
            if !own_loss.is_finite() {
                self.steps.iter_mut().for_each(|step| step.drop_gradient(grad));
                return Err(self.first_non_finite(flat, count));
            }
            loss += f64::from(share) * f64::from(own_loss);
            for index in (0..self.runs.len()).rev() {
                let run = self.runs[index].clone();
                for images in run.parts(count) {
                    let images = Images { last: number == last && images.end == count, images };
                    for at in run.steps.clone().rev() {
                        self.backward((index, at), flat, grad, &images, count, watch);
                    }
                }
            }
        }
        non_finite::in_gradient(&self.parameters, grad)?;
        Ok(loss as f32)
    }

    /// The mean loss of a batch, and how many of its images are classified correctly; of numbers
    /// none is.
    ///
    /// # Panics
    /// If a slice has the wrong length, or a label is not a class.
    pub fn evaluate<'a>(
        &mut self,
        flat: &[f32],
        images: &[f32],
        answers: impl Into<Answers<'a>>,
    ) -> (f32, usize) {
        let answers = answers.into();
        self.check(flat, images, answers.len());
        let (mut loss, mut correct) = (0.0, 0);
        for (number, (images, answers)) in self.micro_batches(images, answers).enumerate() {
            self.forward(flat, images, answers.len(), number == 0, &mut |_| {});
            let logits = self.logits(answers.len());
            let mean = match answers {
                Answers::Classes(labels) => {
                    correct += softmax::correct(logits, self.outputs, labels);
                    softmax::cross_entropy_loss(logits, self.outputs, labels)
                }
                Answers::Numbers(targets) => squared_error::squared_error_loss(logits, targets),
            };
            loss += f64::from(mean) * answers.len() as f64;
        }
        ((loss / answers.len() as f64) as f32, correct)
    }

    /// What the last layer puts out for each image: as many numbers as there are classes, before
    /// any softmax, or one.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn predict(&mut self, flat: &[f32], images: &[f32], outputs: &mut [f32]) {
        let count = images.len() / self.input_len;
        self.check(flat, images, count);
        assert_eq!(outputs.len(), count * self.outputs, "one number per class and image");
        let parts = images.chunks(self.micro_batch * self.input_len);
        let outputs = outputs.chunks_mut(self.micro_batch * self.outputs);
        for (number, (images, out)) in parts.zip(outputs).enumerate() {
            let count = images.len() / self.input_len;
            self.forward(flat, images, count, number == 0, &mut |_| {});
            out.copy_from_slice(self.logits(count));
        }
    }

    /// Images and answers of each micro-batch of a batch.
    fn micro_batches<'a>(
        &self,
        images: &'a [f32],
        answers: Answers<'a>,
    ) -> impl ExactSizeIterator<Item = (&'a [f32], Answers<'a>)> + use<'a> {
        let size = self.micro_batch;
        let images = images.chunks(size * self.input_len).enumerate();
        images.map(move |(number, images)| (images, answers.part(number, size)))
    }

    fn check(&self, flat: &[f32], images: &[f32], count: usize) {
        assert_eq!(flat.len(), self.parameters.len(), "one number per parameter");
        assert_eq!(images.len(), count * self.input_len, "one image per answer");
    }

    /// With the `first` micro-batch of a batch, each layer takes the weights just before it needs
    /// them.
    fn forward(
        &mut self,
        flat: &[f32],
        images: &[f32],
        count: usize,
        first: bool,
        watch: &mut dyn FnMut(Moment<'_>),
    ) {
        let Value { shape, data, .. } = &mut self.values[0];
        residual::copy(count, images, shape.with_halo(0), data, *shape);
        for run in &self.runs {
            for images in run.parts(count) {
                for at in run.steps.clone() {
                    if first && images.start == 0 {
                        self.steps[at].take_weights(flat);
                        watch(self.steps[at].moment(Pass::Weights));
                    }
                    if let Some(value) = self.written_next(at, run) {
                        let value = &self.values[value];
                        self.scratch.fetch_ahead(value.images(&images));
                    }
                    let step = &mut self.steps[at];
                    step.forward(flat, images.clone(), &mut self.values, &mut self.scratch);
                    watch(step.moment(Pass::Forward));
                }
            }
        }
    }

    /// The first output that is not finite. It runs the micro-batch forward again and checks
    /// every output at once: after a sum in place nobody knows which of its terms was not finite.
    fn first_non_finite(&mut self, flat: &[f32], count: usize) -> NonFinite {
        let finite =
            |value: &Value, images: &Range<usize>| non_finite::all_finite(value.images(images));
        let what = "output";
        if !finite(&self.values[0], &(0..count)) {
            return NonFinite { layer: "0 (the images that come in)".into(), what };
        }
        for run in &self.runs {
            for images in run.parts(count) {
                for step in &mut self.steps[run.steps.clone()] {
                    step.forward(flat, images.clone(), &mut self.values, &mut self.scratch);
                    if !finite(&self.values[step.output], &images) {
                        return NonFinite { layer: step.label(), what };
                    }
                }
            }
        }
        NonFinite { layer: "after the last one".into(), what: "loss" }
    }

    fn logits(&self, count: usize) -> &[f32] {
        let last = self.steps.last().map_or(0, |step| step.output);
        &self.values[last].data[..count * self.outputs]
    }

    /// The loss of a micro-batch. Writes the gradient of the logits, scaled by the micro-batch's
    /// share of the batch.
    fn start_backward(&mut self, answers: Answers<'_>, share: f32) -> f32 {
        let numbers = answers.len() * self.outputs;
        let mut gradient = std::mem::take(&mut self.gradients[self.logits_gradient].data);
        let logits = self.logits(answers.len());
        let dlogits = &mut gradient[..numbers];
        let loss = match answers {
            Answers::Classes(labels) => {
                softmax::cross_entropy(logits, self.outputs, labels, dlogits)
            }
            Answers::Numbers(targets) => squared_error::squared_error(logits, targets, dlogits),
        };
        dlogits.iter_mut().for_each(|g| *g *= share);
        self.gradients[self.logits_gradient].data = gradient;
        loss
    }
}
