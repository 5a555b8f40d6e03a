//! Weights to and from safetensors, in PyTorch's names and layouts.
//!
//! ```text
//!   8 bytes: length of the header │ header: JSON, padded with blanks │ the numbers of all tensors
//! ```
//!
//! Nothing in such a file is executed, and every tensor is checked against the model
//! before a number is taken. The same model with the same texts gives the same bytes.

use std::collections::BTreeMap;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::{ModelError, Parameters};

/// The flat vector as the bytes of a safetensors file. `about` is kept in its header, as the
/// metadata of the format.
pub fn save_safetensors(
    parameters: &Parameters,
    flat: &[f32],
    about: &BTreeMap<String, String>,
) -> Result<Vec<u8>, ModelError> {
    check_len(parameters, flat.len())?;
    let bytes: Vec<u8> = flat.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut views = Vec::new();
    for parameter in parameters.iter() {
        let part = &bytes[4 * parameter.offset..4 * (parameter.offset + parameter.len())];
        let view = TensorView::new(Dtype::F32, parameter.shape.clone(), part)?;
        views.push((parameter.name.clone(), view));
    }
    with_metadata(safetensors::serialize(views, None)?, about)
}

/// The texts in the header of a safetensors file; none is an empty map.
pub fn read_metadata(bytes: &[u8]) -> Result<BTreeMap<String, String>, ModelError> {
    let (_, metadata) = SafeTensors::read_metadata(bytes)?;
    Ok(metadata.metadata().iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect())
}

/// Puts texts into the header of a file that has none. (The library takes them from a hash map,
/// whose order is another in every process; here the order is that of the keys.)
fn with_metadata(file: Vec<u8>, about: &BTreeMap<String, String>) -> Result<Vec<u8>, ModelError> {
    const ALIGNMENT: usize = 8;
    if about.is_empty() {
        return Ok(file);
    }
    let (header_len, _) = SafeTensors::read_metadata(&file)?;
    let (header, numbers) = file[8..].split_at(header_len);
    let texts = serde_json::to_string(about)?;
    // The header is an object, `{...}`, with at least one tensor.
    let mut longer = format!("{{\"__metadata__\":{texts},").into_bytes();
    longer.extend_from_slice(header[1..].trim_ascii_end());
    longer.resize(longer.len().next_multiple_of(ALIGNMENT), b' ');
    let mut bytes = Vec::with_capacity(8 + longer.len() + numbers.len());
    bytes.extend_from_slice(&(longer.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&longer);
    bytes.extend_from_slice(numbers);
    Ok(bytes)
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
