//! Stochastic quantisation, as in QSGD (Alistarh et al., NeurIPS 2017): b bits a value.
//!
//! Values are cut into buckets of 64. With `M` the largest magnitude of a bucket and
//! `s = 2^(b-1) - 1` levels,
//!
//! ```text
//! Q(v)_i = sign(v_i) M/s floor(s |v_i|/M + u_i)          u_i uniform in [0, 1)
//! C(v)   = Q(v) / (1 + omega)                            omega = E |Q(v) - v|² / |v|²
//! ```
//!
//! `Q` is right on average. Divided by `1 + omega`, which the sender knows exactly, it is the
//! contraction that CHOCO-SGD needs: `E |C(v) - v|² = omega/(1+omega) |v|²`, so
//! `delta = 1/(1 + omega)` with `omega <= min(64/(4 s²), 8/s)`: at least 0.75 with 4 bits. QSGD
//! scales by the bucket's norm instead; with the largest magnitude no level is left unused.
//!
//! The message is `M/s/(1+omega)` of every bucket, then b bits of every value: sign, and level.

use super::bits::{BitReader, BitWriter, words_for};
use super::{Codec, mixed_bits};

/// Sends every value in a few bits.
#[derive(Clone, Copy, Debug)]
pub struct Quantize {
    /// Bits of a value, its sign included: 2 to 16.
    pub bits: u32,
}

/// How many values share a scale.
const BUCKET: usize = 64;

impl Quantize {
    fn levels(&self) -> f32 {
        ((1_u32 << (self.bits - 1)) - 1) as f32
    }
}

impl Codec for Quantize {
    fn words(&self, len: usize) -> usize {
        self.numbers(len) + words_for(len, self.bits)
    }

    fn numbers(&self, len: usize) -> usize {
        len.div_ceil(BUCKET)
    }

    fn encode(&self, round: u32, values: &[f32], message: &mut [f32]) {
        let (steps, packed) = message.split_at_mut(self.numbers(values.len()));
        let mut packed = BitWriter::new(packed);
        let s = self.levels();
        let mut levels = [0_u32; BUCKET];
        for ((b, bucket), step) in values.chunks(BUCKET).enumerate().zip(steps) {
            let most = bucket.iter().fold(0.0_f32, |most, v| most.max(v.abs()));
            // The values decide too, so that agents do not round alike.
            let stream = mixed_bits(u64::from(round) << 32 | u64::from(most.to_bits()));
            let (mut variance, mut squares) = (0.0_f64, 0.0_f64);
            for (k, (&v, level)) in bucket.iter().zip(&mut levels).enumerate() {
                let exact = if most > 0.0 { v.abs() / most * s } else { 0.0 };
                let below = exact as u32;
                let above = exact - below as f32; // how far above that level
                *level = below + u32::from(uniform(stream, b * BUCKET + k) < above);
                variance += f64::from(above * (1.0 - above));
                squares += f64::from(v) * f64::from(v);
            }
            let width = f64::from(most) / f64::from(s);
            let omega = variance * width * width / squares;
            // A bucket of zeros has no omega; one with a NaN has none either, but must not hide it.
            *step = if squares == 0.0 { 0.0 } else { (width / (1.0 + omega)) as f32 };
            for (v, level) in bucket.iter().zip(levels) {
                packed.push(u32::from(v.is_sign_negative()) | level << 1, self.bits);
            }
        }
        packed.finish();
    }

    fn add_decoded(&self, _round: u32, message: &[f32], scale: f32, into: &mut [f32]) {
        if message.len() != self.words(into.len()) {
            return;
        }
        let (steps, packed) = message.split_at(self.numbers(into.len()));
        let mut packed = BitReader::new(packed);
        for (bucket, step) in into.chunks_mut(BUCKET).zip(steps) {
            let step = scale * step;
            for x in bucket {
                let symbol = packed.pull(self.bits);
                let size = (symbol >> 1) as f32 * step;
                *x += if symbol & 1 == 1 { -size } else { size };
            }
        }
    }

    fn depends_on_the_round(&self) -> bool {
        true
    }
}

/// A number in [0, 1) that looks random: a hash of the stream and the place.
#[inline(always)]
fn uniform(stream: u64, place: usize) -> f32 {
    let random = mixed_bits(stream ^ place as u64) >> 40;
    random as f32 / (1 << 24) as f32
}
