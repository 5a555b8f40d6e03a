//! The scalar multiply-add of exponentials and of vectors in portable code.

/// `a * b + c`; with `FMA` it is rounded only once.
///
/// `FMA` is for code that is compiled for instructions with a fused multiply-add. Elsewhere
/// `f32::mul_add` would be a slow library call.
#[inline(always)]
pub(crate) fn multiply_add<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}
