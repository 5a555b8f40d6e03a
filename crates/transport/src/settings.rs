//! What a transport has to know before it starts, and why it may not start.

use std::io;
use std::net::SocketAddr;

use consort_protocol::Limits;

use crate::identity::{IdentityError, PublicKey, SecretKey};

/// A neighbour: its number in the run, its key, and where it may be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its number.
    pub peer: usize,
    /// Its key: nobody else is it.
    pub key: PublicKey,
    /// Where to dial; tried in order. May be empty if it dials us, or is discovered by its key.
    pub addresses: Vec<SocketAddr>,
}

/// Everything a transport is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// This agent's number.
    pub own: usize,
    /// This agent's key.
    pub secret: SecretKey,
    /// Where to listen; port 0 for any.
    pub bind: SocketAddr,
    /// Whom to talk to; anybody else is refused.
    pub neighbours: Vec<Neighbour>,
    /// What frames can be; another is garbage.
    pub limits: Limits,
    /// The largest magnitude of a float that is taken.
    pub largest: f32,
    /// What kind of network lies between.
    pub profile: Profile,
    /// How neighbours of an iroh link are found besides their addresses. TLS uses addresses only.
    pub discovery: Discovery,
}

/// What kind of network lies between neighbours. It tunes iroh; TCP tunes itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Short and fast: one room, one machine. Little is in flight at a time.
    #[default]
    Lan,
    /// Long or lossy: the internet. Much is in flight, and a lost packet does not slow it down.
    Wan,
}

/// How neighbours are found by their keys. All off: nothing leaves for anybody but neighbours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// Announce and look up keys by multicast DNS on the local network (cargo feature `mdns`).
    pub mdns: bool,
    /// Use the public relays and look-up service of iroh's makers: neighbours behind routers
    /// reach each other by key alone.
    pub n0: bool,
    /// Use this relay, as a URL, instead of or besides those.
    pub relay: Option<String>,
}

/// Why a transport did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The address to listen at could not be had.
    #[error("cannot listen at {address}: {source}; choose another address or port")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A key is none.
    #[error("the key of agent {agent} is of no use: {reason}")]
    Key {
        /// Whose.
        agent: usize,
        /// What is wrong.
        reason: String,
    },
    /// Two neighbours, or a neighbour and this agent, are the same.
    #[error("agent {agent} is named twice, by its number or by its key {key}")]
    Twice {
        /// The second of them.
        agent: usize,
        /// Its key.
        key: PublicKey,
    },
    /// A setting that this build or transport does not know.
    #[error("{setting} cannot be used: {reason}")]
    Setting {
        /// Which.
        setting: &'static str,
        /// Why.
        reason: String,
    },
    /// Own key or random numbers could not be had.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The system gave no thread, timer or socket.
    #[error("the transport could not start: {0}")]
    System(#[from] io::Error),
}

#[cfg(any(feature = "tls", feature = "iroh"))]
impl Settings {
    /// Refuses neighbours that cannot be told apart.
    pub(crate) fn check(&self) -> Result<(), TransportError> {
        let mut seen = vec![(self.own, self.secret.public()?)];
        for Neighbour { peer, key, .. } in &self.neighbours {
            if seen.iter().any(|(number, known)| number == peer || known == key) {
                return Err(TransportError::Twice { agent: *peer, key: *key });
            }
            seen.push((*peer, *key));
        }
        Ok(())
    }

    /// Which neighbour, by its place in the list, has this key.
    pub(crate) fn slot_of(&self, key: &[u8]) -> Option<usize> {
        self.neighbours.iter().position(|neighbour| neighbour.key.as_bytes() == key)
    }
}
