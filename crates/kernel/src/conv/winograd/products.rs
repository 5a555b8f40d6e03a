//! The products of all channels, one matrix product per plane `k`:
//!
//! ```text
//! M[k, tile, o]  = sum_i V[k, tile, i] * U[k, i, o]       forward, and the input gradient
//! S[k, i, o]    += sum_tile V[k, tile, i] * Z[k, tile, o] the weight gradient
//! ```
//!
//! Register tiles are 6 x 16, or 4 x 16 where six do not fit. The first sum runs over the
//! inputs, the second over the tiles in their order: neither depends on how tiles are grouped.

use super::planes::{PLANE, check};
use super::transform::{Paired, TapGrads, Taps, Transform};
use super::weights::{block_to_weights, pair_of_planes};
use crate::conv::instructions::Kernel;
use crate::conv::packing::WIDE;
use crate::conv::scratch::Ahead;
use crate::conv::squares::ROW;
use crate::conv::squares::all::{Squares, Toward};
use crate::lanes::{LANES, Vector, kernel_of_lanes};

/// Lines of memory to fetch with each tile of products, and of sums.
const LINES_WITH_PRODUCT: usize = 4;
const LINES_WITH_SUM: usize = 16;
/// Tiles of a sum between two tests for its end.
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

    /// Floats from one plane to the next.
    pub(super) fn plane(&self) -> usize {
        self.inputs * self.outputs + WIDE
    }
}

/// The factors `U` of the products.
#[derive(Clone, Copy)]
pub(super) enum Factors<'a> {
    /// Of all planes.
    Planes(&'a Matrices),
    /// To be made of these windows, a few planes and a block of outputs at a time.
    Windows(&'a Squares, Toward),
}

impl Factors<'_> {
    /// Inputs and outputs.
    fn channels(&self) -> (usize, usize) {
        match self {
            Factors::Planes(planes) => (planes.inputs, planes.outputs),
            Factors::Windows(squares, toward) => squares.channels(*toward),
        }
    }
}

/// `M = V U` for the first `count` tiles. Up to three rows after them become garbage.
pub(super) struct Products<'a, const T: usize> {
    pub(super) factors: Factors<'a>,
    pub(super) count: usize,
    pub(super) values: &'a [f32],
    pub(super) products: &'a mut [f32],
    /// [`room_len`] floats for [`Factors::Windows`].
    pub(super) room: &'a mut [f32],
    /// What is to be fetched meanwhile.
    pub(super) ahead: [&'a mut Ahead; 3],
}

kernel_of_lanes!([const T: usize] Products<'_, T> [where Taps: Paired<3, T>], wide);

impl<const T: usize> Products<'_, T>
where
    Taps: Paired<3, T>,
{
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn run_on<V: Vector>(mut self) {
        let (inputs, outputs) = self.factors.channels();
        check(self.values.len(), self.count, T * T, inputs);
        check(self.products.len(), self.count, T * T, outputs);
        // SAFETY: the caller's promise; `check` has seen the planes of values and products.
        unsafe {
            match self.factors {
                Factors::Planes(planes) => {
                    for plane in 0..T * T {
                        for first in (0..outputs).step_by(WIDE) {
                            let at = plane * planes.plane() + first * inputs;
                            let factors = &planes.values[at..][..inputs * WIDE];
                            self.block::<V>(plane, first, factors.as_ptr(), inputs);
                        }
                    }
                }
                Factors::Windows(squares, toward) => {
                    self.pair::<V, 0>(squares, toward);
                    self.pair::<V, 1>(squares, toward);
                    if T == 6 {
                        self.pair::<V, 2>(squares, toward);
                    }
                }
            }
        }
    }

    /// The planes of two rows of a window.
    ///
    /// # Safety
    /// The machine has the instructions of `V`; `check` has seen values and products.
    #[inline(always)]
    unsafe fn pair<V: Vector, const PAIR: usize>(&mut self, squares: &Squares, toward: Toward) {
        let (inputs, outputs) = squares.channels(toward);
        let apart = skewed(inputs);
        for first in (0..outputs).step_by(WIDE) {
            let (room, turned) = self.room.split_at_mut(T * T * apart);
            // SAFETY: the caller's promise.
            unsafe {
                let rows = squares.rows::<V::Eight>(toward, first, turned);
                pair_of_planes::<V, PAIR, T>(rows, room, apart);
                for row in Taps::PAIRS[PAIR] {
                    for plane in row * T..(row + 1) * T {
                        let factors = self.room[plane * apart..][..inputs * WIDE].as_ptr();
                        self.block::<V>(plane, first, factors, inputs);
                    }
                }
            }
        }
    }

    /// A plane's products of all tiles with 16 outputs, from `first` on.
    ///
    /// # Safety
    /// There are rows of 16 factors for all inputs; `check` has seen values and products; the
    /// machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn block<V: Vector>(
        &mut self,
        plane: usize,
        first: usize,
        factors: *const f32,
        inputs: usize,
    ) {
        let block = T * T * PLANE;
        let mut tile = 0;
        while tile < self.count {
            for ahead in &mut self.ahead {
                ahead.fetch::<V>(LINES_WITH_PRODUCT);
            }
            // SAFETY: a tile of 4 or 6 ends within GROUP, which is a multiple of six and of four,
            // and so in the planes that `check` has seen.
            unsafe {
                let at = plane * PLANE + tile * WIDE;
                let from = self.values.as_ptr().add(at);
                let to = self.products.as_mut_ptr().add(first / WIDE * block + at);
                let left = self.count - tile;
                tile += match left {
                    13.. if V::WIDTH == WIDE => {
                        product::<V, 16, 1>(factors, inputs / WIDE, from, block, to)
                    }
                    9.. if V::WIDTH == WIDE => {
                        product::<V, 12, 1>(factors, inputs / WIDE, from, block, to)
                    }
                    5.. if V::WIDTH == WIDE => {
                        product::<V, 8, 1>(factors, inputs / WIDE, from, block, to)
                    }
                    _ if V::WIDTH == WIDE => {
                        product::<V, 4, 1>(factors, inputs / WIDE, from, block, to)
                    }
                    1..=4 | 7 | 8 => product::<V, 4, 2>(factors, inputs / WIDE, from, block, to),
                    _ => product::<V, 6, 2>(factors, inputs / WIDE, from, block, to),
                };
            }
        }
    }
}

/// Floats of a block's planes, and of its rows of windows.
pub(super) fn room_len(planes: usize, inputs: usize) -> usize {
    planes * skewed(inputs) + inputs * ROW
}

/// Floats of a plane of a block, skewed as [`Matrices`] are.
fn skewed(inputs: usize) -> usize {
    inputs * WIDE + WIDE
}

/// `TILES` tiles x 16 outputs.
///
/// # Safety
/// There are rows of 16 weights for `blocks` x 16 inputs; `TILES` rows of values for each
/// block, `block` floats after one another, and of products; the machine has the instructions
/// of `V`.
#[inline(always)]
unsafe fn product<V: Vector, const TILES: usize, const VECTORS: usize>(
    mut weights: *const f32,
    mut blocks: usize,
    mut from: *const f32,
    block: usize,
    to: *mut f32,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        let mut sum = [[V::zero(); VECTORS]; TILES];
        step::<V, TILES, VECTORS, true>(&mut sum, weights, from);
        for i in 1..LANES {
            step::<V, TILES, VECTORS, false>(&mut sum, weights.add(i * WIDE), from.add(i));
        }
        // The loop turns in the middle of a block, since the first half of the first block is
        // another one.
        loop {
            for i in LANES..WIDE {
                step::<V, TILES, VECTORS, false>(&mut sum, weights.add(i * WIDE), from.add(i));
            }
            blocks -= 1;
            if blocks == 0 {
                break;
            }
            weights = weights.add(WIDE * WIDE);
            from = from.add(block);
            for i in 0..LANES {
                step::<V, TILES, VECTORS, false>(&mut sum, weights.add(i * WIDE), from.add(i));
            }
        }
        for t in 0..TILES {
            for v in 0..VECTORS {
                sum[t][v].store(to.add(t * WIDE + v * LANES));
            }
        }
    }
    TILES
}

/// Adds the products of an input, or begins with them.
///
/// A sum begins with a product, not by adding to zeros: while the sums of the tile before are
/// being stored, multiplications run at full speed, multiplications and additions do not.
///
/// # Safety
/// There are 16 weights, and the input's values of `TILES` tiles; the machine has the
/// instructions of `V`.
#[inline(always)]
unsafe fn step<V: Vector, const TILES: usize, const VECTORS: usize, const BEGIN: bool>(
    sum: &mut [[V; VECTORS]; TILES],
    weights: *const f32,
    from: *const f32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut w = [V::load(weights); VECTORS];
        for v in 1..VECTORS {
            w[v] = V::load(weights.add(v * LANES));
        }
        for t in 0..TILES {
            let value = *from.add(t * WIDE);
            for v in 0..VECTORS {
                sum[t][v] = if BEGIN { w[v] * value } else { w[v].scaled(value, sum[t][v]) };
            }
        }
    }
}

/// `S += V^T Z` over the first `count` tiles, or `S = V^T Z`; or, with the last tiles, the
/// gradient of the weights by that sum, of which no more than a block is written.
pub(super) struct Sums<'a, const T: usize> {
    /// Begin with zeros, whatever the sums hold.
    pub(super) begin: bool,
    pub(super) sums: &'a mut Matrices,
    pub(super) count: usize,
    pub(super) values: &'a [f32],
    pub(super) grads: &'a [f32],
    /// The gradient, and [`room_len`] floats for a block.
    pub(super) last: Option<(&'a mut [f32], &'a mut [f32])>,
    /// What is to be fetched meanwhile.
    pub(super) ahead: [&'a mut Ahead; 3],
}

kernel_of_lanes!([const T: usize] Sums<'_, T> [where TapGrads: Transform<T, 3>], wide);

impl<const T: usize> Sums<'_, T>
where
    TapGrads: Transform<T, 3>,
{
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn run_on<V: Vector>(mut self) {
        let Matrices { inputs, outputs, .. } = *self.sums;
        check(self.values.len(), self.count, T * T, inputs);
        check(self.grads.len(), self.count, T * T, outputs);
        let plane_of_sums = self.sums.plane();
        // SAFETY: the caller's promise; `check` has seen the planes of values and gradients.
        unsafe {
            match self.last.take() {
                None => {
                    for plane in 0..T * T {
                        for first in (0..outputs).step_by(WIDE) {
                            let at = plane * plane_of_sums + first * inputs;
                            let sums = self.sums.values[at..][..inputs * WIDE].as_mut_ptr();
                            self.block::<V>(plane, first, sums, sums);
                        }
                    }
                }
                Some((dw, room)) => {
                    let apart = skewed(inputs);
                    for first in (0..outputs).step_by(WIDE) {
                        for plane in 0..T * T {
                            let at = plane * plane_of_sums + first * inputs;
                            let sums = self.sums.values[at..][..inputs * WIDE].as_ptr();
                            let to = room[plane * apart..][..inputs * WIDE].as_mut_ptr();
                            self.block::<V>(plane, first, sums, to);
                        }
                        block_to_weights::<V, T>(room, apart, dw, inputs, first);
                    }
                }
            }
        }
    }

    /// A plane's sums of all inputs and of 16 outputs, from `first` on.
    ///
    /// # Safety
    /// There are rows of 16 sums for all inputs, to begin with and to write; `check` has seen
    /// values and gradients; the machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn block<V: Vector>(
        &mut self,
        plane: usize,
        first: usize,
        sums: *const f32,
        to: *mut f32,
    ) {
        let (inputs, block) = (self.sums.inputs, T * T * PLANE);
        let mut input = 0;
        while input < inputs {
            for ahead in &mut self.ahead {
                ahead.fetch::<V>(LINES_WITH_SUM);
            }
            // SAFETY: sixteens leave 4 or 8 after the last six, so a tile ends within `inputs`;
            // `check` has seen all tiles in both planes.
            unsafe {
                let values = self.values.as_ptr().add(plane * PLANE);
                let grads = self.grads.as_ptr().add(first / WIDE * block + plane * PLANE);
                let (sums, to) = (sums.add(input * WIDE), to.add(input * WIDE));
                let earlier = (!self.begin).then_some(sums);
                input += match inputs - input {
                    _ if V::WIDTH == WIDE => {
                        let values = values.add(input / WIDE * block);
                        let values = inputs_from::<16>(values, block, 0);
                        sum::<V, 16, 1>(earlier, self.count, values, grads, to)
                    }
                    4 | 8 => {
                        let values = inputs_from::<4>(values, block, input);
                        sum::<V, 4, 2>(earlier, self.count, values, grads, to)
                    }
                    _ => {
                        let values = inputs_from::<6>(values, block, input);
                        sum::<V, 6, 2>(earlier, self.count, values, grads, to)
                    }
                };
            }
        }
    }
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
    earlier: Option<*const f32>,
    count: usize,
    values: [*const f32; INPUTS],
    grads: *const f32,
    to: *mut f32,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        let mut sum = [[V::zero(); VECTORS]; INPUTS];
        if let Some(sums) = earlier {
            for i in 0..INPUTS {
                for v in 0..VECTORS {
                    sum[i][v] = V::load(sums.add(i * WIDE + v * LANES));
                }
            }
            add::<V, INPUTS, VECTORS, false>(&mut sum, values, grads, 0);
        } else {
            add::<V, INPUTS, VECTORS, true>(&mut sum, values, grads, 0);
        }
        let mut tile = 1;
        if count >= STEPS {
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
                sum[i][v].store(to.add(i * WIDE + v * LANES));
            }
        }
    }
    INPUTS
}

/// Adds the products of a tile, or begins with them, as [`step`] does.
///
/// # Safety
/// The tile is there; the machine has the instructions of `V`.
#[inline(always)]
unsafe fn add<V: Vector, const INPUTS: usize, const VECTORS: usize, const BEGIN: bool>(
    sum: &mut [[V; VECTORS]; INPUTS],
    values: [*const f32; INPUTS],
    grads: *const f32,
    tile: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut z = [V::load(grads.add(tile * WIDE)); VECTORS];
        for v in 1..VECTORS {
            z[v] = V::load(grads.add(tile * WIDE + v * LANES));
        }
        for i in 0..INPUTS {
            let value = *values[i].add(tile * WIDE);
            for v in 0..VECTORS {
                sum[i][v] = if BEGIN { z[v] * value } else { z[v].scaled(value, sum[i][v]) };
            }
        }
    }
}
