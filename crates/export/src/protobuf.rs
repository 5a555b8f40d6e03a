//! The few lines of protocol buffers that an ONNX file needs.
//!
//! A message is a sequence of fields; each is a key, `number << 3 | wire type`, and a value. Wire
//! types: 0 a varint (7 bits a byte, least first, the top bit says that more follow), 2 a length
//! and that many bytes, 5 four bytes. Numbers and types: `onnx.proto3` of the ONNX specification.

/// A message in the making.
#[derive(Debug, Default)]
pub(crate) struct Message(Vec<u8>);

const VARINT: u32 = 0;
const BYTES: u32 = 2;
const FOUR_BYTES: u32 = 5;

impl Message {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// An integer; negative ones as 64-bit two's complement.
    pub(crate) fn int(mut self, field: u32, value: i64) -> Self {
        self.key(field, VARINT);
        self.varint(value as u64);
        self
    }

    pub(crate) fn float(mut self, field: u32, value: f32) -> Self {
        self.key(field, FOUR_BYTES);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn bytes(mut self, field: u32, value: &[u8]) -> Self {
        self.key(field, BYTES);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    pub(crate) fn text(self, field: u32, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    pub(crate) fn message(self, field: u32, value: Message) -> Self {
        self.bytes(field, &value.0)
    }

    pub(crate) fn messages(self, field: u32, all: impl IntoIterator<Item = Message>) -> Self {
        all.into_iter().fold(self, |message, one| message.message(field, one))
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }

    fn key(&mut self, field: u32, wire_type: u32) {
        self.varint(u64::from(field << 3 | wire_type));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the encoding's own documentation: 150 as field 1 is `08 96 01`, "testing"
    /// as field 2 `12 07 74 65 73 74 69 6e 67`, and both within field 3.
    #[test]
    fn the_bytes_are_those_of_the_specification() {
        assert_eq!(Message::new().int(1, 150).finish(), [0x08, 0x96, 0x01]);
        let testing = [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67];
        assert_eq!(Message::new().text(2, "testing").finish(), testing);
        let inner = Message::new().int(1, 150);
        assert_eq!(Message::new().message(3, inner).finish(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let minus_two = Message::new().int(1, -2).finish();
        assert_eq!(minus_two, [8, 0xfe, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
        assert_eq!(Message::new().float(2, 1.0).finish(), [0x15, 0, 0, 0x80, 0x3f]);
    }
}
