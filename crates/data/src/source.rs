//! Where data come from, as it is typed: a name, `folder:PATH:OPTIONS` or `csv:PATH:OPTIONS`.
//!
//! ```text
//!   fashion-mnist          folder:photos:size=64         csv:cars.csv:target=price:drop=id+vin
//! ```
//!
//! Options stand behind the path, each as `:key=value`. A path alone is enough if it is there.

use std::path::{Path, PathBuf};

use crate::DataError;
use crate::catalogue::{CATALOGUE, Entry};
use crate::formats::csv::{CsvOptions, Missing};

/// Where data come from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Source {
    /// A dataset of the catalogue.
    Named(&'static Entry),
    /// A folder of images, one folder a class.
    Folder(FolderSource),
    /// A table.
    Csv(CsvSource),
}

/// A folder of images.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderSource {
    /// The folder.
    pub path: PathBuf,
    /// Height and width to scale to; none: that of the images, if all agree.
    pub size: Option<[usize; 2]>,
    /// How training images are changed; none: what suits the size.
    pub augment: Option<Augment>,
}

/// A way to change training images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Augment {
    /// Not at all.
    None,
    /// Flips, and shifts by up to an eighth of the image.
    Shift,
    /// Flips, and crops of 8 % to 100 % of the image, scaled.
    Crop,
}

/// A table in a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CsvSource {
    /// The file, plain or gzipped.
    pub path: PathBuf,
    /// How to read it.
    pub options: CsvOptions,
}

/// The keys of a folder of images.
const FOLDER_KEYS: &[&str] = &["size", "augment"];

/// The keys of a table.
const CSV_KEYS: &[&str] = &[
    "label",
    "target",
    "task",
    "target-scale",
    "categorical",
    "drop",
    "header",
    "separator",
    "missing",
];

/// The largest side of an input.
pub(crate) const LARGEST_SIDE: usize = 4096;

impl Source {
    /// What `text` stands for. A path is looked at only if it has no prefix.
    ///
    /// # Errors
    /// If it is neither a name nor a path, or an option is unknown or has no such value.
    pub fn parse(text: &str) -> Result<Self, DataError> {
        let parts = Parts::of(text);
        match parts.kind() {
            Some(Kind::Folder) => parts.folder().map(Source::Folder),
            Some(Kind::Csv) => parts.csv().map(Source::Csv),
            None => Entry::find(text).map(Source::Named).ok_or_else(|| unknown(text)),
        }
    }

    /// `text` with an absolute path, so that it means the same in every folder; relative paths
    /// begin in `base`. A name stays as it is, and so does what cannot be understood.
    pub fn absolute(text: &str, base: &Path) -> String {
        let parts = Parts::of(text);
        let prefix = match parts.kind() {
            Some(Kind::Folder) => "folder:",
            Some(Kind::Csv) => "csv:",
            None => return text.to_owned(),
        };
        let path = std::path::absolute(base.join(parts.path)).ok();
        match path.as_ref().and_then(|path| path.to_str()) {
            Some(path) => format!("{prefix}{path}{}", parts.options),
            None => text.to_owned(),
        }
    }

    /// A short name for `text`: of a path the last part, without options.
    pub fn short_name(text: &str) -> String {
        let parts = Parts::of(text);
        let Some(kind) = parts.kind() else { return text.to_owned() };
        let path = Path::new(parts.path);
        let name = match kind {
            Kind::Folder => path.file_name(),
            Kind::Csv => stem(path),
        };
        // Such as `.` or `..`: the folder that it stands for.
        let name = name.map(|name| name.to_string_lossy().into_owned()).or_else(|| {
            let whole = path.canonicalize().ok()?;
            whole.file_name().map(|name| name.to_string_lossy().into_owned())
        });
        name.unwrap_or_else(|| "data".to_owned())
    }
}

/// The name of a table: that of its file without `.csv`, `.csv.gz` and the like.
pub(crate) fn stem(path: &Path) -> Option<&std::ffi::OsStr> {
    let stem = path.file_stem()?;
    let unpacked = Path::new(stem);
    let gzipped = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    if gzipped { unpacked.file_stem() } else { Some(stem) }
}

enum Kind {
    Folder,
    Csv,
}

/// A text, taken apart.
struct Parts<'a> {
    text: &'a str,
    prefix: &'a str,
    path: &'a str,
    /// With the colon in front, or empty.
    options: &'a str,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Self {
        let prefix = ["folder:", "csv:"].into_iter().find(|prefix| text.starts_with(prefix));
        let (prefix, rest) = text.split_at(prefix.map_or(0, str::len));
        // The first `:word=` begins the options; a colon elsewhere belongs to the path.
        let begins = |at: &usize| key_of(&rest[at + 1..]).is_some();
        let at = rest.match_indices(':').map(|(at, _)| at).find(begins).unwrap_or(rest.len());
        let (path, options) = rest.split_at(at);
        Parts { text, prefix, path, options }
    }

    fn kind(&self) -> Option<Kind> {
        match self.prefix {
            "folder:" => Some(Kind::Folder),
            "csv:" => Some(Kind::Csv),
            _ if Entry::find(self.text).is_some() => None,
            _ if Path::new(self.path).is_file() => Some(Kind::Csv),
            _ if Path::new(self.path).is_dir() => Some(Kind::Folder),
            _ => None,
        }
    }

    /// Each option, as key and value; a value goes on where no key follows a colon.
    fn pairs(&self, known: &[&'static str]) -> Result<Vec<(&'static str, String)>, DataError> {
        let mut pairs: Vec<(&str, String)> = Vec::new();
        for word in self.options.split(':').skip(1) {
            match (key_of(word), pairs.last_mut()) {
                (None, Some((_, value))) => *value = format!("{value}:{word}"),
                (Some(key), _) => pairs.push((key, word[key.len() + 1..].to_owned())),
                (None, None) => {}
            }
        }
        let mut found: Vec<(&'static str, String)> = Vec::new();
        for (key, value) in pairs {
            let Some(&name) = known.iter().find(|name| **name == key) else {
                let nearest = known
                    .iter()
                    .map(|name| (strsim::damerau_levenshtein(key, name), name))
                    .min()
                    .filter(|(distance, name)| *distance <= 1 + name.len() / 4);
                let meant = nearest.map(|(_, name)| format!(", did you mean `{name}`?"));
                let problem = format!("no option `{key}`{}", meant.unwrap_or_default());
                return Err(self.problem(problem, known));
            };
            if found.iter().any(|(other, _)| *other == name) {
                return Err(self.problem(format!("`{name}` stands there twice"), known));
            }
            found.push((name, value));
        }
        Ok(found)
    }

    fn problem(&self, problem: String, known: &[&'static str]) -> DataError {
        DataError::Option { text: self.text.to_owned(), problem, known: known.join(", ") }
    }

    fn folder(&self) -> Result<FolderSource, DataError> {
        let mut source = FolderSource { path: self.path.into(), ..FolderSource::default() };
        let wrong = |key: &str, value: &str, expected: &str| {
            let problem = format!("`{key}`: expected {expected}, got `{value}`");
            self.problem(problem, FOLDER_KEYS)
        };
        for (key, value) in self.pairs(FOLDER_KEYS)? {
            if key == "size" {
                source.size = Some(size(&value).ok_or_else(|| {
                    let expected = format!(
                        "pixels from 1 to {LARGEST_SIDE}, as in size=32, or height x width, as in \
                         size=32x48"
                    );
                    wrong(key, &value, &expected)
                })?);
            } else {
                source.augment = Some(match &*value {
                    "none" => Augment::None,
                    "shift" => Augment::Shift,
                    "crop" => Augment::Crop,
                    _ => return Err(wrong(key, &value, "none, shift or crop")),
                });
            }
        }
        Ok(source)
    }

    fn csv(&self) -> Result<CsvSource, DataError> {
        let mut options = CsvOptions::default();
        for (key, value) in self.pairs(CSV_KEYS)? {
            let wrong = |expected: &str| {
                let problem = format!("`{key}`: expected {expected}, got `{value}`");
                self.problem(problem, CSV_KEYS)
            };
            if value.is_empty() {
                return Err(wrong("a value"));
            }
            let list = || value.split('+').map(|word| word.trim().to_owned()).collect();
            match key {
                "label" => options.answer = Some(value.clone()),
                "target" => {
                    options.regression = true;
                    options.answer = Some(value.clone());
                }
                "task" => match &*value {
                    "regression" => options.regression = true,
                    "classification" => options.regression = false,
                    _ => return Err(wrong("regression or classification")),
                },
                "target-scale" => {
                    let scale = scale(&value);
                    let expected =
                        "a mean and a deviation above 0, as in target-scale=250000+90000";
                    options.target_scale = Some(scale.ok_or_else(|| wrong(expected))?);
                }
                "categorical" => options.categorical = list(),
                "drop" => options.drop = list(),
                "header" => match &*value {
                    "yes" => options.header = Some(true),
                    "no" => options.header = Some(false),
                    _ => return Err(wrong("yes or no")),
                },
                "separator" => match &*value {
                    "comma" | "," => options.separator = Some(b','),
                    "semicolon" | ";" => options.separator = Some(b';'),
                    "tab" | "\\t" => options.separator = Some(b'\t'),
                    "pipe" | "|" => options.separator = Some(b'|'),
                    "space" | " " => options.separator = Some(b' '),
                    _ => return Err(wrong("comma, semicolon, tab, pipe or space")),
                },
                // `missing` is all that remains.
                _ => match &*value {
                    "error" => options.missing = Missing::Error,
                    "drop" => options.missing = Missing::Drop,
                    "fill" => options.missing = Missing::Fill,
                    _ => return Err(wrong("error, drop or fill")),
                },
            }
        }
        let pairs = self.pairs(CSV_KEYS)?;
        let has = |key: &str| pairs.iter().any(|(name, _)| *name == key);
        if has("label") && has("target") {
            let problem = "`label` is the column of a classification and `target` that of a \
                           regression: give one of them";
            return Err(self.problem(problem.to_owned(), CSV_KEYS));
        }
        if has("target") && !options.regression {
            let problem = "`target` makes it a regression: write `label` for a classification";
            return Err(self.problem(problem.to_owned(), CSV_KEYS));
        }
        if has("target-scale") && !options.regression {
            let problem = "`target-scale` is for regressions: name the column with `target`";
            return Err(self.problem(problem.to_owned(), CSV_KEYS));
        }
        Ok(CsvSource { path: self.path.into(), options })
    }
}

/// The key with which `word` begins, if it looks like `key=value`.
fn key_of(word: &str) -> Option<&str> {
    let (key, _) = word.split_once('=')?;
    let plain = |c: char| c.is_ascii_lowercase() || c == '-';
    (!key.is_empty() && key.chars().all(plain)).then_some(key)
}

fn size(text: &str) -> Option<[usize; 2]> {
    let side = |text: &str| text.trim().parse().ok().filter(|s| (1..=LARGEST_SIDE).contains(s));
    match text.split_once('x') {
        Some((height, width)) => Some([side(height)?, side(width)?]),
        None => side(text).map(|side| [side, side]),
    }
}

fn scale(text: &str) -> Option<[f64; 2]> {
    let finite = |text: &str| text.trim().parse().ok().filter(|x: &f64| x.is_finite());
    // A plus after an `e` belongs to the number.
    let mut splits = text.match_indices('+').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let pair = splits.find_map(|(mean, std)| Some([finite(mean)?, finite(std)?]));
    pair.filter(|[_, std]| *std > 0.0)
}

fn unknown(text: &str) -> DataError {
    let known: Vec<_> = CATALOGUE.iter().map(|entry| entry.name).collect();
    let suggestion = Entry::nearest(text).map(str::to_owned);
    DataError::Unknown { name: text.to_owned(), suggestion, known: known.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(text: &str) -> FolderSource {
        match Source::parse(text).unwrap() {
            Source::Folder(source) => source,
            other => panic!("{other:?}"),
        }
    }

    fn csv(text: &str) -> CsvSource {
        match Source::parse(text).unwrap() {
            Source::Csv(source) => source,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_stand_behind_the_path() {
        assert_eq!(folder("folder:a/b").size, None);
        assert_eq!(folder("folder:a/b:size=32").size, Some([32, 32]));
        let source = folder("folder:C:\\photos:size=32x48:augment=shift");
        assert_eq!(source.path, Path::new("C:\\photos"));
        assert_eq!((source.size, source.augment), (Some([32, 48]), Some(Augment::Shift)));
        let source = csv("csv:a b.csv:label=what: a thing:drop=id+vin:separator=tab:header=no");
        assert_eq!(source.path, Path::new("a b.csv"));
        assert_eq!(source.options.answer.as_deref(), Some("what: a thing"));
        assert_eq!(source.options.drop, ["id", "vin"]);
        assert_eq!((source.options.separator, source.options.header), (Some(b'\t'), Some(false)));
        assert!(!source.options.regression);
        let source = csv("csv:t.csv:target=3:categorical=a+b:missing=fill");
        assert!(source.options.regression && source.options.missing == Missing::Fill);
        assert_eq!(source.options.categorical, ["a", "b"]);
        assert!(csv("csv:t.csv:task=regression").options.regression);
        let scale = csv("csv:t.csv:target=x:target-scale=-1e+3+2.5").options.target_scale;
        assert_eq!(scale, Some([-1000.0, 2.5]));
    }

    #[test]
    fn what_is_wrong_is_told_with_what_is_possible() {
        for (text, parts) in [
            ("folder:a:size=big", &["`size`", "size=32x48", "got `big`"][..]),
            ("folder:a:size=0", &["1 to 4096", "got `0`"]),
            ("folder:a:sise=3", &["no option `sise`, did you mean `size`?", "size, augment"]),
            ("folder:a:augment=lots", &["none, shift or crop"]),
            ("csv:a:lable=x", &["no option `lable`, did you mean `label`?", "separator"]),
            ("csv:a:label=x:target=y", &["give one of them"]),
            ("csv:a:target=y:task=classification", &["write `label`"]),
            ("csv:a:label=x:label=y", &["twice"]),
            ("csv:a:label=", &["expected a value"]),
            ("csv:a:header=maybe", &["yes or no"]),
            ("csv:a:missing=x", &["error, drop or fill"]),
            ("csv:a:separator=x", &["comma, semicolon"]),
            ("csv:a:task=x", &["regression or classification"]),
            ("csv:a:target=x:target-scale=1+0", &["a mean and a deviation above 0"]),
            ("csv:a:target-scale=1+2", &["is for regressions"]),
        ] {
            let message = Source::parse(text).unwrap_err().to_string();
            for part in parts {
                assert!(message.contains(part), "{text}: {message}");
            }
        }
    }

    #[test]
    fn an_absolute_path_means_the_same_everywhere() {
        let base = std::env::current_dir().unwrap();
        let here = |path: &str| base.join(path).display().to_string();
        let absolute = |text| Source::absolute(text, &base);
        assert_eq!(absolute("digits"), "digits");
        assert_eq!(absolute("csv:t.csv:label=x:y"), format!("csv:{}:label=x:y", here("t.csv")));
        assert_eq!(absolute("folder:p:size=32"), format!("folder:{}:size=32", here("p")));
        assert_eq!(absolute("Cargo.toml"), format!("csv:{}", here("Cargo.toml")));
        assert_eq!(absolute(&absolute("csv:t.csv")), absolute("csv:t.csv"));
    }

    #[test]
    fn a_short_name_has_no_options() {
        for (text, name) in [
            ("digits", "digits"),
            ("folder:/a/photos:size=32", "photos"),
            ("folder:photos/", "photos"),
            ("csv:/a/cars.csv:target=price", "cars"),
            ("csv:cars.csv.gz", "cars"),
            ("csv:cars", "cars"),
        ] {
            assert_eq!(Source::short_name(text), name);
        }
        let here = std::env::current_dir().unwrap();
        let here = here.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(Source::short_name("folder:."), here);
    }
}
