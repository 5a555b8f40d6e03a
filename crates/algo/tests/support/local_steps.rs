//! Local steps and local optimizers a second time, in `f64`, from their definitions.

use std::cell::RefCell;

use consort_algo::{Method, Optimizer};

use super::losses::Quadratics;
use super::matrix::Matrix;

/// H steps with SGD or AdamW from the probe; what comes of them is the sum of the directions.
pub(crate) struct LocalSteps {
    steps: u32,
    optimizer: Optimizer,
    /// AdamW's means of gradients and of their squares, and its count of steps.
    adam: RefCell<Option<(Matrix, Matrix, i32)>>,
}

impl LocalSteps {
    /// One gradient, as it is.
    pub(crate) fn one() -> Self {
        LocalSteps { steps: 1, optimizer: Optimizer::Sgd, adam: RefCell::new(None) }
    }

    pub(crate) fn new(method: &Method) -> Self {
        let (steps, optimizer) = (method.steps, method.optimizer);
        LocalSteps { steps, optimizer, adam: RefCell::new(None) }
    }

    pub(crate) fn walk(&self, losses: &Quadratics, probe: &Matrix, eta: f64) -> Matrix {
        let mut z = probe.clone();
        let mut sum = Matrix::zeros(probe.rows, probe.cols);
        for _ in 0..self.steps {
            let d = self.direction(&z, losses.gradients(&z));
            z = z - eta * &d;
            sum = sum + d;
        }
        sum
    }

    /// Loshchilov & Hutter, 2019, Algorithm 2, without the schedule, divided by the step size.
    fn direction(&self, z: &Matrix, g: Matrix) -> Matrix {
        let Optimizer::AdamW { decay, beta1, beta2 } = self.optimizer else { return g };
        let zero = || Matrix::zeros(g.rows, g.cols);
        let mut state = self.adam.borrow_mut();
        let (m, v, t) = state.get_or_insert_with(|| (zero(), zero(), 0));
        *m = beta1 * &*m + (1.0 - beta1) * &g;
        let squares = Matrix::from_fn(g.rows, g.cols, |i, k| g.at(i, k).powi(2));
        *v = beta2 * &*v + (1.0 - beta2) * squares;
        *t += 1;
        let (c1, c2) = (1.0 - beta1.powi(*t), 1.0 - beta2.powi(*t));
        Matrix::from_fn(g.rows, g.cols, |i, k| {
            (m.at(i, k) / c1) / ((v.at(i, k) / c2).sqrt() + 1e-8) + decay * z.at(i, k)
        })
    }
}
