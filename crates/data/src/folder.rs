//! Folders of images, one folder a class, as torchvision's `ImageFolder` reads them.
//!
//! ```text
//!   photos/train/cat/1.jpg          photos/cat/1.jpg
//!   photos/val/cat/9.jpg      or    photos/dog/2.png       (one in five then becomes a test image)
//! ```
//!
//! Images that all have one size are taken as they are, grey ones with one channel. Others are
//! scaled to a size that the user has to say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::formats::image::{self, Head};
use crate::image_reader::{self, Fit};
use crate::image_store::ImageStore;
use crate::source::{Augment, FolderSource, LARGEST_SIDE};
use crate::{Augmentation, DataError, Dataset, Normalisation, Samples, split};

/// An image file of more bytes than this is refused unread.
const LARGEST_FILE: u64 = 1 << 26;

/// Folders within folders of a class are followed no deeper than this.
const DEEPEST: usize = 8;

/// Images of more pixels are scaled only to a size that the user says: models for them do not exist.
const MOST_PIXELS: usize = 512 * 512;

/// Images that need no scaling are decoded once, if they take no more bytes than this.
const MOST_DECODED: usize = 1 << 30;

/// Reads a folder of images. Classes are sorted by name. Images of one size are decoded at once;
/// others stay compressed in memory and are decoded whenever one is asked for.
///
/// A folder `train` beside a `test` (or `val`, `valid`, `validation`) folder is taken as it is;
/// without them the images are split, one in five of each class for testing, seed 0.
///
/// # Errors
/// If there are fewer than two classes, a class has no image, a test class is not trained on, a file
/// is no image, or images differ in size and no size was asked for.
pub(crate) fn load(source: &FolderSource) -> Result<Dataset, DataError> {
    let root = &source.path;
    let files = Files::read(root)?;
    let heads = files.heads()?;
    let channels = if heads.iter().all(|head| head.is_grey) { 1 } else { 3 };
    let sizes = counted(heads.iter().map(|head| head.size));
    let alike = match sizes[..] {
        [(size, _)] => Some(size),
        _ => None,
    };
    let size = match (source.size, alike) {
        (Some(size), _) => size,
        (None, Some(size)) if size[0] * size[1] <= MOST_PIXELS => size,
        (None, _) => return Err(ask_for_size(root, &sizes)),
    };
    let own_size = alike == Some(size);
    let augment = source.augment.unwrap_or(if own_size { Augment::None } else { Augment::Crop });
    let found = format!(
        "{}: {} {}{}",
        name_of(root),
        heads.len(),
        if channels == 1 { "grey images" } else { "images" },
        what_happens(size, &sizes, own_size, augment)
    );
    let input = [size[0], size[1], channels];
    let normalisation = match channels {
        1 => Normalisation::grey(),
        _ => Normalisation::imagenet(),
    };
    let in_bytes = heads.len().saturating_mul(input.iter().product());
    let decodes = own_size && augment != Augment::Crop && in_bytes <= MOST_DECODED;
    let fit = if own_size { Fit::Whole } else { Fit::Centre };
    let mut dataset = files.dataset(root, input, normalisation, fit, decodes)?;
    dataset.found = Some(found);
    let augmentation = match augment {
        Augment::None => Augmentation::None,
        Augment::Shift => Augmentation::FlipAndShift { pad: (size[0].min(size[1]) / 8).max(1) },
        Augment::Crop => Augmentation::FlipAndResizedCrop,
    };
    Ok(dataset.augmented(augmentation))
}

/// Reads a folder of images for models that see squares of `side` pixels in colour, whatever the
/// sizes of the images.
///
/// # Errors
/// As [`load`].
pub(crate) fn load_scaled(root: &Path, side: usize) -> Result<Dataset, DataError> {
    let files = Files::read(root)?;
    files.heads()?;
    let input = [side, side, 3];
    let dataset = files.dataset(root, input, Normalisation::imagenet(), Fit::Centre, false)?;
    Ok(dataset.augmented(Augmentation::FlipAndResizedCrop))
}

/// The files of a folder of images, in memory.
struct Files {
    classes: BTreeSet<String>,
    /// For training and for testing.
    parts: [(Vec<u32>, ImageStore); 2],
}

impl Files {
    fn read(root: &Path) -> Result<Self, DataError> {
        let (classes, train, test) = listed(root)?;
        Ok(Files { classes, parts: [train.read(root)?, test.read(root)?] })
    }

    /// What the head of each image says.
    fn heads(&self) -> Result<Vec<Head>, DataError> {
        let stores = self.parts.iter().map(|(_, store)| store);
        let images = stores.flat_map(|store| (0..store.len()).filter_map(|i| store.get(i)));
        images.map(|(bytes, path)| image::head(bytes, &path)).collect()
    }

    fn dataset(
        self,
        root: &Path,
        input: [usize; 3],
        normalisation: Normalisation,
        fit: Fit,
        decodes: bool,
    ) -> Result<Dataset, DataError> {
        let samples = |(labels, store): (Vec<u32>, ImageStore)| match decodes {
            true => Ok(Samples::bytes(labels, decoded(&store, fit, input)?)),
            false => Ok(Samples::images(labels, store)),
        };
        let [train, test] = self.parts;
        let parts = (samples(train)?, samples(test)?);
        let classes = self.classes.into_iter().collect();
        let mut dataset = Dataset::new(&name_of(root), classes, input, parts, normalisation)?;
        dataset.fit = fit;
        Ok(dataset)
    }
}

/// All images of a store, one after the other.
fn decoded(store: &ImageStore, fit: Fit, input: [usize; 3]) -> Result<Vec<u8>, DataError> {
    let mut bytes = Vec::with_capacity(store.len() * input.iter().product::<usize>());
    for (file, path) in (0..store.len()).filter_map(|i| store.get(i)) {
        bytes.extend(image_reader::pixels(image::decode(file, &path)?, fit, input));
    }
    Ok(bytes)
}

/// Each size, with the number of images that have it, the most frequent first.
fn counted(sizes: impl Iterator<Item = [usize; 2]>) -> Vec<([usize; 2], usize)> {
    let mut counts: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    sizes.for_each(|size| *counts.entry(size).or_default() += 1);
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    counts
}

fn ask_for_size(root: &Path, sizes: &[([usize; 2], usize)]) -> DataError {
    const SHOWN: usize = 8;
    let text = |&([height, width], count): &([usize; 2], usize)| {
        format!("{height}x{width} ({count} image{})", if count == 1 { "" } else { "s" })
    };
    let shown: Vec<String> = sizes.iter().take(SHOWN).map(text).collect();
    let more = match sizes.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let problem = match sizes {
        [_] => format!("its images are too large to be taken as they are: {}", shown[0]),
        _ => format!("its images have {} sizes: {}{more}", sizes.len(), shown.join(", ")),
    };
    let shorter = sizes.iter().map(|(size, _)| size[0].min(size[1])).min().unwrap_or(1);
    let example = [224, 128, 64, 32].into_iter().find(|&side| side <= shorter).unwrap_or(shorter);
    DataError::Sizes { path: root.to_owned(), problem, example: example.min(LARGEST_SIDE) }
}

/// What is done to the images, for the user.
fn what_happens(
    [height, width]: [usize; 2],
    sizes: &[([usize; 2], usize)],
    own_size: bool,
    augment: Augment,
) -> String {
    let as_they_are = own_size && augment != Augment::Crop;
    let scaled = match sizes {
        _ if as_they_are => format!(" of {height}x{width}, taken as they are"),
        [([own_height, own_width], _)] => {
            format!(" of {own_height}x{own_width}, scaled to {height}x{width}")
        }
        _ => format!(" of {} sizes, scaled to {height}x{width}", sizes.len()),
    };
    let training = match augment {
        Augment::None => "training images are not augmented",
        Augment::Shift => "training images are flipped and shifted by chance",
        Augment::Crop => "training images are flipped and cropped by chance",
    };
    let tests = if own_size { "" } else { ", of test images the middle is taken" };
    format!("{scaled}; {training}{tests}")
}

fn name_of(root: &Path) -> String {
    crate::Source::short_name(&format!("folder:{}", root.display()))
}

/// The classes of a folder of images, and which files are for training and for testing.
pub(crate) fn listed(root: &Path) -> Result<(BTreeSet<String>, List, List), DataError> {
    let train = root.join("train");
    let test = ["test", "val", "valid", "validation"].map(|name| root.join(name));
    let test = test.iter().find(|path| path.is_dir());
    let training_root = if train.is_dir() { &train } else { root };
    let classes = class_names(training_root)?;
    let listed = List::of(training_root, &classes)?;

    let (train, test) = match test.filter(|_| train.is_dir()) {
        Some(test) => {
            if let Some(stranger) = class_names(test)?.difference(&classes).next() {
                return Err(DataError::Folder {
                    path: test.clone(),
                    expected: format!("only the classes of {}", training_root.display()),
                    got: format!("`{stranger}`"),
                });
            }
            let present: BTreeSet<_> = class_names(test)?;
            let tests = List::of(test, &classes.intersection(&present).cloned().collect())?;
            (listed, tests.relabelled(&present, &classes))
        }
        None => {
            let (train, test) = split::stratified(&listed.labels, classes.len(), 0);
            (listed.part(&train), listed.part(&test))
        }
    };
    Ok((classes, train, test))
}

/// Files and their labels.
#[derive(Default)]
pub(crate) struct List {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) labels: Vec<u32>,
}

impl List {
    /// Every image of every class.
    fn of(root: &Path, classes: &BTreeSet<String>) -> Result<Self, DataError> {
        let mut list = List::default();
        for (class, label) in classes.iter().zip(0..) {
            let folder = root.join(class);
            let before = list.files.len();
            collect(&folder, DEEPEST, &mut list.files)?;
            if list.files.len() == before {
                return Err(DataError::Folder {
                    path: folder,
                    expected: "images (.jpg, .jpeg or .png) of this class".to_owned(),
                    got: "none".to_owned(),
                });
            }
            list.labels.resize(list.files.len(), label);
        }
        Ok(list)
    }

    /// Labels that counted the classes of `from`, as indices into `to`.
    fn relabelled(mut self, from: &BTreeSet<String>, to: &BTreeSet<String>) -> Self {
        let places: Vec<u32> = (0..)
            .zip(to)
            .filter(|(_, class)| from.contains(*class))
            .map(|(place, _)| place)
            .collect();
        for label in &mut self.labels {
            *label = places[*label as usize];
        }
        self
    }

    fn part(&self, members: &[usize]) -> Self {
        List {
            files: members.iter().map(|&i| self.files[i].clone()).collect(),
            labels: members.iter().map(|&i| self.labels[i]).collect(),
        }
    }

    /// Takes the files into memory.
    fn read(self, root: &Path) -> Result<(Vec<u32>, ImageStore), DataError> {
        let mut total = 0;
        for path in &self.files {
            total += length(path)?;
        }
        let mut images = ImageStore::new(root, total);
        for path in &self.files {
            let bytes = fs::read(path).map_err(DataError::io("read", path))?;
            images.push(path, &bytes);
        }
        Ok((self.labels, images))
    }
}

/// The bytes of an image file, unless they are too many.
fn length(path: &Path) -> Result<usize, DataError> {
    let bytes = fs::metadata(path).map_err(DataError::io("read", path))?.len();
    if bytes > LARGEST_FILE {
        let expected = format!("an image of at most {LARGEST_FILE} bytes");
        return Err(DataError::format(path, 0, expected, format!("{bytes} bytes")));
    }
    Ok(bytes as usize)
}

/// Decodes one image, as training would.
pub(crate) fn decode(path: &Path) -> Result<(), DataError> {
    length(path)?;
    let bytes = fs::read(path).map_err(DataError::io("read", path))?;
    image::decode(&bytes, path).map(drop)
}

/// The folders of `root`, each a class; hidden ones are none.
fn class_names(root: &Path) -> Result<BTreeSet<String>, DataError> {
    let mut names = BTreeSet::new();
    for path in entries(root)? {
        if path.is_dir()
            && let Some(name) = path.file_name()
        {
            let unreadable = |_| DataError::Folder {
                path: path.clone(),
                expected: "a name in UTF-8".to_owned(),
                got: "other bytes".to_owned(),
            };
            names.insert(name.to_owned().into_string().map_err(unreadable)?);
        }
    }
    if names.len() < 2 {
        return Err(DataError::Folder {
            path: root.to_owned(),
            expected: "a folder for each of two or more classes".to_owned(),
            got: if names.is_empty() { "none".to_owned() } else { format!("only {names:?}") },
        });
    }
    Ok(names)
}

/// The images in `folder` and its folders, sorted: the order of a directory is the system's.
fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), DataError> {
    for path in entries(folder)? {
        if path.is_dir() {
            if depth > 0 {
                collect(&path, depth - 1, files)?;
            }
        } else if is_image(&path) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_image(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        ["jpg", "jpeg", "png"].iter().any(|known| extension.eq_ignore_ascii_case(known))
    })
}

/// What is in a folder, without hidden entries, sorted.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let list = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect();
    let mut paths: Vec<PathBuf> =
        std::io::Result::from(list()).map_err(DataError::io("list", folder))?;
    paths.retain(|path| {
        path.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b"."))
    });
    paths.sort_unstable();
    Ok(paths)
}
