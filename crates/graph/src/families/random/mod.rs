//! Random graphs, seeded: the same seed is the same graph on every machine.
//!
//! A decentralised run on an unconnected graph cannot agree, so every kind is
//! drawn again (from the same stream, a bounded number of times) until it is
//! connected, and an error says what to change if that never happens.

mod digraph;
mod each_round;
mod erdos_renyi;
mod preferential;
mod regular;
mod small_world;

pub(crate) use digraph::digraph;
pub(crate) use each_round::{matchings, regular_each_round};
pub(crate) use erdos_renyi::erdos_renyi;
pub(crate) use preferential::barabasi_albert;
pub(crate) use regular::regular;
pub(crate) use small_world::watts_strogatz;

use crate::error::GraphError;
use crate::families::seeded::Draws;
use crate::graph::Graph;

/// How often a graph is drawn before we say that it will never be connected.
const ATTEMPTS: usize = 100;

/// Draws until connected. `draw` may also answer `None`: this draw failed.
fn until_connected(
    kind: &'static str,
    got: String,
    remedy: &'static str,
    seed: u64,
    mut draw: impl FnMut(&mut Draws) -> Result<Option<Graph>, GraphError>,
) -> Result<Graph, GraphError> {
    until(kind, got, remedy, seed, |draws| Ok(draw(draws)?.filter(Graph::is_connected)))
}

/// Draws until `draw` answers something that is connected.
pub(super) fn until<T>(
    kind: &'static str,
    got: String,
    remedy: &'static str,
    seed: u64,
    mut draw: impl FnMut(&mut Draws) -> Result<Option<T>, GraphError>,
) -> Result<T, GraphError> {
    let mut draws = Draws::seeded(seed);
    for _ in 0..ATTEMPTS {
        if let Some(drawn) = draw(&mut draws)? {
            return Ok(drawn);
        }
    }
    Err(GraphError::NeverConnected { kind, got, attempts: ATTEMPTS, remedy })
}
