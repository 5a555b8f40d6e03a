//! The weighted sum of a round's messages, block by block.
//!
//! A block of every message is summed and passed on while it is in the L1 cache, so the mix
//! of a method is one pass over memory and needs no buffer of the model's size. The sum
//! always runs in the order of the senders, and the bits depend on nothing else.

use crate::Inbox;

/// How many floats are summed at a time: few enough for the L1 cache, enough for the compiler
/// to vectorise the loops.
pub(crate) const BLOCK: usize = 512;

/// Passes `Σ_j w_ij m_j` of the floats `from..to` to `consume`, block by block, as
/// `(first index relative to from, values)`.
#[inline(always)]
pub fn for_each_mixed(
    inbox: &dyn Inbox,
    from: usize,
    to: usize,
    mut consume: impl FnMut(usize, &[f32]),
) {
    let mut mixed = [0.0; BLOCK];
    for start in (from..to).step_by(BLOCK) {
        let end = to.min(start + BLOCK);
        let mixed = &mut mixed[..end - start];
        weigh(inbox, start, end, mixed);
        consume(start - from, mixed);
    }
}

/// `mixed = Σ_k w_k m_k[start..end]`. The first three senders (a ring has three) are summed
/// in one pass, so that their sum is stored once; the others are added one by one.
fn weigh(inbox: &dyn Inbox, start: usize, end: usize, mixed: &mut [f32]) {
    let n = end - start;
    let mixed = &mut mixed[..n];
    let part = |k: usize| (inbox.weight(k), &inbox.message(k)[start..end][..n]);
    let senders = inbox.senders();
    let mut next = 0;
    if senders >= 3 {
        let ((u, a), (v, b), (w, c)) = (part(0), part(1), part(2));
        for i in 0..n {
            mixed[i] = u * a[i] + v * b[i] + w * c[i];
        }
        next = 3;
    } else {
        mixed.fill(0.0);
    }
    for k in next..senders {
        let (w, a) = part(k);
        for i in 0..n {
            mixed[i] += w * a[i];
        }
    }
}

/// Passes `d = Σ_j w_ij (m_j - m_i)` to `consume`, block by block, as
/// `(first index, own message m_i, d, rounding)`; `d + rounding` is the sum of the terms
/// without the rounding errors of adding them up.
///
/// With symmetric weights the terms of two neighbours are each other's negative, bit by
/// bit, so the sums of all agents add up to zero and the average is preserved. Methods that
/// accumulate such sums for ever need this.
#[inline(always)]
pub(crate) fn for_each_difference(
    inbox: &dyn Inbox,
    mut consume: impl FnMut(usize, &[f32], &[f32], &[f32]),
) {
    let own_place = inbox.own();
    let own = inbox.message(own_place);
    let (mut d, mut rounding) = ([0.0; BLOCK], [0.0; BLOCK]);
    for start in (0..own.len()).step_by(BLOCK) {
        let n = BLOCK.min(own.len() - start);
        let (own, d, rounding) = (&own[start..][..n], &mut d[..n], &mut rounding[..n]);
        let part = |k: usize| (inbox.weight(k), &inbox.message(k)[start..][..n]);
        let others = || (0..inbox.senders()).filter(|&k| k != own_place);
        // The first two (a ring has no more) need no partial sum.
        let mut summed = 2;
        if let (Some(first), Some(second)) = (others().next(), others().nth(1)) {
            let ((v, a), (w, b)) = (part(first), part(second));
            for i in 0..n {
                (d[i], rounding[i]) = two_sum(v * (a[i] - own[i]), w * (b[i] - own[i]));
            }
        } else {
            summed = 0;
            d.fill(0.0);
            rounding.fill(0.0);
        }
        for k in others().skip(summed) {
            let (w, message) = part(k);
            for i in 0..n {
                let (sum, lost) = two_sum(d[i], w * (message[i] - own[i]));
                d[i] = sum;
                rounding[i] += lost;
            }
        }
        consume(start, own, d, rounding);
    }
}

/// `a + b` as the rounded sum and its rounding error (Knuth, TAOCP 2, 4.2.2).
#[inline(always)]
pub(crate) fn two_sum(a: f32, b: f32) -> (f32, f32) {
    let sum = a + b;
    let b_of_sum = sum - a;
    let a_of_sum = sum - b_of_sum;
    (sum, (a - a_of_sum) + (b - b_of_sum))
}
