//! Frames over any ordered stream of bytes, without copying the body in either direction.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::Duration;

use consort_protocol::{Body, BodyBuffer, Frame, FrameError, HEADER, Header, Kind, Limits};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;

/// Why reading ended.
pub(crate) enum Ended {
    /// The neighbour closed the link between two frames.
    Closed,
    /// The stream broke.
    Broken(io::Error),
    /// The neighbour sent something that is not a valid frame of this run.
    Garbage(FrameError),
}

/// Bodies whose memory is reused once the driver has dropped them: fresh memory from the system
/// costs about as much as receiving the bytes.
#[derive(Default)]
pub(crate) struct SpareBodies(VecDeque<Arc<[f32]>>);

/// The most bodies kept: the driver holds that of one round while the next is being received.
const SPARES: usize = 2;

impl SpareBodies {
    /// A buffer for the body that `header` announces: a spare one that nobody holds any more, or
    /// a new one.
    fn buffer_for(&mut self, header: &Header) -> BodyBuffer {
        let floats = matches!(header.kind, Kind::Update | Kind::Model | Kind::Answer);
        let length = header.length as usize / size_of::<f32>();
        let fits = |spare: &Arc<[f32]>| spare.len() == length && Arc::strong_count(spare) == 1;
        let found = self.0.iter().position(fits).filter(|_| floats);
        let spare = found.and_then(|at| self.0.remove(at));
        spare.map_or_else(|| BodyBuffer::new(header), BodyBuffer::Floats)
    }

    fn keep(&mut self, body: &Body) {
        if let Body::Floats(floats) = body {
            self.0.truncate(SPARES - 1);
            self.0.push_front(floats.clone());
        }
    }
}

/// Reads one frame of `peer`, directly into the memory that the method will read, and measures
/// the transfer. Nothing is allocated before the header has been checked.
pub(crate) async fn read_frame<R: AsyncRead + Unpin>(
    reader: &mut R,
    spares: &mut SpareBodies,
    peer: u32,
    limits: &Limits,
    largest: f32,
) -> Result<(Frame, Duration), Ended> {
    let mut header = [0; HEADER];
    let received = reader.read(&mut header).await.map_err(Ended::Broken)?;
    if received == 0 {
        return Err(Ended::Closed);
    }
    let begun = now();
    reader.read_exact(&mut header[received..]).await.map_err(Ended::Broken)?;
    let header = Header::decode(&header, peer, limits).map_err(Ended::Garbage)?;
    let mut buffer = spares.buffer_for(&header);
    reader.read_exact(buffer.bytes_mut()).await.map_err(Ended::Broken)?;
    let transfer = begun.elapsed();
    let frame = buffer.into_frame(header, limits, largest).map_err(Ended::Garbage)?;
    spares.keep(&frame.body);
    Ok((frame, transfer))
}

/// Writes one frame and flushes it. Header and body are written together.
pub(crate) async fn write_frame<W: AsyncWrite + Unpin>(
    writer: &mut W,
    frame: &Frame,
    run: u64,
) -> io::Result<()> {
    let header = frame.header.encode(run);
    let (mut header, body) = (&header[..], frame.body.bytes());
    let mut sent = 0;
    while !header.is_empty() {
        let written = writer.write_vectored(&[IoSlice::new(header), IoSlice::new(body)]).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        sent = written.saturating_sub(header.len());
        header = &header[written.min(header.len())..];
    }
    writer.write_all(&body[sent..]).await?;
    writer.flush().await
}

/// Only transports read a clock here: the driver gets the transfer time of a frame as a duration.
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits::one_exchange(7, 2, 4, 2);

    /// Reads one frame from these bytes, after which the stream ends.
    fn read(bytes: &[u8]) -> Result<Frame, Ended> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (mut reader, mut spares) = (bytes, SpareBodies::default());
        let read = read_frame(&mut reader, &mut spares, 1, &LIMITS, 10.0);
        runtime.block_on(read).map(|(frame, _)| frame)
    }

    fn written(frame: &Frame) -> Vec<u8> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut bytes = Vec::new();
        runtime.block_on(write_frame(&mut bytes, frame, LIMITS.run)).unwrap();
        bytes
    }

    fn update() -> Frame {
        Frame::new(Kind::Update, 1, 1, 2, 3, Body::Floats([1.0, -0.0, 10.0, 0.5].into()))
    }

    #[test]
    fn what_is_written_is_read() {
        assert!(matches!(read(&written(&update())), Ok(frame) if frame == update()));
    }

    #[test]
    fn a_body_is_reused_only_when_nobody_holds_it() {
        let mut spares = SpareBodies::default();
        let first = update();
        spares.keep(&first.body);
        let address = |buffer: &mut BodyBuffer| buffer.bytes_mut().as_ptr();
        let of_first = first.body.bytes().as_ptr();
        assert_ne!(address(&mut spares.buffer_for(&first.header)), of_first, "still held");
        let header = first.header;
        drop(first);
        let mut again = spares.buffer_for(&header);
        assert_eq!(address(&mut again), of_first);
        assert_ne!(address(&mut spares.buffer_for(&header)), of_first, "given away");
    }

    #[test]
    fn a_cut_frame_is_no_frame() {
        let bytes = written(&update());
        assert!(matches!(read(&[]), Err(Ended::Closed)));
        for cut in 1..bytes.len() {
            assert!(matches!(read(&bytes[..cut]), Err(Ended::Broken(_))), "cut at {cut}");
        }
    }

    #[test]
    fn another_beginning_is_garbage() {
        let mut bytes = written(&update());
        bytes[..4].copy_from_slice(b"HTTP");
        let error = FrameError::Magic { got: *b"HTTP" };
        assert!(matches!(read(&bytes), Err(Ended::Garbage(got)) if got == error));
    }

    #[test]
    fn a_length_that_cannot_be_is_garbage_before_its_body_comes() {
        let mut bytes = written(&update());
        bytes[20..24].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(matches!(read(&bytes[..HEADER]), Err(Ended::Garbage(FrameError::Length { .. }))));
    }
}
