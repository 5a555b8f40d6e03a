//! The file of an agent's secret key: a comment and one line of digits, readable by its owner only.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use consort_transport::{IdentityError, SecretKey};
use thiserror::Error;

/// A longer file is not a key.
const LARGEST: u64 = 4096;

/// Why a key file cannot be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// The file already exists.
    #[error("{} already exists, and a key is never overwritten", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file system refuses.
    #[error("cannot {action} the key file {}: {source}", path.display())]
    FileSystem {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A key that other users can read.
    #[error(
        "other users can read the key {} (mode {mode:o}); only its owner may: chmod 600 {}",
        path.display(), path.display()
    )]
    Readable {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A file that is not a key.
    #[error("{} is not a key file: {reason}", path.display())]
    NoKey {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: IdentityError,
    },
    /// A file with no line of digits, or with several.
    #[error(
        "{} is not a key file: expected one line of 64 hexadecimal digits, got {lines} lines",
        path.display()
    )]
    Lines {
        /// The file.
        path: PathBuf,
        /// How many lines it has, without comments and empty lines.
        lines: usize,
    },
}

/// Writes the key of `agent` into a new file that only its owner can read.
///
/// # Errors
/// If the file already exists, or the file system refuses.
pub fn write_key(path: &Path, agent: usize, key: &SecretKey) -> Result<(), KeyFileError> {
    let title =
        format!("secret key of agent {agent}: do not share it (the public key is in the plan)");
    write_titled(path, &title, key)
}

/// Writes the key of an agent that is in no plan yet into a new file that only its owner can read.
///
/// # Errors
/// As [`write_key`].
pub fn write_own_key(path: &Path, key: &SecretKey) -> Result<(), KeyFileError> {
    let title = "secret key of an agent: do not share it (consort key show prints the public one)";
    write_titled(path, title, key)
}

fn write_titled(path: &Path, title: &str, key: &SecretKey) -> Result<(), KeyFileError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => KeyFileError::Exists { path: path.to_owned() },
        _ => refused("create", path)(error),
    })?;
    let digits: String = key.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let text = format!("# {title}\n{digits}\n");
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(refused("write", path))
}

/// Reads a key.
///
/// # Errors
/// If other users can read the file, if it is not a key file, or if the file system refuses.
pub fn read_key(path: &Path) -> Result<SecretKey, KeyFileError> {
    let file = File::open(path).map_err(refused("read", path))?;
    check_permissions(&file, path)?;
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text).map_err(refused("read", path))?;
    let told =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines: Vec<&str> = told.collect();
    let [digits] = lines[..] else {
        return Err(KeyFileError::Lines { path: path.to_owned(), lines: lines.len() });
    };
    digits.parse().map_err(|reason| KeyFileError::NoKey { path: path.to_owned(), reason })
}

#[cfg(unix)]
fn check_permissions(file: &File, path: &Path) -> Result<(), KeyFileError> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata().map_err(refused("read", path))?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(KeyFileError::Readable { path: path.to_owned(), mode });
    }
    Ok(())
}

/// Other systems protect a user's files by themselves.
#[cfg(not(unix))]
fn check_permissions(_file: &File, _path: &Path) -> Result<(), KeyFileError> {
    Ok(())
}

fn refused(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> KeyFileError {
    let path = path.to_owned();
    move |source| KeyFileError::FileSystem { action, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_back_and_is_never_overwritten() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("agent-3.key");
        let key = SecretKey::generate().unwrap();
        write_key(&path, 3, &key).unwrap();
        assert_eq!(read_key(&path).unwrap().as_bytes(), key.as_bytes());
        let before = std::fs::read(&path).unwrap();
        let other = SecretKey::generate().unwrap();
        let error = write_key(&path, 3, &other).unwrap_err().to_string();
        assert!(error.contains("agent-3.key") && error.contains("never overwritten"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("agent-0.key");
        write_key(&path, 0, &SecretKey::generate().unwrap()).unwrap();
        let mode = |mode| {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&path, permissions).unwrap();
        };
        let got = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(got, 0o600, "{got:o}");
        for open in [0o640, 0o604, 0o660, 0o777] {
            mode(open);
            let error = read_key(&path).unwrap_err().to_string();
            assert!(error.contains(&format!("chmod 600 {}", path.display())), "{error}");
        }
        mode(0o400);
        read_key(&path).unwrap();
    }

    #[test]
    fn a_file_that_is_not_a_key_is_refused_without_revealing_its_content() {
        let temp = tempfile::tempdir().unwrap();
        let digits = "ab".repeat(32);
        for (case, (text, part)) in [
            (String::new(), "got 0"),
            ("# only a comment\n".into(), "got 0"),
            (format!("{digits}\n{digits}\n"), "got 2"),
            (digits[1..].to_string(), "got 63 characters"),
            (format!("{}x", &digits[1..]), "character 64"),
        ]
        .into_iter()
        .enumerate()
        {
            let path = temp.path().join(case.to_string());
            write_key(&path, 0, &SecretKey::generate().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            let error = read_key(&path).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("abab"), "{error}");
        }
        let error = read_key(&temp.path().join("none")).unwrap_err().to_string();
        assert!(error.contains("none"), "{error}");
    }
}
