//! Frames over any ordered stream of bytes, without a copy of the body in either direction.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::Duration;

use consort_protocol::{Body, Frame, FrameError, HEADER, Header, Kind, Limits, Room};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;

/// Why no further frame comes.
pub(crate) enum Ended {
    /// The neighbour closed the link between two frames.
    Closed,
    /// The stream broke.
    Broken(io::Error),
    /// What came is no frame of this run.
    Garbage(FrameError),
}

/// Bodies to be filled again once the driver has done with them: memory fresh from the system
/// costs about as much as the bytes that come.
#[derive(Default)]
pub(crate) struct Spares(VecDeque<Arc<[f32]>>);

/// Bodies kept at most: the driver holds one round's while the next comes in.
const SPARES: usize = 2;

impl Spares {
    /// Room for the body that `header` announces: a spare that nobody holds any more, or new.
    fn room_for(&mut self, header: &Header) -> Room {
        let floats = matches!(header.kind, Kind::Update | Kind::Model | Kind::Answer);
        let length = header.length as usize / size_of::<f32>();
        let fits = |spare: &Arc<[f32]>| spare.len() == length && Arc::strong_count(spare) == 1;
        let found = self.0.iter().position(fits).filter(|_| floats);
        let spare = found.and_then(|at| self.0.remove(at));
        spare.map_or_else(|| Frame::room_for(header), Room::Floats)
    }

    fn keep(&mut self, body: &Body) {
        if let Body::Floats(floats) = body {
            self.0.truncate(SPARES - 1);
            self.0.push_front(floats.clone());
        }
    }
}

/// Reads one frame of `peer`, straight into the memory that the method will read.
/// Nothing is allocated before the header is found to fit the run.
pub(crate) async fn read_frame<R: AsyncRead + Unpin>(
    reader: &mut R,
    spares: &mut Spares,
    peer: u32,
    limits: &Limits,
    largest: f32,
) -> Result<(Frame, Duration), Ended> {
    let mut header = [0; HEADER];
    let come = reader.read(&mut header).await.map_err(Ended::Broken)?;
    if come == 0 {
        return Err(Ended::Closed);
    }
    let begun = now();
    reader.read_exact(&mut header[come..]).await.map_err(Ended::Broken)?;
    let header = Header::decode(&header, peer, limits).map_err(Ended::Garbage)?;
    let mut room = spares.room_for(&header);
    reader.read_exact(room.bytes_mut()).await.map_err(Ended::Broken)?;
    let transfer = begun.elapsed();
    let frame = room.into_frame(header, largest).map_err(Ended::Garbage)?;
    spares.keep(&frame.body);
    Ok((frame, transfer))
}

/// Writes one frame and sees it off to the system. Header and body leave together.
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

/// Clocks belong to transports: the time a frame took is told to the driver as a duration.
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { run: 7, agents: 2, message: 4, model: 2 };

    /// What is read of these bytes, after which the stream ends.
    fn read(bytes: &[u8]) -> Result<Frame, Ended> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (mut reader, mut spares) = (bytes, Spares::default());
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
    fn a_body_is_filled_again_only_when_nobody_holds_it() {
        let mut spares = Spares::default();
        let first = update();
        spares.keep(&first.body);
        let address = |room: &mut Room| room.bytes_mut().as_ptr();
        let of_first = first.body.bytes().as_ptr();
        assert_ne!(address(&mut spares.room_for(&first.header)), of_first, "still held");
        let header = first.header;
        drop(first);
        let mut again = spares.room_for(&header);
        assert_eq!(address(&mut again), of_first);
        assert_ne!(address(&mut spares.room_for(&header)), of_first, "given away");
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
