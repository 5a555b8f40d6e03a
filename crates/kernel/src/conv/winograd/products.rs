//! The products of all channels, one matrix product per plane `k`:
//!
//! ```text
//! M[k, tile, o]  = sum_i V[k, tile, i] * U[k, i, o]       forward, and the input gradient
//! S[k, i, o]    += sum_tile V[k, tile, i] * Z[k, tile, o] the weight gradient
//! ```
//!
//! Register tiles are 6 x 16, or 4 x 16 where six do not fit. The first sum runs over the
//! inputs, the second over the tiles in their order: neither depends on how tiles are grouped.

use super::planes::Layout;
use crate::conv::instructions::Kernel;
use crate::conv::packing::WIDE;
use crate::lanes::{Fused, LANES, Lanes, Plain};

/// Vectors of a row of a register tile.
const VECTORS: usize = WIDE / LANES;
/// Steps of a sum between two tests for its end.
const STEPS: usize = 4;

/// One matrix `[block of 16 outputs][input][lane]` per plane. They are skewed by a cache line,
/// since matrices that lie a power of two apart would evict each other.
#[derive(Clone, Debug)]
pub(super) struct Matrices {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) values: Vec<f32>,
}

impl Matrices {
    pub(super) fn new(planes: usize, inputs: usize, outputs: usize) -> Self {
        let values = vec![0.0; planes * (inputs * outputs + WIDE)];
        Matrices { inputs, outputs, values }
    }

    fn planes(&self) -> usize {
        self.values.len() / self.plane()
    }

    /// Floats from one plane to the next.
    pub(super) fn plane(&self) -> usize {
        self.inputs * self.outputs + WIDE
    }
}

/// `M = V U` for the first `count` tiles. Up to three rows after them become garbage.
pub(super) struct Products<'a> {
    pub(super) weights: &'a Matrices,
    pub(super) count: usize,
    pub(super) from: Layout,
    pub(super) values: &'a [f32],
    pub(super) to: Layout,
    pub(super) products: &'a mut [f32],
}

impl Kernel for Products<'_> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        match FMA {
            // SAFETY: with `FMA`, a kernel runs only where AVX2 and FMA were detected.
            true => unsafe { self.run_on::<Fused>() },
            // SAFETY: any machine has the instructions of `Plain`.
            false => unsafe { self.run_on::<Plain>() },
        }
    }
}

impl Products<'_> {
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn run_on<V: Lanes>(self) {
        let Matrices { inputs, outputs, .. } = *self.weights;
        assert_eq!((self.from.channels, self.to.channels), (inputs, outputs));
        assert!(inputs.is_multiple_of(STEPS) && outputs.is_multiple_of(WIDE));
        let planes = self.weights.planes();
        let rows = self.count.next_multiple_of(2).max(4);
        self.from.check(self.values.len(), rows, planes);
        self.to.check(self.products.len(), rows, planes);
        for plane in 0..planes {
            let weights = &self.weights.values[plane * self.weights.plane()..];
            for first in (0..outputs).step_by(WIDE) {
                let mut tile = 0;
                while tile < self.count {
                    // SAFETY: a tile of 4 or 6 ends within the even number of rows that
                    // `check` has seen in both planes; a block has `inputs` rows of weights.
                    unsafe {
                        let weights = weights.as_ptr().add(first * inputs);
                        let from =
                            self.values.as_ptr().add(plane * self.from.plane + tile * inputs);
                        let to = self.products.as_mut_ptr();
                        let to = to.add(plane * self.to.plane + tile * outputs + first);
                        match self.count - tile {
                            1..=4 | 7 | 8 => {
                                product::<V, 4>(weights, from, inputs, to, outputs);
                                tile += 4;
                            }
                            _ => {
                                product::<V, 6>(weights, from, inputs, to, outputs);
                                tile += 6;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// `TILES` tiles x 16 outputs.
///
/// # Safety
/// There are `inputs` rows of 16 weights, and `TILES` rows of `inputs` values and of 16
/// products, each `outputs` after the other; `inputs` is a multiple of [`STEPS`]; the machine
/// has the instructions of `V`.
#[inline(always)]
unsafe fn product<V: Lanes, const TILES: usize>(
    mut weights: *const f32,
    mut from: *const f32,
    inputs: usize,
    to: *mut f32,
    outputs: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut sum = [[V::zero(); VECTORS]; TILES];
        for _ in 0..inputs / STEPS {
            for i in 0..STEPS {
                let mut w = [V::load(weights.add(i * WIDE)); VECTORS];
                for v in 1..VECTORS {
                    w[v] = V::load(weights.add(i * WIDE + v * LANES));
                }
                for t in 0..TILES {
                    let value = *from.add(t * inputs + i);
                    for v in 0..VECTORS {
                        sum[t][v] = w[v].scaled(value, sum[t][v]);
                    }
                }
            }
            weights = weights.add(STEPS * WIDE);
            from = from.add(STEPS);
        }
        for t in 0..TILES {
            for v in 0..VECTORS {
                sum[t][v].store(to.add(t * outputs + v * LANES));
            }
        }
    }
}

/// `S += V^T Z` over the first `count` tiles, or `S = V^T Z`.
pub(super) struct Sums<'a> {
    /// Begin with zeros, whatever the sums hold.
    pub(super) begin: bool,
    pub(super) sums: &'a mut Matrices,
    pub(super) count: usize,
    pub(super) from: Layout,
    pub(super) values: &'a [f32],
    pub(super) to: Layout,
    pub(super) grads: &'a [f32],
}

impl Kernel for Sums<'_> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        match FMA {
            // SAFETY: with `FMA`, a kernel runs only where AVX2 and FMA were detected.
            true => unsafe { self.run_on::<Fused>() },
            // SAFETY: any machine has the instructions of `Plain`.
            false => unsafe { self.run_on::<Plain>() },
        }
    }
}

impl Sums<'_> {
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn run_on<V: Lanes>(self) {
        let Matrices { inputs, outputs, .. } = *self.sums;
        assert_eq!((self.from.channels, self.to.channels), (inputs, outputs));
        assert!(inputs.is_multiple_of(WIDE) && outputs.is_multiple_of(WIDE));
        let (planes, skewed) = (self.sums.planes(), self.sums.plane());
        self.from.check(self.values.len(), self.count, planes);
        self.to.check(self.grads.len(), self.count, planes);
        for plane in 0..planes {
            let sums = &mut self.sums.values[plane * skewed..];
            for first in (0..outputs).step_by(WIDE) {
                let mut input = 0;
                while input < inputs {
                    // SAFETY: sixteens leave 4 or 8 after the last six, so a tile ends within
                    // `inputs`; `check` has seen all tiles in both planes.
                    unsafe {
                        let values = self.values.as_ptr().add(plane * self.from.plane + input);
                        let grads = self.grads.as_ptr().add(plane * self.to.plane + first);
                        let sums = sums.as_mut_ptr().add(first * inputs + input * WIDE);
                        match inputs - input {
                            4 | 8 => {
                                let size = (self.count, inputs, outputs);
                                sum::<V, 4>(self.begin, size, values, grads, sums);
                                input += 4;
                            }
                            _ => {
                                let size = (self.count, inputs, outputs);
                                sum::<V, 6>(self.begin, size, values, grads, sums);
                                input += 6;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// `INPUTS` inputs x 16 outputs.
///
/// # Safety
/// There are `count` rows of `INPUTS` values, each `inputs` after the other, as many of 16
/// gradients, each `outputs` after the other, and `INPUTS` rows of 16 sums; the machine has the
/// instructions of `V`.
#[inline(always)]
unsafe fn sum<V: Lanes, const INPUTS: usize>(
    begin: bool,
    (count, inputs, outputs): (usize, usize, usize),
    mut values: *const f32,
    mut grads: *const f32,
    sums: *mut f32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut sum = [[V::zero(); VECTORS]; INPUTS];
        if !begin {
            for i in 0..INPUTS {
                for v in 0..VECTORS {
                    sum[i][v] = V::load(sums.add(i * WIDE + v * LANES));
                }
            }
        }
        for _ in 0..count {
            let mut z = [V::load(grads); VECTORS];
            for v in 1..VECTORS {
                z[v] = V::load(grads.add(v * LANES));
            }
            for i in 0..INPUTS {
                let value = *values.add(i);
                for v in 0..VECTORS {
                    sum[i][v] = z[v].scaled(value, sum[i][v]);
                }
            }
            values = values.wrapping_add(inputs);
            grads = grads.wrapping_add(outputs);
        }
        for i in 0..INPUTS {
            for v in 0..VECTORS {
                sum[i][v].store(sums.add(i * WIDE + v * LANES));
            }
        }
    }
}
