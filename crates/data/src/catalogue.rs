//! The datasets that have a name: what they are, whose they are, which files they consist of.

mod class_names;

pub(crate) use class_names::IMAGENETTE_SYNSETS;
use class_names::{CIFAR10, CIFAR100, DIGITS, FASHION_MNIST, IMAGENETTE};

/// A dataset with a name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What it is asked for by.
    pub name: &'static str,
    /// Other spellings of the name.
    pub aliases: &'static [&'static str],
    /// What it shows, in a few words.
    pub what: &'static str,
    /// Training samples.
    pub train: usize,
    /// Test samples.
    pub test: usize,
    /// The names of its classes.
    pub classes: &'static [&'static str],
    /// Height, width and channels of what a model sees.
    pub input: [usize; 3],
    /// Under which terms it may be used.
    pub licence: &'static str,
    /// Its home page.
    pub source: &'static str,
    /// Whom to cite.
    pub citation: &'static str,
    /// Where it is looked for below the data folder, best place first; an absolute path is looked
    /// at as it is. It is fetched into the first.
    pub folders: &'static [&'static str],
    /// The files that such a folder must hold; none if it holds a tree of images.
    pub files: &'static [File],
    /// What there is to download.
    pub downloads: &'static [Download],
}

/// A file of a dataset, plain or gzipped.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its official name, without `.gz`.
    pub name: &'static str,
    /// How many bytes it has when unpacked.
    pub bytes: usize,
}

/// A file to download: it is put into the dataset's first folder, or unpacked beside it if it is
/// an archive, whose members begin with that folder's name.
#[derive(Clone, Copy, Debug)]
pub struct Download {
    /// The last part of its address.
    pub file: &'static str,
    /// Its size.
    pub bytes: u64,
    /// Its MD5, as its publisher states it.
    pub md5: &'static str,
    /// Its SHA-256, if known.
    pub sha256: Option<&'static str>,
    /// Where to get it, best place first, without the file's name.
    pub bases: &'static [&'static str],
    /// For an archive, how many bytes it may take when unpacked.
    pub unpacked: Option<u64>,
}

impl Entry {
    /// The dataset called `name`: case, `_` for `-`, and the usual other spellings do not matter.
    pub fn find(name: &str) -> Option<&'static Entry> {
        let name = name.to_lowercase().replace('_', "-");
        CATALOGUE.iter().find(|entry| entry.name == name || entry.aliases.contains(&&*name))
    }

    /// The name that `name` is most likely a misspelling of.
    pub fn nearest(name: &str) -> Option<&'static str> {
        let name = name.to_lowercase().replace('_', "-");
        let (distance, nearest) = CATALOGUE
            .iter()
            .flat_map(|entry| entry.aliases.iter().map(|alias| (alias, entry.name)))
            .chain(CATALOGUE.iter().map(|entry| (&entry.name, entry.name)))
            .map(|(spelling, entry)| (strsim::damerau_levenshtein(&name, spelling), entry))
            .min_by_key(|&(distance, _)| distance)?;
        (distance <= 1 + name.len() / 4).then_some(nearest)
    }

    /// Bytes to download in all.
    pub fn download_bytes(&self) -> u64 {
        self.downloads.iter().map(|download| download.bytes).sum()
    }
}

/// The four files of MNIST and of those who follow it.
const IDX_FILES: [File; 4] = [
    File { name: "train-images-idx3-ubyte", bytes: 16 + 60_000 * 784 },
    File { name: "train-labels-idx1-ubyte", bytes: 8 + 60_000 },
    File { name: "t10k-images-idx3-ubyte", bytes: 16 + 10_000 * 784 },
    File { name: "t10k-labels-idx1-ubyte", bytes: 8 + 10_000 },
];

const fn gzipped(
    file: &'static str,
    bytes: u64,
    md5: &'static str,
    bases: &'static [&'static str],
) -> Download {
    Download { file, bytes, md5, sha256: None, bases, unpacked: None }
}

const MNIST_BASES: &[&str] = &[
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
];

const FASHION_MNIST_BASES: &[&str] = &[
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
];

/// Every dataset that has a name.
pub const CATALOGUE: &[Entry] = &[
    Entry {
        name: "digits",
        aliases: &["digit", "optdigits"],
        what: "handwritten digits, built in",
        train: 1_438,
        test: 359,
        classes: DIGITS,
        input: [8, 8, 1],
        licence: "CC BY 4.0",
        source: "https://archive.ics.uci.edu/dataset/80/optical+recognition+of+handwritten+digits",
        citation: "E. Alpaydin and C. Kaynak (1998), Optical Recognition of Handwritten Digits, \
                   UCI Machine Learning Repository, doi:10.24432/C50P49",
        folders: &[],
        files: &[],
        downloads: &[],
    },
    Entry {
        name: "mnist",
        aliases: &[],
        what: "handwritten digits",
        train: 60_000,
        test: 10_000,
        classes: DIGITS,
        input: [28, 28, 1],
        licence: "CC BY-SA 3.0",
        source: "https://yann.lecun.org/exdb/mnist/",
        citation: "Y. LeCun, L. Bottou, Y. Bengio and P. Haffner (1998), Gradient-based learning \
                   applied to document recognition, Proceedings of the IEEE 86(11)",
        folders: &["mnist", "MNIST/raw", "MNIST"],
        files: &IDX_FILES,
        downloads: &[
            gzipped(
                "train-images-idx3-ubyte.gz",
                9_912_422,
                "f68b3c2dcbeaaa9fbdd348bbdeb94873",
                MNIST_BASES,
            ),
            gzipped(
                "train-labels-idx1-ubyte.gz",
                28_881,
                "d53e105ee54ea40749a09fcbcd1e9432",
                MNIST_BASES,
            ),
            gzipped(
                "t10k-images-idx3-ubyte.gz",
                1_648_877,
                "9fb629c4189551a2d022fa330f9573f3",
                MNIST_BASES,
            ),
            gzipped(
                "t10k-labels-idx1-ubyte.gz",
                4_542,
                "ec29112dd5afa0611ce80d1b7f02629c",
                MNIST_BASES,
            ),
        ],
    },
    Entry {
        name: "fashion-mnist",
        aliases: &["fashionmnist", "fmnist", "fashion"],
        what: "articles of clothing",
        train: 60_000,
        test: 10_000,
        classes: FASHION_MNIST,
        input: [28, 28, 1],
        licence: "MIT",
        source: "https://github.com/zalandoresearch/fashion-mnist",
        citation: "H. Xiao, K. Rasul and R. Vollgraf (2017), Fashion-MNIST: a Novel Image Dataset \
                   for Benchmarking Machine Learning Algorithms, arXiv:1708.07747",
        // The last is where Debian's and Ubuntu's package dataset-fashion-mnist puts it.
        folders: &[
            "fashion-mnist",
            "FashionMNIST/raw",
            "FashionMNIST",
            "/usr/share/datasets/fashion-mnist",
        ],
        files: &IDX_FILES,
        downloads: &[
            gzipped(
                "train-images-idx3-ubyte.gz",
                26_421_880,
                "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
                FASHION_MNIST_BASES,
            ),
            gzipped(
                "train-labels-idx1-ubyte.gz",
                29_515,
                "25c81989df183df01b3e8a0aad5dffbe",
                FASHION_MNIST_BASES,
            ),
            gzipped(
                "t10k-images-idx3-ubyte.gz",
                4_422_102,
                "bef4ecab320f06d8554ea6380940ec79",
                FASHION_MNIST_BASES,
            ),
            gzipped(
                "t10k-labels-idx1-ubyte.gz",
                5_148,
                "bb300cfdad3c16e7a12a480ee83cd310",
                FASHION_MNIST_BASES,
            ),
        ],
    },
    Entry {
        name: "cifar10",
        aliases: &["cifar-10"],
        what: "small photographs of animals and vehicles",
        train: 50_000,
        test: 10_000,
        classes: CIFAR10,
        input: [32, 32, 3],
        licence: "none stated; free for research with citation",
        source: "https://www.cs.toronto.edu/~kriz/cifar.html",
        citation: KRIZHEVSKY,
        folders: &["cifar-10-batches-bin", "cifar10", "cifar10/cifar-10-batches-bin"],
        files: &[
            File { name: "data_batch_1.bin", bytes: 10_000 * 3_073 },
            File { name: "data_batch_2.bin", bytes: 10_000 * 3_073 },
            File { name: "data_batch_3.bin", bytes: 10_000 * 3_073 },
            File { name: "data_batch_4.bin", bytes: 10_000 * 3_073 },
            File { name: "data_batch_5.bin", bytes: 10_000 * 3_073 },
            File { name: "test_batch.bin", bytes: 10_000 * 3_073 },
        ],
        downloads: &[Download {
            file: "cifar-10-binary.tar.gz",
            bytes: 170_052_171,
            md5: "c32a1d4ab5d03f1284b67883e8d87530",
            sha256: Some("c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"),
            bases: &["https://www.cs.toronto.edu/~kriz/"],
            unpacked: Some(200_000_000),
        }],
    },
    Entry {
        name: "cifar100",
        aliases: &["cifar-100"],
        what: "small photographs of a hundred kinds of things",
        train: 50_000,
        test: 10_000,
        classes: CIFAR100,
        input: [32, 32, 3],
        licence: "none stated; free for research with citation",
        source: "https://www.cs.toronto.edu/~kriz/cifar.html",
        citation: KRIZHEVSKY,
        folders: &["cifar-100-binary", "cifar100", "cifar100/cifar-100-binary"],
        files: &[
            File { name: "train.bin", bytes: 50_000 * 3_074 },
            File { name: "test.bin", bytes: 10_000 * 3_074 },
        ],
        downloads: &[Download {
            file: "cifar-100-binary.tar.gz",
            bytes: 168_513_733,
            md5: "03b5dce01913d631647c71ecec9e9cb8",
            sha256: Some("58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"),
            bases: &["https://www.cs.toronto.edu/~kriz/"],
            unpacked: Some(200_000_000),
        }],
    },
    Entry {
        name: "imagenette",
        aliases: &["imagenette2"],
        what: "photographs of ten easily told classes of ImageNet",
        train: 9_469,
        test: 3_925,
        classes: IMAGENETTE,
        input: [224, 224, 3],
        licence: "Apache-2.0; the photographs under ImageNet's terms (research only)",
        source: "https://github.com/fastai/imagenette",
        citation: "J. Howard (2019), Imagenette, https://github.com/fastai/imagenette",
        folders: &["imagenette2-320", "imagenette2", "imagenette2-224", "imagenette2-160"],
        files: &[],
        downloads: &[Download {
            file: "imagenette2-320.tgz",
            bytes: 341_663_724,
            md5: "3df6f0d01a2c9592104656642f5e78a3",
            sha256: Some("569b4497c98db6dd29f335d1f109cf315fe127053cedf69010d047f0188e158c"),
            bases: &["https://s3.amazonaws.com/fast-ai-imageclas/"],
            unpacked: Some(500_000_000),
        }],
    },
];

const KRIZHEVSKY: &str = "A. Krizhevsky (2009), Learning Multiple Layers of Features from Tiny \
                          Images, technical report, University of Toronto";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_however_they_are_spelt() {
        for (spelling, name) in [
            ("cifar10", "cifar10"),
            ("CIFAR-10", "cifar10"),
            ("Fashion_MNIST", "fashion-mnist"),
            ("FashionMNIST", "fashion-mnist"),
            ("imagenette", "imagenette"),
        ] {
            assert_eq!(Entry::find(spelling).map(|entry| entry.name), Some(name));
        }
        assert!(Entry::find("cifar").is_none());
    }

    #[test]
    fn misspellings_are_recognised_and_other_words_are_not() {
        assert_eq!(Entry::nearest("fashon-mnist"), Some("fashion-mnist"));
        assert_eq!(Entry::nearest("cifar1"), Some("cifar10"));
        assert_eq!(Entry::nearest("minst"), Some("mnist"));
        assert_eq!(Entry::nearest("imagenet"), Some("imagenette"));
        assert_eq!(Entry::nearest("penguins"), None);
    }

    #[test]
    fn every_row_is_complete() {
        for entry in CATALOGUE {
            assert!(!entry.what.is_empty() && !entry.licence.is_empty());
            assert!(!entry.citation.is_empty() && entry.source.starts_with("https://"));
            for download in entry.downloads {
                assert_eq!(download.md5.len(), 32);
                assert!(download.sha256.is_none_or(|sha256| sha256.len() == 64));
                assert!(download.bases.iter().all(|base| base.ends_with('/')));
            }
        }
        assert_eq!(Entry::find("cifar100").unwrap().classes.len(), 100);
        assert!(CIFAR100.is_sorted());
    }
}
