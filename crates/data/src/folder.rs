//! Folders of images, one folder a class, as torchvision's `ImageFolder` reads them.
//!
//! ```text
//!   photos/train/cat/1.jpg          photos/cat/1.jpg
//!   photos/val/cat/9.jpg      or    photos/dog/2.png       (one in five then becomes a test image)
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::formats::image;
use crate::image_store::ImageStore;
use crate::{Augmentation, DataError, Dataset, Normalisation, Samples, split};

/// An image file of more bytes than this is refused unread.
const LARGEST_FILE: u64 = 1 << 26;

/// Folders within folders of a class are followed no deeper than this.
const DEEPEST: usize = 8;

/// Reads a folder of images for models that see squares of `side` pixels. Classes are sorted by
/// name; images stay compressed in memory and are decoded whenever one is asked for.
///
/// A folder `train` beside a `test` (or `val`, `valid`, `validation`) folder is taken as it is;
/// without them the images are split, one in five of each class for testing, seed 0.
///
/// # Errors
/// If there are fewer than two classes, a class has no image, a test class is not trained on, or
/// a file is no image.
pub fn load(root: &Path, side: usize) -> Result<Dataset, DataError> {
    if side == 0 || side > 4096 {
        let got = format!("{side} x {side}");
        let expected = "images of 1 x 1 to 4096 x 4096 as the input".to_owned();
        return Err(DataError::Folder { path: root.to_owned(), expected, got });
    }
    let (classes, train, test) = listed(root)?;
    let name = root.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    let parts = (train.read(root)?, test.read(root)?);
    let classes = classes.into_iter().collect();
    let dataset = Dataset::new(&name, classes, [side, side, 3], parts, Normalisation::imagenet())?;
    Ok(dataset.augmented(Augmentation::FlipAndResizedCrop))
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

    /// Takes the files into memory, and looks at the head of each.
    fn read(self, root: &Path) -> Result<Samples, DataError> {
        let mut total = 0;
        for path in &self.files {
            total += length(path)?;
        }
        let mut images = ImageStore::new(root, total);
        for path in &self.files {
            let bytes = fs::read(path).map_err(DataError::io("read", path))?;
            image::size(&bytes, path)?;
            images.push(path, &bytes);
        }
        Ok(Samples::images(self.labels, images))
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
