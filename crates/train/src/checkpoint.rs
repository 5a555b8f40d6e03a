//! The state of a trial, or of one agent of it, in one file: whole or refused.
//!
//! ```text
//!   "CONSORT\x02" | length of the header, u32 | header, JSON | tensors, f32 | CRC-32, u32
//! ```
//!
//! Little-endian throughout. Tensors stand in the order of the header. The checksum covers all
//! that stands before it, and nothing is put into an agent before it was found right.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use consort_algo::{Agent, Tensor};
use consort_records::folder::write_file_with;
use consort_sim::World;
use crc32fast::Hasher;
use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::since_evaluation::SinceEvaluation;

/// Its last byte grows when an old state must not be gone on with: since 2, models start from
/// other values.
const MAGIC: &[u8; 8] = b"CONSORT\x02";
/// Enough for a thousand agents; a length beyond it is damage.
const LARGEST_HEADER: u32 = 64 << 20;
const BUFFER: usize = 64 << 10;

/// Agents that stand at the beginning of a round: what a checkpoint holds.
pub trait Agents {
    /// How many there are.
    fn count(&self) -> usize;
    /// The round that they begin.
    fn round(&self) -> u64;
    /// What the `k`-th of them remembers, to read or to write.
    fn tensors(&mut self, k: usize) -> Vec<Tensor<'_>>;
    /// Goes on at the beginning of `round`, once all tensors are written back.
    fn restore_round(&mut self, round: u64);
}

impl Agents for World {
    fn count(&self) -> usize {
        self.agents()
    }

    fn round(&self) -> u64 {
        self.rounds_done()
    }

    fn tensors(&mut self, k: usize) -> Vec<Tensor<'_>> {
        World::tensors(self, k)
    }

    fn restore_round(&mut self, round: u64) {
        World::restore_round(self, round);
    }
}

/// One agent alone.
impl Agents for Agent {
    fn count(&self) -> usize {
        1
    }

    fn round(&self) -> u64 {
        Agent::round(self)
    }

    fn tensors(&mut self, _k: usize) -> Vec<Tensor<'_>> {
        Agent::tensors(self)
    }

    fn restore_round(&mut self, round: u64) {
        Agent::restore_round(self, round);
    }
}

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

/// Where restored agents go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Restored {
    /// Rounds that are over.
    pub round: u64,
    /// How long they took.
    pub seconds: f64,
    /// What they summed up since the last evaluation.
    pub since: SinceEvaluation,
}

/// Writes the state of `agents`; `name` tells it from that of other trials.
///
/// # Errors
/// If the file system refuses; a file that stood there is untouched then.
pub(crate) fn save(
    agents: &mut dyn Agents,
    since: SinceEvaluation,
    name: &str,
    seconds: f64,
    path: &Path,
) -> Result<(), TrainError> {
    let tensors = listed(agents);
    let (trial, round) = (name.to_string(), agents.round());
    let header = Header { trial, round, seconds, since, tensors };
    let header = serde_json::to_vec(&header).map_err(|error| refused(path, error.to_string()))?;
    write_file_with(path, |file| {
        let mut out = Checked { inner: file, hasher: Hasher::new() };
        out.write_all(MAGIC)?;
        out.write_all(&(header.len() as u32).to_le_bytes())?;
        out.write_all(&header)?;
        let mut bytes = Vec::with_capacity(BUFFER);
        for agent in 0..agents.count() {
            for tensor in agents.tensors(agent) {
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

/// Puts the state of the file at `path`, which must be that of `round` and have one of these
/// `names`, into `agents`.
///
/// # Errors
/// If the file is damaged, cut short, or of another trial or round. The agents are as before
/// then.
pub(crate) fn restore(
    agents: &mut dyn Agents,
    names: &[String],
    round: u64,
    path: &Path,
) -> Result<Restored, TrainError> {
    let of_file = |error: io::Error| refused(path, error.to_string());
    check_sum(path)?;
    let mut file = BufReader::with_capacity(BUFFER, File::open(path).map_err(of_file)?);
    let header = read_header(&mut file, path)?;
    if !names.contains(&header.trial) {
        let expected = names.first().map_or("none", String::as_str);
        let reason = format!("is of trial {}, expected {expected}", header.trial);
        return Err(refused(path, reason));
    }
    if header.round != round {
        let reason = format!("is of round {}, unlike its name", header.round);
        return Err(refused(path, reason));
    }
    if header.tensors != listed(agents) {
        return Err(refused(path, "holds other tensors than this method keeps".into()));
    }
    let mut bytes = vec![0; BUFFER];
    for agent in 0..agents.count() {
        for tensor in agents.tensors(agent) {
            for values in tensor.values.chunks_mut(BUFFER / 4) {
                let bytes = &mut bytes[..4 * values.len()];
                file.read_exact(bytes).map_err(of_file)?;
                for (value, four) in values.iter_mut().zip(bytes.as_chunks::<4>().0) {
                    *value = f32::from_le_bytes(*four);
                }
            }
        }
    }
    agents.restore_round(round);
    Ok(Restored { round, seconds: header.seconds, since: header.since })
}

/// Names and lengths of what the method keeps, per agent.
fn listed(agents: &mut dyn Agents) -> Vec<Vec<(String, usize)>> {
    let all = 0..agents.count();
    let of_agent = |agent: usize| {
        let tensors = agents.tensors(agent);
        tensors.iter().map(|tensor| (tensor.name.to_string(), tensor.values.len())).collect()
    };
    all.map(of_agent).collect()
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
    if magic[..7] == MAGIC[..7] && magic[7] < MAGIC[7] {
        let reason = "is of an older consort, whose models started from other values: going on \
                      from it would mix the two. Start the run anew";
        return Err(refused(path, reason.into()));
    }
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
