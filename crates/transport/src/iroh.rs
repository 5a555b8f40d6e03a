//! iroh: QUIC between keys, through routers and relays where there is no direct way.
//!
//! A link is one bidirectional stream of one connection, opened by the dialler. Unless the
//! settings say otherwise, no relay is asked, no name looked up and nothing announced. A
//! neighbour that falls silent is noticed in 10 seconds, also if its process was killed: UDP
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

use crate::connection::{Admission, Carrier, Connection, DialError, Grip, Refusal};
use crate::engine::Engine;
use crate::exchange::Exchange;
use crate::identity::PublicKey;
use crate::settings::{Profile, Settings, TransportError};
use crate::{Event, LinkStatistics, Transport};

/// Another protocol is refused in the handshake.
const PROTOCOL: &[u8] = b"consort/1";
/// A link on which nothing comes for so long is dead; probes are sent more often.
const SILENCE: Duration = Duration::from_secs(10);
const PROBE: Duration = Duration::from_secs(2);
/// Bytes in flight at most on a short and fast way: with more, iroh drops its own packets.
const LAN_WINDOW: u64 = 150_000;
/// On a long one: 100 Mbit/s over 600 ms.
const WAN_WINDOW: u64 = 8 << 20;
/// Bytes that may have come and not been read. Above 2 MB the connection dies of its own gaps.
const RECEIVE_WINDOW: u32 = 1_250_000;
/// Why a connection was closed, told to the far end.
const ENDED: VarInt = VarInt::from_u32(0);
const STRANGER: VarInt = VarInt::from_u32(1);

/// Links over iroh. See the crate's documentation for what all transports share.
pub struct IrohTransport {
    engine: Engine,
    address: SocketAddr,
}

impl IrohTransport {
    /// Opens the endpoint, and begins to dial all neighbours.
    ///
    /// # Errors
    /// If the address is taken, or the settings are of no use.
    pub fn start(settings: Settings) -> Result<Self, TransportError> {
        let exchange = Exchange::new(&settings)?;
        let (engine, address) = Engine::start("consort-iroh", exchange, open(settings))?;
        Ok(IrohTransport { engine, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

crate::engine::transport_by_engine!(IrohTransport);

/// An endpoint, and where each neighbour may be found.
struct Iroh {
    endpoint: Endpoint,
    neighbours: Vec<EndpointAddr>,
    settings: Settings,
}

async fn open(settings: Settings) -> Result<(Iroh, SocketAddr), TransportError> {
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
    let bound = bound.ok_or_else(|| refused("it was not bound".to_owned()))?;
    Ok((Iroh { endpoint, neighbours, settings }, bound))
}

fn relay(settings: &Settings) -> Result<Option<RelayUrl>, TransportError> {
    let parse = |relay: &String| {
        relay.parse().map_err(|error| TransportError::Setting {
            setting: "the relay",
            reason: format!("{relay:?} is no URL: {error}"),
        })
    };
    settings.discovery.relay.as_ref().map(parse).transpose()
}

/// A builder that finds neighbours in the ways that are switched on.
fn discovering(settings: &Settings, relay: Option<RelayUrl>) -> Result<Builder, TransportError> {
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
    let reason = "this program was built without the cargo feature \"mdns\"".to_owned();
    Err(TransportError::Setting { setting: "discovery by multicast DNS", reason })
}

fn transport_config(profile: Profile) -> Result<QuicTransportConfig, TransportError> {
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
        Profile::Lan => config.send_window(LAN_WINDOW).build(),
        Profile::Wan => config
            .send_window(WAN_WINDOW)
            .congestion_controller_factory(Arc::new(Bbr3Config::default()))
            .build(),
    })
}

impl Carrier for Iroh {
    type Reader = RecvStream;
    type Writer = SendStream;
    type Knock = Incoming;

    async fn dial(&self, slot: usize) -> Result<Connection<Self::Reader, Self::Writer>, DialError> {
        let refused = |reason: Option<String>| {
            let who = format!("agent {}", self.settings.neighbours[slot].peer);
            reason.map_or(DialError::Nobody, |reason| DialError::Refused(Refusal { who, reason }))
        };
        let dialled = self.endpoint.connect(self.neighbours[slot].clone(), PROTOCOL).await;
        let connection = dialled.map_err(|error| refused(refusal_in(&error)))?;
        let stream = connection.open_bi().await;
        let (writer, reader) = stream.map_err(|error| refused(refusal_of(&error)))?;
        Ok(Connection { reader, writer, grip: Arc::new(Quic(connection)) })
    }

    async fn knock(&self) -> Option<Incoming> {
        self.endpoint.accept().await
    }

    async fn admit(&self, knock: Incoming) -> Admission<Self> {
        let mut who = Self::describe(&knock);
        let refuse = |who: &str, reason: String| Refusal { who: who.to_owned(), reason };
        let accepting = knock.accept().map_err(|error| refuse(&who, error.to_string()))?;
        let connection = accepting.await.map_err(|error| refuse(&who, format!("{error:#}")))?;
        let key = PublicKey::from_bytes(*connection.remote_id().as_bytes());
        let Some(slot) = self.settings.slot_of(key.as_bytes()) else {
            connection.close(STRANGER, b"your key is of no neighbour");
            return Err(refuse(&who, format!("its key {key} is of no neighbour")));
        };
        who = format!("agent {} at {who}", self.settings.neighbours[slot].peer);
        let stream = connection.accept_bi().await;
        let (writer, reader) = stream.map_err(|error| refuse(&who, error.to_string()))?;
        Ok((slot, Connection { reader, writer, grip: Arc::new(Quic(connection)) }))
    }

    fn describe(knock: &Incoming) -> String {
        match knock.remote_addr() {
            ::iroh::endpoint::IncomingAddr::Ip(address) => address.to_string(),
            other => format!("{other:?}"),
        }
    }

    async fn close(&self) {
        self.endpoint.close().await;
    }
}

/// What is to be told if somebody answered, but not with the right key or protocol, or if it
/// does not want ours.
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

/// Set if the far end has said that it does not know our key.
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

impl Grip for Quic {
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
