//! Weights between Consort and PyTorch: writes a model's initial parameters to a safetensors
//! file, or reads such a file, and prints the loss of a batch that PyTorch can make too.
//!
//! ```text
//! cargo run --release -p consort-model --example exchange -- write resnet20 resnet20.safetensors
//! cargo run --release -p consort-model --example exchange -- read resnet20 resnet20.safetensors
//! ```
//!
//! `tests/exchange_with_torch.py` does the rest.

use std::collections::BTreeMap;
use std::error::Error;

use consort_model::{Engine, Isa, load_safetensors, save_safetensors, zoo};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [action, model, file] = words.as_slice() else {
        return Err("expected: write|read MODEL FILE".into());
    };
    let spec = zoo::by_name(model, 10)?;
    let mut engine = Engine::new(&spec, 2, Isa::detect())?;
    let flat = match action.as_str() {
        "write" => {
            let flat = engine.parameters().initial(1);
            let about = BTreeMap::from([("model".to_string(), spec.name.clone())]);
            std::fs::write(file, save_safetensors(engine.parameters(), &flat, &about)?)?;
            flat
        }
        "read" => load_safetensors(engine.parameters(), &std::fs::read(file)?)?,
        other => return Err(format!("expected write or read, got '{other}'").into()),
    };
    let labels = [3, 7, 0];
    let images = waves(labels.len() * spec.input.iter().product::<usize>());
    let mut grad = vec![0.0; flat.len()];
    let loss = engine.loss_and_grad(&flat, &images, &labels, &mut grad)?;
    let length = grad.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
    let parameters = flat.len();
    println!(
        r#"{{"model": "{model}", "parameters": {parameters}, "loss": {loss}, "gradient_length": {length}}}"#
    );
    Ok(())
}

/// Pixels by the formula of `tests/golden/make.py`.
fn waves(count: usize) -> Vec<f32> {
    let value = |i: usize| {
        let i = i as f64;
        (0.7 * i + (0.013 * i * i) % 6.0 + 0.5).sin() as f32
    };
    (0..count).map(value).collect()
}
