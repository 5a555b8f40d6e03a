//! The fully connected layer, over rows of a batch.
//!
//! With W as PyTorch keeps it, `[outputs][inputs]`:
//!
//! ```text
//! forward    y  = x W^T + b
//! backward   dx = dy W         dW += dy^T x      db += sum of the rows of dy
//! ```
//!
//! Every element is summed in an order that depends on its own operands alone, so rows of
//! y and dx do not change with the batch they stand in, nor dW with the tile it falls in.
//! dW and db are sums over the rows, in their order.

use crate::Isa;
use crate::dispatch::Instructions;
use dots::Dots;

mod dots;
mod outer;

/// The sizes of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    /// Floats of a row of x.
    pub inputs: usize,
    /// Floats of a row of y.
    pub outputs: usize,
}

/// What becomes of the gradient that is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gradient {
    /// It is added to.
    Accumulate,
    /// It is replaced.
    Overwrite,
}

impl Linear {
    /// y = x W^T + b for `rows` rows.
    ///
    /// # Panics
    /// If a length does not fit, or this machine lacks `isa`.
    pub fn forward(
        &self,
        isa: Isa,
        rows: usize,
        x: &[f32],
        weights: &[f32],
        bias: &[f32],
        y: &mut [f32],
    ) {
        let Linear { inputs, outputs } = *self;
        let (x, y) = (&x[..rows * inputs], &mut y[..rows * outputs]);
        self.check(weights, bias);
        Instructions::expect(isa).run(Dots { inputs, x, weights, bias, y });
    }

    /// dx = dy W for `rows` rows.
    ///
    /// # Panics
    /// If a length does not fit, or this machine lacks `isa`.
    pub fn input_gradient(
        &self,
        isa: Isa,
        rows: usize,
        dy: &[f32],
        weights: &[f32],
        dx: &mut [f32],
    ) {
        let Linear { inputs, outputs } = *self;
        let (dy, dx) = (&dy[..rows * outputs], &mut dx[..rows * inputs]);
        assert_eq!(weights.len(), inputs * outputs, "a weight for every input and output");
        let left = outer::Left { values: dy, row: outputs, depth: 1 };
        outer::products(isa, [rows, outputs, inputs], left, weights, dx, Gradient::Overwrite);
    }

    /// dW (+)= dy^T x and db (+)= the sum of the rows of dy.
    ///
    /// # Panics
    /// If a length does not fit, or this machine lacks `isa`.
    pub fn weight_gradient(
        &self,
        isa: Isa,
        rows: usize,
        x: &[f32],
        dy: &[f32],
        dweights: &mut [f32],
        dbias: &mut [f32],
        gradient: Gradient,
    ) {
        let Linear { inputs, outputs } = *self;
        let (x, dy) = (&x[..rows * inputs], &dy[..rows * outputs]);
        self.check(dweights, dbias);
        let left = outer::Left { values: dy, row: 1, depth: outputs };
        outer::products(isa, [outputs, rows, inputs], left, x, dweights, gradient);
        if gradient == Gradient::Overwrite {
            dbias.fill(0.0);
        }
        for dy in dy.chunks_exact(outputs.max(1)) {
            for (dbias, dy) in dbias.iter_mut().zip(dy) {
                *dbias += dy;
            }
        }
    }

    fn check(&self, weights: &[f32], bias: &[f32]) {
        assert_eq!(
            weights.len(),
            self.inputs * self.outputs,
            "a weight for every input and output"
        );
        assert_eq!(bias.len(), self.outputs, "a bias for every output");
    }
}
