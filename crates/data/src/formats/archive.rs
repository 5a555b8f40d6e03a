//! Gzipped tar archives, unpacked without trust: no member may leave the folder, be a link, or
//! make the whole larger than it may be.

use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use flate2::read::GzDecoder;
use tar::{Archive, EntryType};

use crate::DataError;

/// More members than this are refused.
const MOST_MEMBERS: u64 = 1_000_000;

/// Hands every file of an archive to `keep`, with its path, which has plain components only.
/// `path` is the archive's own, for messages; of a message about a member, the offset is the
/// member's in the unpacked archive.
///
/// # Errors
/// If the archive is damaged, has more than `limit` bytes when unpacked, or contains anything but
/// files and folders inside itself; or if `keep` fails.
pub fn unpack(
    archive: impl Read,
    limit: u64,
    path: &Path,
    keep: &mut dyn FnMut(&Path, &mut dyn Read) -> io::Result<()>,
) -> Result<(), DataError> {
    let stream = GzDecoder::new(archive).take(limit);
    let mut archive = Archive::new(stream);
    let outcome = members(&mut archive, path, keep);
    // At its limit the stream just ends, and the archive looks cut off: tell the real reason.
    let mut stream = archive.into_inner();
    if outcome.is_err() && stream.limit() == 0 && more(stream.get_mut()) {
        let expected = format!("the end, after at most {limit} bytes");
        return Err(DataError::format(path, limit as usize, expected, "more data"));
    }
    outcome
}

fn members(
    archive: &mut Archive<impl Read>,
    path: &Path,
    keep: &mut dyn FnMut(&Path, &mut dyn Read) -> io::Result<()>,
) -> Result<(), DataError> {
    let damaged = |offset: u64, error: io::Error| {
        DataError::format(path, offset as usize, "a gzipped tar archive", error.to_string())
    };
    let mut files = 0;
    let mut offset = 0;
    for member in archive.entries().map_err(|error| damaged(0, error))? {
        let mut member = member.map_err(|error| damaged(offset, error))?;
        offset = member.raw_header_position();
        let name = member.path().map_err(|error| damaged(offset, error))?.into_owned();
        let refuse = |got: String| {
            DataError::format(path, offset as usize, "files and folders inside the archive", got)
        };
        let inside = plain(&name).ok_or_else(|| refuse(format!("`{}`", name.display())))?;
        match member.header().entry_type() {
            EntryType::Directory => {}
            EntryType::Regular if !inside.as_os_str().is_empty() => {
                files += 1;
                if files > MOST_MEMBERS {
                    return Err(refuse(format!("more than {MOST_MEMBERS} files")));
                }
                keep(&inside, &mut member).map_err(|error| damaged(offset, error))?;
            }
            other => return Err(refuse(format!("`{}` of kind {other:?}", name.display()))),
        }
    }
    if files == 0 {
        return Err(DataError::format(path, 0, "an archive with files", "none"));
    }
    Ok(())
}

/// `path` without `.`; nothing if it has a root, a drive or `..`.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut inside = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => inside.push(name),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => return None,
        }
    }
    Some(inside)
}

fn more(stream: &mut impl Read) -> bool {
    matches!(stream.read(&mut [0]), Ok(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A gzipped archive whose members' names are written as they are, checked by nobody.
    fn archive(members: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, kind, bytes) in members {
            let mut header = tar::Header::new_gnu();
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(*kind);
            header.set_size(bytes.len() as u64);
            header.set_cksum();
            builder.append(&header, *bytes).unwrap();
        }
        let bytes = builder.into_inner().unwrap();
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8], limit: u64) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
        let mut files = Vec::new();
        unpack(bytes, limit, Path::new("a.tgz"), &mut |path, reader| {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes)?;
            files.push((path.to_owned(), bytes));
            Ok(())
        })
        .map_err(|error| error.to_string())?;
        Ok(files)
    }

    #[test]
    fn files_come_out_with_their_paths() {
        let bytes = archive(&[
            ("./d/", EntryType::Directory, b""),
            ("./d/a.bin", EntryType::Regular, b"one"),
            ("d/e/b.bin", EntryType::Regular, &[7; 700]),
        ]);
        let files = read(&bytes, 1 << 20).unwrap();
        assert_eq!(files[0], (PathBuf::from("d/a.bin"), b"one".to_vec()));
        assert_eq!(files[1], (PathBuf::from("d/e/b.bin"), vec![7; 700]));
    }

    #[test]
    fn what_would_leave_the_folder_is_refused() {
        for name in ["../evil", "/etc/evil", "d/../../evil"] {
            let error = read(&archive(&[(name, EntryType::Regular, b"x")]), 1 << 20).unwrap_err();
            assert!(error.contains(&format!("got `{name}`")), "{error}");
        }
        for kind in [EntryType::Symlink, EntryType::Link, EntryType::Fifo, EntryType::Char] {
            let error = read(&archive(&[("a", kind, b"")]), 1 << 20).unwrap_err();
            assert!(error.contains("of kind"), "{error}");
        }
    }

    #[test]
    fn a_bomb_stops_at_the_limit() {
        let zeros = vec![0; 5_000_000];
        let error = read(&archive(&[("zeros", EntryType::Regular, &zeros)]), 100_000).unwrap_err();
        assert_eq!(
            error,
            "a.tgz, byte 100000: expected the end, after at most 100000 bytes, got more data"
        );
    }

    #[test]
    fn damage_is_told() {
        let whole = archive(&[("a", EntryType::Regular, &[5; 90_000])]);
        assert!(read(&whole[..whole.len() / 2], 1 << 20).is_err());
        assert!(read(b"<html>", 1 << 20).unwrap_err().contains("a gzipped tar archive"));
        assert!(read(&archive(&[]), 1 << 20).unwrap_err().contains("got none"));
    }
}
