//! Plain text tables; a column is as wide as its widest cell. On a terminal that is too narrow the
//! widest text is wrapped; if that is not enough, every row becomes a block of lines.

use std::io::IsTerminal;

use consort_records::table_text::TableView;

/// A wrapped column is not narrower than this.
const NARROWEST: usize = 20;

/// A table with aligned columns; numbers are aligned to the right. It fits into the terminal.
pub(crate) fn render(header: &[&str], rows: &[Vec<String>]) -> String {
    fitted(header, rows, columns())
}

/// A table of methods; where the terminal is too narrow for it, laid out as [`render`] does.
pub(crate) fn of_methods(view: &TableView<'_>) -> String {
    let text = view.to_text();
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    if columns().is_none_or(|columns| widest <= columns) {
        return text;
    }
    let (headings, rows, notes) = view.to_cells();
    let notes: String = notes.iter().map(|note| format!("{note}\n")).collect();
    render(&headings, &rows) + &notes
}

/// The width of standard output: that of the terminal, else `COLUMNS` if the user sets it.
fn columns() -> Option<usize> {
    if std::io::stdout().is_terminal() {
        return terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    }
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|&columns| columns > 0)
}

fn fitted(header: &[&str], rows: &[Vec<String>], columns: Option<usize>) -> String {
    let table = aligned(header, rows);
    let too_wide = |table: &str| {
        let widest = table.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        columns.and_then(|columns| widest.checked_sub(columns)).filter(|&excess| excess > 0)
    };
    let Some(excess) = too_wide(&table) else { return table };
    let widths = widths(header, rows);
    let widest = (0..header.len()).max_by_key(|&column| widths[column]).unwrap_or(0);
    if let Some(width) = widths[widest].checked_sub(excess).filter(|&width| width >= NARROWEST) {
        let wrapped: Vec<Vec<String>> =
            rows.iter().flat_map(|row| wrapped_row(row, widest, width)).collect();
        let table = aligned(header, &wrapped);
        if too_wide(&table).is_none() {
            return table;
        }
    }
    blocks(header, rows, columns.unwrap_or(usize::MAX))
}

/// A row whose cell in `column` goes on in further rows.
fn wrapped_row(row: &[String], column: usize, width: usize) -> Vec<Vec<String>> {
    let lines = wrap(row.get(column).map_or("", String::as_str), width);
    let continued = |(k, line): (usize, String)| {
        let mut cells = if k == 0 { row.to_vec() } else { vec![String::new(); row.len()] };
        if let Some(cell) = cells.get_mut(column) {
            *cell = line;
        }
        cells
    };
    lines.into_iter().enumerate().map(continued).collect()
}

/// Every row as a block: its first cell, then a line for each other one.
fn blocks(header: &[&str], rows: &[Vec<String>], columns: usize) -> String {
    let names = header.iter().skip(1).map(|name| name.chars().count()).max().unwrap_or(0);
    let width = columns.saturating_sub(names + 4).max(NARROWEST);
    let block = |row: &Vec<String>| {
        let mut text = row.first().cloned().unwrap_or_default() + "\n";
        for (name, cell) in header.iter().zip(row).skip(1) {
            for (k, line) in wrap(cell, width).iter().enumerate() {
                let name = if k == 0 { name } else { &"" };
                text += format!("  {name:names$}  {line}").trim_end();
                text.push('\n');
            }
        }
        text
    };
    rows.iter().map(block).collect::<Vec<_>>().join("\n")
}

/// The text in lines of at most `width` characters; a longer word stays whole.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.into());
        }
    }
    lines
}

fn widths(header: &[&str], rows: &[Vec<String>]) -> Vec<usize> {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([header[column].chars().count()]).max().unwrap_or(0)
    };
    (0..header.len()).map(width).collect()
}

fn aligned(header: &[&str], rows: &[Vec<String>]) -> String {
    let widths = widths(header, rows);
    let numeric: Vec<bool> = (0..header.len())
        .map(|column| {
            let mut cells = rows.iter().filter_map(|row| row.get(column)).peekable();
            let is_number = |cell: &String| cell.parse::<f64>().is_ok() || cell == "-";
            cells.peek().is_some() && cells.all(|cell| is_number(cell) || cell.is_empty())
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
    fn a_table_that_is_too_wide_is_wrapped_or_taken_apart() {
        let rows =
            vec![vec!["ring:16".into(), "16".into(), "every agent has two neighbours".into()]];
        let header = ["graph", "n", "what it is"];
        let whole = "graph     n  what it is\n-------  --  ------------------------------\n\
                     ring:16  16  every agent has two neighbours\n";
        assert_eq!(fitted(&header, &rows, None), whole);
        assert_eq!(fitted(&header, &rows, Some(43)), whole);
        let wrapped = "graph     n  what it is\n-------  --  --------------------\n\
                       ring:16  16  every agent has two\n             neighbours\n";
        assert_eq!(
            fitted(&header, &rows, Some(36)),
            wrapped.replace("--------------------", "-------------------")
        );
        let blocks = "ring:16\n  n           16\n  what it is  every agent has two\n\
                      \x20             neighbours\n";
        assert_eq!(fitted(&header, &rows, Some(30)), blocks);
    }

    #[test]
    fn rounding_noise_disappears() {
        assert_eq!(significant(-0.500_000_000_000_000_2, 12), -0.5);
        assert_eq!(significant(1.315_947e-9, 4), 1.316e-9);
        assert_eq!(significant(0.0, 12), 0.0);
    }
}
