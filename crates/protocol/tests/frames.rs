//! Frames survive encoding and decoding; what does not fit is refused before it costs memory.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use consort_protocol::{Body, BodyBuffer, Frame, FrameError, HEADER, Header, Kind, Limits};
use proptest::prelude::*;

const LIMITS: Limits = Limits::one_exchange(0x1234_5678_9abc_def0, 8, 20, 10);

/// As a transport does it: header, buffer, body.
fn read(bytes: &[u8], peer: u32, largest: f32) -> Result<Frame, FrameError> {
    let (head, rest) = bytes.split_first_chunk::<HEADER>().unwrap();
    let header = Header::decode(head, peer, &LIMITS)?;
    let mut buffer = BodyBuffer::new(&header);
    buffer.bytes_mut().copy_from_slice(&rest[..header.length as usize]);
    buffer.into_frame(header, &LIMITS, largest)
}

fn written(frame: &Frame) -> Vec<u8> {
    [&frame.header.encode(LIMITS.run)[..], frame.body.bytes()].concat()
}

fn floats(kind: Kind, values: Vec<f32>) -> Frame {
    Frame::new(kind, 3, 1, 2, 3, Body::Floats(values.into()))
}

proptest! {
    #[test]
    fn a_frame_comes_back(
        values in proptest::collection::vec(-1e6_f32..1e6, 20),
        text in "\\PC{0,80}",
        (serial, round, extra) in any::<(u64, u64, u64)>(),
    ) {
        let new = |kind, body| Frame::new(kind, 5, serial, round, extra, body);
        for frame in [
            new(Kind::Update, Body::Floats(values.clone().into())),
            new(Kind::Model, Body::Floats(values[..10].into())),
            new(Kind::Hello, Body::Text(text.as_str().into())),
            new(Kind::Position, Body::Nothing),
        ] {
            prop_assert_eq!(read(&written(&frame), 5, 1e6).unwrap(), frame);
        }
    }

    /// Any input gives a frame or an error, and no buffer is larger than the run's largest body.
    #[test]
    fn noise_is_refused_or_bounded(mut bytes in proptest::collection::vec(any::<u8>(), HEADER)) {
        if let Ok(header) = Header::decode(bytes.first_chunk().unwrap(), 3, &LIMITS) {
            prop_assert!(BodyBuffer::new(&header).bytes_mut().len() <= LIMITS.largest_body());
        }
        // The same with a header that is nearly right.
        let right = Header { kind: Kind::Update, sender: 3, length: 80, serial: 1, round: 2, extra: 3 };
        for (byte, right) in bytes.iter_mut().zip(right.encode(LIMITS.run)).take(6) {
            *byte = right;
        }
        if let Ok(header) = Header::decode(bytes.first_chunk().unwrap(), 3, &LIMITS) {
            prop_assert!(BodyBuffer::new(&header).bytes_mut().len() <= LIMITS.largest_body());
        }
    }
}

#[test]
fn what_does_not_fit_this_run_is_named() {
    let good = floats(Kind::Update, vec![0.5; 20]);
    let changed = |at: usize, byte: u8| {
        let mut bytes = written(&good);
        bytes[at] ^= byte;
        read(&bytes, 3, 1e6).unwrap_err().to_string()
    };
    assert!(changed(0, 1).contains("CSRT"));
    assert!(changed(4, 2).contains("version 3"), "{}", changed(4, 2));
    assert!(changed(5, 64).contains("kind"));
    assert!(changed(6, 1).contains("reserved"));
    assert!(changed(8, 1).contains("run"));
    assert!(changed(16, 1).contains("in the name of agent 2"), "{}", changed(16, 1));
    assert!(changed(23, 255).contains("bytes, expected 80"), "{}", changed(23, 255));
    // A hello of another run is accepted, so that we can reply what differs.
    let hello = Frame::new(Kind::Hello, 3, 1, 0, 0, Body::Text("eta = 1".into()));
    let mut bytes = written(&hello);
    bytes[8] ^= 1;
    assert_eq!(read(&bytes, 3, 1e6).unwrap(), hello);
}

#[test]
fn numbers_that_no_honest_neighbour_sends_are_refused_with_their_place() {
    for (bad, text) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf"), (-2e6, "-2000000")] {
        for at in [0, 7, 19] {
            let mut values = vec![0.0; 20];
            values[at] = bad;
            let error = read(&written(&floats(Kind::Update, values)), 3, 1e6).unwrap_err();
            let error = error.to_string();
            assert!(error.contains(&format!("number {at} is {text}")), "{error}");
        }
    }
    let mut bytes = written(&Frame::new(Kind::Hello, 3, 1, 0, 0, Body::Text("plan".into())));
    bytes[HEADER] = 0xff;
    assert_eq!(read(&bytes, 3, 1e6), Err(FrameError::Text));
}
