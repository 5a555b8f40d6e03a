//! The state of a trial in one file: whole or refused.
//!
//! ```text
//!   "CONSORT\x01" | length of the header, u32 | header, JSON | tensors, f32 | CRC-32, u32
//! ```
//!
//! Little-endian throughout. Tensors stand in the order of the header. The checksum covers all
//! that stands before it, and nothing is put into a trial before it was found right.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use consort_records::folder::write_file_with;
use consort_sim::World;
use crc32fast::Hasher;
use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::trial::{SinceEvaluation, Trial};

const MAGIC: &[u8; 8] = b"CONSORT\x01";
/// Enough for a thousand agents; a length beyond it is damage.
const LARGEST_HEADER: u32 = 64 << 20;
const BUFFER: usize = 64 << 10;

/// What stands before the tensors.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    /// Of the trial: a checkpoint of another one is refused.
    trial: String,
    round: u64,
    /// How long the trial has taken so far.
    seconds: f64,
    since: SinceEvaluation,
    /// Names and lengths, per agent.
    tensors: Vec<Vec<(String, usize)>>,
}

/// Where a restored trial goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Restored {
    /// Rounds that are over.
    pub round: u64,
    /// How long they took.
    pub seconds: f64,
}

/// Writes the state of `trial`; `name` tells it from other trials.
///
/// # Errors
/// If the file system refuses; a file that stood there is untouched then.
pub(crate) fn save(
    trial: &mut Trial<'_>,
    name: &str,
    seconds: f64,
    path: &Path,
) -> Result<(), TrainError> {
    let (world, since) = trial.state();
    let tensors = listed(world);
    let (trial, round) = (name.to_string(), world.rounds_done());
    let header = Header { trial, round, seconds, since: *since, tensors };
    let header = serde_json::to_vec(&header).map_err(|error| refused(path, error.to_string()))?;
    write_file_with(path, |file| {
        let mut out = Checked { inner: file, hasher: Hasher::new() };
        out.write_all(MAGIC)?;
        out.write_all(&(header.len() as u32).to_le_bytes())?;
        out.write_all(&header)?;
        let mut bytes = Vec::with_capacity(BUFFER);
        for agent in 0..world.agents() {
            for tensor in world.tensors(agent) {
                for values in tensor.values.chunks(BUFFER / 4) {
                    bytes.clear();
                    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                    out.write_all(&bytes)?;
                }
            }
        }
        let sum = out.hasher.clone().finalize();
        out.inner.write_all(&sum.to_le_bytes())
    })?;
    Ok(())
}

/// Puts the state of the file at `path` into `trial`.
///
/// # Errors
/// If the file is damaged, cut short, or of another trial. The trial is as before then.
pub(crate) fn restore(
    trial: &mut Trial<'_>,
    name: &str,
    path: &Path,
) -> Result<Restored, TrainError> {
    let of_file = |error: io::Error| refused(path, error.to_string());
    check_sum(path)?;
    let mut file = BufReader::with_capacity(BUFFER, File::open(path).map_err(of_file)?);
    let header = read_header(&mut file, path)?;
    if header.trial != name {
        let reason = format!("is of trial {}, expected {name}", header.trial);
        return Err(refused(path, reason));
    }
    let (world, since) = trial.state();
    if header.tensors != listed(world) {
        return Err(refused(path, "holds other tensors than this method keeps".into()));
    }
    let mut bytes = vec![0; BUFFER];
    for agent in 0..world.agents() {
        for tensor in world.tensors(agent) {
            for values in tensor.values.chunks_mut(BUFFER / 4) {
                let bytes = &mut bytes[..4 * values.len()];
                file.read_exact(bytes).map_err(of_file)?;
                for (value, four) in values.iter_mut().zip(bytes.as_chunks::<4>().0) {
                    *value = f32::from_le_bytes(*four);
                }
            }
        }
    }
    world.restore_round(header.round);
    *since = header.since;
    Ok(Restored { round: header.round, seconds: header.seconds })
}

/// Names and lengths of what the method keeps, per agent.
fn listed(world: &mut World) -> Vec<Vec<(String, usize)>> {
    let agents = 0..world.agents();
    let of_agent = |agent: usize| {
        let tensors = world.tensors(agent);
        tensors.iter().map(|tensor| (tensor.name.to_string(), tensor.values.len())).collect()
    };
    agents.map(of_agent).collect()
}

/// Reads the whole file once, so that damage is found before anything is used.
fn check_sum(path: &Path) -> Result<(), TrainError> {
    let of_file = |error: io::Error| refused(path, error.to_string());
    let mut file = File::open(path).map_err(of_file)?;
    let length = file.metadata().map_err(of_file)?.len();
    let Some(covered) = length.checked_sub(4).filter(|&covered| covered >= 12) else {
        return Err(refused(path, format!("has {length} bytes, too few for a checkpoint")));
    };
    let mut hasher = Hasher::new();
    let (mut left, mut bytes) = (covered, vec![0; BUFFER]);
    while left > 0 {
        let part = &mut bytes[..left.min(BUFFER as u64) as usize];
        file.read_exact(part).map_err(of_file)?;
        hasher.update(part);
        left -= part.len() as u64;
    }
    let mut sum = [0; 4];
    file.read_exact(&mut sum).map_err(of_file)?;
    if hasher.finalize() != u32::from_le_bytes(sum) {
        return Err(refused(path, "is damaged: its checksum does not fit".into()));
    }
    Ok(())
}

fn read_header(file: &mut impl Read, path: &Path) -> Result<Header, TrainError> {
    let of_file = |error: io::Error| refused(path, error.to_string());
    let (mut magic, mut length) = ([0; 8], [0; 4]);
    file.read_exact(&mut magic).map_err(of_file)?;
    file.read_exact(&mut length).map_err(of_file)?;
    let length = u32::from_le_bytes(length);
    if &magic != MAGIC || length > LARGEST_HEADER {
        return Err(refused(path, "is no checkpoint of this version".into()));
    }
    let mut header = vec![0; length as usize];
    file.read_exact(&mut header).map_err(of_file)?;
    serde_json::from_slice(&header).map_err(|error| refused(path, error.to_string()))
}

fn refused(path: &Path, reason: String) -> TrainError {
    TrainError::Checkpoint { path: path.to_owned(), reason }
}

/// Writes through, summing up what goes by.
struct Checked<'a> {
    inner: &'a mut dyn Write,
    hasher: Hasher,
}

impl Write for Checked<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
