//! How a table is laid out: its separator, its header, its columns and the one to predict.

use std::path::Path;

use csv::ByteRecord;

use super::{CsvOptions, describe, number, rows, shortened, text};
use crate::DataError;

/// What a column of labels is called; of several the first of these is one.
const LABELS: [&str; 4] = ["label", "class", "target", "y"];

/// What a column of targets is called, in the same way.
const TARGETS: [&str; 4] = ["target", "y", "label", "class"];

/// How a table is laid out.
pub(super) struct Layout {
    pub(super) separator: u8,
    pub(super) has_header: bool,
    pub(super) names: Vec<String>,
    /// The column to predict.
    pub(super) answer: usize,
    /// The columns that a model sees.
    pub(super) inputs: Vec<usize>,
    /// Those that are categories on request.
    pub(super) categorical: Vec<usize>,
}

impl Layout {
    pub(super) fn of(bytes: &[u8], path: &Path, options: &CsvOptions) -> Result<Self, DataError> {
        let separator = options.separator.unwrap_or_else(|| separator(bytes));
        let mut rows = rows(bytes, separator, path);
        let empty = || DataError::format(path, 0, "a table with rows", describe(bytes));
        let first = rows.next().ok_or_else(empty)??;
        let second = rows.next().transpose()?;
        let width = first.len();
        if width < 2 {
            let got = format!("{width} in `{}`", text(&first, 0));
            let expected = "at least two columns, one of them the label";
            return Err(DataError::format(path, 0, expected, got));
        }
        let usual = if options.regression { TARGETS } else { LABELS };
        let usual = usual.iter().find_map(|name| first.iter().position(|field| is(field, name)));
        let has_header = options.header.unwrap_or_else(|| {
            usual.is_some() || names_a_column(&first, options) || stands_above(&first, &second)
        });
        let name = |i: usize| match has_header {
            true => text(&first, i),
            false => format!("column {}", i + 1),
        };
        let names: Vec<String> = (0..width).map(name).collect();
        let find = |key: &str, column: &str| find(&names, key, column, path);
        let answer = match &options.answer {
            Some(column) => find(if options.regression { "target" } else { "label" }, column)?,
            None => usual.filter(|_| has_header).unwrap_or(width - 1),
        };
        let all = |key: &str, columns: &[String]| -> Result<Vec<usize>, DataError> {
            columns.iter().map(|column| find(key, column)).collect()
        };
        let (dropped, categorical) =
            (all("drop", &options.drop)?, all("categorical", &options.categorical)?);
        let inputs: Vec<usize> =
            (0..width).filter(|i| *i != answer && !dropped.contains(i)).collect();
        if inputs.is_empty() {
            let expected =
                format!("a column besides `{}` that is left to learn from", names[answer]);
            return Err(DataError::format(path, 0, expected, shortened(&names)));
        }
        Ok(Layout { separator, has_header, names, answer, inputs, categorical })
    }
}

/// The most frequent of the usual ones in the first line.
pub(super) fn separator(bytes: &[u8]) -> u8 {
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let count = |separator: u8| line.iter().filter(|&&byte| byte == separator).count();
    // Of equals the last wins, so the comma stands last.
    [b'|', b'\t', b';', b','].into_iter().max_by_key(|&s| count(s)).unwrap_or(b',')
}

/// Whether a field of the first row is a column that the options name.
fn names_a_column(first: &ByteRecord, options: &CsvOptions) -> bool {
    let named = options.answer.iter().chain(&options.categorical).chain(&options.drop);
    let mut words = named.filter(|name| number(name.as_bytes()).is_none());
    words.any(|name| first.iter().any(|field| is(field, name)))
}

/// Whether a word of the first row stands above a number.
fn stands_above(first: &ByteRecord, second: &Option<ByteRecord>) -> bool {
    second.as_ref().is_some_and(|second| {
        first.iter().zip(second).any(|(a, b)| number(a).is_none() && number(b).is_some())
    })
}

/// The column that an option names: exactly, else with other capitals, else by its number.
fn find(names: &[String], key: &str, column: &str, path: &Path) -> Result<usize, DataError> {
    let exactly = names.iter().position(|name| name == column);
    let loosely = || names.iter().position(|name| name.to_lowercase() == column.to_lowercase());
    let number = column.parse::<usize>().ok();
    let by_number = || number.filter(|k| (1..=names.len()).contains(k)).map(|k| k - 1);
    exactly.or_else(loosely).or_else(by_number).ok_or_else(|| {
        let near = |name: &String| strsim::damerau_levenshtein(name, column);
        let nearest = names.iter().min_by_key(|name| near(name));
        let meant = nearest.filter(|name| near(name) <= 1 + name.len() / 4);
        let meant = meant.map_or(String::new(), |name| format!(", did you mean `{name}`?"));
        let (count, known) = (names.len(), shortened(names));
        DataError::Column {
            path: path.to_owned(),
            problem: format!(
                "`{key}`: there is no column `{column}`{meant}; the {count} columns are {known}; \
                 they have numbers from 1, too"
            ),
        }
    })
}

fn is(field: &[u8], name: &str) -> bool {
    field.trim_ascii().eq_ignore_ascii_case(name.as_bytes())
}
