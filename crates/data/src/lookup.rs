//! Bytes become numbers through a table: one float for each byte of each channel.
//!
//! This runs for every image of every step, so it neither divides nor allocates.

use crate::{Normalisation, augment::Shift};

/// For each channel what each byte becomes.
#[derive(Clone, Debug)]
pub(crate) struct Table(Vec<[f32; 256]>);

impl Table {
    /// `(byte / unit - mean) / std` in single precision, operation by operation as PyTorch's
    /// `ToTensor` and `Normalize` compute it.
    pub(crate) fn new(of: &Normalisation) -> Self {
        let channel = |(mean, std): (&f32, &f32)| {
            let mut table = [0.0; 256];
            for (byte, number) in table.iter_mut().enumerate() {
                *number = (byte as f32 / of.unit - mean) / std;
            }
            table
        };
        Self(of.mean.iter().zip(&of.std).map(channel).collect())
    }

    /// The table of numbers that need none.
    pub(crate) fn none() -> Self {
        Self(Vec::new())
    }

    /// Writes `pixels` (channels innermost) unmoved.
    pub(crate) fn write(&self, pixels: &[u8], out: &mut [f32]) {
        match &self.0[..] {
            [grey] => {
                for (number, &byte) in out.iter_mut().zip(pixels) {
                    *number = grey[usize::from(byte)];
                }
            }
            [red, green, blue] => write_rgb([red, green, blue], pixels.as_chunks().0.iter(), out),
            tables => {
                let width = tables.len().max(1);
                for (out, pixel) in out.chunks_exact_mut(width).zip(pixels.chunks_exact(width)) {
                    for ((number, &byte), table) in out.iter_mut().zip(pixel).zip(tables) {
                        *number = table[usize::from(byte)];
                    }
                }
            }
        }
    }

    /// Writes an image of `[height, width, channels]` moved by `shift`: what enters from outside is
    /// black (byte 0).
    pub(crate) fn write_shifted(
        &self,
        pixels: &[u8],
        [height, width, channels]: [usize; 3],
        shift: Shift,
        out: &mut [f32],
    ) {
        let row = width * channels;
        for (y, out) in out.chunks_exact_mut(row).enumerate() {
            let Some(from) = (y + shift.down).checked_sub(shift.pad).filter(|&y| y < height) else {
                self.fill_black(out);
                continue;
            };
            let pixels = &pixels[from * row..][..row];
            // Columns first..last of the window lie inside the image, the others are black.
            let first = shift.pad.saturating_sub(shift.right).min(width);
            let last = (width + shift.pad).saturating_sub(shift.right).min(width);
            let start = (first + shift.right).saturating_sub(shift.pad).min(width);
            let inside = &pixels[start * channels..][..(last - first) * channels];
            let (left, right) =
                if shift.flip { (width - last, width - first) } else { (first, last) };
            self.fill_black(&mut out[..left * channels]);
            self.fill_black(&mut out[right * channels..]);
            let out = &mut out[left * channels..right * channels];
            if shift.flip {
                self.write_reversed(inside, out);
            } else {
                self.write(inside, out);
            }
        }
    }

    fn write_reversed(&self, pixels: &[u8], out: &mut [f32]) {
        match &self.0[..] {
            [red, green, blue] => {
                write_rgb([red, green, blue], pixels.as_chunks().0.iter().rev(), out);
            }
            tables => {
                let width = tables.len().max(1);
                for (out, pixel) in out.chunks_exact_mut(width).zip(pixels.rchunks_exact(width)) {
                    self.write(pixel, out);
                }
            }
        }
    }

    fn fill_black(&self, out: &mut [f32]) {
        for out in out.chunks_exact_mut(self.0.len().max(1)) {
            for (number, table) in out.iter_mut().zip(&self.0) {
                *number = table[0];
            }
        }
    }
}

fn write_rgb<'a>(
    [red, green, blue]: [&[f32; 256]; 3],
    pixels: impl Iterator<Item = &'a [u8; 3]>,
    out: &mut [f32],
) {
    for (out, &[r, g, b]) in out.as_chunks_mut::<3>().0.iter_mut().zip(pixels) {
        *out = [red[usize::from(r)], green[usize::from(g)], blue[usize::from(b)]];
    }
}
