//! Compressed images in memory: a thousand photographs of 500x375 pixels take 100 MB as files
//! and 560 MB as pixels, so they are decoded whenever one is asked for.

use std::path::{Path, PathBuf};

/// Files of images, one after the other.
#[derive(Debug, Default)]
pub(crate) struct ImageStore {
    root: PathBuf,
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
    /// What each is called below the root, for messages.
    names: Vec<PathBuf>,
}

impl ImageStore {
    /// An empty store for images below `root`, of so many bytes together.
    pub(crate) fn new(root: &Path, bytes: usize) -> Self {
        Self { root: root.to_owned(), bytes: Vec::with_capacity(bytes), ..Self::default() }
    }

    pub(crate) fn push(&mut self, path: &Path, image: &[u8]) {
        self.bytes.extend_from_slice(image);
        self.ends.push(self.bytes.len());
        self.names.push(path.strip_prefix(&self.root).unwrap_or(path).to_owned());
    }

    /// A store of the images with these indices; or the first index that there is not.
    pub(crate) fn only(&self, indices: impl Iterator<Item = usize>) -> Result<Self, usize> {
        let mut kept = Self::new(&self.root, 0);
        for index in indices {
            let (image, path) = self.get(index).ok_or(index)?;
            kept.push(&path, image);
        }
        kept.bytes.shrink_to_fit();
        Ok(kept)
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes and the path of an image.
    pub(crate) fn get(&self, index: usize) -> Option<(&[u8], PathBuf)> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some((&self.bytes[start..end], self.root.join(&self.names[index])))
    }
}
