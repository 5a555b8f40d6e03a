//! A topology as it is typed: `ring:16`, `torus:4x8`, `random-regular:64:4:seed=7`.
//!
//! The specification is small, comparable and serialisable; the graph it builds
//! may be large. Display and FromStr are inverse, so a record of a run can name
//! its topology and a later run can rebuild it.

use std::fmt;
use std::path::PathBuf;

use crate::catalogue::{CATALOGUE, KindHelp};
use crate::error::GraphError;
use crate::families::{
    bipartite, circulant, cubic, elementary, exponential, hypercube, lattice, random,
};
use crate::files;
use crate::graph::Graph;
use crate::topology::Topology;

/// Which topology, before it is built. The fields are those of its pattern in
/// [`GraphSpec::catalogue`].
///
/// A random kind that carries its own seed is always the same graph; without
/// one, [`build`](GraphSpec::build)'s seed decides.
///
/// ```
/// use consort_graph::GraphSpec;
/// let spec: GraphSpec = "torus:4x8".parse()?;
/// assert_eq!(spec.to_string(), "torus:4x8");
/// assert_eq!(spec.build(0)?.agents(), 32);
/// let error = "rign:16".parse::<GraphSpec>().unwrap_err();
/// assert!(error.to_string().contains("did you mean \"ring\"?"));
/// # Ok::<(), consort_graph::GraphError>(())
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
#[allow(missing_docs)] // the fields are explained by the patterns they are written with
pub enum GraphSpec {
    /// `ring:N`
    Ring { agents: usize },
    /// `chain:N`
    Chain { agents: usize },
    /// `star:N`, agent 0 is the hub
    Star { agents: usize },
    /// `complete:N`
    Complete { agents: usize },
    /// `torus:RxC`; agent `r*C + c` sits in row `r`, column `c`
    Torus { rows: usize, columns: usize },
    /// `grid:RxC`, numbered as the torus
    Grid { rows: usize, columns: usize },
    /// `hypercube:D`
    Hypercube { dimension: u32 },
    /// `circulant:N:1,4`
    Circulant { agents: usize, offsets: Vec<usize> },
    /// `bipartite:AxB`; the first side is `0..A`
    Bipartite { left: usize, right: usize },
    /// `petersen`
    Petersen,
    /// `dyck`
    Dyck,
    /// `dyck-as-run`
    DyckAsRun,
    /// `torus-as-run`
    TorusAsRun,
    /// `exponential:N`
    Exponential { agents: usize },
    /// `one-peer-exponential:N`
    OnePeerExponential { agents: usize },
    /// `random-regular:N:D`
    RandomRegular { agents: usize, degree: usize, seed: Option<u64> },
    /// `erdos-renyi:N:P`
    ErdosRenyi { agents: usize, probability: f64, seed: Option<u64> },
    /// `watts-strogatz:N:K:P`
    WattsStrogatz { agents: usize, neighbours: usize, probability: f64, seed: Option<u64> },
    /// `barabasi-albert:N:M`
    BarabasiAlbert { agents: usize, links: usize, seed: Option<u64> },
    /// `file:PATH`, or a bare path that ends like a graph file
    File { path: PathBuf },
}

impl GraphSpec {
    /// Builds the topology. `seed` decides the random kinds that carry none.
    pub fn build(&self, seed: u64) -> Result<Topology, GraphError> {
        let name = self.to_string();
        match self {
            GraphSpec::OnePeerExponential { agents } => {
                Topology::periodic(name, exponential::one_peer(*agents)?)
            }
            _ => Ok(Topology::fixed(name, self.graph(seed)?)),
        }
    }

    fn graph(&self, build_seed: u64) -> Result<Graph, GraphError> {
        match *self {
            GraphSpec::Ring { agents } => elementary::ring(agents),
            GraphSpec::Chain { agents } => elementary::chain(agents),
            GraphSpec::Star { agents } => elementary::star(agents),
            GraphSpec::Complete { agents } => elementary::complete(agents),
            GraphSpec::Torus { rows, columns } => lattice::torus(rows, columns),
            GraphSpec::Grid { rows, columns } => lattice::grid(rows, columns),
            GraphSpec::Hypercube { dimension } => hypercube::hypercube(dimension),
            GraphSpec::Circulant { agents, ref offsets } => circulant::circulant(agents, offsets),
            GraphSpec::Bipartite { left, right } => bipartite::complete_bipartite(left, right),
            GraphSpec::Petersen => cubic::petersen(),
            GraphSpec::Dyck => cubic::dyck(),
            GraphSpec::DyckAsRun => cubic::dyck_as_run(),
            GraphSpec::TorusAsRun => circulant::circulant(32, &[1, 4]),
            GraphSpec::Exponential { agents } => exponential::exponential(agents),
            // Only build() asks, and it takes the phases itself; the union is the honest answer.
            GraphSpec::OnePeerExponential { agents } => exponential::exponential(agents),
            GraphSpec::RandomRegular { agents, degree, seed } => {
                random::regular(agents, degree, seed.unwrap_or(build_seed))
            }
            GraphSpec::ErdosRenyi { agents, probability, seed } => {
                random::erdos_renyi(agents, probability, seed.unwrap_or(build_seed))
            }
            GraphSpec::WattsStrogatz { agents, neighbours, probability, seed } => {
                random::watts_strogatz(agents, neighbours, probability, seed.unwrap_or(build_seed))
            }
            GraphSpec::BarabasiAlbert { agents, links, seed } => {
                random::barabasi_albert(agents, links, seed.unwrap_or(build_seed))
            }
            GraphSpec::File { ref path } => files::read_graph(path),
        }
    }

    /// Does the graph depend on `build`'s seed?
    pub fn needs_seed(&self) -> bool {
        matches!(
            self,
            GraphSpec::RandomRegular { seed: None, .. }
                | GraphSpec::ErdosRenyi { seed: None, .. }
                | GraphSpec::WattsStrogatz { seed: None, .. }
                | GraphSpec::BarabasiAlbert { seed: None, .. }
        )
    }

    /// Every kind with its pattern and a one-line description.
    pub fn catalogue() -> &'static [KindHelp] {
        CATALOGUE
    }
}

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
            GraphSpec::Exponential { agents } => write!(f, "exponential:{agents}"),
            GraphSpec::OnePeerExponential { agents } => write!(f, "one-peer-exponential:{agents}"),
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
        match self {
            GraphSpec::RandomRegular { seed: Some(seed), .. }
            | GraphSpec::ErdosRenyi { seed: Some(seed), .. }
            | GraphSpec::WattsStrogatz { seed: Some(seed), .. }
            | GraphSpec::BarabasiAlbert { seed: Some(seed), .. } => write!(f, ":seed={seed}"),
            _ => Ok(()),
        }
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
