//! From typed text to a [`GraphSpec`]: the inverse of its Display.
//!
//! `kind:argument:argument`, with an optional last `seed=S` on random kinds. A
//! bare path that ends like a graph file is a file. What is wrong is said of
//! the argument that is wrong, with the pattern it should have followed.

use std::str::FromStr;

use crate::catalogue::{CATALOGUE, KindHelp, nearest};
use crate::error::GraphError;
use crate::files::is_graph_file_name;
use crate::spec::GraphSpec;
use crate::topology::DEFAULT_PHASES;

impl FromStr for GraphSpec {
    type Err = GraphError;

    fn from_str(text: &str) -> Result<Self, GraphError> {
        let text = text.trim();
        if let Some(path) = text.strip_prefix("file:") {
            if path.is_empty() {
                return Err(Arguments::new(text)?.wrong("a path", ""));
            }
            return Ok(GraphSpec::File { path: path.into() });
        }
        if let Some(inner) = text.strip_prefix("spanning-tree:") {
            // Not only pointless: a long text of them would be a deep recursion.
            if inner.trim_start().starts_with("spanning-tree") {
                return Err(
                    Arguments::new(text)?.wrong("a graph that is not a spanning-tree", inner)
                );
            }
            return Ok(GraphSpec::SpanningTree { graph: Box::new(inner.parse()?) });
        }
        if is_graph_file_name(text) {
            return Ok(GraphSpec::File { path: text.into() });
        }
        let mut rest = Arguments::new(text)?;
        let spec = match rest.help.name() {
            "ring" => GraphSpec::Ring { agents: rest.count()? },
            "chain" => GraphSpec::Chain { agents: rest.count()? },
            "star" => GraphSpec::Star { agents: rest.count()? },
            "complete" => GraphSpec::Complete { agents: rest.count()? },
            "torus" => {
                let (rows, columns) = rest.by()?;
                GraphSpec::Torus { rows, columns }
            }
            "grid" => {
                let (rows, columns) = rest.by()?;
                GraphSpec::Grid { rows, columns }
            }
            "hypercube" => GraphSpec::Hypercube { dimension: rest.number("a whole number")? },
            "circulant" => GraphSpec::Circulant { agents: rest.count()?, offsets: rest.list()? },
            "bipartite" => {
                let (left, right) = rest.by()?;
                GraphSpec::Bipartite { left, right }
            }
            "petersen" => GraphSpec::Petersen,
            "dyck" => GraphSpec::Dyck,
            "dyck-as-run" => GraphSpec::DyckAsRun,
            "torus-as-run" => GraphSpec::TorusAsRun,
            "binary-tree" => GraphSpec::BinaryTree { agents: rest.count()? },
            "double-binary-tree" => GraphSpec::DoubleBinaryTree { agents: rest.count()? },
            "spanning-tree" => return Err(rest.wrong("a graph such as torus:4x8", "")),
            "directed-ring" => GraphSpec::DirectedRing { agents: rest.count()? },
            "exponential" => GraphSpec::Exponential { agents: rest.count()? },
            "one-peer-exponential" => GraphSpec::OnePeerExponential { agents: rest.count()? },
            "base" => GraphSpec::Base { agents: rest.count()?, degree: rest.count()? },
            "equi-static" => {
                let (seed, directed) = (rest.seed()?, rest.last_is("directed"));
                let (agents, shifts) = (rest.count()?, rest.count()?);
                GraphSpec::EquiStatic { agents, shifts, directed, seed }
            }
            "equi-dyn" => {
                let (seed, directed) = (rest.seed()?, rest.last_is("directed"));
                let (agents, phases) = (rest.count()?, rest.phases()?);
                GraphSpec::EquiDyn { agents, phases, directed, seed }
            }
            "random-matching" => {
                let seed = rest.seed()?;
                let (agents, phases) = (rest.count()?, rest.phases()?);
                GraphSpec::RandomMatching { agents, phases, seed }
            }
            "random-regular-dyn" => {
                let seed = rest.seed()?;
                let (agents, degree, phases) = (rest.count()?, rest.count()?, rest.phases()?);
                GraphSpec::RandomRegularDyn { agents, degree, phases, seed }
            }
            "random-digraph" => {
                let seed = rest.seed()?;
                let (agents, out_degree) = (rest.count()?, rest.count()?);
                GraphSpec::RandomDigraph { agents, out_degree, seed }
            }
            "random-regular" => {
                let seed = rest.seed()?;
                GraphSpec::RandomRegular { agents: rest.count()?, degree: rest.count()?, seed }
            }
            "erdos-renyi" => {
                let seed = rest.seed()?;
                let (agents, probability) = (rest.count()?, rest.probability()?);
                GraphSpec::ErdosRenyi { agents, probability, seed }
            }
            "watts-strogatz" => {
                let seed = rest.seed()?;
                let (agents, neighbours) = (rest.count()?, rest.count()?);
                GraphSpec::WattsStrogatz {
                    agents,
                    neighbours,
                    probability: rest.probability()?,
                    seed,
                }
            }
            "barabasi-albert" => {
                let seed = rest.seed()?;
                GraphSpec::BarabasiAlbert { agents: rest.count()?, links: rest.count()?, seed }
            }
            // `file` without a colon is all that remains of the catalogue.
            _ => return Err(rest.wrong("a path", "")),
        };
        rest.finish()?;
        Ok(spec)
    }
}

/// The colon-separated words after the kind, taken one by one.
struct Arguments<'a> {
    spec: &'a str,
    help: &'static KindHelp,
    words: Vec<&'a str>,
}

impl<'a> Arguments<'a> {
    fn new(spec: &'a str) -> Result<Self, GraphError> {
        let mut words: Vec<&str> = spec.split(':').collect();
        words.reverse();
        let typed = words.pop().unwrap_or("");
        // Ours are directed; papers that have both kinds say so.
        let name = if typed == "directed-exponential" { "exponential" } else { typed };
        let help = CATALOGUE.iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let suggestion = nearest(name, CATALOGUE.iter().map(KindHelp::name));
            GraphError::UnknownKind { got: spec.into(), suggestion }
        })?;
        Ok(Arguments { spec, help, words })
    }

    fn wrong(&self, expected: &'static str, got: &str) -> GraphError {
        GraphError::BadArgument {
            spec: self.spec.into(),
            pattern: self.help.pattern,
            expected,
            got: got.into(),
        }
    }

    fn number<T: FromStr>(&mut self, expected: &'static str) -> Result<T, GraphError> {
        let word = self.words.pop().unwrap_or("");
        word.parse().map_err(|_| self.wrong(expected, word))
    }

    fn count(&mut self) -> Result<usize, GraphError> {
        self.number("a whole number")
    }

    fn probability(&mut self) -> Result<f64, GraphError> {
        let word = self.words.last().copied().unwrap_or("");
        let value: f64 = self.number("a probability between 0 and 1")?;
        if !(0.0..=1.0).contains(&value) {
            return Err(self.wrong("a probability between 0 and 1", word));
        }
        Ok(value)
    }

    fn by(&mut self) -> Result<(usize, usize), GraphError> {
        let word = self.words.pop().unwrap_or("");
        let sides = word.split_once(['x', 'X']);
        let sides = sides.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        sides.ok_or_else(|| self.wrong("two whole numbers such as 4x8", word))
    }

    fn list(&mut self) -> Result<Vec<usize>, GraphError> {
        let word = self.words.pop().unwrap_or("");
        let numbers = word.split(',').map(|part| part.trim().parse());
        numbers.collect::<Result<_, _>>().map_err(|_| self.wrong("offsets such as 1,4", word))
    }

    /// Takes `seed=S` from the end, if it is there.
    fn seed(&mut self) -> Result<Option<u64>, GraphError> {
        let Some(value) = self.words.first().and_then(|word| word.strip_prefix("seed=")) else {
            return Ok(None);
        };
        self.words.remove(0);
        value.parse().map(Some).map_err(|_| self.wrong("a whole number as seed", value))
    }

    /// Takes this word from the end, if it is there.
    fn last_is(&mut self, word: &str) -> bool {
        let there = self.words.first() == Some(&word);
        if there {
            self.words.remove(0);
        }
        there
    }

    /// The number of phases, if one more argument is there.
    fn phases(&mut self) -> Result<usize, GraphError> {
        if self.words.is_empty() {
            return Ok(DEFAULT_PHASES);
        }
        self.number("a whole number of phases")
    }

    fn finish(mut self) -> Result<(), GraphError> {
        match self.words.pop() {
            None => Ok(()),
            Some(word) => Err(self.wrong("nothing more", word)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_goes_out_and_back() {
        for text in [
            "ring:16",
            "chain:3",
            "star:5",
            "complete:4",
            "torus:4x8",
            "grid:2x3",
            "hypercube:4",
            "circulant:32:1,4",
            "bipartite:3x4",
            "petersen",
            "dyck",
            "dyck-as-run",
            "torus-as-run",
            "exponential:8",
            "one-peer-exponential:8",
            "binary-tree:7",
            "double-binary-tree:14",
            "spanning-tree:torus:4x8",
            "spanning-tree:random-regular:10:3:seed=7",
            "spanning-tree:file:some/net.dot",
            "directed-ring:5",
            "base:25:1",
            "equi-static:25:4",
            "equi-static:25:4:directed:seed=7",
            "equi-dyn:25",
            "equi-dyn:25:16:directed",
            "equi-dyn:25:directed:seed=7",
            "random-matching:25:seed=3",
            "random-matching:25:8:seed=3",
            "random-regular-dyn:25:4",
            "random-regular-dyn:25:4:8",
            "random-digraph:16:3:seed=2",
            "random-regular:10:3",
            "random-regular:10:3:seed=7",
            "erdos-renyi:10:0.5:seed=0",
            "watts-strogatz:20:4:0.1",
            "barabasi-albert:20:2:seed=18446744073709551615",
            "file:some/net.dot",
        ] {
            let spec: GraphSpec = text.parse().unwrap();
            assert_eq!(spec.to_string(), text);
        }
    }

    #[test]
    fn a_bare_path_is_a_file() {
        let spec: GraphSpec = "nets/office.GraphML".parse().unwrap();
        assert_eq!(spec, GraphSpec::File { path: "nets/office.GraphML".into() });
    }

    #[test]
    fn other_ways_to_write_the_same() {
        for (written, meant) in [
            ("directed-exponential:8", "exponential:8"),
            ("equi-dyn:25:64", "equi-dyn:25"),
            ("random-matching:9:64:seed=1", "random-matching:9:seed=1"),
            (" ring:8 ", "ring:8"),
        ] {
            assert_eq!(written.parse::<GraphSpec>().unwrap().to_string(), meant);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, said) in [
            ("ring", "a whole number"),
            ("ring:-3", "\"-3\""),
            ("ring:3:4", "nothing more"),
            ("ring:3:seed=4", "nothing more"),
            ("torus:4", "4x8"),
            ("erdos-renyi:9:1.5", "between 0 and 1"),
            ("erdos-renyi:9:nan", "between 0 and 1"),
            ("circulant:9:", "offsets"),
            ("random-regular:9:2:seed=x", "seed"),
            ("base:25", "a whole number"),
            ("base:25:1:2", "nothing more"),
            ("equi-dyn:25:some", "a whole number of phases"),
            ("equi-dyn:directed", "a whole number"),
            ("equi-static:25:4:both", "nothing more"),
            ("random-matching:25:8:9", "nothing more"),
            ("spanning-tree", "a graph such as torus:4x8"),
            ("spanning-tree:", "unknown topology"),
            ("spanning-tree:rign:4", "did you mean \"ring\"?"),
            ("spanning-tree:spanning-tree:ring:4", "not a spanning-tree"),
            ("file:", "a path"),
            ("file", "a path"),
            ("", "unknown topology"),
        ] {
            let message = text.parse::<GraphSpec>().unwrap_err().to_string();
            assert!(message.contains(said), "{text}: {message}");
        }
    }
}
