//! Tables of numbers with a label: comma, semicolon or tab between fields, a header or none.
//!
//! The label is the column called `label`, `class`, `target` or `y`, else the last. Labels may be
//! words; everything else is a number.

use std::collections::BTreeMap;
use std::path::Path;

use csv::{ByteRecord, ReaderBuilder};

use super::describe;
use crate::DataError;

/// A table of numbers with a label in each row.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The names of the columns of numbers: from the header, else `column 1` and so on.
    pub columns: Vec<String>,
    /// The labels that occur, sorted: as integers if all are, else as words.
    pub classes: Vec<String>,
    /// For each row an index into the classes.
    pub labels: Vec<u32>,
    /// Row after row, without the label.
    pub values: Vec<f64>,
}

/// What a column of labels is called; of several the first of these is one.
const LABELS: [&str; 4] = ["label", "class", "target", "y"];

/// Numbers beyond this would not survive being squared and rounded.
const LARGEST: f64 = 1e30;

/// Reads a table.
///
/// # Errors
/// If it is no text, is empty, has rows of different lengths, a field that should be a number and
/// is none, a label that is a fraction, or fewer than two classes.
pub fn parse(bytes: &[u8], path: &Path) -> Result<Table, DataError> {
    if let Err(error) = std::str::from_utf8(bytes) {
        let at = error.valid_up_to();
        return Err(DataError::format(path, at, "text in UTF-8", describe(&bytes[at..])));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter(bytes))
        .from_reader(bytes);
    let mut rows = reader.byte_records().map(|row| {
        row.map_err(|error| {
            let at = error.position().map_or(0, |position| position.byte() as usize);
            DataError::format(path, at, "a row of a table", error.to_string())
        })
    });

    let empty = || DataError::format(path, 0, "a table with rows", describe(bytes));
    let first = rows.next().ok_or_else(empty)??;
    let second = rows.next().transpose()?;
    let width = first.len();
    if width < 2 {
        let got = format!("{width} in `{}`", text(&first, 0));
        return Err(DataError::format(path, 0, "at least two columns, one of them the label", got));
    }
    let named = LABELS.iter().find_map(|name| first.iter().position(|field| is(field, name)));
    let has_header = named.is_some()
        || second.as_ref().is_some_and(|second| {
            first.iter().zip(second).any(|(a, b)| number(a).is_none() && number(b).is_some())
        });
    let label_column = named.unwrap_or(width - 1);
    let names: Vec<String> = (0..width)
        .map(|i| if has_header { text(&first, i) } else { format!("column {}", i + 1) })
        .collect();

    let mut values = Vec::new();
    let mut labels = Vec::new();
    // Labels in the order in which they first come.
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let header = (!has_header).then_some(first);
    for row in header.into_iter().chain(second).map(Ok).chain(rows) {
        let row = row?;
        let at = row.position().map_or(0, |position| position.byte() as usize);
        if row.len() != width {
            let got = format!("{} (row {})", row.len(), line(&row));
            return Err(DataError::format(path, at, format!("{width} fields"), got));
        }
        for (i, field) in row.iter().enumerate() {
            if i == label_column {
                let label = text(&row, i);
                if let Some(problem) = label_problem(&label) {
                    let got = format!("{problem} (row {})", line(&row));
                    return Err(DataError::format(path, at, "a label: a word or an integer", got));
                }
                let next = seen.len() as u32;
                labels.push(*seen.entry(label).or_insert(next));
            } else {
                values.push(number(field).ok_or_else(|| {
                    let expected = format!("a number in `{}`, row {}", names[i], line(&row));
                    DataError::format(path, at, expected, format!("`{}`", text(&row, i)))
                })?);
            }
        }
    }
    let classes = sorted(seen.keys());
    if classes.len() < 2 {
        let expected = format!("at least two different labels in `{}`", names[label_column]);
        return Err(DataError::format(path, 0, expected, format!("{classes:?}")));
    }
    let mut places = vec![0; classes.len()];
    for (class, place) in classes.iter().zip(0..) {
        places[seen[class] as usize] = place;
    }
    for label in &mut labels {
        *label = places[*label as usize];
    }
    let columns = names.iter().enumerate().filter(|&(i, _)| i != label_column);
    let columns = columns.map(|(_, name)| name.clone()).collect();
    Ok(Table { columns, classes, labels, values })
}

/// The most frequent of the usual ones in the first line.
fn delimiter(bytes: &[u8]) -> u8 {
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let count = |delimiter: u8| line.iter().filter(|&&byte| byte == delimiter).count();
    // Of equals the last wins, so the comma stands last.
    [b'\t', b';', b','].into_iter().max_by_key(|&delimiter| count(delimiter)).unwrap_or(b',')
}

fn text(row: &ByteRecord, i: usize) -> String {
    String::from_utf8_lossy(row.get(i).unwrap_or_default()).trim().to_owned()
}

fn line(row: &ByteRecord) -> u64 {
    row.position().map_or(0, csv::Position::line)
}

fn number(field: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(field).ok()?.trim().parse().ok()?;
    (number.abs() <= LARGEST).then_some(number)
}

fn is(field: &[u8], name: &str) -> bool {
    field.trim_ascii().eq_ignore_ascii_case(name.as_bytes())
}

/// Why a field cannot be a class: missing, or a measurement.
fn label_problem(label: &str) -> Option<String> {
    match label.parse::<f64>() {
        _ if label.is_empty() => Some("nothing".to_owned()),
        Ok(value) if value.fract() != 0.0 => Some(format!("the fraction {label}")),
        _ => None,
    }
}

/// Integers by value if all are, words (which come in order) as they are.
fn sorted<'a>(labels: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut classes: Vec<String> = labels.cloned().collect();
    if classes.iter().all(|label| label.parse::<i64>().is_ok()) {
        classes.sort_by_cached_key(|label| label.parse::<i64>().unwrap_or(0));
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Table, DataError> {
        parse(text.as_bytes(), Path::new("t.csv"))
    }

    #[test]
    fn a_header_names_the_label_and_words_become_classes() {
        let table = read("len,class,width\n1.5,cat,2\n-3e2,ant, 4 \n5,cat,6\n").unwrap();
        assert_eq!(table.columns, ["len", "width"]);
        assert_eq!(table.classes, ["ant", "cat"]);
        assert_eq!(table.labels, [1, 0, 1]);
        assert_eq!(table.values, [1.5, 2.0, -300.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn without_a_header_the_last_column_is_the_label() {
        for text in ["1,2,10\n3,4,9\n", "1;2;10\r\n3;4;9", "\u{feff}1\t2\t10\n\n3\t4\t9\n"] {
            let table = read(text).unwrap();
            assert_eq!(table.columns, ["column 1", "column 2"]);
            assert_eq!(table.classes, ["9", "10"], "sorted as integers");
            assert_eq!(table.labels, [1, 0]);
        }
    }

    #[test]
    fn a_header_without_a_known_name_is_seen_by_its_words() {
        let table = read("\"sepal, length\",species\n5.1,setosa\n6.2,virginica\n").unwrap();
        assert_eq!(table.columns, ["sepal, length"]);
        assert_eq!(table.classes, ["setosa", "virginica"]);
    }

    #[test]
    fn what_is_wrong_is_told_with_row_and_column() {
        let message = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(
            message("a,b,label\n1,2,x\n1,,y\n"),
            "t.csv, byte 16: expected a number in `b`, row 3, got ``"
        );
        assert_eq!(
            message("a,label\n1,x\n1,2,y\n"),
            "t.csv, byte 12: expected 2 fields, got 3 (row 3)"
        );
        assert!(message("a,label\n1,x\nnan,y\n").contains("got `nan`"));
        assert!(message("a,label\n1,x\n1e31,y\n").contains("got `1e31`"));
        assert!(message("a,y\n1,0.5\n").contains("the fraction 0.5"));
        assert!(message("a,y\n1,\n").contains("got nothing"));
        assert!(message("a,y\n1,x\n2,x\n").contains("at least two different labels"));
        assert!(message("a,y\n").contains("at least two different labels"));
        assert!(message("").contains("an empty file"));
        assert!(message("1\n2\n").contains("at least two columns"));
        assert!(message("<!doctype html>\n<p>").contains("at least two columns"));
        let error = parse(b"1,2\n\xff\xfe,3", Path::new("t")).unwrap_err().to_string();
        assert!(error.starts_with("t, byte 4: expected text in UTF-8"), "{error}");
    }

    proptest! {
        #[test]
        fn numbers_read_back(rows in 2_usize..20, columns in 1_usize..6, seed in 0_u32..1000) {
            let value = |i: usize| (f64::from(seed) + i as f64 * 0.37).sin() * 1e3;
            let mut text = String::new();
            for row in 0..rows {
                for column in 0..columns {
                    text += &format!("{},", value(row * columns + column));
                }
                text += &format!("{}\n", row % 2);
            }
            let table = read(&text).unwrap();
            let expected: Vec<f64> = (0..rows * columns).map(value).collect();
            prop_assert_eq!(table.values, expected);
        }
    }
}
