//! Weights of a forward matrix between the caller's order `[out][in]` and the packed one,
//! `[block of outputs][in][lane]`: squares of 8 x 8 are turned in registers.

use super::super::packing::{Packing, WIDE, lanes_at};
use crate::dispatch::{Instructions, Kernel};
use crate::vector::{LANES, Vector, Vector8};

/// Whether the inputs of an output follow each other, and both come in whole squares.
fn fits(packing: &Packing) -> bool {
    let first = packing.inputs.first().copied().unwrap_or(0);
    let whole = |count: usize| count.is_multiple_of(LANES);
    whole(packing.outputs)
        && whole(packing.inputs.len())
        && packing.inputs.iter().enumerate().all(|(i, &at)| at == first + i)
}

/// Fills `packed` from the caller's array.
pub(in crate::conv) fn pack(
    on: Instructions,
    packing: &Packing,
    plain: &[f32],
    packed: &mut [f32],
) {
    if fits(packing) {
        on.run(Pack { packing, plain, packed });
    } else {
        packing.pack(plain, packed);
    }
}

/// Writes `packed` into the caller's array.
pub(in crate::conv) fn unpack(
    on: Instructions,
    packing: &Packing,
    packed: &[f32],
    plain: &mut [f32],
) {
    if fits(packing) {
        on.run(Unpack { packing, packed, plain });
    } else {
        packing.unpack(packed, plain);
    }
}

struct Pack<'a> {
    packing: &'a Packing,
    plain: &'a [f32],
    packed: &'a mut [f32],
}

impl Kernel for Pack<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let (plain, packed) = (self.plain.as_ptr(), self.packed.as_mut_ptr());
        for square in squares(self.packing, self.plain.len(), self.packed.len()) {
            // SAFETY: a square lies in both arrays; the caller's promise.
            unsafe {
                let from = plain.add(square.plain.0);
                turn::<V::Eight>(
                    (from, square.plain.1),
                    (packed.add(square.packed.0), square.packed.1),
                );
            }
        }
    }
}

struct Unpack<'a> {
    packing: &'a Packing,
    packed: &'a [f32],
    plain: &'a mut [f32],
}

impl Kernel for Unpack<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let (plain, packed) = (self.plain.as_mut_ptr(), self.packed.as_ptr());
        for square in squares(self.packing, self.plain.len(), self.packed.len()) {
            // SAFETY: a square lies in both arrays; the caller's promise.
            unsafe {
                let from = packed.add(square.packed.0);
                turn::<V::Eight>(
                    (from, square.packed.1),
                    (plain.add(square.plain.0), square.plain.1),
                );
            }
        }
    }
}

/// Where 8 outputs of 8 inputs begin, and the floats from one row of them to the next.
struct Square {
    plain: (usize, usize),
    packed: (usize, usize),
}

/// All squares of an order that [`fits`], each of them within arrays of these lengths.
#[inline(always)]
fn squares(packing: &Packing, plain: usize, packed: usize) -> impl Iterator<Item = Square> {
    let (inputs, outputs, step) = (packing.inputs.len(), packing.outputs, packing.output_step);
    let first = packing.inputs.first().copied().unwrap_or(0);
    let end = first + outputs.saturating_sub(1) * step + inputs;
    assert!(inputs * outputs <= packed && end <= plain, "too few weights");
    (0..outputs).step_by(LANES).flat_map(move |output| {
        let block = output / WIDE * WIDE;
        let lanes = lanes_at(block, outputs);
        (0..inputs).step_by(LANES).map(move |input| Square {
            plain: (first + output * step + input, step),
            packed: (block * inputs + input * lanes + output - block, lanes),
        })
    })
}

/// Row `r` of a square becomes column `r` of another.
///
/// # Safety
/// There are 8 rows of 8 floats to read and as many to write, each so many floats after the
/// other; the machine has the instructions of `V`.
#[inline(always)]
unsafe fn turn<V: Vector8>(from: (*const f32, usize), to: (*mut f32, usize)) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut rows = [V::zero(); LANES];
        for r in 0..LANES {
            rows[r] = V::load(from.0.add(r * from.1));
        }
        let columns = V::transposed(rows);
        for c in 0..LANES {
            columns[c].store(to.0.add(c * to.1));
        }
    }
}
