//! Runs a model: loss and gradient of a batch at given parameters.
//!
//! The list of layers is compiled once into steps over *values* (what flows between two
//! layers, with its gradient). A batch runs through all steps a few images at a time: no
//! layer couples samples, so small pieces keep the activations in cache and change the
//! gradient by no more than the rounding of its sum. Nothing is allocated after
//! construction.

mod compile;
mod step;

use consort_kernel::{Path, softmax};

use crate::{ModelError, ModelSpec, Parameters};
use compile::compile;
use step::Step;

/// Images, or rows of numbers, that flow between two layers, and their gradient.
struct Value {
    shape: consort_kernel::Shape,
    data: Vec<f32>,
    gradient: Vec<f32>,
    /// True once a step of the backward pass has written the gradient.
    written: bool,
}

/// A model ready to run on one thread.
pub struct Engine {
    path: Path,
    piece: usize,
    classes: usize,
    input_len: usize,
    parameters: Parameters,
    steps: Vec<Step>,
    values: Vec<Value>,
}

impl Engine {
    /// An engine that takes `piece` images at a time.
    pub fn new(spec: &ModelSpec, piece: usize, path: Path) -> Result<Self, ModelError> {
        let parameters = Parameters::of(spec)?;
        let piece = piece.max(1);
        let (steps, values) = compile(spec, &parameters, piece, path)?;
        let input_len = spec.input_extent().len();
        Ok(Engine { path, piece, classes: spec.classes, input_len, parameters, steps, values })
    }

    /// The parameters of the model.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Bytes of activations, gradients and packed weights.
    pub fn memory_bytes(&self) -> usize {
        let values = self.values.iter().map(|value| 4 * (value.data.len() + value.gradient.len()));
        values.sum::<usize>() + self.steps.iter().map(Step::memory_bytes).sum::<usize>()
    }

    /// The mean loss of a batch at `flat`, and its gradient in `grad`. `images` holds one
    /// image per label, row by row, pixel by pixel, channels innermost.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn loss_and_grad(
        &mut self,
        flat: &[f32],
        images: &[f32],
        labels: &[u32],
        grad: &mut [f32],
    ) -> f32 {
        self.check(flat, images, labels.len());
        assert_eq!(grad.len(), self.parameters.len(), "one gradient per parameter");
        grad.fill(0.0);
        self.take_weights(flat);
        let mut loss = 0.0;
        let pieces = images.chunks(self.piece * self.input_len).zip(labels.chunks(self.piece));
        for (images, labels_of_piece) in pieces {
            let count = labels_of_piece.len();
            self.forward(flat, images, count);
            let share = count as f32 / labels.len() as f32;
            loss += f64::from(share) * f64::from(self.start_backward(labels_of_piece, share));
            self.backward(flat, grad, count);
        }
        self.steps.iter_mut().for_each(|step| step.give_gradient(grad));
        loss as f32
    }

    /// The mean loss of a batch and how many of its images are told right.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn evaluate(&mut self, flat: &[f32], images: &[f32], labels: &[u32]) -> (f32, usize) {
        self.check(flat, images, labels.len());
        self.take_weights(flat);
        let (mut loss, mut correct) = (0.0, 0);
        let pieces = images.chunks(self.piece * self.input_len).zip(labels.chunks(self.piece));
        for (images, labels) in pieces {
            self.forward(flat, images, labels.len());
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

    fn take_weights(&mut self, flat: &[f32]) {
        self.steps.iter_mut().for_each(|step| step.take_weights(flat));
    }

    fn forward(&mut self, flat: &[f32], images: &[f32], count: usize) {
        let plain = self.values[0].shape.with_halo(0);
        let Value { shape, data, .. } = &mut self.values[0];
        consort_kernel::residual::copy(count, images, plain, data, *shape);
        for step in &mut self.steps {
            step.forward(self.path, flat, count, &mut self.values);
        }
    }

    fn logits(&self, count: usize) -> &[f32] {
        let last = self.values.last().map_or(&[][..], |value| &value.data);
        &last[..count * self.classes]
    }

    /// The loss of a piece; its gradient, as a share of the batch's, goes to the logits.
    fn start_backward(&mut self, labels: &[u32], share: f32) -> f32 {
        self.values.iter_mut().for_each(|value| value.written = false);
        let numbers = labels.len() * self.classes;
        let Some(Value { data, gradient, written, .. }) = self.values.last_mut() else {
            return 0.0;
        };
        let (logits, gradient) = (&data[..numbers], &mut gradient[..numbers]);
        let loss = softmax::cross_entropy(logits, self.classes, labels, gradient);
        gradient.iter_mut().for_each(|g| *g *= share);
        *written = true;
        loss
    }

    fn backward(&mut self, flat: &[f32], grad: &mut [f32], count: usize) {
        for step in self.steps.iter_mut().rev() {
            step.backward(self.path, flat, grad, count, &mut self.values);
        }
    }
}
