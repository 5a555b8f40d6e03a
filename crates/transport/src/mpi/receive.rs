//! Receiving frames.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use consort_protocol::{BodyBuffer, FrameError, HEADER, Header};
use mpi::datatype::Equivalence;
use mpi::point_to_point::{Message, Status};
use mpi::traits::{Communicator, Source};

use super::pace::now;
use super::requests::take_done;
use super::send::Sending;
use super::session::{FRAME, Session};
use crate::Event;

/// A frame whose body is being received.
struct Arrival {
    link: usize,
    header: Result<Header, FrameError>,
    bytes: usize,
    begun: Instant,
    transfer: Duration,
}

impl Session<'_> {
    /// Receives the frames that have started to arrive; true if there were any.
    ///
    /// Meanwhile the MPI thread continues its turns and may call this again for other neighbours,
    /// so the calls nest at most as deep as there are neighbours. Every body found here arrives
    /// completely, since its sender has given it to MPI and keeps calling MPI.
    pub(super) fn receive(&mut self, sending: &mut Sending<'_, '_>) -> bool {
        let mut arrivals = Vec::new();
        let mut messages = Vec::new();
        for link in 0..self.links.len() {
            if let Some((arrival, message)) = self.look(link) {
                arrivals.push(arrival);
                messages.push(message);
            }
        }
        if arrivals.is_empty() {
            return false;
        }
        let mut buffers: Vec<BodyBuffer> =
            arrivals.iter().map(|arrival| self.buffer(arrival)).collect();
        mpi::request::scope(|scope| {
            let mut requests = Vec::new();
            for (at, (message, buffer)) in messages.into_iter().zip(&mut buffers).enumerate() {
                let request = message.immediate_matched_receive_into(scope, buffer.bytes_mut());
                requests.push((at, request));
            }
            loop {
                take_done(&mut requests, |at| {
                    arrivals[at].transfer = now().duration_since(arrivals[at].begun);
                });
                if requests.is_empty() {
                    break;
                }
                self.turn(sending, true);
            }
        });
        arrivals
            .into_iter()
            .zip(buffers)
            .for_each(|(arrival, buffer)| self.deliver(arrival, buffer));
        true
    }

    /// Reads a header if one has arrived, then checks whether its body is arriving.
    fn look(&mut self, at: usize) -> Option<(Arrival, Message)> {
        let link = &mut self.links[at];
        if link.receiving {
            return None;
        }
        let peer = self.communicator.process_at_rank(link.peer as i32);
        if link.announced.is_none() {
            let (message, status) = peer.immediate_matched_probe_with_tag(FRAME)?;
            let bytes = read_header(message, &status);
            let header = Header::decode(&bytes, link.peer as u32, &self.settings.limits);
            link.announced = Some((header, now()));
        }
        let (message, status) = peer.immediate_matched_probe_with_tag(FRAME)?;
        let (header, begun) = link.announced.take()?;
        link.receiving = true;
        let bytes = length(&status);
        let header = header.and_then(|header| match header.length as usize == bytes {
            true => Ok(header),
            false => Err(FrameError::Length {
                kind: header.kind,
                expected: header.length,
                got: bytes as u32,
            }),
        });
        Some((Arrival { link: at, header, bytes, begun, transfer: Duration::ZERO }, message))
    }

    /// Memory for a body. A body that nobody wants must be received, too.
    fn buffer(&self, arrival: &Arrival) -> BodyBuffer {
        match &arrival.header {
            Ok(header) if self.wants(arrival.link) => BodyBuffer::new(header),
            _ => BodyBuffer::Text(vec![0; arrival.bytes]),
        }
    }

    fn wants(&self, link: usize) -> bool {
        !self.closing && !self.links[link].counters.ended.load(Relaxed)
    }

    fn deliver(&mut self, arrival: Arrival, buffer: BodyBuffer) {
        self.links[arrival.link].receiving = false;
        if !self.wants(arrival.link) {
            return self.give_credit(arrival.link);
        }
        let link = &mut self.links[arrival.link];
        let peer = link.peer;
        let (limits, largest) = (self.settings.limits, self.settings.largest);
        let frame = |header| buffer.into_frame(header, &limits, largest);
        let event = match arrival.header.and_then(frame) {
            Ok(frame) => {
                link.counters.received(arrival.bytes);
                link.untaken += 1;
                Event::Frame { peer, frame, transfer: arrival.transfer }
            }
            Err(error) => {
                link.counters.ended.store(true, Relaxed);
                link.waiting.clear();
                self.give_credit(arrival.link);
                Event::Garbage { peer, error }
            }
        };
        let _ = self.events.send(event); // fails only if the driver is gone
    }
}

/// The bytes of a header. For a message of another length: zeros, which `decode` refuses.
fn read_header(message: Message, status: &Status) -> [u8; HEADER] {
    let mut bytes = [0; HEADER];
    match length(status) {
        HEADER => message.matched_receive_into(&mut bytes[..]),
        other => message.matched_receive_into(&mut vec![0u8; other][..]),
    };
    bytes
}

fn length(status: &Status) -> usize {
    usize::try_from(status.count(u8::equivalent_datatype())).unwrap_or(0)
}
