//! The gradient of the bias: the sum of each channel over all pixels.

use super::packing::{NARROW, WIDE};
use super::partial::load;
use super::window::{Steps, Window};
use crate::Shape;
use crate::dispatch::Kernel;
use crate::vector::Vector;

/// `db[o] += sum_p dy[p, o]`
pub(super) struct BiasSum<'a> {
    pub(super) shape: Shape,
    pub(super) images: usize,
    pub(super) dy: &'a [f32],
    pub(super) db: &'a mut [f32],
}

impl Kernel for BiasSum<'_> {
    /// In arrays of a fixed size, whatever the vectors: the compiler makes good vectors of them.
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Shape { height, width, channels, .. } = self.shape;
        let steps = Steps::new(self.shape, (0, 0), 0, 1);
        let window = Window { height, width, source: steps, target: steps };
        let mut cursor = window.cursor(0);
        for _ in 0..self.images * height {
            let (start, _) = cursor.advance_row(&window);
            let row = &self.dy[start..][..width * channels];
            let (blocks, last) = self.db.as_chunks_mut::<WIDE>();
            for (block, sums) in blocks.iter_mut().enumerate() {
                // In registers along a row: through memory every sum would wait for its store.
                let mut sum = *sums;
                for pixel in row.chunks_exact(channels) {
                    let pixel = &pixel[block * WIDE..][..WIDE];
                    for lane in 0..WIDE {
                        sum[lane] += pixel[lane];
                    }
                }
                *sums = sum;
            }
            let first = channels - last.len();
            for (block, db) in last.chunks_mut(NARROW).enumerate() {
                narrow_row(&self.dy[start + first + block * NARROW..], width, channels, db);
            }
        }
    }
}

/// The sums of at most `NARROW` channels along a row. Lanes beyond `db` add whatever lies there,
/// and nobody reads their sums.
#[inline(always)]
fn narrow_row(dy: &[f32], width: usize, channels: usize, db: &mut [f32]) {
    // Four neighbouring pixels have a sum each, so that no addition waits for the one before.
    let mut sums = [[0.0; NARROW]; 4];
    let fours = width / 4 * 4;
    for column in (0..fours).step_by(4) {
        for p in 0..4 {
            add(&mut sums[p], load(dy, (column + p) * channels));
        }
    }
    for column in fours..width {
        add(&mut sums[0], load(dy, column * channels));
    }
    for (lane, db) in db.iter_mut().enumerate() {
        *db += (sums[0][lane] + sums[1][lane]) + (sums[2][lane] + sums[3][lane]);
    }
}

#[inline(always)]
fn add(sums: &mut [f32; NARROW], values: [f32; NARROW]) {
    for lane in 0..NARROW {
        sums[lane] += values[lane];
    }
}
