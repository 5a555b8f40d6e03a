//! What a kind of network must provide: connections whose far end has proved its key.

use std::future::Future;
use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

/// A way to connect: TLS over TCP, or iroh. Runs on the network thread. Neighbours are named by
/// their index in the settings.
pub(crate) trait Carrier: Send + Sync + 'static {
    /// The receiving half of a connection.
    type Reader: AsyncRead + Unpin + Send + 'static;
    /// The sending half of a connection.
    type Writer: AsyncWrite + Unpin + Send + 'static;
    /// An incoming connection whose far end has not proved a key yet.
    type Incoming: Send + 'static;

    /// Connects to the neighbour at `index`, and to nobody else.
    fn dial(
        &self,
        index: usize,
    ) -> impl Future<Output = Result<Connection<Self::Reader, Self::Writer>, DialError>> + Send;

    /// The next incoming connection; `None` if there will be no more.
    fn accept(&self) -> impl Future<Output = Option<Self::Incoming>> + Send;

    /// Finds out which neighbour an incoming connection is from; refuses everybody else.
    fn authenticate(
        &self,
        incoming: Self::Incoming,
    ) -> impl Future<Output = Authenticated<Self>> + Send;

    /// What we know of the far end before it has proved a key.
    fn describe(incoming: &Self::Incoming) -> String;

    /// Releases ports.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// The neighbour's index and the connection, or a refusal.
pub(crate) type Authenticated<C> =
    Result<(usize, Connection<<C as Carrier>::Reader, <C as Carrier>::Writer>), Refusal>;

/// A connection whose far end has proved its key.
pub(crate) struct Connection<R, W> {
    pub(crate) reader: R,
    pub(crate) writer: W,
    pub(crate) handle: Arc<dyn ConnectionHandle>,
}

/// What else can be done with a connection besides reading and writing.
pub(crate) trait ConnectionHandle: Send + Sync {
    /// How many packets were sent again so far.
    fn retransmissions(&self) -> u64;

    /// If `error` means that the far end does not know our key: what it said.
    fn refusal(&self, error: &io::Error) -> Option<String>;

    /// Closes the connection now.
    fn close(&self, reason: &str);
}

/// Why dialling a neighbour failed.
#[derive(Debug)]
pub(crate) enum DialError {
    /// Nobody answered; maybe the neighbour has not started yet.
    Unreachable,
    /// Somebody answered who is not the neighbour, or who does not accept us.
    Refused(Refusal),
}

/// Why a connection was refused, and by whom it was made.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) who: String,
    pub(crate) reason: String,
}
