//! Numbers of a few bits each, packed without gaps into words, lowest bits first.

/// How many words hold `count` numbers of `bits` bits each.
pub(super) fn words_for(count: usize, bits: u32) -> usize {
    (count as u64 * u64::from(bits)).div_ceil(32) as usize
}

/// How many bits tell `len` places apart.
pub(super) fn bits_for_places(len: usize) -> u32 {
    len.saturating_sub(1).checked_ilog2().map_or(0, |log| log + 1)
}

/// Packs numbers into words.
pub(super) struct BitWriter<'a> {
    words: core::slice::IterMut<'a, f32>,
    held: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    /// Begins at the first of `words`.
    pub(super) fn new(words: &'a mut [f32]) -> Self {
        BitWriter { words: words.iter_mut(), held: 0, count: 0 }
    }

    /// Appends the lowest `bits` bits of `value`; there are at most 32, and the others are zero.
    #[inline(always)]
    pub(super) fn push(&mut self, value: u32, bits: u32) {
        self.held |= u64::from(value) << self.count;
        self.count += bits;
        if self.count >= 32 {
            self.write_word();
            self.count -= 32;
        }
    }

    /// Writes what does not fill a word, and zeros behind it.
    pub(super) fn finish(mut self) {
        if self.count > 0 {
            self.write_word();
        }
        self.words.for_each(|word| *word = 0.0);
    }

    #[inline(always)]
    fn write_word(&mut self) {
        if let Some(word) = self.words.next() {
            *word = f32::from_bits(self.held as u32);
        }
        self.held >>= 32;
    }
}

/// Reads what [`BitWriter`] packed; zeros where there are no words left.
pub(super) struct BitReader<'a> {
    words: core::slice::Iter<'a, f32>,
    held: u64,
    count: u32,
}

impl<'a> BitReader<'a> {
    /// Begins at the first of `words`.
    pub(super) fn new(words: &'a [f32]) -> Self {
        BitReader { words: words.iter(), held: 0, count: 0 }
    }

    /// The next number of `bits` bits, at most 32.
    #[inline(always)]
    pub(super) fn pull(&mut self, bits: u32) -> u32 {
        if self.count < bits {
            let word = self.words.next().map_or(0, |word| word.to_bits());
            self.held |= u64::from(word) << self.count;
            self.count += 32;
        }
        let value = self.held & ((1 << bits) - 1);
        self.held >>= bits;
        self.count -= bits;
        value as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_read_back() {
        for bits in 1..=32 {
            let of_place = |k: u32| (k.wrapping_mul(0x9e37_79b9) ^ 0xffff_0000) >> (32 - bits);
            let mut words = [f32::NAN; 100];
            let needed = words_for(99, bits);
            let mut writer = BitWriter::new(&mut words[..needed]);
            (0..99).for_each(|k| writer.push(of_place(k), bits));
            writer.finish();
            let mut reader = BitReader::new(&words[..needed]);
            assert!((0..99).all(|k| reader.pull(bits) == of_place(k)), "{bits} bits");
            assert!(words[needed..].iter().all(|word| word.is_nan()), "{bits} bits: nothing else");
            assert_eq!(BitReader::new(&[]).pull(bits), 0);
        }
    }

    #[test]
    fn places_have_as_many_bits_as_they_need() {
        let bits = [0, 1, 2, 3, 4, 5, 8, 9, 1 << 20].map(bits_for_places);
        assert_eq!(bits, [0, 0, 1, 2, 2, 3, 3, 4, 20]);
    }
}
