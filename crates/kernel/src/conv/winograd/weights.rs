//! Between the caller's weights `[out][in][3][3]` and the matrices of the products:
//! `U = G w G^T` and `dw = G^T S G`, on rows of 16 lanes.

use super::lanes::{LANES, Plain};
use super::products::Matrices;
use super::transform::{TapGrads, Taps, Transform};
use crate::conv::instructions::Kernel;
use crate::conv::packing::WIDE;

/// Halves of a row, in vectors of the transforms.
const HALVES: usize = WIDE / LANES;
/// Inputs, of which there are sixteens, whose taps are gathered before the first of them is
/// transformed: a vector that is read just after its floats were written one by one has to
/// wait for them.
const AHEAD: usize = 8;
/// The taps of a row.
type Window = [[[f32; LANES]; HALVES]; 9];

/// Where in the caller's array the nine taps of an input and an output stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    /// From one input of the product to the next.
    input: usize,
    /// From one output of the product to the next.
    output: usize,
    /// The window turned by 180 degrees.
    turned: bool,
}

impl Places {
    /// The products of the forward pass, for weights of `inputs` channels.
    pub(super) fn forward(inputs: usize) -> Self {
        Places { input: 9, output: 9 * inputs, turned: false }
    }

    /// Those of the input gradient: from outputs to inputs, by the turned window.
    pub(super) fn backward(inputs: usize) -> Self {
        Places { input: 9 * inputs, output: 9, turned: true }
    }

    fn start(&self, block: usize, input: usize) -> usize {
        block * WIDE * self.output + input * self.input
    }

    #[inline(always)]
    fn tap(&self, tap: usize) -> usize {
        if self.turned { 8 - tap } else { tap }
    }

    #[inline(always)]
    fn read(&self, weights: &[f32], block: usize, input: usize, window: &mut Window) {
        let from = &weights[self.start(block, input)..];
        for lane in 0..WIDE {
            let taps: &[f32] = &from[lane * self.output..][..9];
            for tap in 0..9 {
                window[tap][lane / LANES][lane % LANES] = taps[self.tap(tap)];
            }
        }
    }

    #[inline(always)]
    fn write(&self, window: &Window, weights: &mut [f32], block: usize, input: usize) {
        let to = &mut weights[self.start(block, input)..];
        for lane in 0..WIDE {
            let taps: &mut [f32] = &mut to[lane * self.output..][..9];
            for tap in 0..9 {
                taps[self.tap(tap)] = window[tap][lane / LANES][lane % LANES];
            }
        }
    }
}

/// `U = G w G^T`
pub(super) struct WeightsToPlanes<'a, const T: usize> {
    pub(super) places: Places,
    pub(super) weights: &'a [f32],
    pub(super) into: &'a mut Matrices,
}

impl<const T: usize> Kernel for WeightsToPlanes<'_, T>
where
    Taps: Transform<3, T>,
{
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        transform(self.places, self.weights, self.into);
    }
}

/// `dw = G^T S G`
pub(super) struct PlanesToWeights<'a, const T: usize> {
    pub(super) places: Places,
    pub(super) from: &'a Matrices,
    pub(super) dw: &'a mut [f32],
}

impl<const T: usize> Kernel for PlanesToWeights<'_, T>
where
    TapGrads: Transform<T, 3>,
{
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        transform_back(self.places, self.from, self.dw);
    }
}

#[inline(always)]
fn transform<const T: usize>(places: Places, weights: &[f32], into: &mut Matrices)
where
    Taps: Transform<3, T>,
{
    let (inputs, plane) = (into.inputs, into.plane() / LANES);
    let matrices = into.values.as_chunks_mut::<LANES>().0;
    let mut scratch = [[Plain::<false>([0.0; LANES]); T]; 3];
    let mut windows = [Window::default(); AHEAD];
    for block in 0..into.outputs / WIDE {
        for first in (0..inputs).step_by(AHEAD) {
            for (i, window) in windows.iter_mut().enumerate() {
                places.read(weights, block, first + i, window);
            }
            for (i, window) in windows.iter().enumerate() {
                for half in 0..HALVES {
                    let to = (block * inputs + first + i) * HALVES + half;
                    two_sided::<Taps, 3, T>(
                        &mut scratch,
                        #[inline(always)]
                        |r, c| window[3 * r + c][half],
                        #[inline(always)]
                        |r, values| {
                            for c in 0..T {
                                matrices[(r * T + c) * plane + to] = values[c].0;
                            }
                        },
                    );
                }
            }
        }
    }
}

#[inline(always)]
fn transform_back<const T: usize>(places: Places, from: &Matrices, dw: &mut [f32])
where
    TapGrads: Transform<T, 3>,
{
    let (inputs, plane) = (from.inputs, from.plane() / LANES);
    let matrices = from.values.as_chunks::<LANES>().0;
    let mut scratch = [[Plain::<false>([0.0; LANES]); 3]; T];
    for block in 0..from.outputs / WIDE {
        for input in 0..inputs {
            let mut window = Window::default();
            for half in 0..HALVES {
                let at = (block * inputs + input) * HALVES + half;
                two_sided::<TapGrads, T, 3>(
                    &mut scratch,
                    #[inline(always)]
                    |r, c| matrices[(r * T + c) * plane + at],
                    #[inline(always)]
                    |r, values| {
                        for c in 0..3 {
                            window[3 * r + c][half] = values[c].0;
                        }
                    },
                );
            }
            places.write(&window, dw, block, input);
        }
    }
}

/// `F d F^T`: reads element (row, column) of `d` and writes rows of the result. `columns` is
/// scratch, kept by the caller so that it is not cleared for each tile.
#[inline(always)]
fn two_sided<F, const I: usize, const O: usize>(
    columns: &mut [[Plain; O]; I],
    read: impl Fn(usize, usize) -> [f32; LANES],
    mut write: impl FnMut(usize, [Plain; O]),
) where
    F: Transform<I, O>,
{
    for c in 0..I {
        let mut column = [Plain([0.0; LANES]); I];
        for r in 0..I {
            column[r] = Plain(read(r, c));
        }
        columns[c] = F::apply(column);
    }
    for r in 0..O {
        let mut row = [Plain([0.0; LANES]); I];
        for c in 0..I {
            row[c] = columns[c][r];
        }
        write(r, F::apply(row));
    }
}
