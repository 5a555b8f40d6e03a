//! Mixing matrices from text files: one row a line, blanks or commas between.
//!
//! Rows must sum to 1 within 1e-6. What is missing within that goes to the own
//! weight, so that 0.333333 three times does not make the average drift over a
//! hundred thousand rounds.

use std::path::Path;

use crate::files::read_bounded;
use crate::mixing::{MixingMatrix, check_weight};
use crate::mixing_error::MixingError;

/// How far a row or column of a file may stray from 1.
pub(crate) const FILE_TOLERANCE: f64 = 1e-6;

/// Reads and checks the matrix of a graph with this many agents.
pub(crate) fn read(path: &Path, agents: usize) -> Result<MixingMatrix, MixingError> {
    let text = read_bounded(path)?;
    parse(&text, agents).map_err(|(line, problem)| MixingError::InFile {
        path: path.to_owned(),
        line,
        problem: Box::new(problem),
    })
}

type Located = (Option<usize>, MixingError);

fn parse(text: &str, agents: usize) -> Result<MixingMatrix, Located> {
    let mut rows = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let content = line.split('#').next().unwrap_or("").trim();
        if content.is_empty() {
            continue;
        }
        let row = parse_row(content, rows.len(), agents).map_err(|e| (Some(index + 1), e))?;
        rows.push(row);
        if rows.len() > agents {
            break; // already too many: no need to read a gigabyte more
        }
    }
    if rows.len() != agents {
        return Err((None, MixingError::WrongAgents { expected: agents, got: rows.len() }));
    }
    let mut matrix = MixingMatrix::from_rows(rows).map_err(|problem| (None, problem))?;
    matrix.tolerance = FILE_TOLERANCE;
    Ok(matrix)
}

fn parse_row(content: &str, row: usize, agents: usize) -> Result<Vec<(usize, f64)>, MixingError> {
    let is_gap = |c: char| c == ',' || c.is_whitespace();
    let words = content.split(is_gap).filter(|word| !word.is_empty());
    let mut entries = Vec::new();
    let mut sum = 0.0;
    let mut got = 0;
    for (column, word) in words.enumerate() {
        let value: f64 = word.parse().map_err(|_| {
            let found = word.chars().take(40).collect();
            MixingError::NotANumber { row, column, found }
        })?;
        check_weight(row, column, value)?;
        sum += value;
        got += 1;
        if value != 0.0 || column == row {
            entries.push((column, value));
        }
    }
    if got != agents {
        return Err(MixingError::NotSquare { row, expected: agents, got });
    }
    if (sum - 1.0).abs() > FILE_TOLERANCE {
        return Err(MixingError::RowSum { row, sum, tolerance: FILE_TOLERANCE });
    }
    give_rest_to_own_weight(&mut entries, row, 1.0 - sum);
    Ok(entries)
}

fn give_rest_to_own_weight(entries: &mut [(usize, f64)], row: usize, rest: f64) {
    for (column, value) in entries {
        // Where the own weight cannot give (0.5000005 twice and 0), the row stays as it is.
        if *column == row && *value + rest >= 0.0 {
            *value += rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_commas_and_comments() {
        let w = parse("# two\n0.25, 0.75\n\n0.75 0.25 # last\n", 2).unwrap();
        assert_eq!((w.weight(0, 1), w.weight(1, 1)), (0.75, 0.25));
    }

    #[test]
    fn rounded_thirds_are_accepted_and_made_whole() {
        let w = parse(&"0.3333333 0.3333333 0.3333333\n".repeat(3), 3).unwrap();
        assert!((w.row(0).map(|(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-15);
        w.require_doubly_stochastic().unwrap();
    }

    #[test]
    fn every_fault_is_named_with_its_line() {
        for (text, line, said) in [
            ("1 0\n0 0.99", Some(2), "row 1 sums to 0.99, expected 1 within 0.000001"),
            ("# c\n1 0 0\n0 1", Some(2), "row 0 has 3 entries, expected 2"),
            ("1 0\n0 x", Some(2), "\"x\" is not a number"),
            ("1.5 -0.5\n0 1", Some(1), "negative"),
            ("NaN 1\n0 1", Some(1), "not finite"),
            ("1 0", None, "1 agents, expected 2"),
            ("1 0\n0 1\n0 1", None, "3 agents, expected 2"),
        ] {
            let (at, problem) = parse(text, 2).unwrap_err();
            assert_eq!(at, line, "{text}");
            assert!(problem.to_string().contains(said), "{problem}");
        }
    }

    #[test]
    fn the_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.txt");
        std::fs::write(&path, "0.5 0.5\n0.5 0.49\n").unwrap();
        let message = read(&path, 2).unwrap_err().to_string();
        assert!(message.contains("w.txt, line 2: row 1 sums to 0.99"), "{message}");
        assert!(read(&folder.path().join("none.txt"), 2).is_err());
    }
}
