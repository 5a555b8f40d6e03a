//! Graphviz files, as far as they describe a plain graph.
//!
//! `graph { a -- b -- c; d }` and `digraph { a -> b [weight=2] }` are read;
//! attributes and defaults are skipped, subgraphs are refused. Agents are
//! numbered as they first appear, unless the names are exactly `0 .. n-1`:
//! then they mean themselves.

use std::borrow::Cow;

use super::dot_words::{Word, words};
use super::{Drawing, Names, Unreadable};

pub(super) fn parse(text: &str) -> Result<Drawing, Unreadable> {
    let words = words(text)?;
    let mut reader = Reader { words: &words, next: 0, last_line: text.lines().count().max(1) };
    let mut names = Names::default();
    let mut drawing = Drawing::default();
    reader.opening()?;
    while !reader.take_sign("}") {
        reader.statement(&mut names, &mut drawing)?;
    }
    drawing.agents = names.len();
    if let Some(own) = names.as_own_numbers() {
        for (i, j) in drawing.arcs.iter_mut().chain(&mut drawing.edges) {
            (*i, *j) = (own[*i], own[*j]);
        }
    }
    Ok(drawing)
}

struct Reader<'w, 'a> {
    words: &'w [(usize, Word<'a>)],
    next: usize,
    last_line: usize,
}

impl<'a> Reader<'_, 'a> {
    fn peek(&self) -> Option<&Word<'a>> {
        self.words.get(self.next).map(|(_, word)| word)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let there = self.peek() == Some(&Word::Sign(sign));
        self.next += usize::from(there);
        there
    }

    fn wrong(&self, expected: &str) -> Unreadable {
        match self.words.get(self.next) {
            Some((line, word)) => Unreadable::new(*line, expected, word.shown()),
            None => Unreadable::new(self.last_line, expected, "the end of the file"),
        }
    }

    fn name(&mut self, expected: &str) -> Result<Cow<'a, str>, Unreadable> {
        let Some(Word::Name(name)) = self.peek() else { return Err(self.wrong(expected)) };
        let name = name.clone();
        self.next += 1;
        Ok(name)
    }

    /// `[strict] (graph | digraph) [name] {`
    fn opening(&mut self) -> Result<(), Unreadable> {
        const EXPECTED: &str = "\"graph\" or \"digraph\"";
        let start = self.next;
        let mut keyword = self.name(EXPECTED)?;
        if keyword.eq_ignore_ascii_case("strict") {
            keyword = self.name(EXPECTED)?;
        }
        if !keyword.eq_ignore_ascii_case("graph") && !keyword.eq_ignore_ascii_case("digraph") {
            self.next = start;
            return Err(self.wrong(EXPECTED));
        }
        if matches!(self.peek(), Some(Word::Name(_))) {
            self.next += 1;
        }
        if self.take_sign("{") { Ok(()) } else { Err(self.wrong("\"{\"")) }
    }

    /// A default, a `key = value`, a node, or a chain of edges; then its attributes.
    fn statement(
        &mut self,
        names: &mut Names<'a>,
        drawing: &mut Drawing,
    ) -> Result<(), Unreadable> {
        if self.take_sign(";") {
            return Ok(());
        }
        let start = self.next;
        let first = self.name("an agent's name or \"}\"")?;
        if first.eq_ignore_ascii_case("subgraph") {
            self.next = start;
            return Err(self.wrong("a plain graph without subgraphs"));
        }
        let is_default =
            ["graph", "node", "edge"].iter().any(|word| first.eq_ignore_ascii_case(word));
        if is_default && self.peek() == Some(&Word::Sign("[")) {
            return self.attributes();
        }
        if self.take_sign("=") {
            self.name("a value")?;
            return Ok(());
        }
        let mut here = names.number(first);
        self.port()?;
        loop {
            let into = match self.peek() {
                Some(Word::Sign("--")) => &mut drawing.edges,
                Some(Word::Sign("->")) => &mut drawing.arcs,
                _ => break,
            };
            self.next += 1;
            let there = names.number(self.name("an agent's name")?);
            self.port()?;
            into.push((here, there));
            here = there;
        }
        self.attributes()
    }

    /// `:port` after a name says where a drawing touches it; who talks is the same.
    fn port(&mut self) -> Result<(), Unreadable> {
        while self.take_sign(":") {
            self.name("a port")?;
        }
        Ok(())
    }

    /// Any number of `[ ... ]`.
    fn attributes(&mut self) -> Result<(), Unreadable> {
        while self.take_sign("[") {
            while !self.take_sign("]") {
                match self.peek() {
                    None | Some(Word::Sign("[" | "{" | "}")) => return Err(self.wrong("\"]\"")),
                    Some(_) => self.next += 1,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_attributes_defaults_and_ports() {
        let text = "strict graph net {\n node [shape=circle]; rankdir=LR\n\
                    a -- b:n -- \"c d\" [weight=2, label=\"x\"]\n e\n}";
        let drawing = parse(text).unwrap();
        assert_eq!((drawing.agents, &drawing.edges[..]), (4, &[(0, 1), (1, 2)][..]));
    }

    #[test]
    fn numbers_mean_themselves_when_they_can() {
        assert_eq!(parse("digraph { 2 -> 0; 0 -> 1 }").unwrap().arcs, [(2, 0), (0, 1)]);
        assert_eq!(parse("digraph { 7 -> 0; 0 -> 1 }").unwrap().arcs, [(0, 1), (1, 2)]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, line, expected) in [
            ("grahp {}", 1, "digraph"),
            ("graph {\n a -- \n}", 3, "an agent's name"),
            ("graph {\n subgraph s { a }\n}", 2, "without subgraphs"),
            ("graph {\n a -- b", 2, "\"}\""),
            ("graph { a [x=1 }", 1, "\"]\""),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.line, line, "{text}: {error:?}");
            assert!(error.expected.contains(expected), "{text}: {error:?}");
        }
    }
}
