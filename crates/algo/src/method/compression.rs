//! Which codec a method uses, as the user writes it: `codec=top-k/0.01`.

use alloc::boxed::Box;
use core::fmt;
use core::str::FromStr;

use crate::codec::{Codec, Identity, Quantize, RandomK, Sign, TopK};

/// A codec by name. What it takes stands behind a slash, because colons and commas separate a
/// method's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compression {
    /// `none`: nothing is lost.
    None,
    /// `top-k/SHARE`: the share of the values with the largest magnitude.
    TopK(f64),
    /// `random-k/SHARE`: a share of the values, chosen anew in every round.
    RandomK(f64),
    /// `sign`: signs, and a mean magnitude for every block.
    Sign,
    /// `quantize/BITS`: every value in 2 to 16 bits, rounded at random.
    Quantize(u32),
}

impl Compression {
    /// What is accepted.
    pub(super) const RANGE: &str = "none, sign, top-k/SHARE or random-k/SHARE (above 0 up to 1), \
                                    or quantize/BITS (2 to 16)";

    /// The codec.
    pub fn codec(self) -> Box<dyn Codec> {
        match self {
            Compression::None => Box::new(Identity),
            Compression::TopK(share) => Box::new(TopK { share }),
            Compression::RandomK(share) => Box::new(RandomK { share }),
            Compression::Sign => Box::new(Sign),
            Compression::Quantize(bits) => Box::new(Quantize { bits }),
        }
    }
}

impl FromStr for Compression {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let text = text.to_ascii_lowercase().replace('_', "-");
        let share = |share: &str| {
            share.parse().ok().filter(|&share: &f64| share > 0.0 && share <= 1.0).ok_or(())
        };
        let bits = |bits: &str| bits.parse().ok().filter(|bits| (2..=16).contains(bits)).ok_or(());
        match text.split_once('/') {
            None if text == "none" => Ok(Compression::None),
            None if text == "sign" => Ok(Compression::Sign),
            Some(("top-k", taken)) => share(taken).map(Compression::TopK),
            Some(("random-k", taken)) => share(taken).map(Compression::RandomK),
            Some(("quantize", taken)) => bits(taken).map(Compression::Quantize),
            _ => Err(()),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Compression::None => f.write_str("none"),
            Compression::TopK(share) => write!(f, "top-k/{share}"),
            Compression::RandomK(share) => write!(f, "random-k/{share}"),
            Compression::Sign => f.write_str("sign"),
            Compression::Quantize(bits) => write!(f, "quantize/{bits}"),
        }
    }
}
