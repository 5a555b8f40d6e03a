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
    /// The weights of the construction where it has some; else uniform on regular and on
    /// directed graphs, Metropolis elsewhere.
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
    /// [`Topology::construction_weights`]; refused for graphs that have none.
    Construction,
    /// [`MixingMatrix::push_sum`], for push-sum methods: columns sum to 1, rows need not.
    OutDegree,
    /// A text file with the whole matrix.
    File(PathBuf),
}

impl MixingSpec {
    /// The matrix for this graph: finite, non-negative, rows that sum to 1 (columns, for
    /// out-degree) within 1e-9 (1e-6 for files), weights only where the graph has edges.
    ///
    /// A graph alone knows of no construction; [`build_all`](Self::build_all) does.
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
            MixingSpec::Construction => {
                let graph = format!("a plain graph of {} agents", graph.agents());
                Err(MixingError::NoConstruction { graph })
            }
            MixingSpec::OutDegree => Ok(MixingMatrix::push_sum(graph)),
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
        match (self, topology.construction_weights()) {
            (MixingSpec::Auto | MixingSpec::Construction, Some(weights)) => Ok(weights.to_vec()),
            (MixingSpec::Lazy, Some(weights)) => {
                Ok(weights.iter().cloned().map(MixingMatrix::lazy).collect())
            }
            (MixingSpec::Construction, None) => {
                Err(MixingError::NoConstruction { graph: topology.name().into() })
            }
            _ => topology.phases().iter().map(|graph| self.build(graph)).collect(),
        }
    }

    /// The rule in force on this topology: `auto` replaced by what it chooses.
    pub fn resolved(&self, topology: &Topology) -> MixingSpec {
        let irregular = |graph: &Graph| graph.is_undirected() && !graph.is_regular();
        match self {
            MixingSpec::Auto if topology.construction_weights().is_some() => {
                MixingSpec::Construction
            }
            MixingSpec::Auto if topology.phases().iter().any(irregular) => MixingSpec::Metropolis,
            MixingSpec::Auto => MixingSpec::Uniform,
            named => named.clone(),
        }
    }
}

const NAMES: [&str; 8] =
    ["auto", "uniform", "metropolis", "max-degree", "lazy", "construction", "out-degree", "file"];

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
            "construction" => Ok(MixingSpec::Construction),
            "out-degree" => Ok(MixingSpec::OutDegree),
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
            MixingSpec::Construction => f.write_str("construction"),
            MixingSpec::OutDegree => f.write_str("out-degree"),
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
        for text in NAMES.into_iter().filter(|&name| name != "file").chain(["file:a/w.txt"]) {
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

    fn built(graph: &str) -> Topology {
        graph.parse::<crate::GraphSpec>().unwrap().build(1).unwrap()
    }

    #[test]
    fn a_construction_brings_its_weights_and_others_may_be_asked_for() {
        let base = built("base:6:1");
        let own = base.construction_weights().unwrap();
        assert_eq!(MixingSpec::Auto.build_all(&base).unwrap(), own);
        assert_eq!(MixingSpec::Construction.build_all(&base).unwrap(), own);
        let lazy = MixingSpec::Lazy.build_all(&base).unwrap();
        assert_eq!(lazy[1], own[1].clone().lazy());
        let metropolis = MixingSpec::Metropolis.build_all(&base).unwrap();
        assert_ne!(metropolis, own);
        for (w, graph) in metropolis.iter().zip(base.phases()) {
            w.require_support(graph).unwrap();
        }
        assert_eq!(MixingSpec::Auto.resolved(&base), MixingSpec::Construction);
        assert_eq!(MixingSpec::Uniform.resolved(&base), MixingSpec::Uniform);

        let ring = built("ring:6");
        assert_eq!(MixingSpec::Auto.resolved(&ring), MixingSpec::Uniform);
        let message = MixingSpec::Construction.build_all(&ring).unwrap_err().to_string();
        assert!(message.contains("ring:6 has no weights"), "{message}");
        assert!(MixingSpec::Construction.build(ring.at(0)).is_err());
    }

    #[test]
    fn out_degree_weights_split_what_is_sent() {
        let digraph = built("random-digraph:12:3:seed=1");
        let [w] = &MixingSpec::OutDegree.build_all(&digraph).unwrap()[..] else { panic!() };
        assert_eq!(w.stochastic(), crate::Stochastic::Columns);
        for (from, to) in digraph.at(0).arcs() {
            assert_eq!(w.weight(to, from), 0.25);
        }
        assert_eq!(MixingSpec::Auto.resolved(&digraph), MixingSpec::Uniform);
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
