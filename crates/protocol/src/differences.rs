//! In what two agents' plans differ.

use std::collections::BTreeMap;

/// Sentences about differences, and characters of a value in them; what a neighbour sends may
/// be anything.
const MOST_SENTENCES: usize = 12;
const LONGEST_VALUE: usize = 100;

/// In what two shared texts differ, in sentences; `theirs` may be any text.
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

/// A value for a terminal: short, and without anything that a terminal obeys.
fn printable(value: &str) -> String {
    let plain = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut shown: String = value.chars().take(LONGEST_VALUE).map(plain).collect();
    if value.chars().nth(LONGEST_VALUE).is_some() {
        shown.push('…');
    }
    shown
}
