//! One body, compiled once per instruction set.
//!
//! A kernel's body is safe, generic Rust over fixed-size arrays, `#[inline(always)]` and
//! with a parameter `FMA: bool`. [`per_path`] compiles it once more inside functions that may
//! use wider instructions, and chooses between them at run time. Only there is `f32::mul_add`
//! an instruction; elsewhere it would be a slow library call.

/// `a * b + c`, rounded once where the isa has the instruction.
#[inline(always)]
pub(crate) fn multiply_add<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// Defines `fn name(isa, arguments)`, which runs `body::<.., FMA>(arguments)` with the
/// instructions of `isa`, or with the portable ones if this machine lacks them. With
/// `=> lanes body`, it runs `body::<.., V>(arguments)`, an unsafe function of vectors
/// ([`Vector`](crate::lanes::Vector)) whose one condition is that the machine has those of `V`.
macro_rules! per_path {
    ($(#[$doc:meta])* $visibility:vis fn $name:ident $(<$g:ident: $bound:path>)? (
        $($arg:ident: $type:ty),* $(,)?
    ) => lanes $body:ident) => {
        $(#[$doc])*
        $visibility fn $name $(<$g: $bound>)? (isa: $crate::Isa, $($arg: $type),*) {
            #[inline(always)]
            #[cfg(target_arch = "x86_64")]
            fn wide<$($g: $bound)?>($($arg: $type),*) {
                // SAFETY: this runs only where AVX-512 was detected.
                unsafe { $body::<$($g,)? $crate::lanes::Wide>($($arg),*) }
            }
            #[inline(always)]
            fn with_lanes<$($g: $bound,)? const FMA: bool>($($arg: $type),*) {
                match FMA {
                    // SAFETY: with `FMA`, a body runs only where AVX2 and FMA were detected.
                    true => unsafe { $body::<$($g,)? $crate::lanes::Fused>($($arg),*) },
                    // SAFETY: any machine has the instructions of `Plain`.
                    false => unsafe { $body::<$($g,)? $crate::lanes::Plain>($($arg),*) },
                }
            }
            $crate::dispatch::per_path! {
                fn run $(<$g: $bound>)? ($($arg: $type),*) => with_lanes, wide { wide::<$($g)?> }
            }
            run $(::<$g>)? (isa, $($arg),*)
        }
    };
    ($(#[$doc:meta])* $visibility:vis fn $name:ident $(<$g:ident: $bound:path>)? (
        $($arg:ident: $type:ty),* $(,)?
    ) => $body:ident) => {
        $crate::dispatch::per_path! {
            $(#[$doc])* $visibility fn $name $(<$g: $bound>)? ($($arg: $type),*)
                => $body, wide { $body::<$($g,)? true> }
        }
    };
    ($(#[$doc:meta])* $visibility:vis fn $name:ident $(<$g:ident: $bound:path>)? (
        $($arg:ident: $type:ty),* $(,)?
    ) => $body:ident, wide { $wide:expr }) => {
        $(#[$doc])*
        $visibility fn $name $(<$g: $bound>)? (isa: $crate::Isa, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn avx2 $(<$g: $bound>)? ($($arg: $type),*) {
                    $body::<$($g,)? true>($($arg),*)
                }
                #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
                fn avx512 $(<$g: $bound>)? ($($arg: $type),*) {
                    $wide($($arg),*)
                }
                if isa == $crate::Isa::Avx512 && isa.is_available() {
                    // SAFETY: this machine has just been seen to have AVX-512.
                    return unsafe { avx512 $(::<$g>)? ($($arg),*) };
                }
                if isa == $crate::Isa::Avx2 && isa.is_available() {
                    // SAFETY: this machine has just been seen to have AVX2 and FMA.
                    return unsafe { avx2 $(::<$g>)? ($($arg),*) };
                }
            }
            // Every 64-bit ARM has NEON and its fused multiply-add: no feature to enable.
            if cfg!(target_arch = "aarch64") && isa == $crate::Isa::Neon {
                return $body::<$($g,)? true>($($arg),*);
            }
            $body::<$($g,)? false>($($arg),*)
        }
    };
}
pub(crate) use per_path;
