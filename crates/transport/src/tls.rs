//! TLS 1.3 over TCP: the fastest way between machines that can reach each other's ports.
//!
//! Agents prove their keys in the handshake itself, as raw public keys (RFC 7250): a stranger
//! is refused before a byte of ours is sent. There is no resumption and no early data. A machine
//! that falls silent is noticed in about 10 seconds: by keep-alive probes when nothing is on the
//! way, by the limit on unacknowledged data (TCP_USER_TIMEOUT, on Linux) otherwise. That limit
//! also ends a link whose neighbour takes nothing for 10 seconds while its buffers are full.

mod keys;
mod socket;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use consort_protocol::Frame;
use tokio::io::{BufReader, ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

use crate::connection::{Admission, Carrier, Connection, DialError, Grip, Refusal};
use crate::engine::Engine;
use crate::exchange::Exchange;
use crate::settings::{Settings, TransportError};
use crate::{Event, LinkStatistics, Transport};

/// How long one address may take to answer before the next is tried.
const ANSWER: Duration = Duration::from_secs(3);
/// Plain bytes encrypted ahead of the socket. More would not stay in cache, and the allocator
/// would give it back to the system and fetch it anew for every frame.
const AHEAD: usize = 64 << 10;
/// Bytes read from the socket at a time: rustls by itself would take 4 kB.
const GULP: usize = 64 << 10;

/// Links over TLS. See the crate's documentation for what all transports share.
pub struct TlsTransport {
    engine: Engine,
    address: SocketAddr,
}

impl TlsTransport {
    /// Listens, and begins to dial all neighbours.
    ///
    /// # Errors
    /// If the address is taken, or the settings are of no use.
    pub fn start(settings: Settings) -> Result<Self, TransportError> {
        let exchange = Exchange::new(&settings)?;
        let (engine, address) = Engine::start("consort-tls", exchange, open(settings))?;
        Ok(TlsTransport { engine, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

crate::engine::transport_by_engine!(TlsTransport);

/// A listening socket and the keys.
struct Tls {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    /// One for each neighbour: it knows which key must answer.
    connectors: Vec<TlsConnector>,
    settings: Settings,
}

async fn open(settings: Settings) -> Result<(Tls, SocketAddr), TransportError> {
    let address = settings.bind;
    let bound = socket::listen(address).and_then(|listener| Ok((listener.local_addr()?, listener)));
    let (address, listener) = bound.map_err(|source| TransportError::Bind { address, source })?;
    let acceptor = TlsAcceptor::from(keys::server(&settings)?);
    let connectors = settings.neighbours.iter();
    let connectors =
        connectors.map(|neighbour| Ok(TlsConnector::from(keys::client(&settings, neighbour)?)));
    let connectors = connectors.collect::<Result<_, TransportError>>()?;
    Ok((Tls { listener, acceptor, connectors, settings }, address))
}

type Stream = TlsStream<BufReader<TcpStream>>;

impl Carrier for Tls {
    type Reader = ReadHalf<Stream>;
    type Writer = WriteHalf<Stream>;
    type Knock = (TcpStream, SocketAddr);

    async fn dial(&self, slot: usize) -> Result<Connection<Self::Reader, Self::Writer>, DialError> {
        let neighbour = &self.settings.neighbours[slot];
        let mut refusal = None;
        for &address in &neighbour.addresses {
            let Ok(Ok(stream)) = timeout(ANSWER, TcpStream::connect(address)).await else {
                continue;
            };
            if socket::prepare(&stream).is_err() {
                continue;
            }
            let name = keys::server_name();
            match timeout(ANSWER, self.connectors[slot].connect(name, buffered(stream))).await {
                Ok(Ok(stream)) => return Ok(connection(stream.into())),
                Ok(Err(error)) if is_about_keys(&error) => {
                    let who = format!("agent {} at {address}", neighbour.peer);
                    refusal = Some(Refusal { who, reason: error.to_string() });
                }
                Ok(Err(_)) | Err(_) => {}
            }
        }
        Err(refusal.map_or(DialError::Nobody, DialError::Refused))
    }

    async fn knock(&self) -> Option<Self::Knock> {
        loop {
            match self.listener.accept().await {
                Ok(knock) => return Some(knock),
                // Out of file descriptors, most likely: others are freed by and by.
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
    }

    async fn admit(&self, (stream, address): Self::Knock) -> Admission<Self> {
        let refuse = |reason: String| Refusal { who: address.to_string(), reason };
        socket::prepare(&stream).map_err(|error| refuse(error.to_string()))?;
        let stream = self.acceptor.accept(buffered(stream)).await;
        let stream = stream.map_err(|error| refuse(error.to_string()))?;
        let slot = keys::of_peer(stream.get_ref().1).and_then(|key| self.settings.slot_of(key));
        // The verifier has seen to it that there is one.
        let slot = slot.ok_or_else(|| refuse("its key is of no neighbour".to_owned()))?;
        Ok((slot, connection(stream.into())))
    }

    fn describe((_, address): &Self::Knock) -> String {
        address.to_string()
    }

    async fn close(&self) {}
}

fn buffered(stream: TcpStream) -> BufReader<TcpStream> {
    BufReader::with_capacity(GULP, stream)
}

fn connection(mut stream: Stream) -> Connection<ReadHalf<Stream>, WriteHalf<Stream>> {
    match &mut stream {
        TlsStream::Client(stream) => stream.get_mut().1.set_buffer_limit(Some(AHEAD)),
        TlsStream::Server(stream) => stream.get_mut().1.set_buffer_limit(Some(AHEAD)),
    }
    let (reader, writer) = tokio::io::split(stream);
    Connection { reader, writer, grip: Arc::new(Socket) }
}

/// True if it was TLS that failed, not the network.
fn is_about_keys(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>())
}

/// The socket closes when both halves are dropped. What it sent again, the system tells only
/// through calls that are not safe: it is not counted.
struct Socket;

impl Grip for Socket {
    fn retransmissions(&self) -> u64 {
        0
    }

    fn refusal(&self, error: &io::Error) -> Option<String> {
        is_about_keys(error).then(|| format!("it refuses this agent's key: {error}"))
    }

    fn close(&self, _reason: &str) {}
}
