//! The weights of a window, or the sums of their gradient, per tap and channel.
//!
//! They lie as `[16 channels][tap][16]`, the last channels filled with zeros.

use super::super::Conv2d;
use super::super::packing::WIDE;
use super::grid::Grid;

/// A window of taps.
#[derive(Clone, Debug)]
pub(super) struct Taps {
    pub(super) grid: Grid,
    /// Position of each tap among the caller's taps of a channel.
    places: Vec<usize>,
    area: usize,
    pub(super) weights: Vec<f32>,
    /// What every sum starts with, per channel.
    pub(super) start: Vec<f32>,
}

impl Taps {
    pub(super) fn new(conv: &Conv2d, grid: Grid, rows: &[usize], columns: &[usize]) -> Self {
        let places: Vec<usize> =
            rows.iter().flat_map(|r| columns.iter().map(move |c| r * conv.kernel.1 + c)).collect();
        let padded = grid.channels.next_multiple_of(WIDE);
        Taps {
            grid,
            area: conv.kernel.0 * conv.kernel.1,
            weights: vec![0.0; padded * places.len()],
            start: vec![0.0; padded],
            places,
        }
    }

    pub(super) fn set_start(&mut self, start: Option<&[f32]>) {
        match start {
            Some(start) => self.start[..start.len()].copy_from_slice(start),
            None => self.start.fill(0.0),
        }
    }

    /// No tap reaches these pixels: they are all `start`.
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Where the first tap of a channel lies; the next one is [`WIDE`] floats on.
    #[inline(always)]
    pub(super) fn place(&self, channel: usize) -> usize {
        channel / WIDE * WIDE * self.places.len() + channel % WIDE
    }

    /// Their number.
    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        self.places.len()
    }

    /// Calls `visit(packed, plain)` for each weight.
    fn each(&self, mut visit: impl FnMut(usize, usize)) {
        for channel in 0..self.grid.channels {
            for (tap, place) in self.places.iter().enumerate() {
                visit(self.place(channel) + tap * WIDE, channel * self.area + place);
            }
        }
    }

    pub(super) fn pack(&mut self, plain: &[f32]) {
        let mut weights = std::mem::take(&mut self.weights);
        self.each(|at, from| weights[at] = plain[from]);
        self.weights = weights;
    }

    pub(super) fn unpack(&self, plain: &mut [f32]) {
        self.each(|at, to| plain[to] = self.weights[at]);
    }
}
