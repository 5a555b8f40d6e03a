//! The frames that agents exchange: a fixed header, then a body of the length in the header.
//!
//! ```text
//!   0      4         5      6      8        16       20       24       32      40      48
//!   ├ CSRT ┼ version ┼ kind ┼ zero ┼ run id ┼ sender ┼ length ┼ serial ┼ round ┼ extra ┤ body
//! ```
//!
//! Little-endian. A header is checked completely, including the length against what this run
//! can send, before anything is allocated. A body is floats or text, never anything that is
//! executed or that describes its own structure.

use std::fmt;
use std::sync::Arc;

use consort_algo::Exchange;

/// Bytes of a header.
pub const HEADER: usize = 48;
/// The version of this format; frames of another version are refused.
pub const VERSION: u8 = 1;
const MAGIC: [u8; 4] = *b"CSRT";

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// The first frame on a link: what must be equal at both ends, as text.
    Hello = 1,
    /// The receiver's plan is equal: rounds may begin.
    Welcome = 2,
    /// The receiver's plan differs, as the text says: no rounds over this link.
    Refuse = 3,
    /// A method's message of `round`: floats. `extra` is the sender's last saved round.
    Update = 4,
    /// The sender's full model after its local step of `round`: floats. An update follows.
    Model = 5,
    /// The sender is in `round` and has no update for the receiver.
    Step = 6,
    /// The sender's position: `round` is the first round that it needs or offers. `extra` is
    /// its last saved round under `wait`; under `continue`, one more than the last round in
    /// which it used the receiver's update.
    Position = 7,
    /// The sender has lost rounds and asks for the receiver's model.
    Ask = 8,
    /// The answer to that: the model in `round`, floats.
    Answer = 9,
    /// The sender leaves, for the reason in the text. `extra` is 1 if it will not return.
    Leave = 10,
}

impl Kind {
    const ALL: [Kind; 10] = [
        Kind::Hello,
        Kind::Welcome,
        Kind::Refuse,
        Kind::Update,
        Kind::Model,
        Kind::Step,
        Kind::Position,
        Kind::Ask,
        Kind::Answer,
        Kind::Leave,
    ];

    /// What the body of such a frame contains.
    fn content(self) -> Content {
        match self {
            Kind::Hello | Kind::Refuse | Kind::Leave => Content::Text,
            Kind::Update => Content::Message,
            Kind::Model | Kind::Answer => Content::Model,
            Kind::Welcome | Kind::Step | Kind::Position | Kind::Ask => Content::Nothing,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Nothing,
    Text,
    Message,
    Model,
}

/// The fields before the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The kind of the frame.
    pub kind: Kind,
    /// The agent that sends it.
    pub sender: u32,
    /// Bytes of the body.
    pub length: u32,
    /// Grows from frame to frame on a link, so that late and repeated frames are recognised.
    pub serial: u64,
    /// The exchange it belongs to, counted over all rounds: the round, if a round has one.
    pub round: u64,
    /// A second number; its meaning depends on the kind.
    pub extra: u64,
}

/// The limits that the frames of one run must respect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Frames of another run are refused.
    pub run: u64,
    /// How many agents there are.
    pub agents: u32,
    /// The updates of a round, one for each exchange: the first [`exchanges`](Self::exchanges).
    pub updates: [UpdateShape; Limits::MOST_EXCHANGES],
    /// How many exchanges a round has.
    pub exchanges: u32,
    /// The exact number of floats in a model.
    pub model: u32,
}

/// How long an update is, and what of it are numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpdateShape {
    /// The exact number of 32-bit words.
    pub words: u32,
    /// How many of them, at the front, are floats. What follows is packed.
    pub numbers: u32,
}

impl Limits {
    /// The most exchanges of a round.
    pub const MOST_EXCHANGES: usize = 2;

    /// The limits of a run with these exchanges a round: `None` if they are more than the
    /// protocol carries, or longer than a frame may be.
    pub fn new(run: u64, agents: u32, exchanges: &[Exchange], model: u32) -> Option<Self> {
        let mut updates = [UpdateShape::default(); Self::MOST_EXCHANGES];
        for (k, exchange) in exchanges.iter().enumerate() {
            let length = |words: usize| {
                u32::try_from(words).ok().filter(|&words| words <= Self::MOST_FLOATS)
            };
            let (words, numbers) = (length(exchange.words)?, length(exchange.numbers)?);
            *updates.get_mut(k)? = UpdateShape { words, numbers };
        }
        Some(Limits { run, agents, updates, exchanges: exchanges.len().max(1) as u32, model })
    }

    /// The limits of a run with one exchange a round, whose updates are numbers alone.
    pub const fn one_exchange(run: u64, agents: u32, message: u32, model: u32) -> Self {
        let mut updates = [UpdateShape { words: 0, numbers: 0 }; Self::MOST_EXCHANGES];
        updates[0] = UpdateShape { words: message, numbers: message };
        Limits { run, agents, updates, exchanges: 1, model }
    }

    /// The update of an exchange.
    fn update(&self, exchange: u64) -> UpdateShape {
        self.updates[(exchange % u64::from(self.exchanges)) as usize]
    }

    /// Bytes of the longest text.
    pub const LONGEST_TEXT: u32 = 256 << 10;
    /// The most floats in one body: 1 GiB.
    pub const MOST_FLOATS: u32 = 1 << 28;

    /// Bytes of the largest possible body.
    pub fn largest_body(&self) -> usize {
        let longest = self.updates.iter().map(|update| update.words).max().unwrap_or(0);
        (4 * longest.max(self.model)).max(Self::LONGEST_TEXT) as usize
    }

    fn check_length(&self, kind: Kind, exchange: u64, got: u32) -> Result<(), FrameError> {
        let exactly = |expected: u32| match got == expected {
            true => Ok(()),
            false => Err(FrameError::Length { kind, expected, got }),
        };
        match kind.content() {
            Content::Nothing => exactly(0),
            Content::Message => exactly(4 * self.update(exchange).words),
            Content::Model => exactly(4 * self.model),
            Content::Text if got <= Self::LONGEST_TEXT => Ok(()),
            Content::Text => Err(FrameError::Length { kind, expected: Self::LONGEST_TEXT, got }),
        }
    }
}

impl Header {
    /// The bytes on the wire.
    pub fn encode(&self, run: u64) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = VERSION;
        bytes[5] = self.kind as u8;
        bytes[8..16].copy_from_slice(&run.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.sender.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.length.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.serial.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.round.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.extra.to_le_bytes());
        bytes
    }

    /// Reads and checks a header that came from `peer`.
    ///
    /// # Errors
    /// If a field does not fit this run. Nothing has been allocated then.
    pub fn decode(bytes: &[u8; HEADER], peer: u32, limits: &Limits) -> Result<Self, FrameError> {
        let four = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        let eight = |at: usize| {
            let (low, high) = (u32::from_le_bytes(four(at)), u32::from_le_bytes(four(at + 4)));
            u64::from(high) << 32 | u64::from(low)
        };
        if four(0) != MAGIC {
            return Err(FrameError::Magic { got: four(0) });
        }
        if bytes[4] != VERSION {
            return Err(FrameError::Version { got: bytes[4] });
        }
        let kind = Kind::ALL.into_iter().find(|&kind| kind as u8 == bytes[5]);
        let kind = kind.ok_or(FrameError::Kind { got: bytes[5] })?;
        if bytes[6..8] != [0, 0] {
            return Err(FrameError::Reserved);
        }
        if eight(8) != limits.run && kind != Kind::Hello && kind != Kind::Refuse {
            // A hello of another run is accepted, so that we can reply what differs.
            return Err(FrameError::Run { expected: limits.run, got: eight(8) });
        }
        let sender = u32::from_le_bytes(four(16));
        if sender != peer || sender >= limits.agents {
            return Err(FrameError::Sender { expected: peer, got: sender });
        }
        let length = u32::from_le_bytes(four(20));
        let (serial, round, extra) = (eight(24), eight(32), eight(40));
        limits.check_length(kind, round, length)?;
        Ok(Header { kind, sender, length, serial, round, extra })
    }
}

/// What follows the header.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// No bytes.
    Nothing,
    /// UTF-8, of bounded length.
    Text(Arc<str>),
    /// Parameters or their changes; shared, so sending them copies nothing.
    Floats(Arc<[f32]>),
}

impl Body {
    /// The bytes on the wire.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Body::Nothing => &[],
            Body::Text(text) => text.as_bytes(),
            Body::Floats(floats) => bytemuck::cast_slice(floats),
        }
    }
}

/// A frame: header and body.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The fields before the body.
    pub header: Header,
    /// The content.
    pub body: Body,
}

impl Frame {
    /// A frame with the length of its body in the header.
    pub fn new(kind: Kind, sender: u32, serial: u64, round: u64, extra: u64, body: Body) -> Self {
        let length = body.bytes().len() as u32;
        Frame { header: Header { kind, sender, length, serial, round, extra }, body }
    }

    /// Checks the numbers of a frame as its receiver does.
    ///
    /// # Errors
    /// If a number is not finite or larger than `largest` in magnitude.
    pub fn check_numbers(&self, limits: &Limits, largest: f32) -> Result<(), FrameError> {
        match &self.body {
            Body::Floats(floats) => check_body(&self.header, floats, limits, largest),
            Body::Nothing | Body::Text(_) => Ok(()),
        }
    }
}

/// A frame to be sent: all but its sender and its serial number.
#[derive(Debug)]
pub(crate) struct PendingFrame {
    pub(crate) kind: Kind,
    pub(crate) round: u64,
    pub(crate) extra: u64,
    pub(crate) body: Body,
}

/// Memory for a body that is being received.
#[derive(Debug)]
pub enum BodyBuffer {
    /// The body is empty.
    Nothing,
    /// Text, not yet checked.
    Text(Vec<u8>),
    /// Floats, in the memory that the method will read.
    Floats(Arc<[f32]>),
}

impl BodyBuffer {
    /// A buffer for the body that `header` announces, filled with zeros.
    pub fn new(header: &Header) -> Self {
        let length = header.length as usize;
        match header.kind.content() {
            Content::Nothing => BodyBuffer::Nothing,
            Content::Text => BodyBuffer::Text(vec![0; length]),
            Content::Message | Content::Model => {
                BodyBuffer::Floats(std::iter::repeat_n(0.0, length / 4).collect())
            }
        }
    }

    /// The bytes to fill, as many as the header announced.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            BodyBuffer::Nothing => &mut [],
            BodyBuffer::Text(bytes) => bytes,
            // Nobody else shares it before `into_frame`.
            BodyBuffer::Floats(floats) => {
                Arc::get_mut(floats).map_or(&mut [], bytemuck::cast_slice_mut)
            }
        }
    }

    /// The frame, once all bytes are there.
    ///
    /// # Errors
    /// If a text is not UTF-8, or a float is not finite or larger than `largest` in magnitude.
    pub fn into_frame(
        self,
        header: Header,
        limits: &Limits,
        largest: f32,
    ) -> Result<Frame, FrameError> {
        let body = match self {
            BodyBuffer::Nothing => Body::Nothing,
            BodyBuffer::Text(bytes) => {
                let text = String::from_utf8(bytes).map_err(|_| FrameError::Text)?;
                Body::Text(text.into())
            }
            BodyBuffer::Floats(floats) => {
                check_body(&header, &floats, limits, largest)?;
                Body::Floats(floats)
            }
        };
        Ok(Frame { header, body })
    }
}

/// Checks those words of a body that are numbers.
fn check_body(
    header: &Header,
    floats: &[f32],
    limits: &Limits,
    largest: f32,
) -> Result<(), FrameError> {
    let numbers = match header.kind {
        Kind::Update => limits.update(header.round).numbers as usize,
        _ => floats.len(),
    };
    check_floats(&floats[..numbers.min(floats.len())], largest)
}

/// Finds the first float that no honest neighbour sends.
fn check_floats(floats: &[f32], largest: f32) -> Result<(), FrameError> {
    const BLOCK: usize = 1024;
    // NaN is not `<=` anything, so one comparison finds both. Whole blocks are vectorised.
    let fits = |block: &[f32]| block.iter().fold(true, |fits, x| fits & (x.abs() <= largest));
    let Some(block) = floats.chunks(BLOCK).position(|block| !fits(block)) else { return Ok(()) };
    let first = block * BLOCK;
    let taken = floats[first..].iter().take_while(|x| x.abs() <= largest).count();
    let (at, got) = (first + taken, floats[first + taken]);
    Err(FrameError::Value { at, got: got.to_string(), largest: largest.to_string() })
}

/// Why a frame is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// Not a frame of Consort.
    #[error("expected a frame that begins with \"CSRT\", got the bytes {got:?}")]
    Magic {
        /// The first four bytes.
        got: [u8; 4],
    },
    /// Another version of the format.
    #[error(
        "expected frames of version {VERSION}, got version {got}; use the same release everywhere"
    )]
    Version {
        /// The version.
        got: u8,
    },
    /// An unknown kind.
    #[error("expected a frame kind from 1 to {}, got {got}", Kind::ALL.len())]
    Kind {
        /// The kind.
        got: u8,
    },
    /// Reserved bytes that are not zero.
    #[error("expected zeros in the reserved bytes of a frame")]
    Reserved,
    /// A frame of another run.
    #[error("expected frames of run {expected:016x}, got a frame of run {got:016x}")]
    Run {
        /// This run.
        expected: u64,
        /// The frame's.
        got: u64,
    },
    /// A frame in the name of another agent.
    #[error("agent {expected} sent a frame in the name of agent {got}")]
    Sender {
        /// Whose key opened the link.
        expected: u32,
        /// The sender in the frame.
        got: u32,
    },
    /// A length that this run cannot send.
    #[error(
        "a {kind} frame has a body of {got} bytes, expected {}{expected}",
        if kind.content() == Content::Text { "at most " } else { "" }
    )]
    Length {
        /// The kind of the frame.
        kind: Kind,
        /// The expected length; for a text, the most.
        expected: u32,
        /// The length it announced.
        got: u32,
    },
    /// A text that is not UTF-8.
    #[error("a text is not valid UTF-8")]
    Text,
    /// A number that is not finite or absurdly large.
    #[error("number {at} is {got}, expected at most {largest} in magnitude")]
    Value {
        /// Its index in the body.
        at: usize,
        /// The number.
        got: String,
        /// The largest magnitude that is accepted.
        largest: String,
    },
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
