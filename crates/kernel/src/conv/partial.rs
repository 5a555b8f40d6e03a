//! Vectors as arrays, of which the last one in a slice may be cut short.

/// The `LANES` floats at `at`, or what is left of the slice, followed by zeros.
#[inline(always)]
pub(super) fn load<const LANES: usize>(from: &[f32], at: usize) -> [f32; LANES] {
    let rest = &from[at..];
    if let Some(full) = rest.first_chunk::<LANES>() {
        return *full;
    }
    let mut part = [0.0; LANES];
    part[..rest.len()].copy_from_slice(rest);
    part
}

/// Writes the first `count` lanes at `at`.
#[inline(always)]
pub(super) fn store<const LANES: usize>(
    to: &mut [f32],
    at: usize,
    lanes: [f32; LANES],
    count: usize,
) {
    if count >= LANES {
        to[at..at + LANES].copy_from_slice(&lanes);
    } else {
        to[at..at + count].copy_from_slice(&lanes[..count]);
    }
}
