//! Writes the built-in digits as PNG files, one folder a class: a folder of images to try things on.
//!
//! ```sh
//! cargo run -p consort-data --example digits_as_images -- DIR
//! consort train --data folder:DIR/photos --model digits-cnn
//! ```
//!
//! `DIR/photos` has the training part in folders by class, `DIR/new` the test part, unsorted; the names of
//! its files end in the class, to compare.

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;

use consort_data::{DataDir, Dataset, Normalisation};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("which folder?")?;
    let folder = Path::new(&folder);
    let dataset = consort_data::load("digits", &DataDir::find(Some(folder))?)?;
    let [height, width, _] = dataset.input;
    let mut numbers = vec![0.0; dataset.sample_len()];
    for (index, &label) in dataset.train.labels.iter().enumerate() {
        dataset.write_train(index, 0, &mut numbers)?;
        let class = folder.join("photos").join(&dataset.classes[label as usize]);
        let path = class.join(format!("{index:04}.png"));
        write(&path, &pixels(&dataset, &numbers), [height, width])?;
    }
    for (index, &label) in dataset.test.labels.iter().enumerate() {
        dataset.write_test(index, &mut numbers)?;
        let name = format!("{index:04}-{}.png", dataset.classes[label as usize]);
        let path = folder.join("new").join(name);
        write(&path, &pixels(&dataset, &numbers), [height, width])?;
    }
    Ok(())
}

/// Bytes from what a model sees.
fn pixels(dataset: &Dataset, numbers: &[f32]) -> Vec<u8> {
    let Normalisation { mean, std, .. } = &dataset.normalisation;
    numbers.iter().map(|x| (255.0 * (x * std[0] + mean[0])).round() as u8).collect()
}

fn write(path: &Path, pixels: &[u8], [height, width]: [usize; 2]) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(path.parent().ok_or("no folder")?)?;
    let mut encoder = png::Encoder::new(File::create(path)?, width as u32, height as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(pixels)?;
    Ok(())
}
