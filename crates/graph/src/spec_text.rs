//! A [`GraphSpec`] as text: the inverse of what `spec_parse.rs` reads.

use std::fmt;

use crate::error::GraphError;
use crate::spec::GraphSpec;
use crate::topology::DEFAULT_PHASES;

impl fmt::Display for GraphSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GraphSpec::Ring { agents } => write!(f, "ring:{agents}"),
            GraphSpec::Chain { agents } => write!(f, "chain:{agents}"),
            GraphSpec::Star { agents } => write!(f, "star:{agents}"),
            GraphSpec::Complete { agents } => write!(f, "complete:{agents}"),
            GraphSpec::Torus { rows, columns } => write!(f, "torus:{rows}x{columns}"),
            GraphSpec::Grid { rows, columns } => write!(f, "grid:{rows}x{columns}"),
            GraphSpec::Hypercube { dimension } => write!(f, "hypercube:{dimension}"),
            GraphSpec::Circulant { agents, offsets } => {
                let offsets: Vec<String> = offsets.iter().map(usize::to_string).collect();
                write!(f, "circulant:{agents}:{}", offsets.join(","))
            }
            GraphSpec::Bipartite { left, right } => write!(f, "bipartite:{left}x{right}"),
            GraphSpec::Petersen => f.write_str("petersen"),
            GraphSpec::Dyck => f.write_str("dyck"),
            GraphSpec::DyckAsRun => f.write_str("dyck-as-run"),
            GraphSpec::TorusAsRun => f.write_str("torus-as-run"),
            GraphSpec::BinaryTree { agents } => write!(f, "binary-tree:{agents}"),
            GraphSpec::DoubleBinaryTree { agents } => write!(f, "double-binary-tree:{agents}"),
            // Its seed stands at the end of the graph's own text.
            GraphSpec::SpanningTree { graph } => return write!(f, "spanning-tree:{graph}"),
            GraphSpec::DirectedRing { agents } => write!(f, "directed-ring:{agents}"),
            GraphSpec::Exponential { agents } => write!(f, "exponential:{agents}"),
            GraphSpec::OnePeerExponential { agents } => write!(f, "one-peer-exponential:{agents}"),
            GraphSpec::Base { agents, degree } => write!(f, "base:{agents}:{degree}"),
            GraphSpec::EquiStatic { agents, shifts, directed, .. } => {
                write!(f, "equi-static:{agents}:{shifts}{}", Directed(*directed))
            }
            GraphSpec::EquiDyn { agents, phases, directed, .. } => {
                write!(f, "equi-dyn:{agents}{}{}", Phases(*phases), Directed(*directed))
            }
            GraphSpec::RandomMatching { agents, phases, .. } => {
                write!(f, "random-matching:{agents}{}", Phases(*phases))
            }
            GraphSpec::RandomRegularDyn { agents, degree, phases, .. } => {
                write!(f, "random-regular-dyn:{agents}:{degree}{}", Phases(*phases))
            }
            GraphSpec::RandomDigraph { agents, out_degree, .. } => {
                write!(f, "random-digraph:{agents}:{out_degree}")
            }
            GraphSpec::RandomRegular { agents, degree, .. } => {
                write!(f, "random-regular:{agents}:{degree}")
            }
            GraphSpec::ErdosRenyi { agents, probability, .. } => {
                write!(f, "erdos-renyi:{agents}:{probability}")
            }
            GraphSpec::WattsStrogatz { agents, neighbours, probability, .. } => {
                write!(f, "watts-strogatz:{agents}:{neighbours}:{probability}")
            }
            GraphSpec::BarabasiAlbert { agents, links, .. } => {
                write!(f, "barabasi-albert:{agents}:{links}")
            }
            GraphSpec::File { path } => write!(f, "file:{}", path.display()),
        }?;
        match self.seed() {
            Some(Some(seed)) => write!(f, ":seed={seed}"),
            _ => Ok(()),
        }
    }
}

/// The number of phases, where it is not the default.
struct Phases(usize);

impl fmt::Display for Phases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == DEFAULT_PHASES { Ok(()) } else { write!(f, ":{}", self.0) }
    }
}

/// The word for the directed one of two.
struct Directed(bool);

impl fmt::Display for Directed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 { f.write_str(":directed") } else { Ok(()) }
    }
}

impl From<GraphSpec> for String {
    fn from(spec: GraphSpec) -> String {
        spec.to_string()
    }
}

impl TryFrom<String> for GraphSpec {
    type Error = GraphError;

    fn try_from(text: String) -> Result<Self, GraphError> {
        text.parse()
    }
}
