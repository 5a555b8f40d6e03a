//! What stands in a table: which columns are numbers and which categories, then all values.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use csv::ByteRecord;

use super::layout::Layout;
use super::{
    Answer, CsvOptions, LARGEST, Missing, Table, TableColumn, check_width, is_missing, line,
    number, offset, rows, text,
};
use crate::DataError;

/// A column with more different words than this is a category only on request: it may be a name.
const MOST_DETECTED: usize = 50;

/// No category has more values.
const MOST_CATEGORIES: usize = 10_000;

/// Labels that are nearly as many as there are rows, and more than this, are numbers to predict.
const MOST_LABELS: usize = 100;

/// A table, and how to read it.
struct Reader<'a> {
    bytes: &'a [u8],
    path: &'a Path,
    options: &'a CsvOptions,
    layout: &'a Layout,
}

/// What the fields of a column are.
#[derive(Default)]
struct Fields {
    numbers: usize,
    words: usize,
    /// The first field that is no number, with its line and place.
    first_word: Option<(String, u64, usize)>,
}

pub(super) fn read(
    bytes: &[u8],
    path: &Path,
    options: &CsvOptions,
    layout: &Layout,
) -> Result<Table, DataError> {
    let reader = Reader { bytes, path, options, layout };
    let (fields, dropped) = reader.count()?;
    let columns = reader.columns(&fields)?;
    let values = reader.values(&columns)?;
    let answer = if options.regression { reader.numbers() } else { reader.classes() }?;
    let (has_header, separator) = (layout.has_header, layout.separator);
    Ok(Table { columns, answer, values, dropped, has_header, separator })
}

impl Reader<'_> {
    /// Every row that is used.
    fn rows(&self) -> impl Iterator<Item = Result<ByteRecord, DataError>> {
        let drops = self.options.missing == Missing::Drop;
        let skipped = usize::from(self.layout.has_header);
        rows(self.bytes, self.layout.separator, self.path)
            .skip(skipped)
            .filter(move |row| !drops || row.as_ref().map_or(true, |row| !self.lacks(row)))
    }

    /// Whether a field that is used is missing.
    fn lacks(&self, row: &ByteRecord) -> bool {
        let used = self.layout.inputs.iter().chain([&self.layout.answer]);
        used.filter_map(|&i| row.get(i)).any(is_missing)
    }

    fn error(&self, row: &ByteRecord, expected: String, got: String) -> DataError {
        DataError::format(self.path, offset(row), expected, got)
    }

    fn name(&self, i: usize) -> &str {
        &self.layout.names[i]
    }

    /// What the fields of each input are, and how many rows are left out. Rows of another length
    /// and fields that may not be missing are refused.
    fn count(&self) -> Result<(Vec<Fields>, usize), DataError> {
        let layout = self.layout;
        let mut fields: Vec<Fields> = layout.inputs.iter().map(|_| Fields::default()).collect();
        let mut dropped = 0;
        let skipped = usize::from(layout.has_header);
        for row in rows(self.bytes, layout.separator, self.path).skip(skipped) {
            let row = row?;
            check_width(&row, layout.names.len(), self.path)?;
            if self.options.missing == Missing::Drop && self.lacks(&row) {
                dropped += 1;
                continue;
            }
            for (&i, fields) in layout.inputs.iter().zip(&mut fields) {
                let field = row.get(i).unwrap_or_default();
                if is_missing(field) {
                    if self.options.missing == Missing::Error {
                        return Err(self.missing(&row, i));
                    }
                } else if number(field).is_some() {
                    fields.numbers += 1;
                } else if is_too_large(field) && !layout.categorical.contains(&i) {
                    let expected = format!(
                        "a number of at most {LARGEST:e} in `{}`, line {}",
                        self.name(i),
                        line(&row)
                    );
                    return Err(self.error(&row, expected, format!("`{}`", text(&row, i))));
                } else {
                    fields.words += 1;
                    fields
                        .first_word
                        .get_or_insert_with(|| (text(&row, i), line(&row), offset(&row)));
                }
            }
            if row.get(layout.answer).is_none_or(is_missing) {
                return Err(self.missing(&row, layout.answer));
            }
        }
        Ok((fields, dropped))
    }

    fn missing(&self, row: &ByteRecord, i: usize) -> DataError {
        let expected = format!("a value in `{}`, line {}", self.name(i), line(row));
        let found = text(row, i);
        let found = if found.is_empty() { "nothing".to_owned() } else { format!("`{found}`") };
        let fill = match i == self.layout.answer {
            true => "",
            false => ", or take the mean (no category) for it with `:missing=fill`",
        };
        let got = format!("{found}; leave such rows out with `:missing=drop`{fill}");
        self.error(row, expected, got)
    }

    /// Which columns are numbers, and the categories of the others.
    fn columns(&self, fields: &[Fields]) -> Result<Vec<TableColumn>, DataError> {
        let mut words: Vec<Option<BTreeSet<String>>> = Vec::new();
        for (&i, fields) in self.layout.inputs.iter().zip(fields) {
            let name = self.name(i);
            let problem =
                |problem: String| Err(DataError::Column { path: self.path.to_owned(), problem });
            let is_category = match (&fields.first_word, fields.numbers > fields.words) {
                _ if self.layout.categorical.contains(&i) => true,
                (None, _) if fields.numbers == 0 && self.options.missing == Missing::Fill => {
                    return problem(format!("`{name}` is empty: leave it out with `:drop={name}`"));
                }
                (None, _) => false,
                (Some(_), false) => true,
                (Some((word, line, at)), true) => {
                    let expected = format!("a number in `{name}`, line {line}");
                    let got =
                        format!("`{word}`; if the column is a category, say `:categorical={name}`");
                    return Err(DataError::format(self.path, *at, expected, got));
                }
            };
            words.push(is_category.then(BTreeSet::new));
        }
        for row in self.rows() {
            let row = row?;
            for (&i, words) in self.layout.inputs.iter().zip(&mut words) {
                let Some(words) = words else { continue };
                let word = text(&row, i);
                if is_missing(word.as_bytes()) || words.contains(&word) {
                    continue;
                }
                words.insert(word);
                let requested = self.layout.categorical.contains(&i);
                let most = if requested { MOST_CATEGORIES } else { MOST_DETECTED };
                if words.len() > most {
                    let name = self.name(i);
                    let keep = match requested {
                        true => String::new(),
                        false => format!(", or keep it with `:categorical={name}`"),
                    };
                    let problem = format!(
                        "`{name}` has more than {most} different words: leave it out with \
                         `:drop={name}`{keep}"
                    );
                    return Err(DataError::Column { path: self.path.to_owned(), problem });
                }
            }
        }
        let column = |(&i, words): (&usize, Option<BTreeSet<String>>)| TableColumn {
            name: self.name(i).to_owned(),
            categories: words.map(|words| sorted(words.into_iter())),
        };
        Ok(self.layout.inputs.iter().zip(words).map(column).collect())
    }

    fn values(&self, columns: &[TableColumn]) -> Result<Vec<f64>, DataError> {
        let place = |words: &Vec<String>| -> BTreeMap<String, f64> {
            words.iter().enumerate().map(|(k, word)| (word.clone(), k as f64)).collect()
        };
        let places: Vec<_> =
            columns.iter().map(|column| column.categories.as_ref().map(place)).collect();
        let mut values = Vec::new();
        for row in self.rows() {
            let row = row?;
            for (&i, places) in self.layout.inputs.iter().zip(&places) {
                let value = match places {
                    Some(places) => places.get(&text(&row, i)).copied(),
                    None => row.get(i).and_then(number),
                };
                // All others were refused: it is missing.
                values.push(value.unwrap_or(f64::NAN));
            }
        }
        Ok(values)
    }

    fn classes(&self) -> Result<Answer, DataError> {
        let column = self.name(self.layout.answer).to_owned();
        // Labels in the order in which they first come.
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        let mut labels = Vec::new();
        for row in self.rows() {
            let row = row?;
            let label = text(&row, self.layout.answer);
            if label.parse::<f64>().is_ok_and(|value| value.fract() != 0.0) {
                let expected = "a label: a word or an integer".to_owned();
                let got = format!(
                    "the fraction {label} in `{column}`, line {}; to predict numbers, say \
                     `:task=regression`",
                    line(&row)
                );
                return Err(self.error(&row, expected, got));
            }
            let next = seen.len() as u32;
            labels.push(*seen.entry(label).or_insert(next));
        }
        let classes = sorted(seen.keys().cloned());
        if classes.len() < 2 {
            let expected = format!("at least two different labels in `{column}`");
            return Err(DataError::format(self.path, 0, expected, format!("{classes:?}")));
        }
        if classes.len() > MOST_LABELS && 2 * classes.len() > labels.len() {
            let problem = format!(
                "`{column}` has {} different labels in {} rows: to predict numbers, say \
                 `:task=regression`; another column is chosen by `:label=NAME`",
                classes.len(),
                labels.len()
            );
            return Err(DataError::Column { path: self.path.to_owned(), problem });
        }
        let mut places = vec![0; classes.len()];
        for (class, place) in classes.iter().zip(0..) {
            places[seen[class] as usize] = place;
        }
        for label in &mut labels {
            *label = places[*label as usize];
        }
        Ok(Answer::Classes { column, classes, labels })
    }

    fn numbers(&self) -> Result<Answer, DataError> {
        let column = self.name(self.layout.answer).to_owned();
        let mut values = Vec::new();
        for row in self.rows() {
            let row = row?;
            let field = row.get(self.layout.answer).unwrap_or_default();
            values.push(number(field).ok_or_else(|| {
                let expected = format!("a number in the target `{column}`, line {}", line(&row));
                self.error(&row, expected, format!("`{}`", text(&row, self.layout.answer)))
            })?);
        }
        if values.iter().all(|value| *value == values[0]) {
            let expected = format!("at least two different numbers in the target `{column}`");
            let got = values.first().map_or("none".to_owned(), |value| format!("{value} alone"));
            return Err(DataError::format(self.path, 0, expected, got));
        }
        Ok(Answer::Numbers { column, values })
    }
}

/// Whether a field is a number that cannot be used.
fn is_too_large(field: &[u8]) -> bool {
    std::str::from_utf8(field).is_ok_and(|text| text.trim().parse::<f64>().is_ok())
}

/// Integers by value if all are, words (which come in order) as they are.
fn sorted(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut words: Vec<String> = words.collect();
    if words.iter().all(|word| word.parse::<i64>().is_ok()) {
        words.sort_by_cached_key(|word| word.parse::<i64>().unwrap_or(0));
    }
    words
}
