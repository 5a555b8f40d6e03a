//! Classes cut into parts by proportions, and parts gathered into shares.

/// Where each one's part of `len` samples ends: at the rounded-down running sum of the
/// proportions. The last one with a part takes what rounding leaves.
pub(super) fn cuts(proportions: &[f64], len: usize, ends: &mut [usize]) {
    let last = proportions.iter().rposition(|&part| part > 0.0).unwrap_or(0);
    let mut sum = 0.0;
    for (j, part) in proportions.iter().enumerate() {
        sum += part;
        ends[j] = if j < last { ((sum * len as f64) as usize).min(len) } else { len };
    }
}

/// After so many draws success is out of sight: 20,000 for ten agents and ten classes, of which
/// alpha = 0.001, the hardest in use, needs 180 on average. Two million gammas take less than a
/// second.
pub(super) fn most_draws(agents: usize, classes: usize) -> usize {
    (2_000_000 / agents.saturating_mul(classes).max(1)).clamp(100, 20_000)
}

/// Adds each one's part of a class, given where parts end, to what they have.
pub(super) fn add_parts(ends: &[usize], sizes: &mut [usize]) {
    let mut from = 0;
    for (size, &to) in sizes.iter_mut().zip(ends) {
        *size += to - from;
        from = to;
    }
}

/// Cuts each class's samples at its agents' ends.
pub(super) fn shares(samples: &[Vec<u32>], ends: &[Vec<usize>], agents: usize) -> Vec<Vec<u32>> {
    let mut shares = vec![Vec::new(); agents];
    for (samples, ends) in samples.iter().zip(ends) {
        let mut from = 0;
        for (share, &to) in shares.iter_mut().zip(ends) {
            share.extend_from_slice(&samples[from..to]);
            from = to;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_give_everything_away_and_nothing_to_those_without_a_part() {
        let mut ends = [0; 4];
        cuts(&[0.5, 0.0, 0.5, 0.0], 7, &mut ends);
        assert_eq!(ends, [3, 3, 7, 7]);
        cuts(&[0.0, 0.3, 0.3, 0.4], 0, &mut ends);
        assert_eq!(ends, [0, 0, 0, 0]);
    }
}
