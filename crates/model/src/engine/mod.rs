//! Runs a model: loss and gradient of a batch at given parameters.
//!
//! The list of layers is compiled once into steps over *values* (what flows between two
//! layers) and *gradients* (buffers that values share, since few are alive at a time). A
//! batch runs through all steps a few images at a time: no layer couples samples, so small
//! pieces keep the activations in cache and change nothing but the order in which a bias or
//! a scale sums over the batch. Where a piece is too large for the nearest cache, it runs
//! through a few steps a few images, and a few channels, at a time (`cut`). Nothing is
//! allocated after construction.

mod build;
mod cut;
mod dead;
mod flatten;
mod gradients;
mod non_finite;
mod plan;
mod restore;
mod step;

use std::ops::Range;

use consort_kernel::conv::{Algorithm, Scratch};
use consort_kernel::{Path, Shape, residual, softmax};

use crate::{ModelError, ModelSpec, Parameters};
pub use non_finite::NonFinite;
use plan::{Held, Run};
use step::Step;
pub use step::{Moment, Pass};

/// Images, or rows of numbers, that flow between two layers, or their gradient.
struct Value {
    shape: Shape,
    data: Vec<f32>,
    /// There is room for a few images only, which begin at the start.
    few: bool,
}

impl Value {
    fn new(shape: Shape, images: Option<usize>, piece: usize) -> Self {
        let data = vec![0.0; shape.batch_len(images.unwrap_or(piece))];
        Value { shape, data, few: images.is_some() }
    }

    /// Where an image of the piece begins, the first of those that run together.
    fn at(&self, image: usize) -> usize {
        if self.few { 0 } else { self.shape.batch_len(image) }
    }

    /// Some images of the piece, which run together.
    fn of(&self, images: &Range<usize>) -> &[f32] {
        &self.from(images.start)[..self.shape.batch_len(images.len())]
    }

    fn from(&self, image: usize) -> &[f32] {
        &self.data[self.at(image)..]
    }
}

/// Images of a piece that run back together.
struct Images {
    images: Range<usize>,
    /// No other images of the batch follow.
    last: bool,
}

/// A model ready to run on one thread.
pub struct Engine {
    path: Path,
    piece: usize,
    classes: usize,
    input_len: usize,
    parameters: Parameters,
    steps: Vec<Step>,
    runs: Vec<Run>,
    values: Vec<Value>,
    gradients: Vec<Value>,
    /// What convolutions use while they run.
    scratch: Scratch,
    /// The buffer where the backward pass begins.
    of_logits: usize,
}

impl Engine {
    /// An engine that takes `piece` images at a time.
    pub fn new(spec: &ModelSpec, piece: usize, path: Path) -> Result<Self, ModelError> {
        Self::with_algorithm(spec, piece, path, Algorithm::Auto)
    }

    /// [`new`](Self::new), with a stated method of convolution.
    pub fn with_algorithm(
        spec: &ModelSpec,
        piece: usize,
        path: Path,
        algorithm: Algorithm,
    ) -> Result<Self, ModelError> {
        let parameters = Parameters::of(spec)?;
        let piece = piece.max(1);
        let plan = plan::plan(spec)?;
        let gradients = gradients::assign(&plan);
        let steps = build::build(&plan, &gradients, &parameters, piece, path, algorithm)?;
        let mut scratch = Scratch::default();
        steps.iter().for_each(|step| step.fit(&mut scratch));
        let values = plan.shapes.iter().zip(&plan.held);
        let value = |(shape, held): (&Shape, &Held)| Value::new(*shape, held.value, piece);
        let buffers = gradients.buffers.iter();
        Ok(Engine {
            path,
            piece,
            classes: spec.classes,
            input_len: spec.input_extent().len(),
            parameters,
            steps,
            runs: plan.runs,
            values: values.map(value).collect(),
            gradients: buffers.map(|&(shape, few)| Value::new(shape, few, piece)).collect(),
            scratch,
            of_logits: gradients.of_logits,
        })
    }

    /// The largest piece of a batch whose activations stay in cache, about; or, where that is
    /// more, one so large that reading the weights, which happens once a piece, takes little of
    /// the time. From 8 to 32 images.
    pub fn usual_piece(spec: &ModelSpec) -> usize {
        /// Floats of the last cache, which a piece should not overflow by much. (Half of it, a
        /// core's share, made ResNet-20 2 % slower with AVX2, 6 % with AVX-512.)
        const CACHED: usize = 8 << 20;
        /// Floats of activations per weight.
        const WORTH_READING: usize = 16;
        let kept = |(shape, held): (&Shape, &Held)| match held.value {
            None => shape.batch_len(1),
            Some(_) => 0,
        };
        let floats = |plan: plan::Plan| plan.shapes.iter().zip(&plan.held).map(kept).sum();
        let per_image = plan::plan(spec).map_or(1, floats).max(1);
        let weights = Parameters::of(spec).map_or(0, |parameters| parameters.len());
        let worth = (WORTH_READING * weights / per_image).next_power_of_two();
        let fits = 1 << (CACHED / per_image).max(1).ilog2(); // batches are powers of two, often
        worth.max(fits).clamp(8, 32)
    }

    /// The parameters of the model.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The instructions in use: what a run records.
    pub fn path(&self) -> Path {
        self.path
    }

    /// Images that run through all layers together.
    pub fn piece(&self) -> usize {
        self.piece
    }

    /// Bytes of activations, gradients and packed weights: `piece * a + w`, where `a` counts
    /// what flows between the layers for one image, borders included, and `w` the copies of
    /// the weights in the order of the kernels and what only a few images have at a time.
    pub fn memory_bytes(&self) -> usize {
        let floats = self.values.iter().chain(&self.gradients).map(|value| value.data.len());
        4 * floats.sum::<usize>()
            + self.scratch.memory_bytes()
            + self.steps.iter().map(Step::memory_bytes).sum::<usize>()
    }

    /// Floating-point operations of the loss and gradient of one image that convolutions and
    /// linear layers take, as the definition counts them: a multiply-add is two.
    pub fn flops_per_image(&self) -> u64 {
        self.steps.iter().map(Step::flops).sum()
    }

    /// The mean loss of a batch at `flat`, and its gradient in `grad`. `images` holds one
    /// image per label, row by row, pixel by pixel, channels innermost.
    ///
    /// # Errors
    /// Names the layer where a number first was not finite.
    ///
    /// # Panics
    /// If a slice has the wrong length, or a label is no class.
    pub fn loss_and_grad(
        &mut self,
        flat: &[f32],
        images: &[f32],
        labels: &[u32],
        grad: &mut [f32],
    ) -> Result<f32, NonFinite> {
        self.loss_and_grad_watched(flat, images, labels, grad, &mut |_| {})
    }

    /// [`loss_and_grad`](Self::loss_and_grad), telling `watch` after every piece of work what
    /// it was. A profiler keeps the clock.
    pub fn loss_and_grad_watched(
        &mut self,
        flat: &[f32],
        images: &[f32],
        labels: &[u32],
        grad: &mut [f32],
        watch: &mut dyn FnMut(Moment<'_>),
    ) -> Result<f32, NonFinite> {
        self.check(flat, images, labels.len());
        assert_eq!(grad.len(), self.parameters.len(), "one gradient per parameter");
        self.steps.iter().for_each(|step| step.clear_gradient(grad));
        let mut loss = 0.0;
        let pieces = images.chunks(self.piece * self.input_len).zip(labels.chunks(self.piece));
        let last = pieces.len().saturating_sub(1);
        for (piece, (images, labels_of_piece)) in pieces.enumerate() {
            let count = labels_of_piece.len();
            self.forward(flat, images, count, piece == 0, watch);
            let share = count as f32 / labels.len() as f32;
            let of_piece = self.start_backward(labels_of_piece, share);
            if !of_piece.is_finite() {
                self.steps.iter_mut().for_each(|step| step.drop_gradient(grad));
                return Err(self.first_non_finite(flat, count));
            }
            loss += f64::from(share) * f64::from(of_piece);
            for index in (0..self.runs.len()).rev() {
                let run = self.runs[index].clone();
                for images in run.parts(count) {
                    let images = Images { last: piece == last && images.end == count, images };
                    for at in run.steps.clone().rev() {
                        self.backward((index, at), flat, grad, &images, count, watch);
                    }
                }
            }
        }
        non_finite::in_gradient(&self.parameters, grad)?;
        Ok(loss as f32)
    }

    /// The mean loss of a batch and how many of its images are told right.
    ///
    /// # Panics
    /// If a slice has the wrong length, or a label is no class.
    pub fn evaluate(&mut self, flat: &[f32], images: &[f32], labels: &[u32]) -> (f32, usize) {
        self.check(flat, images, labels.len());
        let (mut loss, mut correct) = (0.0, 0);
        let pieces = images.chunks(self.piece * self.input_len).zip(labels.chunks(self.piece));
        for (piece, (images, labels)) in pieces.enumerate() {
            self.forward(flat, images, labels.len(), piece == 0, &mut |_| {});
            let logits = self.logits(labels.len());
            let mean = softmax::cross_entropy_loss(logits, self.classes, labels);
            loss += f64::from(mean) * labels.len() as f64;
            correct += softmax::correct(logits, self.classes, labels);
        }
        ((loss / labels.len() as f64) as f32, correct)
    }

    fn check(&self, flat: &[f32], images: &[f32], count: usize) {
        assert_eq!(flat.len(), self.parameters.len(), "one number per parameter");
        assert_eq!(images.len(), count * self.input_len, "one image per label");
    }

    /// The first piece of a batch takes the weights, each layer just before it needs them.
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
                        self.scratch.fetch_ahead(value.of(&images));
                    }
                    let step = &mut self.steps[at];
                    step.forward(flat, images.clone(), &mut self.values, &mut self.scratch);
                    watch(step.moment(Pass::Forward));
                }
            }
        }
    }

    /// Runs the piece forward once more, looking at every output as it comes: a sum in place
    /// would hide which of its terms was not finite.
    fn first_non_finite(&mut self, flat: &[f32], count: usize) -> NonFinite {
        let finite =
            |value: &Value, images: &Range<usize>| non_finite::all_finite(value.of(images));
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
        &self.values[last].data[..count * self.classes]
    }

    /// The loss of a piece; its gradient, as a share of the batch's, goes to the logits.
    fn start_backward(&mut self, labels: &[u32], share: f32) -> f32 {
        let numbers = labels.len() * self.classes;
        let mut gradient = std::mem::take(&mut self.gradients[self.of_logits].data);
        let logits = self.logits(labels.len());
        let of_logits = &mut gradient[..numbers];
        let loss = softmax::cross_entropy(logits, self.classes, labels, of_logits);
        of_logits.iter_mut().for_each(|g| *g *= share);
        self.gradients[self.of_logits].data = gradient;
        loss
    }
}
