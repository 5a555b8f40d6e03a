//! All windows of a layer in the order of its products: a square after the other.
//!
//! The squares of a block of 16 outputs follow each other, so they are rows, one for each input,
//! of nine taps of 16 lanes. The backward pass needs rows for each output, with the windows turned by
//! 180 degrees: these are made where they are needed, a block at a time, which takes less time
//! than to write them all to memory and to read them again.

use super::{ROW, Windows, read, turn, write};
use crate::conv::packing::WIDE;
use crate::dispatch::Kernel;
use crate::vector::{Vector, Vector8};

/// `[block of 16 outputs][input][tap][lane]`
#[derive(Clone, Debug)]
pub(in crate::conv) struct Squares {
    inputs: usize,
    outputs: usize,
    values: Vec<f32>,
}

/// Which channels the rows of a block lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::conv) enum Toward {
    /// 16 outputs, from all inputs.
    Outputs,
    /// 16 inputs, from all outputs: the backward pass.
    Inputs,
}

impl Squares {
    /// Zeros. Both kinds of channel come in sixteens.
    pub(in crate::conv) fn new(inputs: usize, outputs: usize) -> Self {
        assert!(inputs.is_multiple_of(WIDE) && outputs.is_multiple_of(WIDE));
        Squares { inputs, outputs, values: vec![0.0; 9 * inputs * outputs] }
    }

    /// Its size in floats.
    pub(in crate::conv) fn len(&self) -> usize {
        self.values.len()
    }

    /// From so many channels to so many.
    #[inline(always)]
    pub(in crate::conv) fn channels(&self, toward: Toward) -> (usize, usize) {
        match toward {
            Toward::Outputs => (self.inputs, self.outputs),
            Toward::Inputs => (self.outputs, self.inputs),
        }
    }

    /// Floats from one block of outputs to the next.
    #[inline(always)]
    fn block(&self) -> usize {
        self.inputs * ROW
    }

    /// The rows that lead to 16 channels, from `first` on: of these squares, or made in `room`,
    /// which has [`ROW`] floats for each row.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    pub(in crate::conv) unsafe fn rows<'a, V: Vector8>(
        &'a self,
        toward: Toward,
        first: usize,
        room: &'a mut [f32],
    ) -> &'a [f32] {
        if toward == Toward::Outputs {
            return &self.values[first / WIDE * self.block()..][..self.block()];
        }
        let room = &mut room[..self.outputs * ROW];
        let of_outputs = self.values.chunks_exact(self.block());
        for (block, room) in of_outputs.zip(room.chunks_exact_mut(WIDE * ROW)) {
            let (from, to) = (square(&block[first * ROW..]), square_mut(room));
            // SAFETY: the caller's promise.
            unsafe { turn::<V>(from, to) };
        }
        room
    }

    /// The block of outputs from `first` on, to be filled.
    #[inline(always)]
    pub(in crate::conv) fn block_mut(&mut self, first: usize) -> &mut [f32] {
        let block = self.block();
        &mut self.values[first / WIDE * block..][..block]
    }
}

#[inline(always)]
fn square(floats: &[f32]) -> &Windows {
    let rows = floats.as_chunks::<ROW>().0;
    rows.first_chunk().expect("a square has 16 rows")
}

#[inline(always)]
fn square_mut(floats: &mut [f32]) -> &mut Windows {
    let rows = floats.as_chunks_mut::<ROW>().0;
    rows.first_chunk_mut().expect("a square has 16 rows")
}

/// The caller's weights `[out][in][3][3]` to squares.
pub(in crate::conv) struct ReadSquares<'a> {
    pub(in crate::conv) weights: &'a [f32],
    pub(in crate::conv) squares: &'a mut Squares,
}

impl Kernel for ReadSquares<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Squares { inputs, outputs, ref mut values } = *self.squares;
        let mut squares = values.chunks_exact_mut(WIDE * ROW);
        for output in (0..outputs).step_by(WIDE) {
            for (input, square) in (0..inputs).step_by(WIDE).zip(&mut squares) {
                // SAFETY: the caller's promise.
                unsafe {
                    read::<V::Eight>(self.weights, inputs, (output, input), square_mut(square))
                };
            }
        }
    }
}

/// Squares to the caller's order.
pub(in crate::conv) struct WriteSquares<'a> {
    pub(in crate::conv) squares: &'a Squares,
    pub(in crate::conv) weights: &'a mut [f32],
}

impl Kernel for WriteSquares<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Squares { inputs, outputs, ref values } = *self.squares;
        let mut squares = values.chunks_exact(WIDE * ROW);
        for output in (0..outputs).step_by(WIDE) {
            for (input, from) in (0..inputs).step_by(WIDE).zip(&mut squares) {
                // SAFETY: the caller's promise.
                unsafe { write::<V::Eight>(square(from), self.weights, inputs, (output, input)) };
            }
        }
    }
}
