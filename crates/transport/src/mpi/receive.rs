//! Frames on their way in.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use consort_protocol::{Frame, FrameError, HEADER, Header, Room};
use mpi::datatype::Equivalence;
use mpi::point_to_point::{Message, Status};
use mpi::traits::{Communicator, Source};

use super::pace::now;
use super::requests::take_done;
use super::send::Sending;
use super::session::{FRAME, Session};
use crate::Event;

/// A frame whose body comes in.
struct Arrival {
    link: usize,
    header: Result<Header, FrameError>,
    bytes: usize,
    begun: Instant,
    transfer: Duration,
}

impl Session<'_> {
    /// Receives the frames that have shown themselves; true if there were any.
    ///
    /// Meanwhile the engine goes on, and may come here again for other neighbours: as deep as
    /// there are neighbours, no deeper. Every body found here gets through, since its sender
    /// has handed it to MPI and keeps calling it.
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
        let mut rooms: Vec<Room> = arrivals.iter().map(|arrival| self.room(arrival)).collect();
        mpi::request::scope(|scope| {
            let mut requests = Vec::new();
            for (at, (message, room)) in messages.into_iter().zip(&mut rooms).enumerate() {
                let request = message.immediate_matched_receive_into(scope, room.bytes_mut());
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
        arrivals.into_iter().zip(rooms).for_each(|(arrival, room)| self.deliver(arrival, room));
        true
    }

    /// Reads a header if one is there, then says whether its body is.
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

    /// Memory for a body; one that nobody wants has to go somewhere, too.
    fn room(&self, arrival: &Arrival) -> Room {
        match &arrival.header {
            Ok(header) if self.wants(arrival.link) => Frame::room_for(header),
            _ => Room::Text(vec![0; arrival.bytes]),
        }
    }

    fn wants(&self, link: usize) -> bool {
        !self.closing && !self.links[link].counters.ended.load(Relaxed)
    }

    fn deliver(&mut self, arrival: Arrival, room: Room) {
        self.links[arrival.link].receiving = false;
        if !self.wants(arrival.link) {
            return self.give_credit(arrival.link);
        }
        let link = &mut self.links[arrival.link];
        let peer = link.peer;
        let largest = self.settings.largest;
        let event = match arrival.header.and_then(|header| room.into_frame(header, largest)) {
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
        let _ = self.events.send(event); // a driver that is gone needs none
    }
}

/// The bytes of a header. What has another length is none: zeros, which `decode` refuses.
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
