//! Top-k (Stich, Cordonnier, Jaggi, NeurIPS 2018): the k values of the largest magnitude, and where
//! they stand. delta = k/d.
//!
//! The message is the k values, then their places: `ceil(log2 d)` bits each, or one bit for
//! every place where that is shorter. Where even that is as long as the vector, the message is
//! the vector.

use super::bits::{BitReader, BitWriter, bits_for_places, words_for};
use super::{Codec, count_of_share};

/// Sends the share of the values that is largest in magnitude. Of equal ones the first count.
#[derive(Clone, Copy, Debug)]
pub struct TopK {
    /// The share of the values that is sent, above 0 up to 1.
    pub share: f64,
}

/// How the places of the values are told.
enum Places {
    /// The message is the whole vector.
    Everywhere,
    /// The number of each place, ascending.
    Listed { bits: u32 },
    /// One bit for every place of the vector.
    Marked,
}

impl TopK {
    /// How many values are sent, and how their places are told in how many words.
    fn layout(&self, len: usize) -> (usize, Places, usize) {
        let k = count_of_share(self.share, len);
        let bits = bits_for_places(len);
        let (listed, marked) = (words_for(k, bits), words_for(len, 1));
        match listed.min(marked) {
            words if k + words >= len => (len, Places::Everywhere, 0),
            words if words == listed => (k, Places::Listed { bits }, words),
            words => (k, Places::Marked, words),
        }
    }
}

impl Codec for TopK {
    fn words(&self, len: usize) -> usize {
        let (k, _, words) = self.layout(len);
        k + words
    }

    fn numbers(&self, len: usize) -> usize {
        self.layout(len).0
    }

    fn encode(&self, _round: u32, values: &[f32], message: &mut [f32]) {
        let (k, places, _) = self.layout(values.len());
        let bits = match places {
            Places::Everywhere => return message.copy_from_slice(values),
            Places::Listed { bits } => Some(bits),
            Places::Marked => None,
        };
        let threshold = Threshold::new(values, k);
        let mut at_threshold = threshold.taken_at_it;
        let (chosen, packed) = message.split_at_mut(k);
        let mut chosen = chosen.iter_mut();
        let mut packed = BitWriter::new(packed);
        for (i, &value) in values.iter().enumerate() {
            let size = magnitude(value);
            let mut taken = size > threshold.magnitude;
            if size == threshold.magnitude && at_threshold > 0 {
                at_threshold -= 1;
                taken = true;
            }
            if taken && let Some(next) = chosen.next() {
                *next = value;
            }
            match bits {
                Some(bits) if taken => packed.push(i as u32, bits),
                Some(_) => {}
                None => packed.push(u32::from(taken), 1),
            }
        }
        packed.finish();
    }

    fn add_decoded(&self, _round: u32, message: &[f32], scale: f32, into: &mut [f32]) {
        let (k, places, words) = self.layout(into.len());
        if message.len() != k + words {
            return;
        }
        let (values, packed) = message.split_at(k);
        let mut packed = BitReader::new(packed);
        match places {
            Places::Everywhere => {
                for (x, value) in into.iter_mut().zip(values) {
                    *x += scale * value;
                }
            }
            Places::Listed { bits } => {
                for value in values {
                    if let Some(x) = into.get_mut(packed.pull(bits) as usize) {
                        *x += scale * value;
                    }
                }
            }
            Places::Marked => {
                let mut values = values.iter();
                for x in into {
                    if packed.pull(1) == 1 {
                        let Some(value) = values.next() else { return };
                        *x += scale * value;
                    }
                }
            }
        }
    }
}

/// The bits of a value without its sign: they are in the order of the magnitudes.
#[inline(always)]
fn magnitude(value: f32) -> u32 {
    value.to_bits() & 0x7fff_ffff
}

/// Which values are the k largest: all above a magnitude, and the first few that have it.
struct Threshold {
    magnitude: u32,
    taken_at_it: usize,
}

impl Threshold {
    /// Finds the k-th largest magnitude digit by digit, the highest first: three passes that
    /// count, no sorting and no memory of the vector's size.
    fn new(values: &[f32], k: usize) -> Self {
        const DIGITS: [(u32, u32); 3] = [(20, 11), (10, 10), (0, 10)]; // lowest bit, bits
        let (mut found, mut left) = (0, k);
        for (low, bits) in DIGITS {
            let mut counts = [0_usize; 1 << 11];
            let above = low + bits;
            let digit = (1 << bits) - 1;
            for &value in values {
                let size = magnitude(value);
                if size >> above == found >> above {
                    counts[((size >> low) & digit) as usize] += 1;
                }
            }
            for d in (0..=digit).rev() {
                let here = counts[d as usize];
                if left <= here {
                    found |= d << low;
                    break;
                }
                left -= here;
            }
        }
        Threshold { magnitude: found, taken_at_it: left }
    }
}
