//! The 3x3 windows between 16 inputs and 16 outputs, as vectors of channels.
//!
//! In the caller's array `[out][in][3][3]` the taps of an output are contiguous over the
//! inputs, so lanes of outputs, or of inputs, are had by transposing 8 x 8 floats at a time.

pub(super) mod all;

use super::packing::WIDE;
use crate::vector::{LANES, Vector8};

/// Floats of a tap: `[row][lane]`.
pub(super) const SQUARE: usize = WIDE * WIDE;
/// `[row][tap][lane]`, where rows are 16 inputs and lanes 16 outputs, or the reverse.
pub(super) type Windows = [[f32; ROW]; WIDE];
/// Windows to fill.
pub(super) const EMPTY: Windows = [[0.0; ROW]; WIDE];
/// Floats of a row; and of the caller's array between an output and 16 inputs.
pub(super) const ROW: usize = 9 * WIDE;

/// The windows of 16 inputs and outputs from `(output, input)` on; rows are inputs.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn read<V: Vector8>(
    weights: &[f32],
    inputs: usize,
    (output, input): (usize, usize),
    windows: &mut Windows,
) {
    let step = 9 * inputs;
    let weights = &weights[output * step + 9 * input..][..(WIDE - 1) * step + ROW];
    let windows = windows.as_flattened_mut();
    for lane in (0..WIDE).step_by(LANES) {
        for first in (0..ROW).step_by(LANES) {
            // SAFETY: of each output, LANES floats from `first` on end within ROW; they are
            // as many rows of taps, in which a vector of lanes ends within WIDE.
            unsafe {
                let from = weights.as_ptr().add(lane * step + first);
                let to = windows.as_mut_ptr().add(first * WIDE + lane);
                transpose::<V>((from, step), (to, WIDE));
            }
        }
    }
}

/// Writes windows, whose rows are inputs, where [`read`] finds them.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn write<V: Vector8>(
    windows: &Windows,
    weights: &mut [f32],
    inputs: usize,
    (output, input): (usize, usize),
) {
    let step = 9 * inputs;
    let weights = &mut weights[output * step + 9 * input..][..(WIDE - 1) * step + ROW];
    let windows = windows.as_flattened();
    for lane in (0..WIDE).step_by(LANES) {
        for first in (0..ROW).step_by(LANES) {
            // SAFETY: as in `read`.
            unsafe {
                let from = windows.as_ptr().add(first * WIDE + lane);
                let to = weights.as_mut_ptr().add(lane * step + first);
                transpose::<V>((from, WIDE), (to, step));
            }
        }
    }
}

/// Exchanges rows and lanes, and turns the windows by 180 degrees.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn turn<V: Vector8>(windows: &Windows, turned: &mut Windows) {
    let (windows, turned) = (windows.as_flattened(), turned.as_flattened_mut());
    for row in (0..WIDE).step_by(LANES) {
        for lane in (0..WIDE).step_by(LANES) {
            for tap in 0..9 {
                // SAFETY: LANES rows from `row`, or from `lane`, are within WIDE, and so are
                // the vectors of lanes of a tap.
                unsafe {
                    let from = windows.as_ptr().add(row * ROW + tap * WIDE + lane);
                    let to = turned.as_mut_ptr().add(lane * ROW + (8 - tap) * WIDE + row);
                    transpose::<V>((from, ROW), (to, ROW));
                }
            }
        }
    }
}

/// 8 x 8 floats; rows lie as far apart as stated.
///
/// # Safety
/// `from` holds 8 rows to read, `to` 8 to write, and the machine has the instructions of `V`.
#[inline(always)]
unsafe fn transpose<V: Vector8>((from, step): (*const f32, usize), (to, apart): (*mut f32, usize)) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut rows = [V::load(from); LANES];
        for l in 1..LANES {
            rows[l] = V::load(from.add(l * step));
        }
        let columns = V::transposed(rows);
        for l in 0..LANES {
            columns[l].store(to.add(l * apart));
        }
    }
}
