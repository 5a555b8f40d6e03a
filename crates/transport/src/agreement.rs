//! Which of several connections between two agents is the link: both ends must choose the same.
//!
//! Both agents dial, so that a restarted one is back at once whoever it is; hence two
//! connections may cross. Of each pair the agent with the smaller number decides and the other
//! obeys:
//!
//! ```text
//!   decider                              other
//!      ├──── preamble: boot, lost ────────►│    both, as soon as keys are proved
//!      │◄─── preamble: boot, lost ─────────┤
//!      ├──── verdict: serial ─────────────►│    or the connection is closed: keep the old one
//!      │◄─── acknowledgement: serial ──────┤    up for the other; up here when it comes
//! ```
//!
//! *boot* is drawn at random when a transport starts. The decider numbers the links it makes
//! with a neighbour; (its boot, *serial*) names a link at both ends. *lost* is the name of the
//! last link whose end the sender saw.
//!
//! The decider takes a connection unless it has a link, or one about to be, with the same boot
//! of the neighbour that the neighbour does not call lost. So crossing dials leave the first
//! one standing, a restarted neighbour replaces what it had before, and a link that only one
//! end believes dead is replaced as well. The other takes what the decider says, newest first.
//! Neither is up before the other has said, over this very connection, that it knows its key.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::exchange::Exchange;

/// Begins every connection; another version of links is refused here.
const MAGIC: [u8; 8] = *b"CSRTLNK\x01";
const PREAMBLE: usize = 32;

/// What a link is called at both ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LinkName {
    /// The decider's boot.
    pub(crate) boot: u64,
    /// The decider's count of links with this neighbour, from 1.
    pub(crate) serial: u64,
}

/// What each end says first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Preamble {
    /// The sender's boot.
    pub(crate) boot: u64,
    /// The last link whose end the sender saw; zero if none.
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
            let reason = "the neighbour speaks another version; use the same release everywhere";
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

/// What both ends agreed on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreement {
    pub(crate) name: LinkName,
    pub(crate) their_boot: u64,
}

/// Agrees with the neighbour in `slot` that this connection is the link; `None` if it is not.
pub(crate) async fn agree<R, W>(
    exchange: &Exchange,
    slot: usize,
    reader: &mut R,
    writer: &mut W,
) -> io::Result<Option<Agreement>>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let desk = exchange.desk(slot);
    let own = Preamble { boot: exchange.boot(), lost: desk.lost() };
    writer.write_all(&own.encode()).await?;
    writer.flush().await?;
    let theirs = Preamble::read(reader).await?;

    if exchange.decides(slot) {
        let Some(promise) = desk.promise(own.boot, &theirs) else { return Ok(None) };
        let agreement = promise.agreement();
        writer.write_u64_le(agreement.name.serial).await?;
        writer.flush().await?;
        let acknowledged = reader.read_u64_le().await? == agreement.name.serial;
        return Ok((acknowledged && promise.keep()).then_some(agreement));
    }
    let serial = reader.read_u64_le().await?;
    let name = LinkName { boot: theirs.boot, serial };
    if !desk.would_obey(name) {
        return Ok(None);
    }
    writer.write_u64_le(serial).await?;
    writer.flush().await?;
    Ok(Some(Agreement { name, their_boot: theirs.boot }))
}
