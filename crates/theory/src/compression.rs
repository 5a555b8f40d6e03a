//! How large the averaging rate gamma may be when messages are coded.
//!
//! Without losses the modes of W answer that, as for every method. With a codec they do not: what it
//! leaves out depends on the values, so no eigenvalue describes it. CHOCO-SGD's theorem allows
//! `gamma = rho² delta / (16 rho + rho² + 4 b² + 2 rho b² - 8 rho delta)`, with the gap rho and
//! `b = |I - W|`, which is safe and, on a ring, a thousand times too small; in practice gamma is tuned.
//!
//! So [`usual_gamma`] is a rule of thumb, not a limit. It is made from measurements on
//! heterogeneous quadratics (64 dimensions; ring of 16, torus of 32, complete graph of 16):
//!
//! ```text
//! gamma = 0.7 keep / omega
//! ```
//!
//! `omega` is about the error of the codec relative to what it tells: `1/k - 1` if a share k of the
//! values is sent, `1/s²` for s levels, `1.4/keep` for signs. `keep` is 1 for plain gossip, `1 - mu` with tracking and
//! `(1 - mu)(1 - beta)/4` with momentum on the update, because these pull
//! on, and with it on the codec's errors, for so many rounds. Largest gamma that was stable, of
//! 1, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05, 0.025, 0.01 on the worst of these graphs (among those where
//! this mu allows as much without compression; the last column on the ring alone), and the rule's:
//!
//! | codec | CHOCO-SGD | Compressed GUT, mu = 0.5 | mu = 0.9 | Compressed QG-GUTm, mu 0.05, beta 0.9 |
//! |---|---|---|---|---|
//! | quantize/4 | 1 (1) | 1 (1) | 1 (1) | 1 (0.81) |
//! | quantize/3 | 1 (1) | 1 (1) | 0.7 (0.63) | 0.25 (0.15) |
//! | quantize/2 | 0.7 (0.7) | 0.35 (0.35) | 0.15 (0.07) | 0.025 (0.016) |
//! | sign | 1 (0.5) | 0.5 (0.13) | 0.025 (0.005) | 0.025 (0.0003) |
//! | top-k/0.1 | 0.35 (0.08) | 0.15 (0.04) | 0.05 (0.008) | 0.01 (0.002) |
//! | random-k/0.1 | 0.1 (0.08) | 0.05 (0.04) | 0.01 (0.008) | 0.01 (0.002) |

use consort_algo::{Compression, Method};

/// The averaging rate that the rule of thumb allows `method` with this mu; `None` if nothing is
/// lost in its messages, or if gamma is not its averaging rate.
pub fn usual_gamma(method: &Method, mu: f64) -> Option<f64> {
    if !method.name.codes_messages() || method.name.steps_by_gamma() {
        return None;
    }
    let mut keep = 1.0;
    if method.name.tracks() {
        keep *= 1.0 - mu;
    }
    if method.name.has_global_momentum() {
        keep *= (1.0 - method.beta) / 4.0;
    }
    let omega = match method.codec {
        Compression::None => return None,
        // A share of 1 loses nothing.
        Compression::TopK(share) | Compression::RandomK(share) => 1.0 / share - 1.0,
        // For plain gossip the 0.5 of CHOCO-SGD's released settings. Signs err in all values at
        // once, and where errors are carried on that counts twice.
        Compression::Sign => 1.4 / keep,
        Compression::Quantize(bits) => {
            let levels = f64::from((1_u32 << (bits - 1)) - 1);
            1.0 / (levels * levels)
        }
    };
    Some((0.7 * keep / omega).min(1.0))
}
