//! Layers behind which every unit is dead: no gradient passes.

use super::{Answers, Engine};

impl Engine {
    /// The last layer whose gradient at `flat` on these images is zero in all its parameters, as
    /// in `0 (conv)`; none if there is no such layer, or a number is not finite. The units that
    /// take its output, such as those of a ReLU, are then all inactive on all these images.
    ///
    /// # Panics
    /// If a slice has the wrong length, or a label is no class.
    pub fn dead_layer<'a>(
        &mut self,
        flat: &[f32],
        images: &[f32],
        answers: impl Into<Answers<'a>>,
    ) -> Option<String> {
        let mut grad = vec![0.0; self.parameters().len()];
        self.loss_and_grad(flat, images, answers, &mut grad).ok()?;
        let is_silent = |name: &str| {
            let prefix = format!("{name}.");
            let own = self.parameters().iter().filter(|p| p.name.starts_with(&prefix));
            let own: Vec<&[f32]> = own.map(|parameter| parameter.slice(&grad)).collect();
            !own.is_empty() && own.iter().all(|part| part.iter().all(|&g| g == 0.0))
        };
        let dead = self.steps.iter().rev().find(|step| is_silent(&step.name));
        dead.map(|step| step.label())
    }
}

#[cfg(test)]
mod tests {
    use consort_kernel::Isa;

    use crate::{Engine, zoo};

    /// Biases far below zero behind one layer: no unit of the ReLU that follows is ever active,
    /// and it is that layer which is named, whether it lies first or last.
    #[test]
    fn the_layer_before_dead_units_is_named() {
        for name in ["mlp", "lenet5", "digits-cnn"] {
            let spec = zoo::by_name(name, 10).unwrap();
            let mut engine = Engine::new(&spec, 4, Isa::detect()).unwrap();
            let pixels: usize = spec.input.iter().product();
            let images: Vec<f32> =
                (0..8 * pixels).map(|i| ((i * 37) % 101) as f32 / 50.0).collect();
            let labels = [0, 1, 2, 3, 4, 5, 6, 7];
            let alive = engine.parameters().initial(1);
            assert_eq!(engine.dead_layer(&alive, &images, &labels), None, "{name}");
            let biases: Vec<_> =
                engine.parameters().iter().filter(|p| p.shape.len() == 1).cloned().collect();
            let (_, hidden) = biases.split_last().unwrap();
            for bias in hidden {
                let mut flat = alive.clone();
                flat[bias.offset..][..bias.len()].fill(-1e4);
                let found = engine.dead_layer(&flat, &images, &labels).unwrap();
                let layer = bias.name.strip_suffix(".bias").unwrap();
                assert!(found.starts_with(&format!("{layer} (")), "{name}, {}: {found}", bias.name);
            }
        }
    }
}
