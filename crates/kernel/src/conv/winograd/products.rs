//! The products of all channels, forward and to the input, one matrix product per plane `k`:
//!
//! ```text
//! M[k, tile, o] = sum_i V[k, tile, i] * U[k, i, o]
//! ```
//!
//! Register tiles are 6 x 16 floats, or 4 x 16 where six do not fit; with AVX-512 12 x 32, or 16 x 16
//! where there are no more outputs. A sum runs over the inputs in their order, however tiles are
//! grouped.

use super::planes::{PLANE, check};
use super::transform::{Paired, Taps};
use super::weights::pair_of_planes;
use crate::conv::packing::{WIDE, of_vector};
use crate::conv::scratch::Ahead;
use crate::conv::squares::ROW;
use crate::conv::squares::all::{Squares, Toward};
use crate::dispatch::Kernel;
use crate::vector::{LANES, Vector};

/// Lines of memory to fetch with each tile of products of 8 lanes; with one of 16, twice as many.
const LINES_WITH_PRODUCT: usize = 4;

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

impl<const T: usize> Kernel for Products<'_, T>
where
    Taps: Paired<3, T>,
{
    #[inline(always)]
    unsafe fn run<V: Vector>(mut self) {
        let (inputs, outputs) = self.factors.channels();
        check(self.values.len(), self.count, T * T, inputs);
        check(self.products.len(), self.count, T * T, outputs);
        // SAFETY: the caller's promise; `check` has seen the planes of values and products.
        unsafe {
            match self.factors {
                Factors::Planes(planes) => {
                    for plane in 0..T * T {
                        for (first, blocks) in blocks::<V>(outputs) {
                            let at = plane * planes.plane() + first * inputs;
                            let factors = &planes.values[at..][..blocks * inputs * WIDE];
                            let factors = (factors.as_ptr(), inputs * WIDE);
                            self.strip::<V>(plane, first, blocks, factors, inputs);
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
}

impl<const T: usize> Products<'_, T>
where
    Taps: Paired<3, T>,
{
    /// The planes of two rows of a window.
    ///
    /// # Safety
    /// The machine has the instructions of `V`; `check` has seen values and products.
    #[inline(always)]
    unsafe fn pair<V: Vector, const PAIR: usize>(&mut self, squares: &Squares, toward: Toward) {
        let (inputs, outputs) = squares.channels(toward);
        let apart = skewed(inputs);
        for (first, blocks) in blocks::<V>(outputs) {
            let (room, turned) = self.room.split_at_mut(2 * T * T * apart);
            // SAFETY: the caller's promise.
            unsafe {
                for (block, room) in room.chunks_exact_mut(T * T * apart).take(blocks).enumerate() {
                    let rows = squares.rows::<V::Eight>(toward, first + block * WIDE, turned);
                    pair_of_planes::<V, PAIR, T>(rows, room, apart);
                }
                for row in Taps::PAIRS[PAIR] {
                    for plane in row * T..(row + 1) * T {
                        let factors = self.room[plane * apart..].as_ptr();
                        self.strip::<V>(plane, first, blocks, (factors, T * T * apart), inputs);
                    }
                }
            }
        }
    }

    /// A plane's products of all tiles with one block of 16 outputs or two, from `first` on.
    ///
    /// # Safety
    /// There are rows of 16 factors for all inputs, those of a second block so many floats after
    /// those of the first; `check` has seen values and products; the machine has the instructions
    /// of `V`.
    #[inline(always)]
    unsafe fn strip<V: Vector>(
        &mut self,
        plane: usize,
        first: usize,
        blocks: usize,
        factors: (*const f32, usize),
        inputs: usize,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            match blocks * WIDE / V::WIDTH {
                1 => self.tiles::<V, 1>(plane, first, factors, inputs),
                _ => self.tiles::<V, 2>(plane, first, factors, inputs),
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
        factors: (*const f32, usize),
        inputs: usize,
    ) {
        let (block, wide) = (T * T * PLANE, V::WIDTH == WIDE);
        let mut tile = 0;
        while tile < self.count {
            for ahead in &mut self.ahead {
                ahead.fetch::<V>(LINES_WITH_PRODUCT * V::WIDTH / LANES);
            }
            // SAFETY: fours, sixes, or larger tiles for no fewer than four less, end within GROUP,
            // which is a multiple of six and of four, and so in the planes that `check` has seen.
            unsafe {
                let at = plane * PLANE + tile * WIDE;
                let from = (self.values.as_ptr().add(at), block);
                let to = (self.products.as_mut_ptr().add(first / WIDE * block + at), block);
                tile += match self.count - tile {
                    13.. if wide && VECTORS == 1 => {
                        product::<V, 16, VECTORS>(factors, inputs, from, to)
                    }
                    9..=12 | 17.. if wide => product::<V, 12, VECTORS>(factors, inputs, from, to),
                    5.. if wide => product::<V, 8, VECTORS>(factors, inputs, from, to),
                    5 | 6 | 9.. if !wide => product::<V, 6, VECTORS>(factors, inputs, from, to),
                    _ => product::<V, 4, VECTORS>(factors, inputs, from, to),
                };
            }
        }
    }
}

/// Blocks of 16 outputs that are computed together: two where a block is one vector. The first
/// output of each strip, and the number of its blocks.
#[inline(always)]
pub(super) fn blocks<V: Vector>(outputs: usize) -> impl Iterator<Item = (usize, usize)> {
    let most = if V::WIDTH == WIDE { 2 * WIDE } else { WIDE };
    (0..outputs).step_by(most).map(move |first| (first, most.min(outputs - first) / WIDE))
}

/// Floats of the planes of two blocks, and of the rows of windows of one.
pub(super) fn room_len(planes: usize, inputs: usize) -> usize {
    2 * planes * skewed(inputs) + inputs * ROW
}

/// Floats of a plane of a block, skewed as [`Matrices`] are.
pub(super) fn skewed(inputs: usize) -> usize {
    inputs * WIDE + WIDE
}

/// `TILES` tiles x the outputs of one block or two; returns `TILES`.
///
/// # Safety
/// There are rows of 16 weights for all inputs, in blocks so many floats after one another, and
/// `TILES` rows of values for each block of 16 inputs, and of products for each block of outputs,
/// which follow each other in the same way; the machine has the instructions of `V`.
#[inline(always)]
unsafe fn product<V: Vector, const TILES: usize, const VECTORS: usize>(
    (mut weights, apart): (*const f32, usize),
    inputs: usize,
    (mut from, block): (*const f32, usize),
    (to, to_block): (*mut f32, usize),
) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        let mut sum = [[V::zero(); VECTORS]; TILES];
        step::<V, TILES, VECTORS, true>(&mut sum, weights, apart, from);
        for i in 1..LANES {
            step::<V, TILES, VECTORS, false>(&mut sum, weights.add(i * WIDE), apart, from.add(i));
        }
        // The loop turns in the middle of a block, since the first half of the first block is
        // another one.
        let mut blocks = inputs / WIDE;
        loop {
            for i in LANES..WIDE {
                step::<V, TILES, VECTORS, false>(
                    &mut sum,
                    weights.add(i * WIDE),
                    apart,
                    from.add(i),
                );
            }
            blocks -= 1;
            if blocks == 0 {
                break;
            }
            weights = weights.add(WIDE * WIDE);
            from = from.add(block);
            for i in 0..LANES {
                step::<V, TILES, VECTORS, false>(
                    &mut sum,
                    weights.add(i * WIDE),
                    apart,
                    from.add(i),
                );
            }
        }
        for t in 0..TILES {
            for v in 0..VECTORS {
                sum[t][v].store(to.add(t * WIDE + of_vector::<V>(v, to_block)));
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
/// There are 16 weights for each block of outputs, and the input's values of `TILES` tiles; the
/// machine has the instructions of `V`.
#[inline(always)]
unsafe fn step<V: Vector, const TILES: usize, const VECTORS: usize, const BEGIN: bool>(
    sum: &mut [[V; VECTORS]; TILES],
    weights: *const f32,
    apart: usize,
    from: *const f32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut w = [V::load(weights); VECTORS];
        for v in 1..VECTORS {
            w[v] = V::load(weights.add(of_vector::<V>(v, apart)));
        }
        for t in 0..TILES {
            let value = *from.add(t * WIDE);
            for v in 0..VECTORS {
                sum[t][v] = if BEGIN { w[v] * value } else { w[v].scale_add(value, sum[t][v]) };
            }
        }
    }
}
