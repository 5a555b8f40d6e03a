//! Agents on this machine, over either transport.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use consort_protocol::{Body, Frame, Kind, Limits};
#[cfg(feature = "iroh")]
use consort_transport::IrohTransport;
#[cfg(feature = "tls")]
use consort_transport::TlsTransport;
use consort_transport::{
    Discovery, Event, Neighbour, NetworkProfile, SecretKey, Transport, TransportError,
    TransportSettings,
};

/// Far longer than anything takes even on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);
/// Floats of an update: 1 MB.
pub(crate) const MESSAGE: u32 = 250_000;
/// The largest magnitude that is accepted.
pub(crate) const LARGEST: f32 = 1e6;

/// A transport that can be started and has an address.
pub(crate) trait Link: Transport + Sized + 'static {
    fn open(settings: TransportSettings) -> Result<Self, TransportError>;
    fn at(&self) -> SocketAddr;
}

#[cfg(feature = "tls")]
impl Link for TlsTransport {
    fn open(settings: TransportSettings) -> Result<Self, TransportError> {
        TlsTransport::start(settings)
    }

    fn at(&self) -> SocketAddr {
        self.address()
    }
}

#[cfg(feature = "iroh")]
impl Link for IrohTransport {
    fn open(settings: TransportSettings) -> Result<Self, TransportError> {
        IrohTransport::start(settings)
    }

    fn at(&self) -> SocketAddr {
        self.address()
    }
}

pub(crate) fn limits() -> Limits {
    Limits::one_exchange(7, 8, MESSAGE, 3)
}

/// The key of `agent`; strangers have larger numbers than any agent.
pub(crate) fn key(agent: usize) -> SecretKey {
    SecretKey::from_bytes([agent as u8 + 1; 32])
}

pub(crate) fn neighbour(peer: usize, addresses: &[SocketAddr]) -> Neighbour {
    Neighbour { peer, key: key(peer).public().unwrap(), addresses: addresses.to_vec() }
}

pub(crate) fn settings(own: usize, neighbours: Vec<Neighbour>) -> TransportSettings {
    TransportSettings {
        own,
        secret: key(own),
        bind: ([127, 0, 0, 1], 0).into(),
        neighbours,
        limits: limits(),
        largest: LARGEST,
        profile: NetworkProfile::Lan,
        discovery: Discovery::default(),
    }
}

/// Agents 0 and 1, with a link between them that is up at both ends.
pub(crate) fn pair<T: Link>() -> (T, T) {
    let mut zero = T::open(settings(0, vec![neighbour(1, &[])])).unwrap();
    let mut one = T::open(settings(1, vec![neighbour(0, &[zero.at()])])).unwrap();
    until_up(&mut zero);
    until_up(&mut one);
    (zero, one)
}

/// The result of the first event for which `wanted` returns one; the test fails without one.
pub(crate) fn until<T, U>(transport: &mut T, mut wanted: impl FnMut(&Event) -> Option<U>) -> U
where
    T: Transport,
{
    loop {
        let event = transport.wait(TIMEOUT).expect("an event");
        if let Some(found) = wanted(&event) {
            return found;
        }
    }
}

pub(crate) fn until_up<T: Transport>(transport: &mut T) {
    until(transport, |event| matches!(event, Event::Up { .. }).then_some(()));
}

pub(crate) fn until_down<T: Transport>(transport: &mut T) -> String {
    until(transport, |event| match event {
        Event::Down { reason, .. } => Some(reason.clone()),
        _ => None,
    })
}

pub(crate) fn until_frame<T: Transport>(transport: &mut T) -> Frame {
    until(transport, |event| match event {
        Event::Frame { frame, .. } => Some(frame.clone()),
        Event::Down { reason, .. } => panic!("the link is down: {reason}"),
        _ => None,
    })
}

/// Sends as soon as there is room; drops other events than `Down` meanwhile.
pub(crate) fn send<T: Transport>(transport: &mut T, peer: usize, frame: Frame) {
    while !transport.send(peer, frame.clone()) {
        until(transport, |event| match event {
            Event::Room { .. } => Some(()),
            Event::Down { reason, .. } => panic!("the link is down: {reason}"),
            _ => None,
        });
    }
}

/// An update of `sender`, filled with numbers that depend on `round`.
pub(crate) fn update(sender: usize, round: u64) -> Frame {
    let floats: Arc<[f32]> = (0..MESSAGE).map(|i| (i as f32).sin() + round as f32).collect();
    Frame::new(Kind::Update, sender as u32, round, round, 0, Body::Floats(floats))
}

/// A frame without a body.
pub(crate) fn position(sender: usize, round: u64) -> Frame {
    Frame::new(Kind::Position, sender as u32, round, round, 0, Body::Nothing)
}

pub(crate) fn text(sender: usize, text: &str) -> Frame {
    Frame::new(Kind::Hello, sender as u32, 0, 0, 1, Body::Text(text.into()))
}

/// An address that nobody uses, or will use by chance.
pub(crate) fn free_address() -> SocketAddr {
    consort_transport::free_addresses(1).unwrap()[0]
}
