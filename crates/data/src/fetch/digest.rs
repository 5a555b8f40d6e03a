//! Whether a file is the one that was meant.

use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use md5::{Digest, Md5};
use sha2::Sha256;

use crate::catalogue::Download;
use crate::formats::describe;

/// What is wrong with the file at `path`, if it is not `download`.
pub(super) fn check(path: &Path, download: &Download) -> Result<(), String> {
    let attempt = || -> std::io::Result<_> {
        let mut file = File::open(path)?;
        let (mut md5, mut sha256) = (Md5::new(), Sha256::new());
        let mut head = Vec::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = file.read(&mut buffer)?;
            if count == 0 {
                return Ok((hex(&md5.finalize()), hex(&sha256.finalize()), head));
            }
            if head.is_empty() {
                head = buffer[..count.min(64)].to_vec();
            }
            md5.update(&buffer[..count]);
            sha256.update(&buffer[..count]);
        }
    };
    let (md5, sha256, head) = attempt().map_err(|error| error.to_string())?;
    if md5 != download.md5 {
        return Err(format!("expected MD5 {}, got {md5} ({})", download.md5, describe(&head)));
    }
    match download.sha256 {
        Some(expected) if sha256 != expected => {
            Err(format!("expected SHA-256 {expected}, got {sha256} ({})", describe(&head)))
        }
        _ => Ok(()),
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
