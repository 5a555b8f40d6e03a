//! Frames from a malicious neighbour with a valid key, and the rounds that use them.
//!
//! The first byte selects policy and method; the rest is cut into frames. Raw bytes seldom
//! form a valid header, so every frame is also sent with the fields that everybody knows (magic,
//! version, run, sender, length) corrected; kinds, numbers and bodies remain the fuzzer's. In
//! between an honest neighbour sends frames, gradients are computed and time passes, so that
//! rounds end.
#![no_main]

use std::sync::Arc;
use std::time::Duration;

use consort_algo::{Agent, Method, Row, Site};
use consort_protocol::{
    Body, BodyBuffer, Frame, FrameError, HEADER, Header, Kind, Limits, Peer, PeerSettings, Policy,
    Want,
};
use libfuzzer_sys::fuzz_target;

const LEN: usize = 2;
const RUN: u64 = 0x0102_0304_0506_0708;
/// Plain messages, coded ones, several gradients, several exchanges, and one for each neighbour.
const METHODS: [&str; 9] = [
    "dsgd",
    "gut:mu=0.5",
    "qg-dsgdm",
    "choco:gamma=0.5,codec=top-k/0.5",
    "k-gt",
    "ngc",
    "comp-cga:codec=quantize/2",
    "relaysgd",
    "gut:mu=0.5,steps=2",
];
const LARGEST: f32 = 1e6;
const ROUNDS: u64 = 40;
const SHARED: &str = "run.eta = 0.1\n";
/// The malicious neighbour and the honest one.
const LIAR: usize = 1;
const HONEST: usize = 2;
/// The most frames that may wait for one neighbour, however much it sends and however little it
/// reads.
const MOST_UNREAD: usize = 16;
/// The most bytes of all notes on one frame.
const MOST_NOTES: usize = 20_000;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, mut rest)) = data.split_first() else { return };
    let mut table = Table::new(choice);
    if let Some(head) = rest.first_chunk::<HEADER>() {
        let _ = read(head, &rest[HEADER..], &table.limits);
    }
    while let Some((&mode, after)) = rest.split_first() {
        rest = after;
        match mode % 9 {
            0 => table.work(),
            1 => table.pass(Duration::from_millis(u64::from(mode) * 10)),
            2 => table.relink(),
            3 => table.honest_speaks(),
            8 => table.liar_reads(),
            _ => {
                let longest = table.words.iter().copied().max().unwrap_or(0).max(LEN);
                let taken = rest.len().min(HEADER + 4 * longest);
                let (bytes, after) = rest.split_at(taken);
                rest = after;
                table.liar_speaks(bytes);
            }
        }
        table.check();
    }
    table.liar_reads();
});

/// As a transport does it: header, buffer, body. Missing bytes are zeros.
fn read(head: &[u8; HEADER], body: &[u8], limits: &Limits) -> Result<Frame, FrameError> {
    let header = Header::decode(head, LIAR as u32, limits)?;
    let mut buffer = BodyBuffer::new(&header);
    assert!(buffer.bytes_mut().len() <= limits.largest_body());
    assert_eq!(buffer.bytes_mut().len(), header.length as usize);
    buffer.bytes_mut().iter_mut().zip(body).for_each(|(to, from)| *to = *from);
    let frame = buffer.into_frame(header, limits, LARGEST)?;
    assert_eq!(frame.header.encode(RUN)[16..], head[16..]);
    Ok(frame)
}

/// Corrects the fields that everybody knows, and makes the kind valid.
fn repaired(bytes: &[u8], words: &[usize]) -> ([u8; HEADER], Vec<u8>) {
    let mut head = [0; HEADER];
    head.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    let body = bytes.get(HEADER..).unwrap_or_default().to_vec();
    let kind = head[5] % 10 + 1;
    // Real numbers are mostly small: half of all frames get small ones.
    if head[31] % 2 == 0 {
        for number in [24, 32, 40] {
            head[number + 1..number + 8].fill(0);
        }
    }
    let exchange = u64::from_le_bytes(std::array::from_fn(|k| head[32 + k]));
    let length = match kind {
        1 | 3 | 10 => body.len(),
        4 => 4 * words[(exchange % words.len() as u64) as usize],
        5 | 9 => 4 * LEN,
        _ => 0,
    };
    let right = Header {
        kind: Kind::Welcome,
        sender: LIAR as u32,
        length: length as u32,
        serial: 0,
        round: 0,
        extra: 0,
    };
    head[..24].copy_from_slice(&right.encode(RUN)[..24]);
    head[5] = kind;
    (head, body)
}

/// One agent, its two neighbours and the clock.
struct Table {
    peer: Peer,
    now: Duration,
    policy: Policy,
    serial: u64,
    method: Method,
    limits: Limits,
    /// Words of the messages of each exchange of a round.
    words: Vec<usize>,
}

impl Table {
    fn new(choice: u8) -> Self {
        let policy = if choice & 1 == 0 { Policy::Wait } else { Policy::Continue };
        let method = METHODS[usize::from(choice >> 1) % METHODS.len()];
        let method: Method = method.parse().expect("a method");
        let agent = agent(&method);
        let exchanges = agent.exchanges().to_vec();
        let limits = Limits::new(RUN, 3, &exchanges, LEN as u32).expect("short messages");
        // What cannot continue is refused before a run, and only its first frames matter then.
        let policy = if policy.refuses(&exchanges).is_some() { Policy::Wait } else { policy };
        let near = vec![vec![LIAR, HONEST]];
        let settings = PeerSettings {
            policy,
            rounds: ROUNDS,
            exchanges: exchanges.len() as u64,
            phases_per_round: agent.phases_per_round() as u64,
            shared: Arc::from(SHARED),
            save_every: 3,
            listeners: near.clone(),
            senders: near,
            lookahead: 1,
            alone_at_most: Duration::from_secs(60),
        };
        let peer = Peer::new(agent, settings);
        let words = exchanges.iter().map(|exchange| exchange.words).collect();
        let now = Duration::ZERO;
        let mut table = Table { peer, now, policy, serial: 0, method, limits, words };
        for id in [LIAR, HONEST] {
            table.peer.link_up(table.now, id);
            table.honestly(id, Kind::Hello, 0, Body::Text(SHARED.into()));
            table.honestly(id, Kind::Welcome, 0, Body::Nothing);
        }
        if policy == Policy::Wait {
            [LIAR, HONEST]
                .iter()
                .for_each(|&id| table.honestly(id, Kind::Position, 0, Body::Nothing));
        }
        // The liar's frames count from here on.
        table.serial = 1;
        table
    }

    fn honestly(&mut self, id: usize, kind: Kind, round: u64, body: Body) {
        self.serial += 1;
        self.peer.hear(self.now, id, Frame::new(kind, id as u32, self.serial, round, 0, body));
    }

    /// The honest neighbour keeps up with the rounds, and reads.
    fn honest_speaks(&mut self) {
        self.serial += 1 << 8;
        let exchange = self.peer.agent().exchange();
        let words = self.words[(exchange % self.words.len() as u64) as usize];
        if self.policy == Policy::Continue {
            let model = Body::Floats([0.5; LEN].into());
            self.honestly(HONEST, Kind::Model, exchange, model);
        }
        self.honestly(HONEST, Kind::Update, exchange, Body::Floats(vec![0.5; words].into()));
        while self.peer.frame_for(HONEST).is_some() {}
    }

    fn liar_speaks(&mut self, bytes: &[u8]) {
        if let Some(head) = bytes.first_chunk::<HEADER>() {
            match read(head, &bytes[HEADER..], &self.limits) {
                Ok(frame) => self.peer.hear(self.now, LIAR, frame),
                Err(error) => assert!(error.to_string().len() < 1_000),
            }
        }
        let (head, body) = repaired(bytes, &self.words);
        match read(&head, &body, &self.limits) {
            Ok(frame) => self.peer.hear(self.now, LIAR, frame),
            Err(error) => self.peer.garbage(self.now, LIAR, error.to_string()),
        }
    }

    fn relink(&mut self) {
        self.peer.link_down(self.now, LIAR);
        self.peer.link_up(self.now, LIAR);
        self.serial = 1;
        self.honestly(LIAR, Kind::Hello, 0, Body::Text(SHARED.into()));
        self.honestly(LIAR, Kind::Welcome, 0, Body::Nothing);
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.peer.tick(self.now);
    }

    /// Does what the protocol wants, as a driver would.
    fn work(&mut self) {
        match self.peer.want() {
            Want::Gradient => {
                self.peer.gradient(self.now, &[0.25; LEN], 0.1).expect("it was wanted");
            }
            Want::Save => self.peer.saved(),
            Want::RollBack { .. } => {
                let mut fresh = agent(&self.method);
                for (to, from) in self.peer.agent_mut().tensors().into_iter().zip(fresh.tensors()) {
                    to.values.copy_from_slice(from.values);
                }
                self.peer.agent_mut().restore_round(0);
                self.peer.rolled_back();
            }
            Want::Wait { until } => self.pass(until.saturating_sub(self.now)),
            Want::Done | Want::Fail(_) => {}
        }
    }

    fn check(&mut self) {
        let notes: usize = self.peer.notes().iter().map(|note| note.to_string().len()).sum();
        assert!(notes <= MOST_NOTES, "{notes} bytes of notes");
        if let Want::Fail(why) = self.peer.want() {
            assert!(why.len() <= MOST_NOTES && !why.contains(char::is_control), "{why:?}");
        }
        assert!(self.peer.agent().round() <= ROUNDS);
        assert!(self.peer.agent().params().iter().all(|x| x.is_finite()));
        assert!(self.peer.awaited().iter().all(|&id| id == LIAR || id == HONEST));
        assert!(self.peer.kept_messages() <= self.words.len() * ROUNDS as usize);
    }

    /// The liar reads only now and then; the number of frames that wait for it is bounded.
    fn liar_reads(&mut self) {
        let waiting = std::iter::from_fn(|| self.peer.frame_for(LIAR)).take(1_000).count();
        // Under `Wait` frames are made as they are read, one for each round.
        let on_demand =
            if self.policy == Policy::Wait { self.words.len() * ROUNDS as usize } else { 0 };
        assert!(waiting <= MOST_UNREAD + on_demand, "{waiting} frames wait");
    }
}

fn agent(method: &Method) -> Agent {
    let rows = vec![Row::new(0, [LIAR, HONEST].map(|id| (id, 0.25)))];
    let algorithm = method.build_staged(&[0.0; LEN], &Site::new(3, &rows)).expect("a method");
    Agent::staged(0, rows, 1, algorithm)
}
