//! What a kind of network has to offer: connections whose far end has proved its key.

use std::future::Future;
use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

/// A way to connect: TLS over TCP, or iroh. Runs on the network's thread.
pub(crate) trait Carrier: Send + Sync + 'static {
    /// Where bytes come in.
    type Reader: AsyncRead + Unpin + Send + 'static;
    /// Where bytes go out.
    type Writer: AsyncWrite + Unpin + Send + 'static;
    /// Somebody at the door, not yet known.
    type Knock: Send + 'static;

    /// Connects to the neighbour in `slot`, and to nobody else.
    fn dial(
        &self,
        slot: usize,
    ) -> impl Future<Output = Result<Connection<Self::Reader, Self::Writer>, DialError>> + Send;

    /// The next to knock; `None` if the door is closed for good.
    fn knock(&self) -> impl Future<Output = Option<Self::Knock>> + Send;

    /// Who it is, and the connection; or that it is no neighbour.
    fn admit(&self, knock: Self::Knock) -> impl Future<Output = Admission<Self>> + Send;

    /// What is known of somebody who said nothing in time.
    fn describe(knock: &Self::Knock) -> String;

    /// Gives ports back, properly.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// The neighbour's slot and the connection, or a refusal.
pub(crate) type Admission<C> =
    Result<(usize, Connection<<C as Carrier>::Reader, <C as Carrier>::Writer>), Refusal>;

/// A connection whose far end has proved its key.
pub(crate) struct Connection<R, W> {
    pub(crate) reader: R,
    pub(crate) writer: W,
    pub(crate) grip: Arc<dyn Grip>,
}

/// What can be done with a connection besides reading and writing.
pub(crate) trait Grip: Send + Sync {
    /// Packets sent again so far.
    fn retransmissions(&self) -> u64;

    /// If `error` means that the far end does not know our key: what it said.
    fn refusal(&self, error: &io::Error) -> Option<String>;

    /// Ends the connection now.
    fn close(&self, reason: &str);
}

/// Why a dialled neighbour is not connected.
#[derive(Debug)]
pub(crate) enum DialError {
    /// Nobody is there, or not yet.
    Nobody,
    /// Somebody is there, but not as agreed.
    Refused(Refusal),
}

/// Why somebody is not talked to.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) who: String,
    pub(crate) reason: String,
}
