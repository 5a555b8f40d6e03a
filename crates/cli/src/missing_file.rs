//! What to say of a file that is not there: similar names in its folder, and what to type.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The most names that are listed.
const MOST: usize = 8;

/// The input is refused because `path` is missing. Files with one of the `endings` (without a
/// dot; none: folders) are offered instead, and `advice` says what else can be done.
pub(crate) fn refused(what: &str, path: &Path, endings: &[&str], advice: &str) -> Failure {
    let shown = path.display();
    Failure::input(match there(path, endings) {
        There::Similar(name) => {
            format!("{what} {shown} does not exist; did you mean {}?", name.display())
        }
        There::Others(names) => format!("{what} {shown} does not exist{names}; {advice}"),
    })
}

/// What is there instead.
enum There {
    /// A file with nearly this name.
    Similar(PathBuf),
    /// Others, as a part of a sentence.
    Others(String),
}

fn there(path: &Path, endings: &[&str]) -> There {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let shown = match folder == Path::new(".") {
        true => String::from("this folder"),
        false => folder.display().to_string(),
    };
    let Ok(entries) = fs::read_dir(folder) else {
        return There::Others(format!(" (nor does the folder {shown})"));
    };
    let fits = |entry: &fs::DirEntry| {
        let path = entry.path();
        let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        match endings {
            [] => path.is_dir(),
            endings => endings.contains(&ending.as_str()) && path.is_file(),
        }
    };
    let names = entries.filter_map(Result::ok).filter(fits);
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    let wanted = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let near = names.iter().map(|name| (strsim::damerau_levenshtein(&wanted, name), name));
    let close = 1.max(wanted.chars().count() / 3);
    if let Some((_, name)) = near.min().filter(|(slips, _)| *slips <= close) {
        return There::Similar(path.with_file_name(name));
    }
    There::Others(match names.len() {
        0 => String::new(),
        count => {
            let more =
                if count > MOST { format!(" and {} more", count - MOST) } else { String::new() };
            names.truncate(MOST);
            format!("; in {shown} there is {}{more}", names.join(", "))
        }
    })
}
