//! A model and its data as the oracle of an agent.

use consort_algo::{Oracle, OracleError};
use consort_kernel::Isa;

use crate::{Engine, ModelError, ModelSpec, NonFinite};

/// Where an agent's mini-batches come from.
///
/// The answer may depend on the source's seed and on how often it was asked before, and on
/// nothing else. A closure with the signature of [`next_batch`](Batches::next_batch) is a
/// source too.
pub trait Batches: Send {
    /// Fills in the next mini-batch: one label per image; images row by row, pixel by pixel,
    /// channels innermost. Both vectors come empty and keep their memory from call to call,
    /// so that nothing has to be allocated after the first batches.
    fn next_batch(
        &mut self,
        images: &mut Vec<f32>,
        labels: &mut Vec<u32>,
    ) -> Result<(), OracleError>;
}

impl<F> Batches for F
where
    F: FnMut(&mut Vec<f32>, &mut Vec<u32>) -> Result<(), OracleError> + Send,
{
    fn next_batch(
        &mut self,
        images: &mut Vec<f32>,
        labels: &mut Vec<u32>,
    ) -> Result<(), OracleError> {
        self(images, labels)
    }
}

/// A model with a source of mini-batches: what an agent trains.
///
/// ```
/// use consort_algo::{Oracle, OracleError};
/// use consort_model::{ModelOracle, Isa, zoo};
///
/// // Two classes that the left and the right pixel of an image tell apart.
/// let batches = |images: &mut Vec<f32>, labels: &mut Vec<u32>| {
///     images.extend([1.0, 0.0, 0.0, 1.0]);
///     labels.extend([0, 1]);
///     Ok::<(), OracleError>(())
/// };
/// let spec = zoo::softmax_regression([1, 2, 1], 2);
/// let mut oracle = ModelOracle::new(&spec, 2, Isa::detect(), batches)?;
/// let mut grad = [0.0; 6];
/// let loss = oracle.loss_and_grad(&[0.0; 6], &mut grad)?;
/// assert!((loss - 2.0_f32.ln()).abs() < 1e-6);
/// assert!((grad[0] + 0.25).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ModelOracle<B> {
    engine: Engine,
    batches: B,
    pixels: usize,
    classes: usize,
    images: Vec<f32>,
    labels: Vec<u32>,
}

impl<B: Batches> ModelOracle<B> {
    /// An oracle that runs `micro_batch` images at a time through all layers.
    pub fn new(
        spec: &ModelSpec,
        micro_batch: usize,
        isa: Isa,
        batches: B,
    ) -> Result<Self, ModelError> {
        let engine = Engine::new(spec, micro_batch, isa)?;
        let (pixels, classes) = (spec.input_extent().len(), spec.classes);
        Ok(ModelOracle { engine, batches, pixels, classes, images: Vec::new(), labels: Vec::new() })
    }

    /// The model, to evaluate it or to look at its parameters.
    pub fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// The engine trusts its caller; a source of data is somebody else's code.
    fn check_batch(&self) -> Result<(), OracleError> {
        let (images, labels) = (&self.images, &self.labels);
        let failed = |reason: String| Err(OracleError::Failed { reason });
        if labels.is_empty() {
            return failed("the mini-batch is empty".into());
        }
        let expected = labels.len() * self.pixels;
        if images.len() != expected {
            return failed(format!(
                "the mini-batch has {} labels and {} numbers of images, expected {expected}, {} an image",
                labels.len(),
                images.len(),
                self.pixels
            ));
        }
        match labels.iter().position(|&label| label as usize >= self.classes) {
            Some(i) => failed(format!(
                "image {i} of the mini-batch has label {}, expected 0 to {}",
                labels[i],
                self.classes - 1
            )),
            None => Ok(()),
        }
    }
}

impl From<NonFinite> for OracleError {
    fn from(broken: NonFinite) -> Self {
        OracleError::NonFinite { what: broken.what, layer: Some(broken.layer) }
    }
}

impl<B: Batches> Oracle for ModelOracle<B> {
    fn len(&self) -> usize {
        self.engine.parameters().len()
    }

    fn loss_and_grad(&mut self, at: &[f32], grad: &mut [f32]) -> Result<f32, OracleError> {
        self.images.clear();
        self.labels.clear();
        self.batches.next_batch(&mut self.images, &mut self.labels)?;
        self.check_batch()?;
        Ok(self.engine.loss_and_grad(at, &self.images, &self.labels, grad)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zoo;

    type Answer = Result<(), OracleError>;

    /// Image `k` of the data: a bump that moves with `k`.
    fn image(k: usize, pixels: usize) -> impl Iterator<Item = f32> {
        (0..pixels).map(move |i| ((i * 13 + k * 7) % 17) as f32 / 8.0 - 1.0)
    }

    /// Each call takes the next batch; loss and gradient are the engine's, bit by bit, whatever
    /// `grad` held before.
    #[test]
    fn the_answer_is_the_engines_on_the_next_batch() {
        let spec = zoo::digits_cnn(10);
        let mut calls = 0;
        let source = move |images: &mut Vec<f32>, labels: &mut Vec<u32>| -> Answer {
            images.extend((0..3).flat_map(|b| image(3 * calls + b, 64)));
            labels.extend([1, 2, 3]);
            calls += 1;
            Ok(())
        };
        let mut oracle = ModelOracle::new(&spec, 2, Isa::detect(), source).unwrap();
        let mut engine = Engine::new(&spec, 2, Isa::detect()).unwrap();
        let at = engine.parameters().initial(1);
        assert_eq!(oracle.len(), at.len());
        let (mut grad, mut expected) = (vec![f32::NAN; at.len()], vec![0.0; at.len()]);
        for call in 0..3 {
            let images: Vec<f32> = (0..3).flat_map(|b| image(3 * call + b, 64)).collect();
            let loss = engine.loss_and_grad(&at, &images, &[1, 2, 3], &mut expected).unwrap();
            assert_eq!(oracle.loss_and_grad(&at, &mut grad).unwrap().to_bits(), loss.to_bits());
            assert!(grad.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }

    /// The buffers of a batch are kept: an answer allocates no more than the engine alone.
    #[test]
    fn the_oracle_allocates_nothing_after_the_first_batch() {
        let spec = zoo::softmax_regression([8, 8, 1], 10);
        let images: Vec<f32> = (0..4).flat_map(|b| image(b, 64)).collect();
        let copy = images.clone();
        let source = move |images: &mut Vec<f32>, labels: &mut Vec<u32>| -> Answer {
            images.extend_from_slice(&copy);
            labels.extend([0, 1, 2, 3]);
            Ok(())
        };
        let mut oracle = ModelOracle::new(&spec, 2, Isa::detect(), source).unwrap();
        let (at, mut grad) = (vec![0.01; oracle.len()], vec![0.0; oracle.len()]);
        let mut answer = || oracle.loss_and_grad(&at, &mut grad).unwrap();
        answer();
        let used = allocation_counter::measure(|| {
            answer();
        });
        let mut engine = Engine::new(&spec, 2, Isa::detect()).unwrap();
        let of_engine = allocation_counter::measure(|| {
            engine.loss_and_grad(&at, &images, &[0, 1, 2, 3], &mut grad).unwrap();
        });
        assert_eq!(used.count_total, of_engine.count_total);
    }

    #[test]
    fn a_bad_batch_is_an_error_that_says_what_is_wrong() {
        let told = |images: usize, labels: &'static [u32]| {
            let source = move |to: &mut Vec<f32>, all: &mut Vec<u32>| -> Answer {
                to.extend(image(0, images));
                all.extend(labels);
                Ok(())
            };
            let spec = zoo::softmax_regression([8, 8, 1], 10);
            let mut oracle = ModelOracle::new(&spec, 2, Isa::detect(), source).unwrap();
            let (at, mut grad) = (vec![0.0; oracle.len()], vec![0.0; oracle.len()]);
            oracle.loss_and_grad(&at, &mut grad).unwrap_err().to_string()
        };
        assert_eq!(told(0, &[]), "the mini-batch is empty");
        assert_eq!(
            told(100, &[1, 2]),
            "the mini-batch has 2 labels and 100 numbers of images, expected 128, 64 an image"
        );
        assert_eq!(told(128, &[1, 10]), "image 1 of the mini-batch has label 10, expected 0 to 9");
    }

    #[test]
    fn the_sources_own_error_is_passed_on() {
        let gone = OracleError::Failed { reason: "data.bin is gone".into() };
        let copy = gone.clone();
        let source = move |_: &mut Vec<f32>, _: &mut Vec<u32>| -> Answer { Err(copy.clone()) };
        let spec = zoo::softmax_regression([8, 8, 1], 10);
        let mut oracle = ModelOracle::new(&spec, 2, Isa::detect(), source).unwrap();
        let (at, mut grad) = (vec![0.0; oracle.len()], vec![0.0; oracle.len()]);
        assert_eq!(oracle.loss_and_grad(&at, &mut grad), Err(gone));
    }

    /// A parameter that is NaN is never silent, whichever it is: no ReLU or maximum hides it.
    #[test]
    fn a_parameter_that_is_nan_is_told_with_a_layer() {
        for name in ["softmax", "mlp", "digits-cnn", "lenet5", "resnet8"] {
            let spec = zoo::by_name(name, 10).unwrap();
            let pixels = spec.input.iter().product();
            let source = move |images: &mut Vec<f32>, labels: &mut Vec<u32>| -> Answer {
                images.extend(image(1, pixels));
                labels.push(3);
                Ok(())
            };
            let mut oracle = ModelOracle::new(&spec, 1, Isa::detect(), source).unwrap();
            let mut at = oracle.engine().parameters().initial(1);
            let mut grad = vec![0.0; at.len()];
            let firsts: Vec<(usize, String)> =
                oracle.engine().parameters().iter().map(|p| (p.offset, p.name.clone())).collect();
            for (k, parameter) in firsts {
                let before = std::mem::replace(&mut at[k], f32::NAN);
                let answer = oracle.loss_and_grad(&at, &mut grad);
                assert!(
                    matches!(&answer, Err(OracleError::NonFinite { layer: Some(_), .. })),
                    "{name}, {parameter}: {answer:?}"
                );
                at[k] = before;
                // What went wrong once does not stay in the engine.
                let again = oracle.loss_and_grad(&at, &mut grad);
                assert!(again.is_ok(), "{name} after {parameter}: {again:?}");
            }
        }
    }
}
