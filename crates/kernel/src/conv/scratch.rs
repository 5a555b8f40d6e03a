//! What convolutions share while they run.

use super::ConvRunner;
use crate::vector::Vector;

/// Memory that convolutions use while they run, and what they are to fetch meanwhile. One serves
/// all layers of a model in turn, so that it stays in cache.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(super) floats: Vec<f32>,
    pub(super) ahead: Ahead,
}

impl Scratch {
    /// Makes it large enough for `runner`, which else happens at its first pass.
    pub fn fit(&mut self, runner: &ConvRunner) {
        let needed = runner.scratch_len();
        if self.floats.len() < needed {
            self.floats.resize(needed, 0.0);
        }
    }

    /// Names floats that will be read or written soon, and that lie in memory, not in a cache.
    /// From now on convolutions by products of matrices fetch them into the second-level cache, a
    /// few lines with each of their tiles: they leave the way to memory free, and whoever needs
    /// the floats then need not wait. It changes no result.
    pub fn fetch_ahead(&mut self, floats: &[f32]) {
        self.ahead = Ahead::new(floats);
    }

    /// Its size.
    pub fn memory_bytes(&self) -> usize {
        size_of::<f32>() * self.floats.len()
    }
}

/// A row of lines of memory still to be fetched. Only addresses: nothing is read through them,
/// so it does not matter whether the floats are still there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ahead {
    next: usize,
    end: usize,
}

impl Ahead {
    const LINE: usize = 64;

    pub(super) fn new(floats: &[f32]) -> Self {
        let range = floats.as_ptr_range();
        Ahead { next: range.start.addr(), end: range.end.addr() }
    }

    /// Fetches the next `lines` lines, if any are left; perhaps a few beyond the last.
    #[inline(always)]
    pub(super) fn fetch<V: Vector>(&mut self, lines: usize) {
        if self.next < self.end {
            for line in 0..lines {
                V::prefetch_far(std::ptr::without_provenance(self.next + line * Self::LINE));
            }
            self.next += lines * Self::LINE;
        }
    }
}
