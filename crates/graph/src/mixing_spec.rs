//! Which mixing rule, as it is typed: `auto`, `metropolis`, `file:w.txt`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::catalogue::nearest;
use crate::graph::Graph;
use crate::mixing::MixingMatrix;
use crate::mixing_error::MixingError;
use crate::mixing_file;
use crate::topology::Topology;

/// Which mixing rule, before it meets a graph.
///
/// ```
/// use consort_graph::{GraphSpec, MixingSpec};
/// let topology = "ring:16".parse::<GraphSpec>()?.build(0)?;
/// let w = "auto".parse::<MixingSpec>()?.build_all(&topology)?;
/// assert_eq!(w[0].weight(0, 15), 1.0 / 3.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub enum MixingSpec {
    /// Uniform on regular and on directed graphs, Metropolis elsewhere.
    #[default]
    Auto,
    /// [`MixingMatrix::uniform`].
    Uniform,
    /// [`MixingMatrix::metropolis`].
    Metropolis,
    /// [`MixingMatrix::max_degree`].
    MaxDegree,
    /// `(I + W) / 2` of what `Auto` chooses.
    Lazy,
    /// A text file with the whole matrix.
    File(PathBuf),
}

impl MixingSpec {
    /// The matrix for this graph: finite, non-negative, rows that sum to 1
    /// (within 1e-9; 1e-6 for files), weights only where the graph has edges.
    pub fn build(&self, graph: &Graph) -> Result<MixingMatrix, MixingError> {
        match self {
            MixingSpec::Auto if graph.is_regular() || !graph.is_undirected() => {
                MixingMatrix::uniform(graph)
            }
            MixingSpec::Auto => MixingMatrix::metropolis(graph),
            MixingSpec::Uniform => MixingMatrix::uniform(graph),
            MixingSpec::Metropolis => MixingMatrix::metropolis(graph),
            MixingSpec::MaxDegree => MixingMatrix::max_degree(graph),
            MixingSpec::Lazy => MixingSpec::Auto.build(graph).map(MixingMatrix::lazy),
            MixingSpec::File(path) => {
                let matrix = mixing_file::read(path, graph.agents())?;
                matrix.require_support(graph).map_err(|problem| MixingError::InFile {
                    path: path.clone(),
                    line: None,
                    problem: Box::new(problem),
                })?;
                Ok(matrix)
            }
        }
    }

    /// One matrix per phase of the topology.
    pub fn build_all(&self, topology: &Topology) -> Result<Vec<MixingMatrix>, MixingError> {
        topology.phases().iter().map(|graph| self.build(graph)).collect()
    }
}

const NAMES: [&str; 6] = ["auto", "uniform", "metropolis", "max-degree", "lazy", "file"];

impl FromStr for MixingSpec {
    type Err = MixingError;

    fn from_str(text: &str) -> Result<Self, MixingError> {
        let text = text.trim();
        match text {
            "auto" => Ok(MixingSpec::Auto),
            "uniform" => Ok(MixingSpec::Uniform),
            "metropolis" => Ok(MixingSpec::Metropolis),
            "max-degree" => Ok(MixingSpec::MaxDegree),
            "lazy" => Ok(MixingSpec::Lazy),
            _ => match text.strip_prefix("file:").filter(|path| !path.is_empty()) {
                Some(path) => Ok(MixingSpec::File(path.into())),
                None => {
                    let name = text.split(':').next().unwrap_or(text);
                    let suggestion = nearest(name, NAMES.into_iter());
                    Err(MixingError::UnknownRule { got: text.into(), suggestion })
                }
            },
        }
    }
}

impl fmt::Display for MixingSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MixingSpec::Auto => f.write_str("auto"),
            MixingSpec::Uniform => f.write_str("uniform"),
            MixingSpec::Metropolis => f.write_str("metropolis"),
            MixingSpec::MaxDegree => f.write_str("max-degree"),
            MixingSpec::Lazy => f.write_str("lazy"),
            MixingSpec::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

impl From<MixingSpec> for String {
    fn from(spec: MixingSpec) -> String {
        spec.to_string()
    }
}

impl TryFrom<String> for MixingSpec {
    type Error = MixingError;

    fn try_from(text: String) -> Result<Self, MixingError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_out_and_back() {
        for text in ["auto", "uniform", "metropolis", "max-degree", "lazy", "file:a/w.txt"] {
            assert_eq!(text.parse::<MixingSpec>().unwrap().to_string(), text);
        }
        let message = "metroplis".parse::<MixingSpec>().unwrap_err().to_string();
        assert!(message.contains("did you mean \"metropolis\"?"), "{message}");
        assert!("file:".parse::<MixingSpec>().is_err());
    }

    #[test]
    fn auto_chooses_by_the_graph() {
        let ring = Graph::from_edges(4, (0..4).map(|i| (i, (i + 1) % 4))).unwrap();
        let star = Graph::from_edges(3, [(0, 1), (0, 2)]).unwrap();
        let arcs = Graph::from_arcs(3, [(0, 1), (1, 2), (2, 0), (0, 2)]).unwrap();
        let auto = MixingSpec::Auto;
        assert_eq!(auto.build(&ring), MixingMatrix::uniform(&ring));
        assert_eq!(auto.build(&star), MixingMatrix::metropolis(&star));
        assert_eq!(auto.build(&arcs), MixingMatrix::uniform(&arcs));
        assert_eq!(MixingSpec::Lazy.build(&ring).unwrap().weight(0, 0), 2.0 / 3.0);
    }

    #[test]
    fn a_file_may_not_leave_the_graph() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.txt");
        std::fs::write(&path, "1 0 0\n0 0.5 0.5\n0 0.5 0.5\n").unwrap();
        let star = Graph::from_edges(3, [(0, 1), (0, 2)]).unwrap();
        let message = MixingSpec::File(path).build(&star).unwrap_err().to_string();
        assert!(message.contains("agent 1 does not hear agent 2"), "{message}");
        assert!(message.contains("w.txt"), "{message}");
    }
}
