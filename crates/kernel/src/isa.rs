//! The instruction set that kernels are compiled for: chosen once, recorded with the run.

use std::fmt;
use std::str::FromStr;

/// An instruction set for which kernels are compiled.
///
/// All of them run the same source. Those with a fused multiply-add give the same bits as each
/// other; the portable one rounds the product and the sum separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Isa {
    /// What every machine of this architecture has, without fused multiply-adds.
    Portable,
    /// AVX2 and FMA on x86-64.
    Avx2,
    /// AVX-512 (F, VL, DQ) on x86-64: twice the registers, each twice as wide.
    Avx512,
    /// NEON with fused multiply-adds, which every 64-bit ARM has.
    Neon,
    /// Plain vectors of 16 lanes with fused multiply-adds: what AVX-512 runs, on machines without
    /// it. For tests, which compare its bits with those of 8 lanes; it is slow, so it is neither
    /// detected nor has a name that parses.
    #[cfg(feature = "plain-wide")]
    PlainWide,
}

impl Isa {
    /// Every instruction set that a user may choose, the widest last.
    const ALL: [Isa; 4] = [Isa::Portable, Isa::Neon, Isa::Avx2, Isa::Avx512];

    /// The widest instruction set of this machine.
    pub fn detect() -> Self {
        Isa::available().last().unwrap_or(Isa::Portable)
    }

    /// The instruction sets that this machine can run.
    pub fn available() -> impl DoubleEndedIterator<Item = Isa> {
        Isa::ALL.into_iter().filter(|isa| isa.is_available())
    }

    /// Whether this machine can run it.
    pub fn is_available(self) -> bool {
        match self {
            Isa::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => {
                Isa::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
            }
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => true,
            #[cfg(all(feature = "plain-wide", target_arch = "x86_64"))]
            Isa::PlainWide => Isa::Avx2.is_available(),
            #[cfg(all(feature = "plain-wide", target_arch = "aarch64"))]
            Isa::PlainWide => true,
            #[allow(unreachable_patterns, reason = "each architecture has some of them")]
            _ => false,
        }
    }

    /// `Ok` if this machine can run it.
    pub fn check(self) -> Result<(), UnavailableIsa> {
        if self.is_available() { Ok(()) } else { Err(UnavailableIsa { isa: self }) }
    }

    fn name(self) -> &'static str {
        match self {
            Isa::Portable => "portable",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
            Isa::Neon => "neon",
            #[cfg(feature = "plain-wide")]
            Isa::PlainWide => "plain-wide",
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// This machine lacks an instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this machine cannot run {isa} instructions; Isa::detect() gives a set that it can run")]
pub struct UnavailableIsa {
    /// The instruction set that was asked for.
    pub isa: Isa,
}

/// A name that is no instruction set of this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("instruction set '{got}': this machine can run {available}")]
pub struct UnknownIsa {
    /// What was asked for.
    pub got: String,
    /// The names that this machine can run.
    pub available: String,
}

impl FromStr for Isa {
    type Err = UnknownIsa;

    fn from_str(name: &str) -> Result<Self, UnknownIsa> {
        Isa::available().find(|isa| isa.name() == name).ok_or_else(|| UnknownIsa {
            got: name.to_string(),
            available: Isa::available().map(Isa::name).collect::<Vec<_>>().join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_detected_one_runs_here_and_has_a_name_that_parses() {
        assert!(Isa::detect().is_available());
        for isa in Isa::available() {
            assert_eq!(isa.to_string().parse(), Ok(isa));
        }
        let error = "sse9".parse::<Isa>().unwrap_err();
        assert!(error.to_string().contains("'sse9'") && error.to_string().contains("portable"));
    }
}
