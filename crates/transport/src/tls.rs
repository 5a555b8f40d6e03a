//! TLS 1.3 over TCP: the fastest transport between machines that can reach each other's ports.
//!
//! Agents prove their keys in the handshake itself, as raw public keys (RFC 7250): a stranger
//! is refused before we send any data. There is no resumption and no early data. A machine
//! that falls silent is noticed after about 10 seconds: by keep-alive probes on an idle link, by
//! the limit on unacknowledged data (TCP_USER_TIMEOUT, on Linux) otherwise. That limit also ends
//! a link whose neighbour reads nothing for 10 seconds while its buffers are full.

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

use crate::connection::{Authenticated, Carrier, Connection, ConnectionHandle, DialError, Refusal};
use crate::link_table::LinkTable;
use crate::network_thread::NetworkThread;
use crate::settings::{TransportError, TransportSettings};
use crate::{Event, LinkStatistics, Transport};

/// How long one address may take to answer before the next is tried.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// How many bytes may be encrypted ahead of the socket. More would not stay in the cache, and the
/// allocator would return the memory to the system and request it again for every frame.
const WRITE_BUFFER: usize = 64 << 10;
/// How many bytes are read from the socket at a time; the default of rustls is 4 kB.
const READ_BUFFER: usize = 64 << 10;

/// Links over TLS. See the crate's documentation for what all transports share.
pub struct TlsTransport {
    network: NetworkThread,
    address: SocketAddr,
}

impl TlsTransport {
    /// Listens, and starts to dial all neighbours.
    ///
    /// # Errors
    /// If the address is in use or the settings are invalid.
    pub fn start(settings: TransportSettings) -> Result<Self, TransportError> {
        let table = LinkTable::new(&settings)?;
        let (network, address) = NetworkThread::start("consort-tls", table, open(settings))?;
        Ok(TlsTransport { network, address })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

crate::network_thread::delegate_transport!(TlsTransport);

/// A listening socket and the keys.
struct Tls {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    /// One per neighbour: each accepts the key of that neighbour only.
    connectors: Vec<TlsConnector>,
    settings: TransportSettings,
}

async fn open(settings: TransportSettings) -> Result<(Tls, SocketAddr), TransportError> {
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
    type Incoming = (TcpStream, SocketAddr);

    async fn dial(
        &self,
        index: usize,
    ) -> Result<Connection<Self::Reader, Self::Writer>, DialError> {
        let neighbour = &self.settings.neighbours[index];
        let mut refusal = None;
        for &address in &neighbour.addresses {
            let Ok(Ok(stream)) = timeout(ANSWER_TIMEOUT, TcpStream::connect(address)).await else {
                continue;
            };
            if socket::prepare(&stream).is_err() {
                continue;
            }
            let name = keys::server_name();
            match timeout(ANSWER_TIMEOUT, self.connectors[index].connect(name, buffered(stream)))
                .await
            {
                Ok(Ok(stream)) => return Ok(connection(stream.into())),
                Ok(Err(error)) if is_about_keys(&error) => {
                    let who = format!("agent {} at {address}", neighbour.peer);
                    refusal = Some(Refusal { who, reason: error.to_string() });
                }
                Ok(Err(_)) | Err(_) => {}
            }
        }
        Err(refusal.map_or(DialError::Unreachable, DialError::Refused))
    }

    async fn accept(&self) -> Option<Self::Incoming> {
        loop {
            match self.listener.accept().await {
                Ok(incoming) => return Some(incoming),
                // Most likely out of file descriptors: wait until some are free again.
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
    }

    async fn authenticate(&self, (stream, address): Self::Incoming) -> Authenticated<Self> {
        let refuse = |reason: String| Refusal { who: address.to_string(), reason };
        socket::prepare(&stream).map_err(|error| refuse(error.to_string()))?;
        let stream = self.acceptor.accept(buffered(stream)).await;
        let stream = stream.map_err(|error| refuse(error.to_string()))?;
        let index = keys::peer_key(stream.get_ref().1).and_then(|key| self.settings.index_of(key));
        // Always found: the verifier has checked the key.
        let index = index.ok_or_else(|| refuse("its key belongs to no neighbour".to_owned()))?;
        Ok((index, connection(stream.into())))
    }

    fn describe((_, address): &Self::Incoming) -> String {
        address.to_string()
    }

    async fn close(&self) {}
}

fn buffered(stream: TcpStream) -> BufReader<TcpStream> {
    BufReader::with_capacity(READ_BUFFER, stream)
}

fn connection(mut stream: Stream) -> Connection<ReadHalf<Stream>, WriteHalf<Stream>> {
    match &mut stream {
        TlsStream::Client(stream) => stream.get_mut().1.set_buffer_limit(Some(WRITE_BUFFER)),
        TlsStream::Server(stream) => stream.get_mut().1.set_buffer_limit(Some(WRITE_BUFFER)),
    }
    let (reader, writer) = tokio::io::split(stream);
    Connection { reader, writer, handle: Arc::new(Socket) }
}

/// True if TLS failed, and not the network.
fn is_about_keys(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>())
}

/// The socket closes when both halves are dropped. Retransmissions are not counted: the system
/// reports them only through unsafe calls.
struct Socket;

impl ConnectionHandle for Socket {
    fn retransmissions(&self) -> u64 {
        0
    }

    fn refusal(&self, error: &io::Error) -> Option<String> {
        is_about_keys(error).then(|| format!("it refuses this agent's key: {error}"))
    }

    fn close(&self, _reason: &str) {}
}
