//! No compression: the message is the vector. delta = 1.

use super::Codec;

/// Sends every value as it is.
#[derive(Clone, Copy, Debug)]
pub struct Identity;

impl Codec for Identity {
    fn words(&self, len: usize) -> usize {
        len
    }

    fn numbers(&self, len: usize) -> usize {
        len
    }

    fn encode(&self, _round: u32, values: &[f32], message: &mut [f32]) {
        message.copy_from_slice(values);
    }

    fn add_decoded(&self, _round: u32, message: &[f32], scale: f32, into: &mut [f32]) {
        let n = into.len();
        if message.len() != n {
            return;
        }
        for i in 0..n {
            into[i] += scale * message[i];
        }
    }
}
