//! The one-dimensional transforms of F(2, 3) and F(4, 3), on vectors of channels.
//!
//! The two-dimensional one applies them to the columns, then to the rows. The matrices are
//! those of Lavin and Gray, "Fast algorithms for convolutional neural networks" (2015).

use crate::dispatch::multiply_add;

/// Channels that are transformed together.
pub(super) const LANES: usize = 8;
pub(super) type Vector = [f32; LANES];

/// A linear map from `I` numbers to `O`.
pub(super) trait Transform<const I: usize, const O: usize> {
    fn apply<const FMA: bool>(d: [Vector; I]) -> [Vector; O];
}

/// Inputs to products, `B^T`.
pub(super) struct Inputs;
/// Products to outputs, `A^T`.
pub(super) struct Outputs;
/// Gradients of outputs to those of products, `A`.
pub(super) struct OutputGrads;

impl Transform<4, 4> for Inputs {
    #[inline(always)]
    fn apply<const FMA: bool>(d: [Vector; 4]) -> [Vector; 4] {
        [sub(d[0], d[2]), add(d[1], d[2]), sub(d[2], d[1]), sub(d[1], d[3])]
    }
}

impl Transform<6, 6> for Inputs {
    #[inline(always)]
    fn apply<const FMA: bool>(d: [Vector; 6]) -> [Vector; 6] {
        let (p, q) = (scaled::<FMA>(-4.0, d[2], d[4]), scaled::<FMA>(-4.0, d[1], d[3]));
        let (r, s) = (sub(d[4], d[2]), sub(d[3], d[1]));
        [
            scaled::<FMA>(4.0, d[0], scaled::<FMA>(-5.0, d[2], d[4])),
            add(p, q),
            sub(p, q),
            scaled::<FMA>(2.0, s, r),
            scaled::<FMA>(-2.0, s, r),
            scaled::<FMA>(4.0, d[1], scaled::<FMA>(-5.0, d[3], d[5])),
        ]
    }
}

impl Transform<4, 2> for Outputs {
    #[inline(always)]
    fn apply<const FMA: bool>(d: [Vector; 4]) -> [Vector; 2] {
        [add(d[0], add(d[1], d[2])), sub(sub(d[1], d[2]), d[3])]
    }
}

impl Transform<6, 4> for Outputs {
    #[inline(always)]
    fn apply<const FMA: bool>(d: [Vector; 6]) -> [Vector; 4] {
        let (p, q) = (add(d[1], d[2]), sub(d[1], d[2]));
        let (r, s) = (add(d[3], d[4]), sub(d[3], d[4]));
        [
            add(d[0], add(p, r)),
            scaled::<FMA>(2.0, s, q),
            scaled::<FMA>(4.0, r, p),
            add(scaled::<FMA>(8.0, s, q), d[5]),
        ]
    }
}

impl Transform<2, 4> for OutputGrads {
    #[inline(always)]
    fn apply<const FMA: bool>(d: [Vector; 2]) -> [Vector; 4] {
        [d[0], add(d[0], d[1]), sub(d[0], d[1]), sub([0.0; LANES], d[1])]
    }
}

impl Transform<4, 6> for OutputGrads {
    #[inline(always)]
    fn apply<const FMA: bool>(d: [Vector; 4]) -> [Vector; 6] {
        let (p, q) = (add(d[0], d[2]), add(d[1], d[3]));
        let (r, s) = (scaled::<FMA>(4.0, d[2], d[0]), scaled::<FMA>(8.0, d[3], add(d[1], d[1])));
        [d[0], add(p, q), sub(p, q), add(r, s), sub(r, s), d[3]]
    }
}

/// `F d F^T`: reads element (row, column) of `d` and writes rows of the result. `columns` is
/// scratch, kept by the caller so that it is not cleared for each tile.
#[inline(always)]
pub(super) fn two_sided<F, const FMA: bool, const I: usize, const O: usize>(
    columns: &mut [[Vector; O]; I],
    read: impl Fn(usize, usize) -> Vector,
    mut write: impl FnMut(usize, [Vector; O]),
) where
    F: Transform<I, O>,
{
    for c in 0..I {
        let mut column = [[0.0; LANES]; I];
        for r in 0..I {
            column[r] = read(r, c);
        }
        columns[c] = F::apply::<FMA>(column);
    }
    for r in 0..O {
        let mut row = [[0.0; LANES]; I];
        for c in 0..I {
            row[c] = columns[c][r];
        }
        write(r, F::apply::<FMA>(row));
    }
}

/// Taps to products, `G`: row `r` gives product `r`.
pub(super) fn taps(outputs: usize) -> &'static [[f32; 3]] {
    const SIXTH: f32 = 1.0 / 6.0;
    const TWELFTH: f32 = 1.0 / 12.0;
    const FOR_2: [[f32; 3]; 4] =
        [[1.0, 0.0, 0.0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0.0, 0.0, 1.0]];
    const FOR_4: [[f32; 3]; 6] = [
        [0.25, 0.0, 0.0],
        [-SIXTH, -SIXTH, -SIXTH],
        [-SIXTH, SIXTH, -SIXTH],
        [0.5 * TWELFTH, TWELFTH, SIXTH],
        [0.5 * TWELFTH, -TWELFTH, SIXTH],
        [0.0, 0.0, 1.0],
    ];
    if outputs == 2 { &FOR_2 } else { &FOR_4 }
}

#[inline(always)]
fn add(a: Vector, b: Vector) -> Vector {
    let mut sum = a;
    for l in 0..LANES {
        sum[l] += b[l];
    }
    sum
}

#[inline(always)]
fn sub(a: Vector, b: Vector) -> Vector {
    let mut difference = a;
    for l in 0..LANES {
        difference[l] -= b[l];
    }
    difference
}

/// `factor * a + b`
#[inline(always)]
fn scaled<const FMA: bool>(factor: f32, a: Vector, b: Vector) -> Vector {
    let mut sum = b;
    for l in 0..LANES {
        sum[l] = multiply_add::<FMA>(factor, a[l], b[l]);
    }
    sum
}
