//! Which of several connections between two agents is the link: both ends must choose the same.
//!
//! Both agents dial, so that a restarted agent is connected again at once, whichever of the two
//! it is. So two connections may cross. Of each pair the agent with the smaller number decides,
//! and the other follows:
//!
//! ```text
//!   decider                              follower
//!      ├──── preamble: boot, lost ────────►│    both, as soon as the keys are proved
//!      │◄─── preamble: boot, lost ─────────┤
//!      ├──── decision: serial ────────────►│    or it closes the connection: keep the old link
//!      │◄─── acknowledgement: serial ──────┤    the link is up here; at the decider on arrival
//! ```
//!
//! *boot* is a random number drawn when a transport starts. The decider numbers its links with a
//! neighbour; its boot and the *serial* number name a link at both ends. *lost* is the name of
//! the last link whose end the sender saw.
//!
//! The decider accepts a connection unless it has, or has promised, a link with the same boot of
//! the neighbour that the neighbour has not lost. So of two crossing connections the first one
//! stays, a restarted neighbour replaces its old link, and so does a neighbour that alone has
//! noticed the end of a link. The follower accepts every link that is newer than its own. Neither
//! end is up before the other has said, over this very connection, that it knows its key.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::link_table::LinkTable;

/// The first bytes of every connection; another version of the agreement is refused here.
const MAGIC: [u8; 8] = *b"CSRTLNK\x01";
const PREAMBLE: usize = 32;

/// The name of a link, equal at both ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LinkName {
    /// The decider's boot.
    pub(crate) boot: u64,
    /// The decider's number of the link with this neighbour, from 1.
    pub(crate) serial: u64,
}

/// What each end sends first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Preamble {
    /// The sender's boot.
    pub(crate) boot: u64,
    /// The last link whose end the sender saw; zeros if none.
    pub(crate) lost: LinkName,
}

impl Preamble {
    fn encode(&self) -> [u8; PREAMBLE] {
        let mut bytes = [0; PREAMBLE];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..16].copy_from_slice(&self.boot.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.lost.boot.to_le_bytes());
        bytes[24..].copy_from_slice(&self.lost.serial.to_le_bytes());
        bytes
    }

    async fn read<R: AsyncRead + Unpin>(reader: &mut R) -> io::Result<Self> {
        let mut magic = [0; 8];
        reader.read_exact(&mut magic).await?;
        if magic != MAGIC {
            let reason = "the neighbour has a different version; use the same release everywhere";
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
        let boot = reader.read_u64_le().await?;
        let lost =
            LinkName { boot: reader.read_u64_le().await?, serial: reader.read_u64_le().await? };
        Ok(Preamble { boot, lost })
    }

    /// True if the sender saw the end of the link `name`.
    pub(crate) fn has_lost(&self, name: LinkName) -> bool {
        self.lost.boot == name.boot && self.lost.serial >= name.serial
    }
}

/// What both ends have agreed on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreement {
    pub(crate) name: LinkName,
    pub(crate) their_boot: u64,
}

/// Agrees with the neighbour at `index` that this connection is the link; `None` if it is not.
pub(crate) async fn agree<R, W>(
    table: &LinkTable,
    index: usize,
    reader: &mut R,
    writer: &mut W,
) -> io::Result<Option<Agreement>>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let slot = table.slot(index);
    let own = Preamble { boot: table.boot(), lost: slot.lost() };
    writer.write_all(&own.encode()).await?;
    writer.flush().await?;
    let theirs = Preamble::read(reader).await?;

    if table.decides(index) {
        let Some(promise) = slot.promise(own.boot, &theirs) else { return Ok(None) };
        let agreement = promise.agreement();
        writer.write_u64_le(agreement.name.serial).await?;
        writer.flush().await?;
        let acknowledged = reader.read_u64_le().await? == agreement.name.serial;
        return Ok((acknowledged && promise.keep()).then_some(agreement));
    }
    let serial = reader.read_u64_le().await?;
    let name = LinkName { boot: theirs.boot, serial };
    if !slot.would_accept(name) {
        return Ok(None);
    }
    writer.write_u64_le(serial).await?;
    writer.flush().await?;
    Ok(Some(Agreement { name, their_boot: theirs.boot }))
}
