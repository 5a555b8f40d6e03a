//! iroh: QUIC between keys, through routers and relays where there is no direct path.
//!
//! A link is one bidirectional stream of one connection, opened by the dialler. Unless the
//! settings say otherwise, no relay is used, no name is looked up and nothing is announced. A
//! neighbour that falls silent is noticed after 10 seconds, even if its process was killed: UDP
//! has no reset.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ::iroh::endpoint::{
    Builder, ConnectError, ConnectingError, ConnectionError, IdleTimeout, Incoming,
    QuicTransportConfig, RecvStream, SendStream, VarInt, presets,
};
use ::iroh::{Endpoint, EndpointAddr, RelayMode, RelayUrl};
use consort_protocol::Frame;
use noq_proto::congestion::Bbr3Config;

use crate::connection::{Authenticated, Carrier, Connection, ConnectionHandle, DialError, Refusal};
use crate::identity::PublicKey;
use crate::link_table::LinkTable;
use crate::network_thread::NetworkThread;
use crate::settings::{NetworkProfile, TransportError, TransportSettings};
use crate::{Event, LinkStatistics, Transport};

/// The handshake refuses any other protocol.
const PROTOCOL: &[u8] = b"consort/1";
/// A link on which nothing arrives for so long is dead; probes are sent more often.
const SILENCE: Duration = Duration::from_secs(10);
const PROBE: Duration = Duration::from_secs(2);
/// The most bytes in flight on a short and fast path: with more, iroh drops its own packets.
const LAN_WINDOW: u64 = 150_000;
/// On a long path: 100 Mbit/s at 600 ms.
const WAN_WINDOW: u64 = 8 << 20;
/// The most bytes that are received but not read. Above 2 MB the connection fails from the gaps
/// in its own data.
const RECEIVE_WINDOW: u32 = 1_250_000;
/// Why a connection was closed, as sent to the far end.
const ENDED: VarInt = VarInt::from_u32(0);
const STRANGER: VarInt = VarInt::from_u32(1);

/// Links over iroh. See the crate's documentation for what all transports share.
pub struct IrohTransport {
    network: NetworkThread,
    address: SocketAddr,
}

impl IrohTransport {
    /// Opens the endpoint, and starts to dial all neighbours.
    ///
    /// # Errors
    /// If the address is in use or the settings are invalid.
    pub fn start(settings: TransportSettings) -> Result<Self, TransportError> {
        let table = LinkTable::new(&settings)?;
        let (network, address) = NetworkThread::start("consort-iroh", table, open(settings))?;
        Ok(IrohTransport { network, address })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

crate::network_thread::delegate_transport!(IrohTransport);

/// An endpoint, and the addresses of the neighbours.
struct Iroh {
    endpoint: Endpoint,
    neighbours: Vec<EndpointAddr>,
    settings: TransportSettings,
}

async fn open(settings: TransportSettings) -> Result<(Iroh, SocketAddr), TransportError> {
    let relay = relay(&settings)?;
    let neighbours = settings.neighbours.iter().map(|neighbour| {
        let key = ::iroh::PublicKey::from_bytes(neighbour.key.as_bytes()).map_err(|error| {
            TransportError::Key { agent: neighbour.peer, reason: error.to_string() }
        })?;
        let address = neighbour
            .addresses
            .iter()
            .fold(EndpointAddr::new(key), |address, &ip| address.with_ip_addr(ip));
        Ok(match &relay {
            Some(relay) => address.with_relay_url(relay.clone()),
            None => address,
        })
    });
    let neighbours = neighbours.collect::<Result<_, TransportError>>()?;

    let address = settings.bind;
    let refused =
        |reason: String| TransportError::Bind { address, source: io::Error::other(reason) };
    let builder = discovering(&settings, relay)?
        .secret_key(::iroh::SecretKey::from_bytes(settings.secret.as_bytes()))
        .alpns(vec![PROTOCOL.to_vec()])
        .transport_config(transport_config(settings.profile)?)
        .clear_ip_transports()
        .bind_addr(address)
        .map_err(|error| refused(error.to_string()))?;
    let endpoint = builder.bind().await.map_err(|error| refused(format!("{error:#}")))?;
    let bound = endpoint.bound_sockets().first().copied();
    let bound = bound.ok_or_else(|| refused("no socket was bound".to_owned()))?;
    Ok((Iroh { endpoint, neighbours, settings }, bound))
}

fn relay(settings: &TransportSettings) -> Result<Option<RelayUrl>, TransportError> {
    let parse = |relay: &String| {
        relay.parse().map_err(|error| TransportError::Setting {
            setting: "the relay",
            reason: format!("{relay:?} is not a URL: {error}"),
        })
    };
    settings.discovery.relay.as_ref().map(parse).transpose()
}

/// A builder that finds neighbours in all ways that are switched on.
fn discovering(
    settings: &TransportSettings,
    relay: Option<RelayUrl>,
) -> Result<Builder, TransportError> {
    let discovery = &settings.discovery;
    let mut builder = match discovery.n0 {
        true => Endpoint::builder(presets::N0),
        false => Endpoint::builder(presets::Minimal).relay_mode(RelayMode::Disabled),
    };
    if let Some(relay) = relay {
        builder = builder.relay_mode(RelayMode::custom([relay]));
    }
    if discovery.mdns {
        builder = announcing(builder)?;
    }
    Ok(builder)
}

#[cfg(feature = "mdns")]
fn announcing(builder: Builder) -> Result<Builder, TransportError> {
    let lookup = iroh_mdns_address_lookup::MdnsAddressLookup::builder().service_name("consort");
    Ok(builder.address_lookup(lookup))
}

#[cfg(not(feature = "mdns"))]
fn announcing(_builder: Builder) -> Result<Builder, TransportError> {
    let reason = "this program was built without it; build it with --features mdns".to_owned();
    Err(TransportError::Setting { setting: "discovery by multicast DNS", reason })
}

fn transport_config(profile: NetworkProfile) -> Result<QuicTransportConfig, TransportError> {
    let idle = IdleTimeout::try_from(SILENCE).map_err(io::Error::other)?;
    let config = QuicTransportConfig::builder()
        .max_idle_timeout(Some(idle))
        .default_path_max_idle_timeout(SILENCE)
        .keep_alive_interval(PROBE)
        .default_path_keep_alive_interval(PROBE)
        .max_concurrent_bidi_streams(VarInt::from_u32(1))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .datagram_receive_buffer_size(None)
        .stream_receive_window(VarInt::from_u32(RECEIVE_WINDOW))
        .receive_window(VarInt::from_u32(RECEIVE_WINDOW));
    Ok(match profile {
        NetworkProfile::Lan => config.send_window(LAN_WINDOW).build(),
        NetworkProfile::Wan => config
            .send_window(WAN_WINDOW)
            .congestion_controller_factory(Arc::new(Bbr3Config::default()))
            .build(),
    })
}

impl Carrier for Iroh {
    type Reader = RecvStream;
    type Writer = SendStream;
    type Incoming = Incoming;

    async fn dial(
        &self,
        index: usize,
    ) -> Result<Connection<Self::Reader, Self::Writer>, DialError> {
        let refused = |reason: Option<String>| {
            let who = format!("agent {}", self.settings.neighbours[index].peer);
            reason.map_or(DialError::Unreachable, |reason| {
                DialError::Refused(Refusal { who, reason })
            })
        };
        let dialled = self.endpoint.connect(self.neighbours[index].clone(), PROTOCOL).await;
        let connection = dialled.map_err(|error| refused(refusal_in(&error)))?;
        let stream = connection.open_bi().await;
        let (writer, reader) = stream.map_err(|error| refused(refusal_of(&error)))?;
        Ok(Connection { reader, writer, handle: Arc::new(Quic(connection)) })
    }

    async fn accept(&self) -> Option<Incoming> {
        self.endpoint.accept().await
    }

    async fn authenticate(&self, incoming: Incoming) -> Authenticated<Self> {
        let mut who = Self::describe(&incoming);
        let refuse = |who: &str, reason: String| Refusal { who: who.to_owned(), reason };
        let accepting = incoming.accept().map_err(|error| refuse(&who, error.to_string()))?;
        let connection = accepting.await.map_err(|error| refuse(&who, format!("{error:#}")))?;
        let key = PublicKey::from_bytes(*connection.remote_id().as_bytes());
        let Some(index) = self.settings.index_of(key.as_bytes()) else {
            connection.close(STRANGER, b"your key belongs to no neighbour");
            return Err(refuse(&who, format!("its key {key} belongs to no neighbour")));
        };
        who = format!("agent {} at {who}", self.settings.neighbours[index].peer);
        let stream = connection.accept_bi().await;
        let (writer, reader) = stream.map_err(|error| refuse(&who, error.to_string()))?;
        Ok((index, Connection { reader, writer, handle: Arc::new(Quic(connection)) }))
    }

    fn describe(incoming: &Incoming) -> String {
        match incoming.remote_addr() {
            ::iroh::endpoint::IncomingAddr::Ip(address) => address.to_string(),
            other => format!("{other:?}"),
        }
    }

    async fn close(&self) {
        self.endpoint.close().await;
    }
}

/// What to report if somebody answered without the right key or protocol, or refused ours.
fn refusal_in(error: &ConnectError) -> Option<String> {
    let (ConnectError::Connecting {
        source: ConnectingError::ConnectionError { source, .. }, ..
    }
    | ConnectError::Connection { source, .. }) = error
    else {
        return None;
    };
    match source {
        ConnectionError::TransportError(_) | ConnectionError::ConnectionClosed(_) => {
            Some(source.to_string())
        }
        source => refusal_of(source),
    }
}

/// What to report if the far end has said that it does not know our key.
fn refusal_of(error: &ConnectionError) -> Option<String> {
    match error {
        ConnectionError::ApplicationClosed(close) if close.error_code == STRANGER => {
            Some("it refuses this agent's key".to_owned())
        }
        _ => None,
    }
}

/// The connection of a link.
struct Quic(::iroh::endpoint::Connection);

impl ConnectionHandle for Quic {
    fn retransmissions(&self) -> u64 {
        self.0.stats().lost_packets
    }

    fn refusal(&self, _error: &io::Error) -> Option<String> {
        self.0.close_reason().as_ref().and_then(refusal_of)
    }

    fn close(&self, reason: &str) {
        self.0.close(ENDED, reason.as_bytes());
    }
}
