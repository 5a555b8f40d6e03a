//! Plain text tables; a column is as wide as its widest cell.

/// A table with aligned columns; numbers are aligned to the right.
pub(crate) fn render(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([header[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let numeric: Vec<bool> = (0..header.len())
        .map(|column| {
            let mut cells = rows.iter().filter_map(|row| row.get(column)).peekable();
            cells.peek().is_some() && cells.all(|cell| cell.parse::<f64>().is_ok() || cell == "-")
        })
        .collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().enumerate().map(|(column, cell)| {
            let fill = " ".repeat(widths[column] - cell.chars().count());
            if numeric[column] { fill + cell } else { cell.clone() + &fill }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
    };
    let header: Vec<String> = header.iter().map(|name| (*name).to_string()).collect();
    let rule = widths.iter().map(|&width| "-".repeat(width)).collect::<Vec<_>>().join("  ");
    let body: String = rows.iter().map(|row| line(row)).collect();
    line(&header) + &rule + "\n" + &body
}

/// A number rounded to `digits` significant digits.
pub(crate) fn significant(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_the_right_and_text_to_the_left() {
        let rows = vec![vec!["gut".into(), "1.5".into()], vec!["qg-gutm".into(), "10.25".into()]];
        let expected = "name       x\n-------  -----\ngut        1.5\nqg-gutm  10.25\n";
        assert_eq!(
            render(&["name", "x"], &rows),
            expected.replace("name       x", "name         x")
        );
    }

    #[test]
    fn rounding_noise_disappears() {
        assert_eq!(significant(-0.500_000_000_000_000_2, 12), -0.5);
        assert_eq!(significant(1.315_947e-9, 4), 1.316e-9);
        assert_eq!(significant(0.0, 12), 0.0);
    }
}
