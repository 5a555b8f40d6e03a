//! Cuts Graphviz text into words: names, and the signs between them.

use std::borrow::Cow;

use super::Unreadable;

/// A word of a DOT file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word<'a> {
    /// A bare or quoted name or number.
    Name(Cow<'a, str>),
    /// `--`, `->`, or one of `{ } [ ] ; , = :`.
    Sign(&'a str),
}

impl Word<'_> {
    /// The word as the file shows it, for messages.
    pub(super) fn shown(&self) -> String {
        match self {
            Word::Name(name) => format!("\"{name}\""),
            Word::Sign(sign) => format!("\"{sign}\""),
        }
    }
}

/// All words with their lines, comments left out.
pub(super) fn words(text: &str) -> Result<Vec<(usize, Word<'_>)>, Unreadable> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\n' | ' ' | '\t' | '\r' => 1,
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => match rest.find("*/") {
                Some(end) => end + 2,
                None => return Err(Unreadable::new(line, "\"*/\"", "an open comment")),
            },
            '"' => {
                let (name, length) = quoted(rest).ok_or_else(|| {
                    Unreadable::new(line, "a closing quote", "the end of the file")
                })?;
                found.push((line, Word::Name(name)));
                length
            }
            '-' if rest.starts_with("--") || rest.starts_with("->") => {
                found.push((line, Word::Sign(&rest[..2])));
                2
            }
            '{' | '}' | '[' | ']' | ';' | ',' | '=' | ':' => {
                found.push((line, Word::Sign(&rest[..1])));
                1
            }
            _ => {
                let length = bare_length(rest);
                if length == 0 {
                    return Err(Unreadable::new(line, "a name or a sign", format!("{first:?}")));
                }
                found.push((line, Word::Name(Cow::Borrowed(&rest[..length]))));
                length
            }
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    Ok(found)
}

/// Letters, digits, `_`, and `.`/`-` as they occur in numbers and plain ids.
fn bare_length(text: &str) -> usize {
    let mut length = 0;
    for (position, character) in text.char_indices() {
        let inside = character.is_alphanumeric() || character == '_' || character == '.';
        let minus = character == '-' && position == 0;
        if !inside && !minus {
            break;
        }
        length = position + character.len_utf8();
    }
    length
}

/// A quoted name without its quotes, and how many bytes it took.
fn quoted(text: &str) -> Option<(Cow<'_, str>, usize)> {
    let mut escaped = false;
    for (position, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => {
                let inside = &text[1..position];
                let name = if inside.contains("\\\"") {
                    Cow::Owned(inside.replace("\\\"", "\""))
                } else {
                    Cow::Borrowed(inside)
                };
                return Some((name, position + 1));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_signs_and_comments() {
        let all = words("a--b/* x\n */ -> \"c \\\" d\" // end\n[w=-1.5]").unwrap();
        let shown: Vec<_> =
            all.iter().map(|(line, word)| format!("{line}{}", word.shown())).collect();
        assert_eq!(
            shown.join(" "),
            r#"1"a" 1"--" 1"b" 2"->" 2"c " d" 3"[" 3"w" 3"=" 3"-1.5" 3"]""#
        );
    }

    #[test]
    fn open_ends_are_errors() {
        assert!(words("\"abc").is_err() && words("/* abc").is_err());
        assert_eq!(words("a\n(").unwrap_err().line, 2);
    }
}
