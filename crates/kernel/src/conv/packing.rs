//! The order of weights in which a register tile reads them.
//!
//! Outputs are cut into blocks of [`WIDE`], the last of [`NARROW`] where that is enough, and
//! filled with zeros. A block holds, for every input in the order of the sum, one row of its
//! lanes: `[block][input][lane]`.

use crate::vector::Vector;

/// Vector8 of a block.
pub(super) const WIDE: usize = 16;
/// Vector8 of a last block with few outputs.
pub(super) const NARROW: usize = 8;

/// Vector8 of a block that starts at output `first` of `outputs`.
#[inline(always)]
pub(super) fn lanes_at(first: usize, outputs: usize) -> usize {
    if outputs - first > NARROW { WIDE } else { NARROW }
}

/// Floats from the first vector of a row of a strip to its `v`-th: they lie side by side, or, if a
/// row of a block of [`WIDE`] is one vector, in blocks `apart` floats after one another.
#[inline(always)]
pub(super) fn of_vector<V: Vector>(v: usize, apart: usize) -> usize {
    if V::WIDTH == WIDE { v * apart } else { v * V::WIDTH }
}

/// `outputs`, rounded up to whole blocks.
pub(super) fn padded(outputs: usize) -> usize {
    let whole = outputs / WIDE * WIDE;
    if whole == outputs { whole } else { whole + lanes_at(whole, outputs) }
}

/// Which weight of the caller's array stands where.
#[derive(Clone, Debug)]
pub(super) struct Packing {
    /// Position of each input's weight for output 0, in the order of the sum.
    pub(super) inputs: Vec<usize>,
    /// From one output's weight to the next one's.
    pub(super) output_step: usize,
    pub(super) outputs: usize,
}

impl Packing {
    pub(super) fn len(&self) -> usize {
        self.inputs.len() * padded(self.outputs)
    }

    /// Calls `visit(packed, plain, count)` for the weights of each input in a block: where the
    /// first of them lies, and how many there are.
    fn each_row(&self, mut visit: impl FnMut(usize, usize, usize)) {
        let mut packed = 0;
        for first in (0..self.outputs).step_by(WIDE) {
            let lanes = lanes_at(first, self.outputs);
            let used = lanes.min(self.outputs - first);
            for &input in &self.inputs {
                visit(packed, input + first * self.output_step, used);
                packed += lanes;
            }
        }
    }

    /// Fills `packed` from the caller's array; lanes without an output stay as they are.
    pub(super) fn pack(&self, plain: &[f32], packed: &mut [f32]) {
        self.each_row(|at, from, count| {
            let packed = &mut packed[at..][..count];
            match self.output_step {
                1 => packed.copy_from_slice(&plain[from..][..count]),
                step => packed.iter_mut().zip(plain[from..].iter().step_by(step)).for_each(copy),
            }
        });
    }

    /// Writes `packed` into the caller's array.
    pub(super) fn unpack(&self, packed: &[f32], plain: &mut [f32]) {
        self.each_row(|at, to, count| {
            let places = plain[to..].iter_mut().step_by(self.output_step);
            places.zip(&packed[at..][..count]).for_each(copy);
        });
    }
}

fn copy((to, from): (&mut f32, &f32)) {
    *to = *from;
}
