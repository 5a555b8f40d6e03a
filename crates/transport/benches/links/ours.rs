//! Our transports, used as in a run: send to all, wait for all.

use std::net::SocketAddr;
use std::sync::Arc;

use consort_protocol::{Body, Frame, Kind, Limits};
use consort_transport::{
    Discovery, Event, IrohTransport, Neighbour, NetworkProfile, TlsTransport, Transport,
    TransportSettings,
};

use super::{FLOATS, ROUNDS, TIMEOUT, WARM_UP, Watch, address_of_zero, key};

pub(crate) fn tls(own: usize, agents: usize) {
    let transport = TlsTransport::start(settings(own, agents)).unwrap();
    let address = transport.address();
    exchange(transport, address, own, agents);
}

pub(crate) fn iroh(own: usize, agents: usize) {
    let transport = IrohTransport::start(settings(own, agents)).unwrap();
    let address = transport.address();
    exchange(transport, address, own, agents);
}

fn settings(own: usize, agents: usize) -> TransportSettings {
    let neighbour = |peer: usize, addresses: Vec<SocketAddr>| Neighbour {
        peer,
        key: key(peer).public().unwrap(),
        addresses,
    };
    TransportSettings {
        own,
        secret: key(own),
        bind: ([127, 0, 0, 1], 0).into(),
        neighbours: match own {
            0 => (1..agents).map(|peer| neighbour(peer, Vec::new())).collect(),
            _ => vec![neighbour(0, vec![address_of_zero()])],
        },
        limits: Limits::one_exchange(1, 3, FLOATS as u32, 1),
        largest: 1e30,
        profile: NetworkProfile::Lan,
        discovery: Discovery::default(),
    }
}

fn exchange(mut transport: impl Transport, address: SocketAddr, own: usize, agents: usize) {
    let peers: Vec<usize> = if own == 0 { (1..agents).collect() } else { vec![0] };
    if own == 0 {
        println!("{address}");
    }
    // The first message of one neighbour may arrive before the link to another is up.
    let (mut up, mut came) = (0, 0);
    let next = |transport: &mut dyn Transport| match transport.wait(TIMEOUT).unwrap() {
        Event::Up { .. } => (1, 0),
        Event::Frame { .. } => (0, 1),
        other => panic!("unexpected {other:?}"),
    };
    while up < peers.len() {
        let (ups, frames) = next(&mut transport);
        (up, came) = (up + ups, came + frames);
    }
    let floats: Arc<[f32]> = (0..FLOATS).map(|i| i as f32).collect();
    let mut round = |number: u64| {
        for &peer in &peers {
            let body = Body::Floats(floats.clone());
            assert!(
                transport.send(peer, Frame::new(Kind::Update, own as u32, number, number, 0, body))
            );
        }
        while came < peers.len() {
            came += next(&mut transport).1;
        }
        came -= peers.len();
    };
    (0..WARM_UP).for_each(|number| round(number as u64));
    let watch = Watch::start();
    (0..ROUNDS).for_each(|number| round(number as u64));
    watch.print();
    let _ = std::io::stdin().read_line(&mut String::new());
    transport.close(TIMEOUT);
}
