//! TensorBoard event files, written by hand: the format is small and the library is not.
//!
//! A file is a sequence of TFRecords, each a protobuf `Event`:
//!
//! ```text
//!   TFRecord = length: u64 LE | masked crc32c(length): u32 LE | event | masked crc32c(event): u32 LE
//!   Event    = 1 wall_time: double | 2 step: int64 | 3 file_version: string | 5 summary: Summary
//!   Summary  = repeated 1 value: Value          Value = 1 tag: string | 2 simple_value: float
//! ```
//!
//! (tensorflow/core/lib/io/record_writer.cc, core/util/event.proto, core/framework/summary.proto.)
//! The wall time is an argument. For a resumed trial, write the file again from its records:
//! TensorBoard would show rounds that were trained twice.

use crate::record::{Measured, Record, Spread};
use std::io::{self, Write};

/// Writes events to any sink, each with one call.
#[derive(Debug)]
pub struct EventWriter<W: Write> {
    sink: W,
}

impl<W: Write> EventWriter<W> {
    /// Starts a file with the event that contains its version. Times are seconds since 1970.
    ///
    /// # Errors
    /// The errors of the sink.
    pub fn new(mut sink: W, wall_time: f64) -> io::Result<Self> {
        let mut event = Vec::new();
        double(&mut event, 1, wall_time);
        bytes(&mut event, 3, b"brain.Event:2");
        sink.write_all(&framed(&event))?;
        Ok(Self { sink })
    }

    /// Writes the values of one step, each with its tag.
    ///
    /// # Errors
    /// The errors of the sink.
    pub fn scalars(&mut self, wall_time: f64, step: u64, values: &[(&str, f64)]) -> io::Result<()> {
        let mut summary = Vec::new();
        for (tag, scalar) in values {
            let mut value = Vec::new();
            bytes(&mut value, 1, tag.as_bytes());
            float(&mut value, 2, *scalar as f32);
            bytes(&mut summary, 1, &value);
        }
        let mut event = Vec::new();
        double(&mut event, 1, wall_time);
        key(&mut event, 2, VARINT);
        varint(&mut event, step);
        bytes(&mut event, 5, &summary);
        self.sink.write_all(&framed(&event))?;
        self.sink.flush()
    }

    /// Writes a record. The step is its round; the wall time is the start of the trial plus its
    /// seconds. Tags tell the averaged model's test results and the agents' own apart; a quantity
    /// that was not measured has no value.
    ///
    /// # Errors
    /// The errors of the sink.
    pub fn record(&mut self, started: f64, record: &Record) -> io::Result<()> {
        let mut values = vec![
            ("loss/train", record.train_loss),
            ("agents/consensus_distance", record.consensus_distance),
            ("agents/drift", record.drift),
            ("training/epoch", record.epoch),
            ("training/eta", record.eta),
            ("training/gradient_norm", record.gradient_norm),
            ("training/megabytes_sent", record.bytes_sent as f64 / 1e6),
        ];
        values.extend(record.test_accuracy.map(|accuracy| ("accuracy/averaged_model", accuracy)));
        values.extend(record.test_r2.map(|r2| ("r2/averaged_model", r2)));
        values.extend(record.test_rmse.map(|rmse| ("rmse/averaged_model", rmse)));
        values.extend(record.test_loss.map(|loss| ("loss/averaged_model", loss)));
        if let Some(Measured { accuracy, loss }) = record.validation {
            values.extend([("accuracy/validation", accuracy), ("loss/validation", loss)]);
        }
        if let Some(Spread { mean, min, max }) = record.agents {
            values.extend([
                ("accuracy/agents_mean", mean),
                ("accuracy/agents_min", min),
                ("accuracy/agents_max", max),
            ]);
        }
        if let Some(Spread { mean, min, max }) = record.agents_r2 {
            values.extend([
                ("r2/agents_mean", mean),
                ("r2/agents_min", min),
                ("r2/agents_max", max),
            ]);
        }
        if let Some(Spread { mean, min, max }) = record.agents_loss {
            values.extend([
                ("loss/agents_mean", mean),
                ("loss/agents_min", min),
                ("loss/agents_max", max),
            ]);
        }
        // A time that is not finite cannot be added.
        let passed = if record.seconds.is_finite() { record.seconds } else { 0.0 };
        self.scalars(started + passed, record.round, &values)
    }

    /// Returns the sink.
    pub fn into_inner(self) -> W {
        self.sink
    }
}

/// The name by which TensorBoard finds a file that was started at `wall_time`.
pub fn file_name(wall_time: u64) -> String {
    format!("events.out.tfevents.{wall_time:010}.consort")
}

/// A complete event file with the records of one trial.
///
/// # Errors
/// Never: writing to memory cannot fail. The signature is that of [`EventWriter`].
pub fn event_file(started: f64, records: &[Record]) -> io::Result<Vec<u8>> {
    let mut writer = EventWriter::new(Vec::new(), started)?;
    for record in records {
        writer.record(started, record)?;
    }
    Ok(writer.into_inner())
}

/// `event` as a TFRecord.
fn framed(event: &[u8]) -> Vec<u8> {
    let length = (event.len() as u64).to_le_bytes();
    let mut record = Vec::with_capacity(event.len() + 16);
    record.extend(length);
    record.extend(masked(crc32c(&length)).to_le_bytes());
    record.extend(event);
    record.extend(masked(crc32c(event)).to_le_bytes());
    record
}

// The wire types of protobuf.
const VARINT: u64 = 0;
const EIGHT_BYTES: u64 = 1;
const COUNTED: u64 = 2;
const FOUR_BYTES: u64 = 5;

fn key(out: &mut Vec<u8>, field: u64, kind: u64) {
    varint(out, field << 3 | kind);
}

/// Seven bits a byte, lowest first; the top bit is set if more bytes follow.
fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn double(out: &mut Vec<u8>, field: u64, value: f64) {
    key(out, field, EIGHT_BYTES);
    out.extend(value.to_le_bytes());
}

fn float(out: &mut Vec<u8>, field: u64, value: f32) {
    key(out, field, FOUR_BYTES);
    out.extend(value.to_le_bytes());
}

fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    key(out, field, COUNTED);
    varint(out, value.len() as u64);
    out.extend(value);
}

/// TFRecord rotates checksums, because a checksum of data with checksums in it is weak otherwise.
fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32C (Castagnoli, polynomial 0x1EDC6F41, here with its bits reversed).
fn crc32c(data: &[u8]) -> u32 {
    !data
        .iter()
        .fold(!0, |crc: u32, byte| CRC_TABLE[((crc ^ *byte as u32) & 0xff) as usize] ^ crc >> 8)
}

const CRC_TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::{own_record, record};

    /// RFC 3720, appendix B.4.
    #[test]
    fn checksums_are_those_of_the_standard() {
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(&(0..32).collect::<Vec<u8>>()), 0x46dd_794e);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    /// Made with tensorboard 2.21.0:
    /// ```python
    /// from tensorboard.compat.proto.event_pb2 import Event
    /// from tensorboard.compat.proto.summary_pb2 import Summary
    /// from tensorboard.summary.writer.record_writer import RecordWriter
    /// import io
    /// f = io.BytesIO(); w = RecordWriter(f)
    /// w.write(Event(wall_time=1.5, file_version="brain.Event:2").SerializeToString())
    /// v = Summary.Value(tag="loss/train", simple_value=0.5)
    /// w.write(Event(wall_time=2.25, step=300, summary=Summary(value=[v])).SerializeToString())
    /// print(f.getvalue().hex())
    /// ```
    #[test]
    fn the_bytes_are_tensorboards_own() {
        const GOLDEN: &str = "1800000000000000a37f4b2209000000000000f83f1a0d627261696e2e4576656e74\
             3a322a28646c2100000000000000017becf609000000000000024010ac022a130a110a0a6c6f73732f7472\
             61696e150000003fbbfcef3e";
        let mut writer = EventWriter::new(Vec::new(), 1.5).unwrap();
        writer.scalars(2.25, 300, &[("loss/train", 0.5)]).unwrap();
        let hex: String = writer.into_inner().iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex, GOLDEN);
    }

    /// Wall time, step, values and file version.
    type Event = (f64, u64, Vec<(String, f32)>, String);

    /// A reader written from the format's description, sharing nothing with the writer.
    fn decoded(mut file: &[u8]) -> Vec<Event> {
        fn slow_crc(data: &[u8]) -> u32 {
            let mut crc = u32::MAX;
            for bit in data.iter().flat_map(|b| (0..8).map(move |k| u32::from(b >> k & 1))) {
                let out = crc & 1 ^ bit;
                crc = (crc >> 1) ^ (0x1edc_6f41u32.reverse_bits() * out);
            }
            let crc = crc ^ u32::MAX;
            crc.rotate_left(17).wrapping_add(0xa282_ead8)
        }
        fn number(from: &mut &[u8]) -> u64 {
            let mut value = 0;
            for place in 0.. {
                let byte = from[0];
                *from = &from[1..];
                value += u64::from(byte & 127) << (7 * place);
                if byte < 128 {
                    break;
                }
            }
            value
        }
        fn take<'a>(from: &mut &'a [u8], n: usize) -> &'a [u8] {
            let (head, tail) = from.split_at(n);
            *from = tail;
            head
        }
        let four = |b: &[u8]| u32::from_le_bytes(b.try_into().unwrap());
        let mut events = Vec::new();
        while !file.is_empty() {
            let length = take(&mut file, 8);
            assert_eq!(four(take(&mut file, 4)), slow_crc(length));
            let mut event =
                take(&mut file, u64::from_le_bytes(length.try_into().unwrap()) as usize);
            assert_eq!(four(take(&mut file, 4)), slow_crc(event));
            let mut read = (0.0, 0, Vec::new(), String::new());
            while !event.is_empty() {
                match number(&mut event) {
                    9 => read.0 = f64::from_le_bytes(take(&mut event, 8).try_into().unwrap()),
                    16 => read.1 = number(&mut event),
                    26 => {
                        let n = number(&mut event) as usize;
                        read.3 = String::from_utf8(take(&mut event, n).to_vec()).unwrap();
                    }
                    42 => {
                        let n = number(&mut event) as usize;
                        let mut summary = take(&mut event, n);
                        while !summary.is_empty() {
                            assert_eq!(number(&mut summary), 10);
                            let n = number(&mut summary) as usize;
                            let mut value = take(&mut summary, n);
                            assert_eq!(number(&mut value), 10);
                            let n = number(&mut value) as usize;
                            let tag = String::from_utf8(take(&mut value, n).to_vec()).unwrap();
                            assert_eq!(number(&mut value), 21);
                            read.2.push((tag, f32::from_bits(four(take(&mut value, 4)))));
                            assert!(value.is_empty());
                        }
                    }
                    other => panic!("field {other}"),
                }
            }
            events.push(read);
        }
        events
    }

    #[test]
    fn an_independent_reader_finds_what_was_written() {
        let mut writer = EventWriter::new(Vec::new(), 1.5).unwrap();
        writer.scalars(2.25, 300, &[("loss/é", 0.1), ("b", f64::INFINITY)]).unwrap();
        writer.scalars(3.0, u64::MAX, &[]).unwrap();
        let events = decoded(&writer.into_inner());
        assert_eq!(events[0], (1.5, 0, vec![], "brain.Event:2".into()));
        let values = vec![("loss/é".into(), 0.1), ("b".into(), f32::INFINITY)];
        assert_eq!(events[1], (2.25, 300, values, String::new()));
        assert_eq!(events[2], (3.0, u64::MAX, vec![], String::new()));
    }

    #[test]
    fn a_record_becomes_one_event_with_every_quantity() {
        let events = decoded(&event_file(1e9, &[record(100, 0.5), record(200, 0.75)]).unwrap());
        assert_eq!(events.len(), 3);
        let (time, step, values, _) = &events[2];
        assert_eq!((*time, *step, values.len()), (1e9 + 20.0, 200, 12));
        let value = |tag: &str| values.iter().find(|(t, _)| t == tag).unwrap().1;
        let accuracies = (value("accuracy/averaged_model"), value("accuracy/agents_min"));
        assert_eq!(accuracies, (0.75, 0.5));
        assert_eq!((value("loss/averaged_model"), value("training/megabytes_sent")), (0.75, 200.0));
    }

    #[test]
    fn an_agent_alone_has_no_value_of_the_averaged_model() {
        let events = decoded(&event_file(1e9, &[own_record(100, 0.5)]).unwrap());
        let tags: Vec<&str> = events[1].2.iter().map(|(tag, _)| tag.as_str()).collect();
        assert!(!tags.iter().any(|tag| tag.contains("averaged")), "{tags:?}");
        assert!(tags.contains(&"accuracy/agents_mean") && tags.contains(&"loss/agents_max"));
    }
}
