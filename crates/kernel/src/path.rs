//! Which instructions a kernel may use: chosen once, recorded with the run.

use std::fmt;

/// An instruction set for which kernels are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Path {
    /// What every machine of this architecture has.
    Portable,
    /// AVX2 and FMA on x86-64.
    Avx2,
}

impl Path {
    /// The widest path of this machine.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Path::Avx2;
        }
        Path::Portable
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Path::Portable => "portable",
            Path::Avx2 => "avx2",
        })
    }
}
