//! The life of a connection: the two ends agree on it, read and write concurrently, and end it.

use std::io;
use std::time::Duration;

use consort_protocol::HEADER;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;

use crate::Event;
use crate::agreement::{LinkName, agree};
use crate::connection::Connection;
use crate::framing::{Ended, SpareBodies, read_frame, write_frame};
use crate::link_slot::LinkChannels;
use crate::link_table::LinkTable;

/// How long it may take to exchange keys, preambles and acknowledgements.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Makes `connection` the link to the neighbour at `index` if both ends agree, and serves it until
/// it ends. The permit for a handshake is returned as soon as the ends agree.
///
/// # Errors
/// If the connection broke before it became the link.
pub(crate) async fn serve<R, W>(
    table: &LinkTable,
    index: usize,
    connection: Connection<R, W>,
    permit: Option<OwnedSemaphorePermit>,
) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let Connection { mut reader, mut writer, handle } = connection;
    let slot = table.slot(index);
    let agreed = tokio::select! {
        () = table.closing() => Ok(Ok(None)),
        agreed = timeout(HANDSHAKE_TIMEOUT, agree(table, index, &mut reader, &mut writer)) => agreed,
    };
    drop(permit);
    let agreement = match agreed {
        Ok(Ok(Some(agreement))) => agreement,
        Ok(Ok(None)) => {
            handle.close("another connection is in use");
            return Ok(());
        }
        Ok(Err(error)) => return Err(error),
        Err(late) => return Err(late.into()),
    };
    // There was no await since the promise was kept, and all tasks share one thread, so the
    // agreement still holds.
    let Some(channels) = slot.start_link(table.events(), agreement, handle.clone()) else {
        handle.close("another connection is in use");
        return Ok(());
    };
    let name = agreement.name;
    let reason = run(table, index, name, &mut reader, &mut writer, channels).await;
    slot.link_ended(table.events(), name, &reason);
    handle.close(&reason);
    Ok(())
}

/// Reads and writes until the link ends; returns why.
async fn run<R, W>(
    table: &LinkTable,
    index: usize,
    name: LinkName,
    reader: &mut R,
    writer: &mut W,
    channels: LinkChannels,
) -> String
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let LinkChannels { outgoing, mut end } = channels;
    let mut writing = std::pin::pin!(write_frames(table, index, name, writer, outgoing));
    let mut written = false;
    let time_left = tokio::select! {
        reason = read_frames(table, index, name, reader) => match end.try_recv() {
            // Reading failed because the driver has just ended the link.
            Ok(time_left) => Ok(time_left),
            Err(_) => return reason,
        },
        time_left = &mut end => time_left,
        result = &mut writing => match result {
            Err(error) => return error.to_string(),
            // The queue is closed: the driver or a newer link has ended this one.
            Ok(()) => {
                written = true;
                end.await
            }
        },
    };
    if let Ok(time_left) = time_left {
        // Reads and drops everything that still arrives: closing a connection with unread bytes
        // would reset it, and the far end could lose our last frames.
        let write_on = async {
            if !written {
                let _ = writing.await;
            }
        };
        let flush = async { tokio::join!(write_on, drain(reader)) };
        let _ = timeout(time_left, flush).await;
    }
    "ended by this agent".to_owned()
}

/// Passes frames to the driver; returns why reading ended.
async fn read_frames<R: AsyncRead + Unpin>(
    table: &LinkTable,
    index: usize,
    name: LinkName,
    reader: &mut R,
) -> String {
    let (slot, events) = (table.slot(index), table.events());
    let (peer, mut spares) = (slot.peer(), SpareBodies::default());
    loop {
        // Nothing more is read until the driver has taken earlier frames.
        let Ok(permit) = slot.read_permits.acquire().await else {
            return "ended by this agent".to_owned();
        };
        let (limits, largest) = (table.limits(), table.largest());
        let read = read_frame(reader, &mut spares, peer as u32, limits, largest).await;
        match read {
            Ok((frame, transfer)) => {
                if !slot.deliver(events, name, Event::Frame { peer, frame, transfer }) {
                    return "ended by this agent".to_owned();
                }
                // Returned when the driver takes the frame.
                permit.forget();
            }
            Err(Ended::Closed) => return "closed by the neighbour".to_owned(),
            Err(Ended::Broken(error)) => return error.to_string(),
            Err(Ended::Garbage(error)) => {
                let reason = error.to_string();
                slot.deliver(events, name, Event::Garbage { peer, error });
                return reason;
            }
        }
    }
}

/// Writes what the driver sends, and shuts the stream down when the queue is closed.
async fn write_frames<W: AsyncWrite + Unpin>(
    table: &LinkTable,
    index: usize,
    name: LinkName,
    writer: &mut W,
    mut outgoing: mpsc::UnboundedReceiver<consort_protocol::Frame>,
) -> io::Result<()> {
    while let Some(frame) = outgoing.recv().await {
        write_frame(writer, &frame, table.limits().run).await?;
        let bytes = HEADER as u64 + u64::from(frame.header.length);
        table.slot(index).written(table.events(), name, bytes);
    }
    writer.shutdown().await
}

/// Reads and discards everything up to the end.
async fn drain<R: AsyncRead + Unpin>(reader: &mut R) {
    let mut scrap = vec![0; 16 << 10];
    while let Ok(1..) = reader.read(&mut scrap).await {}
}
