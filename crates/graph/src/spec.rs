//! A topology as it is typed: `ring:16`, `torus:4x8`, `random-regular:64:4:seed=7`.
//!
//! The specification is small, comparable and serialisable; the graph it builds
//! may be large. Display and FromStr are inverse, so a record of a run can name
//! its topology and a later run can rebuild it.

use std::path::PathBuf;

use crate::catalogue::{CATALOGUE, KindHelp};
use crate::error::GraphError;
use crate::families::{
    base, bipartite, circulant, cubic, elementary, equi, exponential, hypercube, lattice, random,
    tree,
};
use crate::files;
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
    /// `binary-tree:N`; agent `i` hangs from agent `(i - 1) / 2`
    BinaryTree { agents: usize },
    /// `double-binary-tree:N`; the two trees take turns
    DoubleBinaryTree { agents: usize },
    /// `spanning-tree:GRAPH`
    SpanningTree { graph: Box<GraphSpec> },
    /// `directed-ring:N`
    DirectedRing { agents: usize },
    /// `exponential:N`
    Exponential { agents: usize },
    /// `one-peer-exponential:N`
    OnePeerExponential { agents: usize },
    /// `base:N:K`, with weights of its own
    Base { agents: usize, degree: usize },
    /// `equi-static:N:M`, with weights of its own
    EquiStatic { agents: usize, shifts: usize, directed: bool, seed: Option<u64> },
    /// `equi-dyn:N`, with weights of its own
    EquiDyn { agents: usize, phases: usize, directed: bool, seed: Option<u64> },
    /// `random-matching:N`
    RandomMatching { agents: usize, phases: usize, seed: Option<u64> },
    /// `random-regular-dyn:N:S`
    RandomRegularDyn { agents: usize, degree: usize, phases: usize, seed: Option<u64> },
    /// `random-digraph:N:OUT`
    RandomDigraph { agents: usize, out_degree: usize, seed: Option<u64> },
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
        let seed = self.seed().flatten().unwrap_or(seed);
        let graph = match *self {
            GraphSpec::Ring { agents } => elementary::ring(agents)?,
            GraphSpec::Chain { agents } => elementary::chain(agents)?,
            GraphSpec::Star { agents } => elementary::star(agents)?,
            GraphSpec::Complete { agents } => elementary::complete(agents)?,
            GraphSpec::Torus { rows, columns } => lattice::torus(rows, columns)?,
            GraphSpec::Grid { rows, columns } => lattice::grid(rows, columns)?,
            GraphSpec::Hypercube { dimension } => hypercube::hypercube(dimension)?,
            GraphSpec::Circulant { agents, ref offsets } => circulant::circulant(agents, offsets)?,
            GraphSpec::Bipartite { left, right } => bipartite::complete_bipartite(left, right)?,
            GraphSpec::Petersen => cubic::petersen()?,
            GraphSpec::Dyck => cubic::dyck()?,
            GraphSpec::DyckAsRun => cubic::dyck_as_run()?,
            GraphSpec::TorusAsRun => circulant::circulant(32, &[1, 4])?,
            GraphSpec::BinaryTree { agents } => tree::binary(agents)?,
            GraphSpec::DoubleBinaryTree { agents } => {
                return Topology::periodic(name, tree::double_binary(agents)?);
            }
            GraphSpec::SpanningTree { ref graph } => tree::spanning(&graph.build(seed)?)?,
            GraphSpec::DirectedRing { agents } => elementary::directed_ring(agents)?,
            GraphSpec::Exponential { agents } => exponential::exponential(agents)?,
            GraphSpec::OnePeerExponential { agents } => {
                return Topology::periodic(name, exponential::one_peer(agents)?);
            }
            GraphSpec::Base { agents, degree } => {
                return Topology::constructed(name, base::base(agents, degree)?);
            }
            GraphSpec::EquiStatic { agents, shifts, directed, .. } => {
                let w = equi::equi_static(agents, shifts, directed, seed)?;
                return Topology::constructed(name, vec![w]);
            }
            GraphSpec::EquiDyn { agents, phases, directed, .. } => {
                return Topology::constructed(
                    name,
                    equi::equi_dyn(agents, phases, directed, seed)?,
                );
            }
            GraphSpec::RandomMatching { agents, phases, .. } => {
                return Topology::periodic(name, random::matchings(agents, phases, seed)?);
            }
            GraphSpec::RandomRegularDyn { agents, degree, phases, .. } => {
                let period = random::regular_each_round(agents, degree, phases, seed)?;
                return Topology::periodic(name, period);
            }
            GraphSpec::RandomDigraph { agents, out_degree, .. } => {
                random::digraph(agents, out_degree, seed)?
            }
            GraphSpec::RandomRegular { agents, degree, .. } => {
                random::regular(agents, degree, seed)?
            }
            GraphSpec::ErdosRenyi { agents, probability, .. } => {
                random::erdos_renyi(agents, probability, seed)?
            }
            GraphSpec::WattsStrogatz { agents, neighbours, probability, .. } => {
                random::watts_strogatz(agents, neighbours, probability, seed)?
            }
            GraphSpec::BarabasiAlbert { agents, links, .. } => {
                random::barabasi_albert(agents, links, seed)?
            }
            GraphSpec::File { ref path } => files::read_graph(path)?,
        };
        Ok(Topology::fixed(name, graph))
    }

    /// Does the graph depend on `build`'s seed?
    pub fn needs_seed(&self) -> bool {
        self.seed() == Some(None)
    }

    /// Of a random kind: the seed that it carries, if it does.
    pub(crate) fn seed(&self) -> Option<Option<u64>> {
        match *self {
            GraphSpec::EquiStatic { seed, .. }
            | GraphSpec::EquiDyn { seed, .. }
            | GraphSpec::RandomMatching { seed, .. }
            | GraphSpec::RandomRegularDyn { seed, .. }
            | GraphSpec::RandomDigraph { seed, .. }
            | GraphSpec::RandomRegular { seed, .. }
            | GraphSpec::ErdosRenyi { seed, .. }
            | GraphSpec::WattsStrogatz { seed, .. }
            | GraphSpec::BarabasiAlbert { seed, .. } => Some(seed),
            GraphSpec::SpanningTree { ref graph } => graph.seed(),
            _ => None,
        }
    }

    /// Every kind with its pattern and a one-line description.
    pub fn catalogue() -> &'static [KindHelp] {
        CATALOGUE
    }
}
