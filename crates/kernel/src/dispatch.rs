//! One body, compiled once per instruction set.
//!
//! A kernel's body is safe, generic Rust over fixed-size arrays, `#[inline(always)]` and
//! with a parameter `FMA: bool`. [`per_path`] compiles it a second time inside a function
//! that may use AVX2 and FMA, and chooses between the two at run time. Only there is
//! `f32::mul_add` an instruction; elsewhere it would be a slow library call.

/// `a * b + c`, rounded once where the path has the instruction.
#[inline(always)]
pub(crate) fn multiply_add<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// Defines `fn name(path, arguments)`, which runs `body::<.., FMA>(arguments)` with the
/// instructions of `path`, or with the portable ones if this machine lacks them.
macro_rules! per_path {
    ($(#[$doc:meta])* $visibility:vis fn $name:ident $(<$g:ident: $bound:path>)? (
        $($arg:ident: $type:ty),* $(,)?
    ) => $body:ident) => {
        $(#[$doc])*
        $visibility fn $name $(<$g: $bound>)? (path: $crate::Path, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn avx2 $(<$g: $bound>)? ($($arg: $type),*) {
                    $body::<$($g,)? true>($($arg),*)
                }
                if path == $crate::Path::Avx2 && $crate::Path::detect() == $crate::Path::Avx2 {
                    // SAFETY: `detect` has just said that this machine has AVX2 and FMA.
                    return unsafe { avx2 $(::<$g>)? ($($arg),*) };
                }
            }
            let _ = path;
            $body::<$($g,)? false>($($arg),*)
        }
    };
}
pub(crate) use per_path;
