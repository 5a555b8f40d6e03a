//! Weights to and from safetensors, in PyTorch's names and layouts.
//!
//! Nothing in such a file is executed, and every tensor is checked against the model
//! before a number is taken.

use std::collections::HashMap;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::{ModelError, Parameters};

/// The flat vector as the bytes of a safetensors file. `about` is kept in its header.
pub fn save_safetensors(
    parameters: &Parameters,
    flat: &[f32],
    about: HashMap<String, String>,
) -> Result<Vec<u8>, ModelError> {
    check_len(parameters, flat.len())?;
    let bytes: Vec<u8> = flat.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut views = Vec::new();
    for parameter in parameters.iter() {
        let part = &bytes[4 * parameter.offset..4 * (parameter.offset + parameter.len())];
        let view = TensorView::new(Dtype::F32, parameter.shape.clone(), part)?;
        views.push((parameter.name.clone(), view));
    }
    Ok(safetensors::serialize(views, Some(about))?)
}

/// The flat vector from the bytes of a safetensors file: every parameter must be there, in
/// its shape, as 32-bit floats, and nothing else.
pub fn load_safetensors(parameters: &Parameters, bytes: &[u8]) -> Result<Vec<f32>, ModelError> {
    let file = SafeTensors::deserialize(bytes)?;
    let mut flat = vec![0.0; parameters.len()];
    for parameter in parameters.iter() {
        let name = &parameter.name;
        let view = file.tensor(name).map_err(|_| missing(name, &file))?;
        let (expected, got) =
            (describe(Dtype::F32, &parameter.shape), describe(view.dtype(), view.shape()));
        if expected != got {
            return Err(ModelError::TensorShape { name: name.clone(), expected, got });
        }
        let (words, _) = view.data().as_chunks::<4>();
        let values = &mut flat[parameter.offset..][..parameter.len()];
        for (value, word) in values.iter_mut().zip(words) {
            *value = f32::from_le_bytes(*word);
        }
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(ModelError::NonFinite { name: name.clone(), index });
        }
    }
    match file.names().into_iter().find(|name| parameters.get(name).is_none()) {
        Some(name) => Err(ModelError::ForeignTensor { name: name.to_string() }),
        None => Ok(flat),
    }
}

fn check_len(parameters: &Parameters, got: usize) -> Result<(), ModelError> {
    let expected = parameters.len();
    if expected == got { Ok(()) } else { Err(ModelError::Length { expected, got }) }
}

fn describe(dtype: Dtype, shape: &[usize]) -> String {
    format!("{dtype:?} of shape {shape:?}")
}

fn missing(name: &str, file: &SafeTensors<'_>) -> ModelError {
    let mut names = file.names();
    names.sort_unstable();
    let shown = names.iter().take(4).map(|name| name.to_string()).collect::<Vec<_>>().join(", ");
    let found = match names.len() {
        0 => "none".into(),
        1..=4 => shown,
        n => format!("{n}, such as {shown}"),
    };
    ModelError::MissingTensor { name: name.to_string(), found }
}
