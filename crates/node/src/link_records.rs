//! The traffic on an agent's links, and how its rounds spend their time.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use consort_train::TrainError;
use consort_transport::LinkStatistics;
use serde::Serialize;

/// How a round spent its time, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RoundTimes {
    /// From the probe to the gradient.
    pub compute: f64,
    /// From the gradient to the last message.
    pub wait: f64,
    /// Of that, the longest transfer of one message from its first byte to its last.
    pub transfer: f64,
}

/// One line of the file.
#[derive(Clone, Debug, Serialize)]
pub struct LinkRecord {
    /// Rounds that are over.
    pub round: u64,
    /// Seconds that the run has taken so far.
    pub seconds: f64,
    /// Rounds since the previous line.
    pub rounds: u64,
    /// Their times, summed.
    pub times: RoundTimes,
    /// The traffic on each link since the process started.
    pub links: Vec<OneLink>,
}

/// The traffic on one link.
#[derive(Clone, Debug, Serialize)]
pub struct OneLink {
    /// The neighbour.
    pub peer: usize,
    /// Bytes of frames sent.
    pub bytes_sent: u64,
    /// Bytes of frames received.
    pub bytes_received: u64,
    /// Frames sent.
    pub frames_sent: u64,
    /// Frames received.
    pub frames_received: u64,
    /// Packets that were sent again, where that is known.
    pub retransmissions: u64,
    /// How often the link was established.
    pub connections: u64,
}

/// The file, and the sums for its next line.
#[derive(Debug)]
pub(crate) struct LinkFile {
    path: PathBuf,
    file: File,
    rounds: u64,
    times: RoundTimes,
}

impl LinkFile {
    /// Opens the file; a restarted agent appends to it.
    pub(crate) fn open(path: impl AsRef<Path>) -> Result<Self, TrainError> {
        let path = path.as_ref().to_owned();
        let file = OpenOptions::new().append(true).create(true).open(&path);
        let file = file.map_err(|error| refused(&path, &error))?;
        Ok(LinkFile { path, file, rounds: 0, times: RoundTimes::default() })
    }

    /// A round is over.
    pub(crate) fn add(&mut self, times: RoundTimes) {
        self.rounds += 1;
        self.times.compute += times.compute;
        self.times.wait += times.wait;
        self.times.transfer += times.transfer;
    }

    /// Writes a line.
    pub(crate) fn append(&mut self, record: &LinkRecord) -> Result<(), TrainError> {
        let line = serde_json::to_string(record).map_err(|error| refused(&self.path, &error))?;
        let written = self.file.write_all((line + "\n").as_bytes());
        written.map_err(|error| refused(&self.path, &error))?;
        (self.rounds, self.times) = (0, RoundTimes::default());
        Ok(())
    }
}

impl LinkRecord {
    pub(crate) fn new(
        round: u64,
        seconds: f64,
        file: &LinkFile,
        links: impl Iterator<Item = (usize, LinkStatistics)>,
    ) -> Self {
        let one = |(peer, statistics): (usize, LinkStatistics)| OneLink {
            peer,
            bytes_sent: statistics.bytes_sent,
            bytes_received: statistics.bytes_received,
            frames_sent: statistics.frames_sent,
            frames_received: statistics.frames_received,
            retransmissions: statistics.retransmissions,
            connections: statistics.connections,
        };
        let (rounds, times) = (file.rounds, file.times);
        LinkRecord { round, seconds, rounds, times, links: links.map(one).collect() }
    }
}

fn refused(path: &Path, error: &dyn std::fmt::Display) -> TrainError {
    TrainError::Folder { path: path.to_owned(), reason: error.to_string() }
}
