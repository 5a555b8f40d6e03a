//! Scaled sign (Karimireddy et al., ICML 2019): one bit a value, and the mean magnitude.
//!
//! ```text
//! C(v) = |v|_1/d sign(v)          delta = |v|_1² / (d |v|²), at least 1/d
//! ```
//!
//! Every block of 1,024 values has a mean magnitude of its own (as in the blockwise form of Zheng,
//! Huang, Kwok, NeurIPS 2019), which is never worse than one for all: 1.03 bits a value. The
//! message is the means, then the signs.

use super::Codec;

/// Sends the signs and the mean magnitude of every block.
#[derive(Clone, Copy, Debug)]
pub struct Sign;

/// How many values share a scale: a multiple of the bits of a word.
const BLOCK: usize = 1024;
const WORD: usize = 32;
const SIGN_BIT: u32 = 1 << 31;

impl Codec for Sign {
    fn words(&self, len: usize) -> usize {
        self.numbers(len) + len.div_ceil(WORD)
    }

    fn numbers(&self, len: usize) -> usize {
        len.div_ceil(BLOCK)
    }

    fn encode(&self, _round: u32, values: &[f32], message: &mut [f32]) {
        let (scales, signs) = message.split_at_mut(self.numbers(values.len()));
        for (scale, block) in scales.iter_mut().zip(values.chunks(BLOCK)) {
            *scale = sum_of_magnitudes(block) / block.len() as f32;
        }
        for (word, values) in signs.iter_mut().zip(values.chunks(WORD)) {
            let mut bits = 0;
            for (k, value) in values.iter().enumerate() {
                bits |= u32::from(value.is_sign_negative()) << k;
            }
            *word = f32::from_bits(bits);
        }
    }

    fn add_decoded(&self, _round: u32, message: &[f32], scale: f32, into: &mut [f32]) {
        if message.len() != self.words(into.len()) {
            return;
        }
        let (scales, signs) = message.split_at(self.numbers(into.len()));
        let blocks = into.chunks_mut(BLOCK).zip(signs.chunks(BLOCK / WORD));
        for (&of_block, (block, signs)) in scales.iter().zip(blocks) {
            let size = (scale * of_block).to_bits();
            for (values, word) in block.chunks_mut(WORD).zip(signs) {
                let bits = word.to_bits();
                for (k, x) in values.iter_mut().enumerate() {
                    *x += f32::from_bits(size ^ ((bits >> k) << 31 & SIGN_BIT));
                }
            }
        }
    }
}

/// `|v|_1` of a block: sixteen sums side by side, which the compiler vectorises.
fn sum_of_magnitudes(block: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    let (whole, rest) = block.as_chunks::<16>();
    for values in whole {
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += value.abs();
        }
    }
    for (sum, value) in sums.iter_mut().zip(rest) {
        *sum += value.abs();
    }
    sums.iter().sum()
}
