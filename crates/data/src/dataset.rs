//! Labelled samples, as every loader makes them and every trainer reads them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::augment::Shift;
use crate::formats::image;
use crate::image_reader::{self, Fit, ImageReader};
use crate::image_store::ImageStore;
use crate::lookup::Table;
use crate::split::set_apart;
use crate::{Augmentation, Column, DataError, Task};

/// A dataset: what to train on, what to test on, how a sample becomes numbers.
///
/// A clone shares the samples' bytes.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// Its name, such as `fashion-mnist`, or the folder it came from.
    pub name: String,
    /// The names of the classes; a label is an index into them. The classes of a regression are
    /// ranges of its target, by which the samples are shared out; a model does not see them.
    pub classes: Vec<String>,
    /// What a model is to find out.
    pub task: Task,
    /// Height, width and channels of what a model sees; of a table 1, 1 and all columns' inputs.
    pub input: [usize; 3],
    /// The columns of a table that a model sees, in order; empty for images.
    pub columns: Vec<Column>,
    /// How an image of another size becomes an input.
    pub fit: Fit,
    /// What was found and done to it, in a line: of one's own data, whose shape nobody else knows.
    pub found: Option<String>,
    /// What agents train on.
    pub train: Samples,
    /// What accuracy is measured on.
    pub test: Samples,
    /// What settings are chosen by; empty unless [`with_validation`](Dataset::with_validation) set
    /// samples apart.
    pub validation: Samples,
    /// How bytes become numbers.
    pub normalisation: Normalisation,
    /// What happens to a training sample before that.
    pub augmentation: Augmentation,
    table: Table,
}

/// Samples with one label each.
#[derive(Clone, Debug)]
pub struct Samples {
    /// One class per sample; of a regression the range in which the target lies.
    pub labels: Vec<u32>,
    /// One target per sample, scaled as in [`Target`](crate::Target); empty for a classification.
    pub targets: Vec<f32>,
    content: Content,
}

/// What samples are made of.
#[derive(Clone, Debug)]
enum Content {
    /// Images of one size, rows, pixels, channels innermost.
    Bytes(Arc<Vec<u8>>),
    /// Numbers that are normalised already.
    Numbers(Arc<Vec<f32>>),
    /// Compressed images of any size.
    Images(Arc<ImageStore>),
}

/// Numbers from bytes: `(byte / unit - mean) / std`, channel by channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Normalisation {
    /// One per channel.
    pub mean: Vec<f32>,
    /// One per channel.
    pub std: Vec<f32>,
    /// What stands for 1: 255 for bytes, 16 for the digits, 1 for a table's numbers.
    pub unit: f32,
}

impl Normalisation {
    /// That of bytes, with a mean and a standard deviation for each channel.
    pub fn bytes(mean: &[f32], std: &[f32]) -> Self {
        Self { mean: mean.to_vec(), std: std.to_vec(), unit: 255.0 }
    }

    /// That of photographs, from the statistics of ImageNet.
    pub fn imagenet() -> Self {
        Self::bytes(&[0.485, 0.456, 0.406], &[0.229, 0.224, 0.225])
    }

    /// That of grey photographs: the means of the above.
    pub fn grey() -> Self {
        Self::bytes(&[0.449], &[0.226])
    }
}

impl Samples {
    /// Images of one size, one byte per number, rows, pixels, channels innermost.
    pub fn bytes(labels: Vec<u32>, pixels: Vec<u8>) -> Self {
        Self { labels, targets: Vec::new(), content: Content::Bytes(Arc::new(pixels)) }
    }

    /// Numbers as the model shall see them, sample after sample.
    pub fn numbers(labels: Vec<u32>, numbers: Vec<f32>) -> Self {
        Self { labels, targets: Vec::new(), content: Content::Numbers(Arc::new(numbers)) }
    }

    /// No samples at all.
    pub fn none() -> Self {
        Self::bytes(Vec::new(), Vec::new())
    }

    /// Compressed images, decoded whenever one is asked for.
    pub(crate) fn images(labels: Vec<u32>, images: ImageStore) -> Self {
        Self { labels, targets: Vec::new(), content: Content::Images(Arc::new(images)) }
    }

    /// The same samples with the targets of a regression.
    pub fn with_targets(self, targets: Vec<f32>) -> Self {
        Self { targets, ..self }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Bytes of memory that they take.
    pub fn memory_bytes(&self) -> usize {
        let content = match &self.content {
            Content::Bytes(bytes) => bytes.len(),
            Content::Numbers(numbers) => 4 * numbers.len(),
            Content::Images(images) => images.memory_bytes(),
        };
        content + 4 * (self.labels.len() + self.targets.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// How many there are of each of so many classes.
    pub fn histogram(&self, classes: usize) -> Vec<usize> {
        let mut counts = vec![0; classes];
        for &label in &self.labels {
            if let Some(count) = counts.get_mut(label as usize) {
                *count += 1;
            }
        }
        counts
    }

    /// The samples with these indices, each of `numbers` numbers.
    fn only(&self, indices: &[u32], numbers: usize) -> Result<Self, DataError> {
        let absent = |index: usize| DataError::Index { index, len: self.len() };
        let each = || indices.iter().map(|&index| index as usize);
        let label = |index: usize| self.labels.get(index).copied().ok_or_else(|| absent(index));
        let labels = each().map(label).collect::<Result<_, _>>()?;
        let targets = match self.targets.is_empty() {
            true => Vec::new(),
            false => gather(&self.targets, each(), 1, absent)?,
        };
        let content = match &self.content {
            Content::Bytes(all) => Content::Bytes(Arc::new(gather(all, each(), numbers, absent)?)),
            Content::Numbers(all) => {
                Content::Numbers(Arc::new(gather(all, each(), numbers, absent)?))
            }
            Content::Images(all) => {
                let kept = all.only(each()).map_err(absent)?;
                Content::Images(Arc::new(kept))
            }
        };
        Ok(Self { labels, targets, content })
    }

    /// Checks that there is one sample of `numbers` numbers for each label, and that every label
    /// is one of `classes`.
    fn check(&self, numbers: usize, classes: usize) -> Result<(), DataError> {
        let (expected, got) = match &self.content {
            Content::Bytes(bytes) => (self.len().saturating_mul(numbers), bytes.len()),
            Content::Numbers(values) => (self.len().saturating_mul(numbers), values.len()),
            Content::Images(images) => (self.len(), images.len()),
        };
        if expected != got {
            return Err(DataError::Length { what: "samples", expected, got });
        }
        match self.labels.iter().find(|&&label| label as usize >= classes) {
            Some(&label) => Err(DataError::Index { index: label as usize, len: classes }),
            None => Ok(()),
        }
    }
}

impl Dataset {
    /// A dataset of samples that are at hand, without augmentation.
    ///
    /// # Errors
    /// If samples, labels, classes, shape and normalisation do not fit each other.
    pub fn new(
        name: &str,
        classes: Vec<String>,
        input: [usize; 3],
        (train, test): (Samples, Samples),
        normalisation: Normalisation,
    ) -> Result<Self, DataError> {
        let numbers = input.iter().try_fold(1_usize, |product, &side| product.checked_mul(side));
        let numbers = numbers.filter(|&n| n > 0).unwrap_or(usize::MAX);
        train.check(numbers, classes.len())?;
        test.check(numbers, classes.len())?;
        for per_channel in [&normalisation.mean, &normalisation.std] {
            let (expected, got) = (input[2], per_channel.len());
            if expected != got {
                return Err(DataError::Length { what: "normalisation", expected, got });
            }
        }
        let table = match (&train.content, &test.content) {
            (Content::Numbers(_), Content::Numbers(_)) => Table::none(),
            _ => Table::new(&normalisation),
        };
        Ok(Self {
            name: name.to_owned(),
            classes,
            task: Task::Classification,
            input,
            columns: Vec::new(),
            fit: Fit::Whole,
            found: None,
            train,
            test,
            validation: Samples::none(),
            normalisation,
            augmentation: Augmentation::None,
            table,
        })
    }

    /// The same dataset for another task.
    ///
    /// # Errors
    /// If a regression does not have a target for each sample.
    pub fn for_task(self, task: Task) -> Result<Self, DataError> {
        for samples in [&self.train, &self.test] {
            let expected = if task.target().is_some() { samples.len() } else { 0 };
            let got = samples.targets.len();
            if expected != got {
                return Err(DataError::Length { what: "targets", expected, got });
            }
        }
        Ok(Self { task, ..self })
    }

    /// How many numbers a model puts out: one for each class, or one.
    pub fn outputs(&self) -> usize {
        if self.task.target().is_some() { 1 } else { self.classes.len() }
    }

    /// How image files become inputs, without chance; none for a table.
    pub fn image_reader(&self) -> Option<ImageReader> {
        if !self.columns.is_empty() || matches!(self.train.content, Content::Numbers(_)) {
            return None;
        }
        Some(ImageReader::new(self.input, self.fit, &self.normalisation))
    }

    /// The same dataset, its training samples augmented. Tables of numbers take no augmentation.
    pub fn augmented(self, augmentation: Augmentation) -> Self {
        Self { augmentation, ..self }
    }

    /// The same dataset with these training samples only, in this order: what an agent needs that
    /// trains on no others. The rest is given back to the system, if nobody else holds it.
    ///
    /// # Errors
    /// If there is no such sample.
    pub fn with_train(self, samples: &[u32]) -> Result<Self, DataError> {
        let train = self.train.only(samples, self.sample_len())?;
        Ok(Self { train, ..self })
    }

    /// The same dataset with this share of the training samples of every class set apart for
    /// validation: nobody trains on them. Which ones depends on the labels and the share alone, so
    /// all methods, seeds and settings are compared on the same samples. The test samples stay.
    ///
    /// # Errors
    /// If no sample can be set apart, because no class has two; and of a regression, whose R² is
    /// measured on the test set alone.
    pub fn with_validation(self, share: f64) -> Result<Self, DataError> {
        if let Some(target) = self.task.target() {
            let target = target.name.clone();
            return Err(DataError::ValidationOfRegression { dataset: self.name, target });
        }
        let (stay, apart) =
            set_apart(&self.train.labels, self.classes.len(), share, VALIDATION_SEED);
        if apart.is_empty() {
            return Err(DataError::NoValidation { dataset: self.name, samples: self.train.len() });
        }
        let only = |indices: Vec<usize>| {
            let indices: Vec<u32> = indices.into_iter().map(|index| index as u32).collect();
            self.train.only(&indices, self.sample_len())
        };
        let (train, validation) = (only(stay)?, only(apart)?);
        Ok(Self { train, validation, ..self })
    }

    /// The same dataset without its test samples: what a search for settings is given, so that it
    /// cannot look at them.
    pub fn without_test(self) -> Self {
        Self { test: Samples::none(), ..self }
    }

    /// How many numbers a sample has.
    pub fn sample_len(&self) -> usize {
        self.input.iter().product()
    }

    /// Writes training sample `index` as the model sees it: augmented as the dataset demands,
    /// by `key` and nothing else, then normalised; rows, pixels, channels innermost.
    ///
    /// # Errors
    /// If there is no such sample, `out` has another length than a sample, or an image cannot be
    /// decoded.
    pub fn write_train(&self, index: usize, key: u64, out: &mut [f32]) -> Result<(), DataError> {
        self.write(&self.train, index, Some(key), out)
    }

    /// Writes test sample `index` as the model sees it, without augmentation by chance.
    ///
    /// # Errors
    /// As for [`Dataset::write_train`].
    pub fn write_test(&self, index: usize, out: &mut [f32]) -> Result<(), DataError> {
        self.write(&self.test, index, None, out)
    }

    /// Writes validation sample `index` as the model sees it, without augmentation by chance.
    ///
    /// # Errors
    /// As for [`Dataset::write_train`].
    pub fn write_validation(&self, index: usize, out: &mut [f32]) -> Result<(), DataError> {
        self.write(&self.validation, index, None, out)
    }

    fn write(
        &self,
        samples: &Samples,
        index: usize,
        key: Option<u64>,
        out: &mut [f32],
    ) -> Result<(), DataError> {
        let numbers = self.sample_len();
        if out.len() != numbers {
            return Err(DataError::Length { what: "a sample", expected: numbers, got: out.len() });
        }
        let absent = || DataError::Index { index, len: samples.len() };
        match &samples.content {
            Content::Bytes(bytes) => {
                let pixels = nth(bytes, index, numbers).ok_or_else(absent)?;
                self.write_pixels(pixels, key, out);
            }
            Content::Numbers(values) => {
                out.copy_from_slice(nth(values, index, numbers).ok_or_else(absent)?);
            }
            Content::Images(images) => {
                let (bytes, path) = images.get(index).ok_or_else(absent)?;
                let picture = image::decode(bytes, &path)?;
                let pixels = match (self.augmentation, key) {
                    (Augmentation::FlipAndResizedCrop, Some(key)) => {
                        image_reader::crop_by_key(&picture, key, self.input)
                    }
                    _ => image_reader::pixels(picture, self.fit, self.input),
                };
                self.write_pixels(&pixels, key, out);
            }
        }
        Ok(())
    }

    fn write_pixels(&self, pixels: &[u8], key: Option<u64>, out: &mut [f32]) {
        match (self.augmentation, key) {
            (Augmentation::FlipAndShift { pad }, Some(key)) => {
                let shift = Shift::choose(key, pad);
                self.table.write_shifted(pixels, self.input, shift, out);
            }
            _ => self.table.write(pixels, out),
        }
    }
}

/// Decides which samples are set apart for validation; another number than that of the division
/// into training and test samples.
const VALIDATION_SEED: u64 = 0x5EED_0F7A;

/// The `index`-th run of `length` items.
fn nth<T>(items: &[T], index: usize, length: usize) -> Option<&[T]> {
    let start = index.checked_mul(length)?;
    items.get(start..start.checked_add(length)?)
}

/// The runs of `length` items with these indices, one after the other.
fn gather<T: Copy>(
    items: &[T],
    indices: impl ExactSizeIterator<Item = usize>,
    length: usize,
    absent: impl Fn(usize) -> DataError,
) -> Result<Vec<T>, DataError> {
    let mut gathered = Vec::with_capacity(indices.len() * length);
    for index in indices {
        gathered.extend_from_slice(nth(items, index, length).ok_or_else(|| absent(index))?);
    }
    Ok(gathered)
}
