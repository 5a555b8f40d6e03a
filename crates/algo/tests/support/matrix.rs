//! Dense `f64` matrices, one row per agent, so that tests read like the equations.

use std::ops::{Add, Div, Mul, Sub};

use super::random::Random;

/// A dense matrix.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    data: Vec<f64>,
}

impl Matrix {
    pub(crate) fn from_fn(rows: usize, cols: usize, f: impl Fn(usize, usize) -> f64) -> Self {
        let data = (0..rows * cols).map(|at| f(at / cols, at % cols)).collect();
        Matrix { rows, cols, data }
    }

    pub(crate) fn zeros(rows: usize, cols: usize) -> Self {
        Matrix::from_fn(rows, cols, |_, _| 0.0)
    }

    pub(crate) fn identity(n: usize) -> Self {
        Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)))
    }

    /// Entries between -1 and 1 that `f32` holds exactly, so that both sides of a
    /// comparison start from the same numbers.
    pub(crate) fn random(rows: usize, cols: usize, random: &mut Random) -> Self {
        let data = (0..rows * cols).map(|_| f64::from(random.symmetric() as f32)).collect();
        Matrix { rows, cols, data }
    }

    /// `rows` copies of one row.
    pub(crate) fn repeat(rows: usize, row: &[f64]) -> Self {
        Matrix::from_fn(rows, row.len(), |_, k| row[k])
    }

    /// A matrix from one row of `f32` per agent.
    pub(crate) fn stack<'a>(rows: impl IntoIterator<Item = &'a [f32]>) -> Self {
        let rows: Vec<&[f32]> = rows.into_iter().collect();
        Matrix::from_fn(rows.len(), rows[0].len(), |i, k| f64::from(rows[i][k]))
    }

    pub(crate) fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.cols + j]
    }

    pub(crate) fn set(&mut self, i: usize, j: usize, value: f64) {
        self.data[i * self.cols + j] = value;
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    pub(crate) fn row_f32(&self, i: usize) -> Vec<f32> {
        self.row(i).iter().map(|&value| value as f32).collect()
    }

    /// The average over the agents.
    pub(crate) fn mean_row(&self) -> Vec<f64> {
        let sum = |k| (0..self.rows).map(|i| self.at(i, k)).sum::<f64>();
        (0..self.cols).map(|k| sum(k) / self.rows as f64).collect()
    }

    /// What is left of every row once the average is taken out.
    pub(crate) fn disagreement(&self) -> Matrix {
        self - Matrix::repeat(self.rows, &self.mean_row())
    }

    /// The largest entry in absolute value; infinite if any is not a number.
    pub(crate) fn max_abs(&self) -> f64 {
        largest(&self.data)
    }

    /// Columns of `self`, then columns of `right`.
    pub(crate) fn beside(&self, right: &Matrix) -> Matrix {
        Matrix::from_fn(self.rows, self.cols + right.cols, |i, k| {
            if k < self.cols { self.at(i, k) } else { right.at(i, k - self.cols) }
        })
    }
}

/// The largest entry in absolute value; infinite if any is not a number.
pub(crate) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, v| if v.is_nan() { f64::INFINITY } else { most.max(v.abs()) })
}

fn entrywise(a: &Matrix, b: &Matrix, f: impl Fn(f64, f64) -> f64) -> Matrix {
    assert_eq!((a.rows, a.cols), (b.rows, b.cols));
    let data = a.data.iter().zip(&b.data).map(|(&a, &b)| f(a, b)).collect();
    Matrix { rows: a.rows, cols: a.cols, data }
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    assert_eq!(a.cols, b.rows);
    let mut out = Matrix::zeros(a.rows, b.cols);
    for i in 0..a.rows {
        for j in 0..a.cols {
            let weight = a.at(i, j);
            if weight != 0.0 {
                for k in 0..b.cols {
                    out.data[i * b.cols + k] += weight * b.at(j, k);
                }
            }
        }
    }
    out
}

/// Lets an operator take its operands owned or borrowed.
macro_rules! operator {
    ($trait:ident, $method:ident, $with:expr) => {
        operator!(@one $trait, $method, $with, Matrix, Matrix);
        operator!(@one $trait, $method, $with, Matrix, &Matrix);
        operator!(@one $trait, $method, $with, &Matrix, Matrix);
        operator!(@one $trait, $method, $with, &Matrix, &Matrix);
    };
    (@one $trait:ident, $method:ident, $with:expr, $left:ty, $right:ty) => {
        impl $trait<$right> for $left {
            type Output = Matrix;
            #[allow(clippy::needless_borrow, reason = "one text for owned and borrowed")]
            fn $method(self, right: $right) -> Matrix {
                $with(&self, &right)
            }
        }
    };
}

operator!(Add, add, |a: &Matrix, b: &Matrix| entrywise(a, b, |a, b| a + b));
operator!(Sub, sub, |a: &Matrix, b: &Matrix| entrywise(a, b, |a, b| a - b));
operator!(Mul, mul, product);

fn scaled(factor: f64, matrix: &Matrix) -> Matrix {
    let data = matrix.data.iter().map(|value| factor * value).collect();
    Matrix { rows: matrix.rows, cols: matrix.cols, data }
}

impl Mul<&Matrix> for f64 {
    type Output = Matrix;
    fn mul(self, matrix: &Matrix) -> Matrix {
        scaled(self, matrix)
    }
}

impl Mul<Matrix> for f64 {
    type Output = Matrix;
    fn mul(self, matrix: Matrix) -> Matrix {
        scaled(self, &matrix)
    }
}

impl Div<f64> for Matrix {
    type Output = Matrix;
    fn div(self, divisor: f64) -> Matrix {
        scaled(1.0 / divisor, &self)
    }
}
