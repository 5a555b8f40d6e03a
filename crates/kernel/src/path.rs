//! Which instructions a kernel may use: chosen once, recorded with the run.

use std::fmt;
use std::str::FromStr;

/// An instruction set for which kernels are compiled.
///
/// All paths run the same source. Those with a fused multiply-add give the same bits as each
/// other; the portable one rounds products and sums apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Path {
    /// What every machine of this architecture has, without fused multiply-adds.
    Portable,
    /// AVX2 and FMA on x86-64.
    Avx2,
    /// AVX-512 (F, VL, DQ) on x86-64: twice the registers, twice as wide.
    Avx512,
    /// NEON with fused multiply-adds, which every 64-bit ARM has.
    Neon,
}

impl Path {
    /// Every path, the widest last.
    const ALL: [Path; 4] = [Path::Portable, Path::Neon, Path::Avx2, Path::Avx512];

    /// The widest path of this machine.
    pub fn detect() -> Self {
        Path::available().last().unwrap_or(Path::Portable)
    }

    /// The paths that this machine can run.
    pub fn available() -> impl DoubleEndedIterator<Item = Path> {
        Path::ALL.into_iter().filter(|path| path.is_available())
    }

    /// Whether this machine can run it.
    pub fn is_available(self) -> bool {
        match self {
            Path::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Path::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Path::Avx512 => {
                Path::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
            }
            #[cfg(target_arch = "aarch64")]
            Path::Neon => true,
            #[allow(unreachable_patterns, reason = "each architecture has some of them")]
            _ => false,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Path::Portable => "portable",
            Path::Avx2 => "avx2",
            Path::Avx512 => "avx512",
            Path::Neon => "neon",
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A path that is not known or that this machine cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("instruction path '{got}': this machine can run {available}")]
pub struct UnknownPath {
    /// What was asked for.
    pub got: String,
    /// The names that would do.
    pub available: String,
}

impl FromStr for Path {
    type Err = UnknownPath;

    fn from_str(name: &str) -> Result<Self, UnknownPath> {
        Path::available().find(|path| path.name() == name).ok_or_else(|| UnknownPath {
            got: name.to_string(),
            available: Path::available().map(Path::name).collect::<Vec<_>>().join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_detected_path_runs_here_and_has_a_name_that_parses() {
        assert!(Path::detect().is_available());
        for path in Path::available() {
            assert_eq!(path.to_string().parse(), Ok(path));
        }
        let error = "sse9".parse::<Path>().unwrap_err();
        assert!(error.to_string().contains("'sse9'") && error.to_string().contains("portable"));
    }
}
