//! Plain gradient descent, the update of a training step without a network.

use crate::dispatch::{multiply_add, per_path};

per_path! {
    /// x <- x - eta g
    ///
    /// # Panics
    /// If there is not one gradient per number.
    pub fn descend(x: &mut [f32], g: &[f32], eta: f32) => body
}

#[inline(always)]
fn body<const FMA: bool>(x: &mut [f32], g: &[f32], eta: f32) {
    assert_eq!(x.len(), g.len(), "one gradient per number");
    for (x, g) in x.iter_mut().zip(g) {
        *x = multiply_add::<FMA>(-eta, *g, *x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Isa;

    #[test]
    fn every_number_moves_against_its_gradient() {
        for isa in Isa::available() {
            let mut x: Vec<f32> = (0..19).map(|i| i as f32).collect();
            let g: Vec<f32> = (0..19).map(|i| 2.0 * i as f32 - 8.0).collect();
            descend(isa, &mut x, &g, 0.25);
            for (i, x) in x.into_iter().enumerate() {
                assert_eq!(x, 0.5 * i as f32 + 2.0);
            }
        }
    }
}
