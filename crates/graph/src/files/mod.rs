//! Graphs from files: the name's ending decides the format.
//!
//! | ending            | format                                   |
//! |-------------------|------------------------------------------|
//! | `.txt`, `.edges`  | one edge a line (`edge_list.rs`)         |
//! | `.dot`, `.gv`     | Graphviz without subgraphs (`dot.rs`)    |
//! | `.graphml`        | GraphML (`graphml.rs`)                   |
//!
//! Each reader turns text into a [`Drawing`], which becomes a graph here.

mod dot;
mod dot_words;
mod edge_list;
mod graphml;

use std::io::Read;
use std::path::Path;

use crate::error::GraphError;
use crate::graph::Graph;
use crate::size::MAX_FILE_BYTES;

/// What a reader found: agents, and the arcs and edges between them.
#[derive(Debug, Default, PartialEq)]
struct Drawing {
    agents: usize,
    arcs: Vec<(usize, usize)>,
    edges: Vec<(usize, usize)>,
}

/// What a reader could not read; the path is added by the caller.
#[derive(Debug, PartialEq)]
struct Unreadable {
    line: usize,
    expected: String,
    found: String,
}

impl Unreadable {
    fn new(line: usize, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Unreadable { line, expected: expected.into(), found: found.into() }
    }
}

const ENDINGS: [&str; 5] = ["txt", "edges", "dot", "gv", "graphml"];

fn ending(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?;
    ENDINGS.into_iter().find(|ending| extension.eq_ignore_ascii_case(ending))
}

/// Does this text look like the path of a graph file?
pub(crate) fn is_graph_file_name(text: &str) -> bool {
    ending(Path::new(text)).is_some()
}

pub(crate) fn read_graph(path: &Path) -> Result<Graph, GraphError> {
    let ending = ending(path).ok_or_else(|| GraphError::UnknownFormat { path: path.to_owned() })?;
    let text = read_bounded(path)?;
    let drawing = match ending {
        "dot" | "gv" => dot::parse(&text),
        "graphml" => graphml::parse(&text),
        _ => edge_list::parse(&text),
    };
    let drawing = drawing.map_err(|Unreadable { line, expected, found }| GraphError::Parse {
        path: path.to_owned(),
        line,
        expected,
        found,
    })?;
    if drawing.agents == 0 {
        let what = format!("the graph in {}", path.display());
        return Err(GraphError::Empty { what, unit: "agent" });
    }
    if drawing.arcs.is_empty() {
        return Graph::from_edges(drawing.agents, drawing.edges);
    }
    let both_ways = drawing.edges.into_iter().flat_map(|(i, j)| [(i, j), (j, i)]);
    Graph::from_arcs(drawing.agents, drawing.arcs.into_iter().chain(both_ways))
}

/// Reads a text file of at most [`MAX_FILE_BYTES`].
pub(crate) fn read_bounded(path: &Path) -> Result<String, GraphError> {
    let io = |error| GraphError::io(path, &error);
    let file = std::fs::File::open(path).map_err(io)?;
    let bytes = file.metadata().map_err(io)?.len();
    let too_large =
        |bytes| GraphError::FileTooLarge { path: path.to_owned(), bytes, limit: MAX_FILE_BYTES };
    if bytes > MAX_FILE_BYTES {
        return Err(too_large(bytes));
    }
    let mut text = String::new();
    // A pipe or a growing file has no honest length, so the reading is bounded too.
    file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text).map_err(io)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large(text.len() as u64));
    }
    Ok(text)
}

/// Numbers names in order of appearance.
#[derive(Default)]
struct Names<'a> {
    numbers: std::collections::HashMap<std::borrow::Cow<'a, str>, usize>,
}

impl<'a> Names<'a> {
    fn number(&mut self, name: std::borrow::Cow<'a, str>) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(name).or_insert(next)
    }

    fn get(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    fn len(&self) -> usize {
        self.numbers.len()
    }

    /// When the names are exactly `0 .. n-1`, they mean themselves: the number
    /// each agent should have, indexed by its order of appearance.
    fn as_own_numbers(&self) -> Option<Vec<usize>> {
        let mut own = vec![usize::MAX; self.len()];
        let mut taken = vec![false; self.len()];
        for (name, &position) in &self.numbers {
            let number: usize = name.parse().ok()?;
            if std::mem::replace(taken.get_mut(number)?, true) {
                return None;
            }
            own[position] = number;
        }
        Some(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_names_its_path() {
        let error = read_graph(Path::new("no/such/net.txt")).unwrap_err();
        assert!(matches!(&error, GraphError::Io { kind: std::io::ErrorKind::NotFound, .. }));
        assert!(error.to_string().contains("no/such/net.txt"), "{error}");
    }

    #[test]
    fn a_strange_ending_is_refused() {
        let error = read_graph(Path::new("net.xls")).unwrap_err();
        assert!(matches!(error, GraphError::UnknownFormat { .. }));
    }

    #[test]
    fn a_broken_line_is_named_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.edges");
        std::fs::write(&path, "0 1\n1 two\n").unwrap();
        let message = read_graph(&path).unwrap_err().to_string();
        assert!(message.contains("net.edges, line 2"), "{message}");
        std::fs::write(&path, "# nobody\n").unwrap();
        assert!(matches!(read_graph(&path), Err(GraphError::Empty { .. })));
        std::fs::write(&path, "0 -> 1\n1 2\n").unwrap();
        let graph = read_graph(&path).unwrap();
        assert_eq!((graph.arc_count(), graph.is_undirected()), (3, false));
    }
}
