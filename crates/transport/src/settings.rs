//! What a transport must know before it starts, and why it may fail to start.

use std::net::SocketAddr;
use std::{fmt, io};

use consort_protocol::Limits;

use crate::identity::{IdentityError, PublicKey, SecretKey};

/// A neighbour: its number in the run, its key and its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its number.
    pub peer: usize,
    /// Its key; whoever proves it is this neighbour.
    pub key: PublicKey,
    /// Addresses to dial, tried in order. May be empty if the neighbour dials us, or is found by
    /// its key.
    pub addresses: Vec<SocketAddr>,
}

/// All settings of a transport.
#[derive(Clone, Debug)]
pub struct TransportSettings {
    /// This agent's number.
    pub own: usize,
    /// This agent's key.
    pub secret: SecretKey,
    /// The address to listen on; port 0 for any free port.
    pub bind: SocketAddr,
    /// The neighbours; everybody else is refused.
    pub neighbours: Vec<Neighbour>,
    /// The limits of frames; anything else is garbage.
    pub limits: Limits,
    /// The largest magnitude of a float that is accepted.
    pub largest: f32,
    /// The kind of network between the neighbours.
    pub profile: NetworkProfile,
    /// How iroh finds neighbours, besides by their addresses. TLS uses addresses only.
    pub discovery: Discovery,
}

/// The kind of network between the neighbours. It tunes iroh; TCP tunes itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NetworkProfile {
    /// A local network: short paths, no loss. Little is in flight at a time.
    #[default]
    Lan,
    /// The internet: long paths, some loss. Much is in flight, and a lost packet does not slow it
    /// down.
    Wan,
}

impl fmt::Display for NetworkProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NetworkProfile::Lan => "lan",
            NetworkProfile::Wan => "wan",
        })
    }
}

/// How neighbours are found by their keys. With everything off, nothing is sent to anybody but
/// neighbours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// Announce and look up keys by multicast DNS on the local network (cargo feature `mdns`).
    pub mdns: bool,
    /// Use the public relays and the look-up service of iroh's makers, so that neighbours behind
    /// routers find each other by key alone.
    pub n0: bool,
    /// The URL of a relay to use instead of the public ones.
    pub relay: Option<String>,
}

/// Why a transport did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The address to listen on is not available.
    #[error("cannot listen on {address}: {source}; choose another address or port")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// Invalid key.
    #[error("the key of agent {agent} is invalid: {reason}")]
    Key {
        /// Whose.
        agent: usize,
        /// What is wrong.
        reason: String,
    },
    /// Two neighbours, or a neighbour and this agent, have the same number or key.
    #[error("agent {agent} is not unique: its number or its key {key} is listed twice")]
    Twice {
        /// The second of them.
        agent: usize,
        /// Its key.
        key: PublicKey,
    },
    /// A setting that this build or this transport does not support.
    #[error("{setting} cannot be used: {reason}")]
    Setting {
        /// Which.
        setting: &'static str,
        /// Why.
        reason: String,
    },
    /// This agent's key is invalid, or the system provided no random numbers.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The system provided no thread, timer or socket.
    #[error("the transport could not start: {0}")]
    System(#[from] io::Error),
}

#[cfg(any(feature = "tls", feature = "iroh"))]
impl TransportSettings {
    /// Refuses neighbours with equal numbers or keys.
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

    /// The index of the neighbour with this key.
    pub(crate) fn index_of(&self, key: &[u8]) -> Option<usize> {
        self.neighbours.iter().position(|neighbour| neighbour.key.as_bytes() == key)
    }
}
