//! Between the caller's weights `[out][in][3][3]` and the order in which products read them:
//! `[tap][block of 16 outputs][input][lane]`.

use crate::conv::instructions::Kernel;
use crate::conv::packing::WIDE;
use crate::conv::squares::{self, SQUARE, Windows};
use crate::lanes::{Fused, Lanes, Plain, kernel_of_lanes};

/// The caller's weights in the order of both passes.
pub(super) struct PackWeights<'a> {
    pub(super) weights: &'a [f32],
    /// Inputs and outputs.
    pub(super) channels: (usize, usize),
    pub(super) forward: &'a mut [f32],
    pub(super) backward: &'a mut [f32],
}

kernel_of_lanes!(PackWeights);

impl PackWeights<'_> {
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn run_on<V: Lanes>(self) {
        let (inputs, outputs) = self.channels;
        let (mut windows, mut turned) = (squares::EMPTY, squares::EMPTY);
        for output in (0..outputs).step_by(WIDE) {
            for input in (0..inputs).step_by(WIDE) {
                let all = inputs * outputs;
                let (there, back) =
                    (output * inputs + input * WIDE, input * outputs + output * WIDE);
                // SAFETY: the caller's promise.
                unsafe {
                    squares::read::<V>(self.weights, inputs, (output, input), &mut windows);
                    squares::turn::<V>(&windows, &mut turned);
                }
                store(&windows, self.forward, there, all);
                store(&turned, self.backward, back, all);
            }
        }
    }
}

/// The taps of a square to the floats from `at` on of each tap's matrix.
#[inline(always)]
fn store(windows: &Windows, packed: &mut [f32], at: usize, matrix: usize) {
    for tap in 0..9 {
        let packed = packed[tap * matrix + at..][..SQUARE].as_chunks_mut::<WIDE>().0;
        for row in 0..WIDE {
            packed[row].copy_from_slice(&windows[row][tap * WIDE..][..WIDE]);
        }
    }
}

/// The gradient of packed weights in the caller's order.
pub(super) struct UnpackSums<'a> {
    pub(super) sums: &'a [f32],
    /// Inputs and outputs.
    pub(super) channels: (usize, usize),
    pub(super) dw: &'a mut [f32],
}

kernel_of_lanes!(UnpackSums);

impl UnpackSums<'_> {
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn run_on<V: Lanes>(self) {
        let (inputs, outputs) = self.channels;
        let mut windows = squares::EMPTY;
        for output in (0..outputs).step_by(WIDE) {
            for input in (0..inputs).step_by(WIDE) {
                for tap in 0..9 {
                    let at = tap * inputs * outputs + output * inputs + input * WIDE;
                    let sums = self.sums[at..][..SQUARE].as_chunks::<WIDE>().0;
                    for row in 0..WIDE {
                        windows[row][tap * WIDE..][..WIDE].copy_from_slice(&sums[row]);
                    }
                }
                // SAFETY: the caller's promise.
                unsafe { squares::write::<V>(&windows, self.dw, inputs, (output, input)) };
            }
        }
    }
}
