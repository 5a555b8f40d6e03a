//! Tables with an answer in each row: the class of the row, or a number.
//!
//! What is not said is detected, and `docs/own-data.md` has the same rules:
//!
//! ```text
//!   separator   the most frequent of , ; tab | in the first line
//!   header      a field of the first line is `label`, `class`, `target` or `y`, or a column that an
//!               option names, or is no number above a number
//!   answer      the column `label`, `class`, `target` or `y`, else the last
//!   category    a column of words; numbers are categories only on request
//!   missing     nothing, ?, NA, N/A, NaN, null: an error, unless rows are left out or filled
//! ```

mod contents;
mod layout;

use std::path::Path;

use csv::{ByteRecord, ReaderBuilder};

use super::describe;
use crate::DataError;
use layout::Layout;

/// How to read a table; what is left out is detected.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CsvOptions {
    /// The column with the label or the target: its name, or its number, from 1.
    pub answer: Option<String>,
    /// Whether the answer is a number to predict instead of a class.
    pub regression: bool,
    /// Mean and standard deviation by which a target is scaled, instead of those of the training
    /// rows: agents with tables of their own must agree on them.
    pub target_scale: Option<[f64; 2]>,
    /// Columns that are categories, even if they look like numbers.
    pub categorical: Vec<String>,
    /// Columns that are left out.
    pub drop: Vec<String>,
    /// Whether the first line names the columns.
    pub header: Option<bool>,
    /// What stands between two fields.
    pub separator: Option<u8>,
    /// What to do about missing fields.
    pub missing: Missing,
}

/// What to do about missing fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// Say where the first one is, and stop.
    #[default]
    Error,
    /// Leave the row out.
    Drop,
    /// Take the mean of the training rows for a number, and no category for a word. An answer is
    /// never filled.
    Fill,
}

/// A table with an answer in each row.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The columns that a model sees.
    pub columns: Vec<TableColumn>,
    /// The column to predict.
    pub answer: Answer,
    /// Row after row: numbers as they are, of a category its place, NaN if missing.
    pub values: Vec<f64>,
    /// Rows that were left out, since a field was missing.
    pub dropped: usize,
    /// Whether the first line named the columns.
    pub has_header: bool,
    /// What stands between two fields.
    pub separator: u8,
}

/// A column that a model sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// From the header, else `column 1` and so on.
    pub name: String,
    /// The categories, sorted; none if it is a column of numbers.
    pub categories: Option<Vec<String>>,
}

/// The column to predict.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A class in each row.
    Classes {
        /// The name of the column.
        column: String,
        /// The labels that occur, sorted: as integers if all are, else as words.
        classes: Vec<String>,
        /// For each row an index into the classes.
        labels: Vec<u32>,
    },
    /// A number in each row.
    Numbers {
        /// The name of the column.
        column: String,
        /// One for each row.
        values: Vec<f64>,
    },
}

/// Rows as text, for programs that have columns already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Records {
    /// The names of the columns, if there is a header.
    pub header: Option<Vec<String>>,
    /// The fields of each row, without spaces around them.
    pub rows: Vec<Vec<String>>,
    /// The line of each row, from 1.
    pub lines: Vec<u64>,
}

/// Numbers beyond this would not survive being squared and rounded.
const LARGEST: f64 = 1e30;

/// Reads a table.
///
/// # Errors
/// If it is no text, is empty, has rows of different lengths, a field that should be a number and
/// is none, a missing field, no column as named in `options`, or fewer than two different answers.
pub fn parse(bytes: &[u8], path: &Path, options: &CsvOptions) -> Result<Table, DataError> {
    let bytes = text_of(bytes, path)?;
    let layout = Layout::of(bytes, path, options)?;
    contents::read(bytes, path, options, &layout)
}

/// Reads rows as they are. Whether there is a header can be said; otherwise there is one if a field
/// of the first row is one of the names `known`.
///
/// # Errors
/// If it is no text, or is empty, or has rows of different lengths.
pub fn records(
    bytes: &[u8],
    path: &Path,
    separator: Option<u8>,
    has_header: Option<bool>,
    known: &[&str],
) -> Result<Records, DataError> {
    let bytes = text_of(bytes, path)?;
    let separator = separator.unwrap_or_else(|| layout::separator(bytes));
    let mut all = Records { header: None, rows: Vec::new(), lines: Vec::new() };
    let mut width = None;
    for row in rows(bytes, separator, path) {
        let row = row?;
        check_width(&row, *width.get_or_insert(row.len()), path)?;
        all.lines.push(line(&row));
        all.rows.push((0..row.len()).map(|i| text(&row, i)).collect());
    }
    let Some(first) = all.rows.first() else {
        return Err(DataError::format(path, 0, "a table with rows", describe(bytes)));
    };
    let named = || first.iter().any(|field| known.contains(&&**field));
    if has_header.unwrap_or_else(named) {
        all.header = Some(all.rows.remove(0));
        all.lines.remove(0);
    }
    Ok(all)
}

/// Whether a field says that there is no value.
pub fn is_missing(field: &[u8]) -> bool {
    let field = field.trim_ascii();
    let words: [&[u8]; 5] = [b"?", b"na", b"n/a", b"nan", b"null"];
    field.is_empty() || words.iter().any(|word| field.eq_ignore_ascii_case(word))
}

/// The bytes behind a byte-order mark, which must be text.
fn text_of<'a>(bytes: &'a [u8], path: &Path) -> Result<&'a [u8], DataError> {
    if let Err(error) = std::str::from_utf8(bytes) {
        let at = error.valid_up_to();
        return Err(DataError::format(path, at, "text in UTF-8", describe(&bytes[at..])));
    }
    Ok(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}

/// All rows, the header included.
fn rows<'a>(
    bytes: &'a [u8],
    separator: u8,
    path: &'a Path,
) -> impl Iterator<Item = Result<ByteRecord, DataError>> + use<'a> {
    let reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .from_reader(bytes);
    reader.into_byte_records().map(|row| {
        row.map_err(|error| {
            let at = error.position().map_or(0, |position| position.byte() as usize);
            DataError::format(path, at, "a row of a table", error.to_string())
        })
    })
}

fn check_width(row: &ByteRecord, width: usize, path: &Path) -> Result<(), DataError> {
    if row.len() == width {
        return Ok(());
    }
    let got = format!("{} (line {})", row.len(), line(row));
    Err(DataError::format(path, offset(row), format!("{width} fields"), got))
}

fn text(row: &ByteRecord, i: usize) -> String {
    String::from_utf8_lossy(row.get(i).unwrap_or_default()).trim().to_owned()
}

fn line(row: &ByteRecord) -> u64 {
    row.position().map_or(0, csv::Position::line)
}

fn offset(row: &ByteRecord) -> usize {
    row.position().map_or(0, |position| position.byte() as usize)
}

/// The number in a field.
pub(crate) fn number(field: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(field).ok()?.trim().parse().ok()?;
    (number.abs() <= LARGEST).then_some(number)
}

/// A number with four digits, or as many as are before its point.
pub(crate) fn shortest(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 1e15 || (size > 0.0 && size < 1e-4) => return format!("{value:.3e}"),
        size if size < 1.0 => 4,
        size => 3_usize.saturating_sub(size.log10() as usize),
    };
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// The first of `words` in quotation marks, and how many more there are.
pub(crate) fn shortened(words: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<_> = words.iter().take(SHOWN).map(|word| format!("`{word}`")).collect();
    let more = match words.len().checked_sub(SHOWN) {
        None | Some(0) => String::new(),
        Some(more) => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_as(text: &str, options: &str) -> Result<Table, DataError> {
        let crate::Source::Csv(source) = crate::Source::parse(&format!("csv:t.csv{options}"))?
        else {
            panic!("{options} is not of a table")
        };
        parse(text.as_bytes(), &source.path, &source.options)
    }

    fn read(text: &str) -> Result<Table, DataError> {
        read_as(text, "")
    }

    fn names(table: &Table) -> Vec<&str> {
        table.columns.iter().map(|column| &*column.name).collect()
    }

    fn classes(table: &Table) -> (Vec<&str>, Vec<u32>) {
        match &table.answer {
            Answer::Classes { classes, labels, .. } => {
                (classes.iter().map(|class| &**class).collect(), labels.clone())
            }
            Answer::Numbers { .. } => panic!("a regression"),
        }
    }

    fn message(text: &str, options: &str) -> String {
        read_as(text, options).unwrap_err().to_string()
    }

    #[test]
    fn a_header_names_the_label_and_words_become_classes() {
        let table = read("len,class,width\n1.5,cat,2\n-3e2,ant, 4 \n5,cat,6\n").unwrap();
        assert_eq!(names(&table), ["len", "width"]);
        assert_eq!(classes(&table), (vec!["ant", "cat"], vec![1, 0, 1]));
        assert_eq!(table.values, [1.5, 2.0, -300.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn without_a_header_the_last_column_is_the_label() {
        for text in
            ["1,2,10\n3,4,9\n", "1;2;10\r\n3;4;9", "\u{feff}1\t2\t10\n\n3\t4\t9\n", "1|2|10\n3|4|9"]
        {
            let table = read(text).unwrap();
            assert_eq!(names(&table), ["column 1", "column 2"]);
            assert_eq!(classes(&table), (vec!["9", "10"], vec![1, 0]), "sorted as integers");
        }
    }

    #[test]
    fn a_header_without_a_known_name_is_seen_by_its_words() {
        let table = read("\"sepal, length\",species\n5.1,setosa\n6.2,virginica\n").unwrap();
        assert_eq!(names(&table), ["sepal, length"]);
        assert_eq!(classes(&table).0, ["setosa", "virginica"]);
    }

    #[test]
    fn the_label_can_be_any_column_by_name_or_number() {
        let text = "kind,a,b\nx,1,2\ny,3,4\n";
        for options in [":label=kind", ":label=Kind", ":label=1"] {
            let table = read_as(text, options).unwrap();
            assert_eq!((names(&table), classes(&table).0), (vec!["a", "b"], vec!["x", "y"]));
        }
        // A name goes before a number, and headers can be denied.
        let table = read_as("2,1\n5,6\n7,8\n", ":label=2:header=yes").unwrap();
        assert_eq!(names(&table), ["1"]);
        let table = read_as("a,b\nc,d\n", ":header=no").unwrap();
        assert_eq!(classes(&table).0, ["b", "d"]);
        let told = message(text, ":label=kinds");
        assert!(told.contains("did you mean `kind`?") && told.contains("`a`"), "{told}");
        assert!(message(text, ":label=4").contains("3 columns"));
    }

    #[test]
    fn words_are_categories_and_numbers_only_on_request() {
        let text = "colour,doors,size,label\nred,2,1.5,x\nblue,4,2.5,y\nred,10,3.5,x\n";
        let table = read(text).unwrap();
        assert_eq!(table.columns[0].categories.as_deref().unwrap(), ["blue", "red"]);
        assert!(table.columns[1].categories.is_none());
        assert_eq!(table.values, [1.0, 2.0, 1.5, 0.0, 4.0, 2.5, 1.0, 10.0, 3.5]);
        let table = read_as(text, ":categorical=doors:drop=size").unwrap();
        assert_eq!(table.columns[1].categories.as_deref().unwrap(), ["2", "4", "10"]);
        assert_eq!(table.values, [1.0, 0.0, 0.0, 1.0, 1.0, 2.0]);
        assert!(message(text, ":drop=colors").contains("`drop`: there is no column `colors`"));
        assert!(message(text, ":drop=colour+doors+size").contains("left to learn from"));
    }

    /// A slip of the finger in a column of numbers is no category.
    #[test]
    fn a_word_among_numbers_is_told_with_its_place() {
        let text = "x,label\n1,a\n2,b\nthree,a\n";
        let told = message(text, "");
        assert!(told.contains("expected a number in `x`, line 4, got `three`"), "{told}");
        assert!(told.contains(":categorical=x"), "{told}");
        assert!(read_as(text, ":categorical=x").is_ok());
        let ids: String = (0..60).map(|i| format!("id-{i},{},{}\n", i, i % 2)).collect();
        let told = message(&format!("id,x,label\n{ids}"), "");
        assert!(told.contains("`id`") && told.contains(":drop=id"), "{told}");
    }

    #[test]
    fn missing_fields_are_an_error_or_left_out_or_filled() {
        let text = "a,c,label\n1,u,x\n?,v,y\n3,NA,y\n4,u,x\n";
        let told = message(text, "");
        assert!(told.contains("a value in `a`, line 3, got `?`"), "{told}");
        assert!(told.contains(":missing=drop") && told.contains(":missing=fill"), "{told}");
        let table = read_as(text, ":missing=drop:label=label").unwrap_err().to_string();
        assert!(table.contains("two different labels"), "{table}");
        let table = read_as(&format!("{text}5,v,y\n"), ":missing=drop").unwrap();
        assert_eq!((table.dropped, table.values.len()), (2, 6));
        let table = read_as(text, ":missing=fill").unwrap();
        assert!(table.values[2].is_nan() && table.values[5].is_nan());
        assert_eq!(table.columns[1].categories.as_deref().unwrap(), ["u", "v"]);
        let told = message("a,label\n1,x\n2,\n", ":missing=fill");
        assert!(told.contains("`label`, line 3, got nothing"), "{told}");
        assert!(message("a,b,label\n1,,x\n2,,y\n", ":missing=fill").contains("`b` is empty"));
    }

    #[test]
    fn a_target_is_a_number() {
        let text = "rooms,price\n3,100.5\n4,200\n";
        for options in [":target=price", ":target=2", ":task=regression"] {
            let table = read_as(text, options).unwrap();
            let Answer::Numbers { column, values } = &table.answer else { panic!("{table:?}") };
            assert_eq!((&**column, &values[..]), ("price", &[100.5, 200.0][..]));
        }
        assert!(message(text, "").contains(":task=regression"));
        let told = message("a,target\n1,2\n3,x\n", ":task=regression");
        assert!(told.contains("a number in the target `target`, line 3, got `x`"), "{told}");
        assert!(message("a,y\n1,2\n3,2\n", ":target=y").contains("two different numbers"));
        let prices: String = (0..300).map(|i| format!("1,{i}\n")).collect();
        assert!(message(&format!("a,price\n{prices}"), "").contains("300 different labels"));
    }

    #[test]
    fn what_is_wrong_is_told_with_line_and_column() {
        let message = |text: &str| message(text, "");
        assert!(
            message("a,b,label\n1,2,x\n1,,y\n")
                .starts_with("t.csv, byte 16: expected a value in `b`, line 3, got nothing")
        );
        assert_eq!(
            message("a,label\n1,x\n1,2,y\n"),
            "t.csv, byte 12: expected 2 fields, got 3 (line 3)"
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
        let error = parse(b"1,2\n\xff\xfe,3", Path::new("t"), &CsvOptions::default());
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("t, byte 4: expected text in UTF-8"), "{error}");
    }

    #[test]
    fn rows_can_be_read_without_an_answer() {
        let read = |text: &str, header| {
            records(text.as_bytes(), Path::new("t"), None, header, &["a", "b"]).unwrap()
        };
        let named = read("b;c\n1; x \n", None);
        assert_eq!(named.header.as_deref().unwrap(), ["b", "c"]);
        assert_eq!((named.rows, named.lines), (vec![vec!["1".to_owned(), "x".into()]], vec![2]));
        assert_eq!(read("1,2\n3,4\n", None).rows.len(), 2);
        assert_eq!(read("1,2\n3,4\n", Some(true)).rows.len(), 1);
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
