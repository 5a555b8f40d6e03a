//! The gradient of the factors, one sum of outer products per plane `k`:
//!
//! ```text
//! S[k, i, o] += sum_tile V[k, tile, i] * Z[k, tile, o]
//! ```
//!
//! Register tiles are 6 x 16 floats, or 4 x 16 where six do not fit; with AVX-512 8 x 32, or 16 x 16
//! where there are no more outputs. A sum runs over the tiles in their order, however they are
//! grouped.

use super::planes::{PLANE, check};
use super::products::{Matrices, blocks, skewed};
use super::transform::{TapGrads, Transform};
use super::weights::block_to_weights;
use crate::conv::packing::{WIDE, of_vector};
use crate::conv::scratch::Ahead;
use crate::dispatch::Kernel;
use crate::vector::{LANES, Vector};

/// Lines of memory to fetch with each tile of sums of 8 lanes; with one of 16, twice as many.
const LINES_WITH_SUM: usize = 16;
/// Tiles of a sum between two tests for its end.
const STEPS: usize = 4;

/// `S += V^T Z` over the first `count` tiles, or `S = V^T Z`; or, with the last tiles, the
/// gradient of the weights by that sum, of which no more than a block is written.
pub(super) struct Sums<'a, const T: usize> {
    /// Begin with zeros, whatever the sums hold.
    pub(super) begin: bool,
    pub(super) sums: &'a mut Matrices,
    pub(super) count: usize,
    pub(super) values: &'a [f32],
    pub(super) grads: &'a [f32],
    /// The gradient, and [`room_len`](super::products::room_len) floats for a block.
    pub(super) last: Option<(&'a mut [f32], &'a mut [f32])>,
    /// What is to be fetched meanwhile.
    pub(super) ahead: [&'a mut Ahead; 3],
}

impl<const T: usize> Kernel for Sums<'_, T>
where
    TapGrads: Transform<T, 3>,
{
    #[inline(always)]
    unsafe fn run<V: Vector>(mut self) {
        let Matrices { inputs, outputs, .. } = *self.sums;
        check(self.values.len(), self.count, T * T, inputs);
        check(self.grads.len(), self.count, T * T, outputs);
        let plane_of_sums = self.sums.plane();
        // SAFETY: the caller's promise; `check` has seen the planes of values and gradients.
        unsafe {
            match self.last.take() {
                None => {
                    for plane in 0..T * T {
                        for (first, blocks) in blocks::<V>(outputs) {
                            let at = plane * plane_of_sums + first * inputs;
                            let sums = &mut self.sums.values[at..][..blocks * inputs * WIDE];
                            let sums = (sums.as_mut_ptr(), inputs * WIDE);
                            self.strip::<V>(plane, first, blocks, (sums.0, sums.1), sums);
                        }
                    }
                }
                Some((dw, room)) => {
                    let apart = skewed(inputs);
                    for (first, blocks) in blocks::<V>(outputs) {
                        for plane in 0..T * T {
                            let at = plane * plane_of_sums + first * inputs;
                            let sums = &self.sums.values[at..][..blocks * inputs * WIDE];
                            let sums = (sums.as_ptr(), inputs * WIDE);
                            let to = room[plane * apart..][..inputs * WIDE].as_mut_ptr();
                            self.strip::<V>(plane, first, blocks, sums, (to, T * T * apart));
                        }
                        for (block, room) in
                            room.chunks_exact(T * T * apart).take(blocks).enumerate()
                        {
                            let first = first + block * WIDE;
                            block_to_weights::<V, T>(room, apart, dw, inputs, first);
                        }
                    }
                }
            }
        }
    }
}

impl<const T: usize> Sums<'_, T>
where
    TapGrads: Transform<T, 3>,
{
    /// A plane's sums of all inputs and of one block of 16 outputs or two, from `first` on.
    ///
    /// # Safety
    /// There are rows of 16 sums for all inputs, to begin with and to write, those of a second
    /// block so many floats after those of the first; `check` has seen values and gradients; the
    /// machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn strip<V: Vector>(
        &mut self,
        plane: usize,
        first: usize,
        blocks: usize,
        sums: (*const f32, usize),
        to: (*mut f32, usize),
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            match blocks * WIDE / V::WIDTH {
                1 => self.tiles::<V, 1>(plane, first, sums, to),
                _ => self.tiles::<V, 2>(plane, first, sums, to),
            }
        }
    }

    /// [`strip`](Self::strip), as so many vectors.
    ///
    /// # Safety
    /// The same.
    #[inline(always)]
    unsafe fn tiles<V: Vector, const VECTORS: usize>(
        &mut self,
        plane: usize,
        first: usize,
        (sums, apart): (*const f32, usize),
        (to, to_apart): (*mut f32, usize),
    ) {
        let (inputs, block, wide) = (self.sums.inputs, T * T * PLANE, V::WIDTH == WIDE);
        let mut input = 0;
        while input < inputs {
            for ahead in &mut self.ahead {
                ahead.fetch::<V>(LINES_WITH_SUM * V::WIDTH / LANES);
            }
            // SAFETY: sixteens leave 4 or 8 after the last six, so a tile ends within `inputs`;
            // `check` has seen all tiles in both planes.
            unsafe {
                let values = self.values.as_ptr().add(plane * PLANE);
                let grads = self.grads.as_ptr().add(first / WIDE * block + plane * PLANE);
                let grads = (grads, block);
                let earlier = (!self.begin).then_some((sums.add(input * WIDE), apart));
                let to = (to.add(input * WIDE), to_apart);
                input += match inputs - input {
                    _ if wide && VECTORS == 1 => {
                        let values = within_block::<16>(values, block, input);
                        sum::<V, 16, VECTORS>(earlier, self.count, values, grads, to)
                    }
                    _ if wide => {
                        let values = within_block::<8>(values, block, input);
                        sum::<V, 8, VECTORS>(earlier, self.count, values, grads, to)
                    }
                    4 | 8 => {
                        let values = inputs_from::<4>(values, block, input);
                        sum::<V, 4, VECTORS>(earlier, self.count, values, grads, to)
                    }
                    _ => {
                        let values = inputs_from::<6>(values, block, input);
                        sum::<V, 6, VECTORS>(earlier, self.count, values, grads, to)
                    }
                };
            }
        }
    }
}

/// [`inputs_from`] for inputs of one block, which follow each other.
#[inline(always)]
fn within_block<const INPUTS: usize>(
    values: *const f32,
    block: usize,
    first: usize,
) -> [*const f32; INPUTS] {
    inputs_from(values.wrapping_add(first / WIDE * block + first % WIDE), block, 0)
}

/// Where `INPUTS` inputs from `first` on of the first tile lie, in blocks of 16, `block` floats
/// after one another.
#[inline(always)]
fn inputs_from<const INPUTS: usize>(
    values: *const f32,
    block: usize,
    first: usize,
) -> [*const f32; INPUTS] {
    let mut places = [values; INPUTS];
    for i in 0..INPUTS {
        let input = first + i;
        places[i] = values.wrapping_add(input / WIDE * block + input % WIDE);
    }
    places
}

/// `INPUTS` inputs x 16 outputs, added to earlier sums, if there are any.
///
/// # Safety
/// There are `count` values of each input and as many rows of 16 gradients, each 16 floats after
/// the other, and `INPUTS` rows of 16 sums to read and to write; the machine has the instructions
/// of `V`.
#[inline(always)]
unsafe fn sum<V: Vector, const INPUTS: usize, const VECTORS: usize>(
    earlier: Option<(*const f32, usize)>,
    count: usize,
    values: [*const f32; INPUTS],
    grads: (*const f32, usize),
    (to, apart): (*mut f32, usize),
) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        let mut sum = [[V::zero(); VECTORS]; INPUTS];
        if let Some((sums, apart)) = earlier {
            for i in 0..INPUTS {
                for v in 0..VECTORS {
                    sum[i][v] = V::load(sums.add(i * WIDE + of_vector::<V>(v, apart)));
                }
            }
            add::<V, INPUTS, VECTORS, false>(&mut sum, values, grads, 0);
        } else {
            add::<V, INPUTS, VECTORS, true>(&mut sum, values, grads, 0);
        }
        let mut tile = 1;
        if V::WIDTH < WIDE && count >= STEPS {
            for _ in 1..STEPS {
                add::<V, INPUTS, VECTORS, false>(&mut sum, values, grads, tile);
                tile += 1;
            }
            for _ in 1..count / STEPS {
                for _ in 0..STEPS {
                    add::<V, INPUTS, VECTORS, false>(&mut sum, values, grads, tile);
                    tile += 1;
                }
            }
        }
        while tile < count {
            add::<V, INPUTS, VECTORS, false>(&mut sum, values, grads, tile);
            tile += 1;
        }
        for i in 0..INPUTS {
            for v in 0..VECTORS {
                sum[i][v].store(to.add(i * WIDE + of_vector::<V>(v, apart)));
            }
        }
    }
    INPUTS
}

/// Adds the products of a tile, or begins with them, as in a product.
///
/// # Safety
/// The tile is there; the machine has the instructions of `V`.
#[inline(always)]
unsafe fn add<V: Vector, const INPUTS: usize, const VECTORS: usize, const BEGIN: bool>(
    sum: &mut [[V; VECTORS]; INPUTS],
    values: [*const f32; INPUTS],
    (grads, block): (*const f32, usize),
    tile: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut z = [V::load(grads.add(tile * WIDE)); VECTORS];
        for v in 1..VECTORS {
            z[v] = V::load(grads.add(tile * WIDE + of_vector::<V>(v, block)));
        }
        for i in 0..INPUTS {
            let value = *values[i].add(tile * WIDE);
            for v in 0..VECTORS {
                sum[i][v] = if BEGIN { z[v] * value } else { z[v].scale_add(value, sum[i][v]) };
            }
        }
    }
}
