//! What a model costs, layer by layer: shapes, parameters, operations.

use crate::{Extent, Layer, ModelError, ModelSpec, Parameters};

/// One layer of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerFacts {
    /// Where it stands, as in `2.body.0`; the names of its parameters begin so.
    pub name: String,
    /// What it is, as in TOML.
    pub kind: &'static str,
    /// What comes in.
    pub input: Extent,
    /// What goes out.
    pub output: Extent,
    /// How many parameters it has, those of layers inside it not counted.
    pub parameters: usize,
    /// Operations of one image in the forward pass: those of convolutions and linear layers, by
    /// the definition, where a multiply-add is two.
    pub flops: u64,
}

impl LayerFacts {
    /// All layers in the order of computation; a block comes after its contents.
    ///
    /// # Errors
    /// If the layers do not fit.
    pub fn of(spec: &ModelSpec) -> Result<Vec<Self>, ModelError> {
        let parameters = Parameters::new(spec)?;
        let mut all = Vec::new();
        spec.visit(&mut |name, layer, input, output| {
            let own = |parameter: &&crate::Parameter| {
                parameter.name.rsplit_once('.').is_some_and(|(layer, _)| layer == name)
            };
            all.push(LayerFacts {
                name: name.to_string(),
                kind: layer.kind(),
                input,
                output,
                parameters: parameters.iter().filter(own).map(|p| p.len()).sum(),
                flops: flops(layer, input, output),
            });
        })?;
        Ok(all)
    }
}

fn flops(layer: &Layer, input: Extent, output: Extent) -> u64 {
    let inputs_of_one = match (layer, input) {
        (Layer::Conv { kernel, groups, .. }, Extent::Image { channels, .. }) => {
            kernel * kernel * channels / groups
        }
        (Layer::Depthwise { kernel, .. }, _) => kernel * kernel,
        (Layer::Linear { .. }, _) => input.len(),
        _ => 0,
    };
    2 * inputs_of_one as u64 * output.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, Isa, zoo};

    /// The engine counts forward, to the weights and to the input, which the first layer that
    /// learns does without.
    #[test]
    fn a_step_of_training_is_three_forward_passes_but_one_of_the_first_layer() {
        for name in zoo::NAMES {
            let spec = zoo::by_name(name, 10).unwrap();
            let facts = LayerFacts::of(&spec).unwrap();
            let all: u64 = facts.iter().map(|layer| layer.flops).sum();
            let first = facts.iter().find(|layer| layer.flops > 0).unwrap().flops;
            let engine = Engine::new(&spec, 1, Isa::detect()).unwrap();
            assert_eq!(3 * all - first, engine.flops_per_image(), "{name}");
            let parameters: usize = facts.iter().map(|layer| layer.parameters).sum();
            assert_eq!(parameters, engine.parameters().len(), "{name}");
        }
    }
}
