//! A reader of ONNX files that knows what the writer does not tell it: the numbers of the fields
//! come from `onnx.proto3`, the wire format from the documentation of protocol buffers.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};

/// One field of a message.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    fn bytes(&self) -> &'a [u8] {
        match self {
            Field::Bytes(bytes) => bytes,
            Field::Number(number) => panic!("{number} is no message"),
        }
    }

    fn text(&self) -> String {
        String::from_utf8(self.bytes().to_vec()).unwrap()
    }

    fn number(&self) -> i64 {
        match self {
            Field::Number(number) => *number as i64,
            Field::Bytes(_) => panic!("a message is no number"),
        }
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            return value;
        }
    }
}

/// All fields of a message.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            2 => {
                let length = varint(&mut bytes) as usize;
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(value)
            }
            5 => {
                let (value, rest) = bytes.split_at(4);
                bytes = rest;
                Field::Number(u32::from_le_bytes(value.try_into().unwrap()).into())
            }
            other => panic!("wire type {other}"),
        };
        all.push((key >> 3, field));
    }
    all
}

fn each<'a>(bytes: &'a [u8], number: u64) -> Vec<Field<'a>> {
    fields(bytes).into_iter().filter(|(n, _)| *n == number).map(|(_, field)| field).collect()
}

fn only<'a>(bytes: &'a [u8], number: u64) -> Field<'a> {
    let mut found = each(bytes, number);
    assert_eq!(found.len(), 1, "field {number}");
    found.remove(0)
}

/// What a test asks of a file.
pub(crate) struct OnnxFile {
    pub(crate) ir_version: i64,
    pub(crate) operator_set: i64,
    /// Name and dimensions.
    pub(crate) inputs: Vec<(String, Vec<String>)>,
    pub(crate) outputs: Vec<(String, Vec<String>)>,
    pub(crate) about: BTreeMap<String, String>,
    nodes: Vec<(Vec<String>, Vec<String>)>,
    tensors: BTreeMap<String, (Vec<i64>, i64, Vec<u8>)>,
}

impl OnnxFile {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let graph = only(bytes, 7).bytes();
        let value = |field: Field<'_>| {
            let info = field.bytes();
            let tensor = only(only(info, 2).bytes(), 1).bytes();
            assert_eq!(only(tensor, 1).number(), 1, "floats");
            let dimension = |field: &Field<'_>| match &fields(field.bytes())[..] {
                [(1, number)] => number.number().to_string(),
                [(2, name)] => name.text(),
                _ => panic!("no dimension"),
            };
            let shape = each(only(tensor, 2).bytes(), 1).iter().map(dimension).collect();
            (only(info, 1).text(), shape)
        };
        let texts = |bytes, number| each(bytes, number).iter().map(Field::text).collect();
        let tensor = |field: Field<'_>| {
            let tensor = field.bytes();
            let dims = each(tensor, 1).iter().map(Field::number).collect();
            let raw = only(tensor, 9).bytes().to_vec();
            (only(tensor, 8).text(), (dims, only(tensor, 2).number(), raw))
        };
        let pair =
            |field: Field<'_>| (only(field.bytes(), 1).text(), only(field.bytes(), 2).text());
        let tensors: Vec<_> = each(graph, 5).into_iter().map(tensor).collect();
        let count = tensors.len();
        let file = OnnxFile {
            ir_version: only(bytes, 1).number(),
            operator_set: only(only(bytes, 8).bytes(), 2).number(),
            inputs: each(graph, 11).into_iter().map(value).collect(),
            outputs: each(graph, 12).into_iter().map(value).collect(),
            about: each(bytes, 14).into_iter().map(pair).collect(),
            nodes: each(graph, 1)
                .into_iter()
                .map(|node| (texts(node.bytes(), 1), texts(node.bytes(), 2)))
                .collect(),
            tensors: tensors.into_iter().collect(),
        };
        assert_eq!(file.tensors.len(), count, "two tensors of one name");
        file
    }

    /// Shape and numbers of a constant.
    pub(crate) fn tensor(&self, name: &str) -> (Vec<i64>, Vec<f32>) {
        let (shape, kind, raw) = &self.tensors[name];
        assert_eq!(*kind, 1, "{name} holds floats");
        let (words, rest) = raw.as_chunks::<4>();
        assert!(rest.is_empty());
        (shape.clone(), words.iter().map(|word| f32::from_le_bytes(*word)).collect())
    }

    /// Nodes come after what they read, nothing is computed twice, all constants are read, and
    /// the outputs are computed.
    pub(crate) fn check_names(&self) {
        let mut known: BTreeSet<&str> = self.tensors.keys().map(String::as_str).collect();
        known.extend(self.inputs.iter().map(|(name, _)| name.as_str()));
        let mut read = BTreeSet::new();
        for (inputs, outputs) in &self.nodes {
            for input in inputs {
                assert!(known.contains(input.as_str()), "{input} is read before it is there");
                read.insert(input.as_str());
            }
            for output in outputs {
                assert!(known.insert(output), "{output} is computed twice");
            }
        }
        for name in self.tensors.keys() {
            assert!(read.contains(name.as_str()), "nobody reads {name}");
        }
        for (name, _) in &self.outputs {
            assert!(known.contains(name.as_str()), "nobody computes {name}");
        }
    }
}
