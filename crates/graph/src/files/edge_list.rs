//! Edge lists: `a b` is an edge, `a -> b` an arc, one a line.
//!
//! ```text
//! # the office
//! agents 4        (optional: otherwise the largest number decides)
//! 0 1
//! 1 -> 3
//! ```

use super::{Drawing, Unreadable};
use crate::size::MAX_AGENTS;

const EXPECTED: &str = "\"a b\", \"a -> b\" or \"agents N\" with whole numbers from 0";

pub(super) fn parse(text: &str) -> Result<Drawing, Unreadable> {
    let mut drawing = Drawing::default();
    let mut declared = None;
    for (index, line) in text.lines().enumerate() {
        let content = line.split('#').next().unwrap_or("").trim();
        if content.is_empty() {
            continue;
        }
        let unreadable = || Unreadable::new(index + 1, EXPECTED, format!("\"{content}\""));
        let number = |word: &str| word.parse::<usize>().map_err(|_| unreadable());
        if let Some(count) = content.strip_prefix("agents ") {
            declared = Some(number(count.trim())?);
            continue;
        }
        let (from, to, is_arc) = match content.split_once("->") {
            Some((from, to)) => (number(from.trim())?, number(to.trim())?, true),
            None => {
                let mut words = content.split_whitespace();
                let (Some(from), Some(to), None) = (words.next(), words.next(), words.next())
                else {
                    return Err(unreadable());
                };
                (number(from)?, number(to)?, false)
            }
        };
        let largest = from.max(to);
        let limit = declared.unwrap_or(MAX_AGENTS as usize);
        if largest >= limit {
            let expected = format!("agents below {limit}");
            return Err(Unreadable::new(index + 1, expected, format!("agent {largest}")));
        }
        drawing.agents = drawing.agents.max(largest + 1);
        if is_arc { &mut drawing.arcs } else { &mut drawing.edges }.push((from, to));
    }
    drawing.agents = declared.unwrap_or(drawing.agents);
    Ok(drawing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_arcs_comments_and_header() {
        let drawing = parse("# net\nagents 5\n\n0 1 # first\n1->3\n2 -> 3\n").unwrap();
        assert_eq!(drawing.agents, 5);
        assert_eq!(drawing.edges, [(0, 1)]);
        assert_eq!(drawing.arcs, [(1, 3), (2, 3)]);
    }

    #[test]
    fn the_largest_number_decides_without_a_header() {
        assert_eq!(parse("0 7").unwrap().agents, 8);
    }

    #[test]
    fn the_broken_line_is_named() {
        for (text, line) in [("0 1\n0", 2), ("0 1 2", 1), ("\n\na b", 3), ("0 -1", 1), ("0 -> ", 1)]
        {
            assert_eq!(parse(text).unwrap_err().line, line, "{text}");
        }
        assert_eq!(parse("agents 2\n0 2").unwrap_err().found, "agent 2");
        assert!(parse("0 99999999999").is_err());
    }
}
