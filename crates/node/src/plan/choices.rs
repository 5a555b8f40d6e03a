//! The choices of a plan: one word out of a few.

use std::fmt;

use consort_protocol::Policy;
use consort_transport::NetworkProfile;

/// How frames travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportKind {
    /// QUIC between keys, through NATs and relays if necessary.
    Iroh,
    /// TLS over TCP, with pinned keys.
    Tls,
}

impl fmt::Display for TransportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TransportKind::Iroh => "iroh",
            TransportKind::Tls => "tls",
        })
    }
}

/// A value that a plan names by the word that `Display` prints.
pub(super) trait Choice: Copy + fmt::Display + 'static {
    /// All values, the default first.
    const ALL: &'static [Self];
}

impl Choice for TransportKind {
    const ALL: &'static [Self] = &[TransportKind::Iroh, TransportKind::Tls];
}

impl Choice for NetworkProfile {
    const ALL: &'static [Self] = &[NetworkProfile::Lan, NetworkProfile::Wan];
}

impl Choice for Policy {
    const ALL: &'static [Self] = &[Policy::Wait, Policy::Continue];
}
