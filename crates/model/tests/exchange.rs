//! Weights go to a file and come back as they were; a damaged file is an error, never a
//! panic. `exchange_with_torch.py` beside this file does the same with PyTorch.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};

use consort_model::{
    ModelError, Parameters, load_safetensors, read_metadata, save_safetensors, zoo,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use safetensors::tensor::{Dtype, TensorView};

fn parameters(model: &str) -> Parameters {
    Parameters::new(&zoo::by_name(model, 10).unwrap()).unwrap()
}

fn saved(parameters: &Parameters, flat: &[f32]) -> Vec<u8> {
    save_safetensors(parameters, flat, &BTreeMap::new()).unwrap()
}

/// Texts in the header come back, move no number, and always lie in the same order.
#[test]
fn metadata_comes_back_and_changes_no_tensor() {
    let parameters = parameters("mlp");
    let flat = parameters.initial(5);
    let plain = saved(&parameters, &flat);
    let texts = [("b", "line 1\nline \"2\""), ("a", "é"), ("z", "")];
    let about: BTreeMap<String, String> =
        texts.iter().map(|(key, text)| (key.to_string(), text.to_string())).collect();
    let bytes = save_safetensors(&parameters, &flat, &about).unwrap();
    assert_eq!(read_metadata(&bytes).unwrap(), about);
    assert_eq!(load_safetensors(&parameters, &bytes).unwrap(), flat);
    assert!(read_metadata(&plain).unwrap().is_empty());
    let numbers = |file: &[u8]| {
        let header = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
        assert_eq!(header % 8, 0, "the numbers are aligned");
        file[8 + header..].to_vec()
    };
    assert_eq!(numbers(&bytes), numbers(&plain));
    assert_eq!(bytes, save_safetensors(&parameters, &flat, &about).unwrap());
}

#[test]
fn every_model_comes_back_bit_by_bit() {
    for name in zoo::NAMES {
        let parameters = parameters(name);
        let mut flat = parameters.initial(5);
        // Numbers that a detour through text or other types would change.
        flat[..4].copy_from_slice(&[-0.0, f32::MIN_POSITIVE / 8.0, f32::MAX, 0.1]);
        let back = load_safetensors(&parameters, &saved(&parameters, &flat)).unwrap();
        assert!(back.iter().map(|x| x.to_bits()).eq(flat.iter().map(|x| x.to_bits())), "{name}");
    }
}

/// The names are those of PyTorch's `named_parameters` (`golden/make.py`).
#[test]
fn names_are_pytorchs() {
    let golden: serde_json::Value =
        serde_json::from_str(include_str!("golden/pytorch.json")).unwrap();
    for name in ["lenet5", "resnet20", "vgg11", "mobilenet-v2"] {
        let theirs: BTreeSet<&str> =
            golden[name]["gradients"].as_object().unwrap().keys().map(String::as_str).collect();
        let parameters = parameters(name);
        let ours: BTreeSet<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(ours, theirs, "{name}");
    }
}

/// The shapes of `state_dict`, read off PyTorch's for LeNet-5 and a block of MobileNet-V2.
#[test]
fn shapes_are_pytorchs() {
    let lenet5: [(&str, &[usize]); 10] = [
        ("0.weight", &[6, 1, 5, 5]),
        ("0.bias", &[6]),
        ("3.weight", &[16, 6, 5, 5]),
        ("3.bias", &[16]),
        ("7.weight", &[120, 400]),
        ("7.bias", &[120]),
        ("9.weight", &[84, 120]),
        ("9.bias", &[84]),
        ("11.weight", &[10, 84]),
        ("11.bias", &[10]),
    ];
    let ours = parameters("lenet5");
    assert!(ours.iter().map(|p| (p.name.as_str(), p.shape.as_slice())).eq(lenet5));
    let block: [(&str, &[usize]); 12] = [
        ("3.body.0.weight", &[96, 16, 1, 1]),
        ("3.body.1.gamma", &[1, 96, 1, 1]),
        ("3.body.1.beta", &[1, 96, 1, 1]),
        ("3.body.2.weight", &[96, 1, 3, 3]),
        ("3.body.3.gamma", &[1, 96, 1, 1]),
        ("3.body.3.beta", &[1, 96, 1, 1]),
        ("3.body.4.weight", &[24, 96, 1, 1]),
        ("3.body.5.gamma", &[1, 24, 1, 1]),
        ("3.body.5.beta", &[1, 24, 1, 1]),
        ("3.skip.0.weight", &[24, 16, 1, 1]),
        ("3.skip.1.gamma", &[1, 24, 1, 1]),
        ("3.skip.1.beta", &[1, 24, 1, 1]),
    ];
    let ours = parameters("mobilenet-v2");
    let of_block = ours.iter().filter(|p| p.name.starts_with("3."));
    assert!(of_block.map(|p| (p.name.as_str(), p.shape.as_slice())).eq(block));
}

#[test]
fn a_file_that_is_cut_off_is_refused_wherever_it_is_cut() {
    let parameters = parameters("digits-cnn");
    let bytes = saved(&parameters, &parameters.initial(1));
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    assert!(header > 100 && header < bytes.len());
    let inside_the_numbers = (header..bytes.len()).step_by(997).chain([bytes.len() - 1]);
    for cut in (0..header).chain(inside_the_numbers) {
        let refused = load_safetensors(&parameters, &bytes[..cut]);
        assert!(matches!(refused, Err(ModelError::Safetensors(_))), "cut at {cut}: {refused:?}");
    }
    let longer: Vec<u8> = bytes.iter().copied().chain([0]).collect();
    assert!(load_safetensors(&parameters, &longer).is_err());
}

/// 20,000 files of noise, and 20,000 with a byte of the header changed: an error, or, if the
/// byte meant nothing, the same numbers. Never a panic.
#[test]
fn garbage_is_refused() {
    let parameters = parameters("softmax");
    let flat = parameters.initial(1);
    let bytes = saved(&parameters, &flat);
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    let mut refused = 0;
    for _ in 0..20_000 {
        let len = random.random_range(0..200);
        let noise: Vec<u8> = (0..len).map(|_| random.random()).collect();
        assert!(load_safetensors(&parameters, &noise).is_err());

        let mut changed = bytes.clone();
        changed[random.random_range(0..header)] = random.random();
        match load_safetensors(&parameters, &changed) {
            Ok(back) => assert_eq!(back, flat),
            Err(_) => refused += 1,
        }
    }
    // Of the bytes only the white space that fills up the header may be anything.
    assert!(refused > 15_000, "{refused}");
}

#[test]
fn a_tensor_of_another_type_is_named() {
    let parameters = parameters("softmax");
    for (dtype, bytes_each) in [(Dtype::F64, 8), (Dtype::F16, 2), (Dtype::I32, 4)] {
        let zeros: Vec<u8> = vec![0; bytes_each * parameters.len()];
        let views = parameters.iter().map(|p| {
            let data = &zeros[..bytes_each * p.len()];
            (p.name.clone(), TensorView::new(dtype, p.shape.clone(), data).unwrap())
        });
        let bytes = safetensors::serialize(views, None).unwrap();
        let message = load_safetensors(&parameters, &bytes).unwrap_err().to_string();
        let expected = format!(
            "tensor '1.weight' is {dtype:?} of shape [10, 64], expected F32 of shape [10, 64]"
        );
        assert_eq!(message, expected);
    }
}

/// A number that is not finite is told with its tensor and its place.
#[test]
fn what_is_not_finite_is_refused() {
    let parameters = Parameters::new(&zoo::digits_cnn(10)).unwrap();
    for (parameter, bad) in parameters.iter().zip([f32::NAN, f32::INFINITY].into_iter().cycle()) {
        let mut flat = parameters.initial(1);
        let index = parameter.len() - 1;
        flat[parameter.offset + index] = bad;
        let error = load_safetensors(&parameters, &saved(&parameters, &flat)).unwrap_err();
        let expected =
            format!("tensor '{}' holds a number that is not finite, at {index}", parameter.name);
        assert_eq!(error.to_string(), expected);
    }
}
