//! The life of a connection: agreed upon, up, read and written at once, ended.

use std::io;
use std::time::Duration;

use consort_protocol::HEADER;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;

use crate::Event;
use crate::agreement::{LinkName, agree};
use crate::connection::Connection;
use crate::desk::Ends;
use crate::exchange::Exchange;
use crate::framing::{Ended, Spares, read_frame, write_frame};

/// How long keys, preambles and acknowledgements may take.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(10);

/// Makes `connection` the link to the neighbour in `slot` if both ends agree, and serves it to
/// its end. The permit to knock is given back as soon as the ends agree.
///
/// # Errors
/// If the connection broke before it was the link.
pub(crate) async fn serve<R, W>(
    exchange: &Exchange,
    slot: usize,
    connection: Connection<R, W>,
    permit: Option<OwnedSemaphorePermit>,
) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let Connection { mut reader, mut writer, grip } = connection;
    let desk = exchange.desk(slot);
    let agreed = tokio::select! {
        () = exchange.closing() => Ok(Ok(None)),
        agreed = timeout(HANDSHAKE, agree(exchange, slot, &mut reader, &mut writer)) => agreed,
    };
    drop(permit);
    let agreement = match agreed {
        Ok(Ok(Some(agreement))) => agreement,
        Ok(Ok(None)) => {
            grip.close("another connection is in use");
            return Ok(());
        }
        Ok(Err(error)) => return Err(error),
        Err(late) => return Err(late.into()),
    };
    // Nothing was awaited since the promise was kept, and all tasks share one thread: what was
    // agreed still holds.
    let Some(ends) = desk.put_up(exchange.inbox(), agreement, grip.clone()) else {
        grip.close("another connection is in use");
        return Ok(());
    };
    let name = agreement.name;
    let reason = run(exchange, slot, name, &mut reader, &mut writer, ends).await;
    desk.put_down(exchange.inbox(), name, &reason);
    grip.close(&reason);
    Ok(())
}

/// Reads and writes until the link ends; returns why.
async fn run<R, W>(
    exchange: &Exchange,
    slot: usize,
    name: LinkName,
    reader: &mut R,
    writer: &mut W,
    ends: Ends,
) -> String
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let Ends { outgoing, mut end } = ends;
    let mut writing = std::pin::pin!(write_frames(exchange, slot, name, writer, outgoing));
    let mut written = false;
    let patience = tokio::select! {
        reason = read_frames(exchange, slot, name, reader) => match end.try_recv() {
            // What came was of no use because the driver has just ended the link.
            Ok(patience) => Ok(patience),
            Err(_) => return reason,
        },
        patience = &mut end => patience,
        result = &mut writing => match result {
            Err(error) => return error.to_string(),
            // The queue is closed: the driver, or a newer link, has ended this one.
            Ok(()) => {
                written = true;
                end.await
            }
        },
    };
    if let Ok(patience) = patience {
        // Whatever still comes is read and dropped: a connection closed over unread bytes would
        // be reset, and what was sent last could be lost at the far end.
        let write_on = async {
            if !written {
                let _ = writing.await;
            }
        };
        let farewell = async { tokio::join!(write_on, drain(reader)) };
        let _ = timeout(patience, farewell).await;
    }
    "ended here".to_owned()
}

/// Hands frames to the driver; returns why no more come.
async fn read_frames<R: AsyncRead + Unpin>(
    exchange: &Exchange,
    slot: usize,
    name: LinkName,
    reader: &mut R,
) -> String {
    let (desk, inbox) = (exchange.desk(slot), exchange.inbox());
    let (peer, mut spares) = (desk.peer(), Spares::default());
    loop {
        // While the driver has not taken what came before, nothing more is read.
        let Ok(permit) = desk.incoming.acquire().await else {
            return "ended here".to_owned();
        };
        let (limits, largest) = (exchange.limits(), exchange.largest());
        let read = read_frame(reader, &mut spares, peer as u32, limits, largest).await;
        match read {
            Ok((frame, transfer)) => {
                if !desk.deliver(inbox, name, Event::Frame { peer, frame, transfer }) {
                    return "ended here".to_owned();
                }
                // Given back when the driver takes the frame.
                permit.forget();
            }
            Err(Ended::Closed) => return "closed by the neighbour".to_owned(),
            Err(Ended::Broken(error)) => return error.to_string(),
            Err(Ended::Garbage(error)) => {
                let reason = error.to_string();
                desk.deliver(inbox, name, Event::Garbage { peer, error });
                return reason;
            }
        }
    }
}

/// Sees off what the driver sends; then, when the queue is closed, the end of it.
async fn write_frames<W: AsyncWrite + Unpin>(
    exchange: &Exchange,
    slot: usize,
    name: LinkName,
    writer: &mut W,
    mut outgoing: mpsc::UnboundedReceiver<consort_protocol::Frame>,
) -> io::Result<()> {
    while let Some(frame) = outgoing.recv().await {
        write_frame(writer, &frame, exchange.limits().run).await?;
        let bytes = HEADER as u64 + u64::from(frame.header.length);
        exchange.desk(slot).written(exchange.inbox(), name, bytes);
    }
    writer.shutdown().await
}

/// Reads to the end and keeps nothing.
async fn drain<R: AsyncRead + Unpin>(reader: &mut R) {
    let mut scrap = vec![0; 16 << 10];
    while let Ok(1..) = reader.read(&mut scrap).await {}
}
