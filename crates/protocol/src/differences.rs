//! How the plans of two agents differ.

use std::collections::BTreeMap;

/// Limits on sentences about differences and on the characters of a value in them, because a
/// neighbour can send anything.
const MOST_SENTENCES: usize = 12;
const LONGEST_VALUE: usize = 100;
/// Characters of a sentence that came from a neighbour: a key, both values and the words between.
const LONGEST_SENTENCE: usize = 400;

/// How two shared texts differ, in sentences; `theirs` may be any text.
///
/// ```
/// let [ours, theirs] = ["run.eta = 0.1\n", "run.eta = 0.2\n"];
/// assert_eq!(consort_protocol::differences(ours, theirs), ["run.eta: here 0.1, there 0.2"]);
/// ```
pub fn differences(ours: &str, theirs: &str) -> Vec<String> {
    fn lines(text: &str) -> BTreeMap<&str, &str> {
        text.lines().map(|line| line.split_once(" = ").unwrap_or((line, ""))).collect()
    }
    let (here, there) = (lines(ours), lines(theirs));
    let both = here.keys().chain(there.keys().filter(|key| !here.contains_key(*key)));
    let value = |side: &BTreeMap<&str, &str>, key: &str| match side.get(key) {
        Some(value) => printable(value),
        None => "nothing".into(),
    };
    let differing: Vec<&str> =
        both.copied().filter(|key| here.get(key) != there.get(key)).collect();
    let sentence = |key: &&str| {
        format!("{}: here {}, there {}", printable(key), value(&here, key), value(&there, key))
    };
    let mut sentences: Vec<String> = differing.iter().take(MOST_SENTENCES).map(sentence).collect();
    if differing.len() > MOST_SENTENCES {
        sentences.push(format!("and {} more", differing.len() - MOST_SENTENCES));
    }
    sentences
}

/// A neighbour's sentences, one per line, made safe for a terminal: few, short, no control
/// characters.
pub(crate) fn sentences(theirs: &str) -> Vec<String> {
    theirs.lines().take(MOST_SENTENCES + 1).map(|line| shortened(line, LONGEST_SENTENCE)).collect()
}

/// A foreign text as one sentence that is safe for a terminal: short, no control characters.
pub fn sentence(theirs: &str) -> String {
    shortened(theirs, LONGEST_SENTENCE)
}

/// A key or a value, made safe for a terminal.
fn printable(value: &str) -> String {
    shortened(value, LONGEST_VALUE)
}

/// Cuts the text and replaces control characters and those that change the writing direction.
fn shortened(text: &str, longest: usize) -> String {
    let is_control = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let plain = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        c if is_control(c) => '\u{fffd}',
        c => c,
    };
    let mut shown: String = text.chars().take(longest).map(plain).collect();
    if text.chars().nth(longest).is_some() {
        shown.push('…');
    }
    shown
}
