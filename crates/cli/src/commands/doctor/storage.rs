//! Keys and who can read them, datasets, and the space that is left.

use std::fs;
use std::path::{Path, PathBuf};

use consort_data::catalogue::{CATALOGUE, Entry};
use consort_data::{DataDir, presence};
use consort_node::{read_key, write_own_key};
use consort_transport::SecretKey;

use super::Check;
use crate::arguments::DoctorOptions;

/// Less than this is soon full of checkpoints.
const LITTLE_SPACE: u64 = 2 << 30;

pub(super) fn checks(options: &DoctorOptions) -> Vec<Check> {
    vec![new_key(), keys(options.keys.as_deref()), data(options), space(Path::new("."))]
}

/// Makes a key as `consort key new` does, in the folder of temporary files.
fn new_key() -> Check {
    let what = "new keys";
    let path = std::env::temp_dir().join(format!("consort-doctor-{}.key", std::process::id()));
    let made = SecretKey::generate().map_err(|error| error.to_string()).and_then(|key| {
        write_own_key(&path, &key).map_err(|error| error.to_string())?;
        read_key(&path).map_err(|error| error.to_string())
    });
    // It holds nothing that anybody uses.
    let _ = fs::remove_file(&path);
    match made {
        Ok(_) => Check::ok(what, "can be made and kept from others"),
        Err(error) => Check::bad(
            what,
            error,
            "agents need a file system with permissions, and random bytes from the system",
        ),
    }
}

/// The keys in a folder; without one, in those where `init` and `key new` put them.
fn keys(folder: Option<&Path>) -> Check {
    let what = "keys here";
    let folders = folder.map_or_else(usual_folders, |folder| vec![folder.to_owned()]);
    let found: Vec<PathBuf> = folders.iter().flat_map(|folder| keys_in(folder)).collect();
    let refused: Vec<String> =
        found.iter().filter_map(|path| Some(read_key(path).err()?.to_string())).collect();
    let Some(first) = refused.first() else {
        return match (found.len(), folder) {
            (0, Some(folder)) => Check::note(
                what,
                format!("none in {}", folder.display()),
                "`consort key new FILE` makes one",
            ),
            (0, None) => Check::ok(what, "none (`consort key new FILE` makes one)"),
            (count, _) => Check::ok(what, format!("{count}, readable by their owner only")),
        };
    };
    let more =
        if refused.len() > 1 { format!(" (and {} more)", refused.len() - 1) } else { "".into() };
    let advice = "agents refuse such keys: restrict them with chmod 600, or make new ones";
    Check::bad(what, format!("{first}{more}"), advice)
}

fn usual_folders() -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::from("."), PathBuf::from("keys")];
    let entries = fs::read_dir(".").into_iter().flatten().filter_map(Result::ok);
    let mut inside: Vec<PathBuf> = entries.map(|entry| entry.path().join("keys")).collect();
    inside.retain(|folder| folder.is_dir());
    inside.sort();
    folders.extend(inside);
    folders
}

fn keys_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut keys: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    keys.retain(|path| path.extension().is_some_and(|ending| ending == "key"));
    keys.sort();
    keys
}

fn data(options: &DoctorOptions) -> Check {
    let what = "datasets";
    let dir = match DataDir::find(options.data_options.data_dir.as_deref()) {
        Ok(dir) => dir,
        Err(error) => return Check::bad(what, error.to_string(), "give --data-dir DIR"),
    };
    let name = |entry: &Entry| {
        let found = presence(entry, &dir);
        let cut = if found.is_complete { "" } else { " (incomplete)" };
        let any = found.is_complete || found.samples.iter().any(|&count| count > 0);
        any.then(|| format!("{}{cut}", entry.name))
    };
    let names: Vec<String> = CATALOGUE.iter().filter_map(name).collect();
    let found = format!("{} (in {})", names.join(", "), dir.path().display());
    match can_be_written(dir.path()) {
        Ok(()) => Check::ok(what, format!("{found}; more: consort data get NAME")),
        Err(error) => Check::note(
            what,
            format!("{found}; this folder cannot be written: {error}"),
            "for downloads, choose another one with --data-dir or CONSORT_DATA",
        ),
    }
}

/// Whether files can be made in the folder, or in the first one above it that exists.
fn can_be_written(folder: &Path) -> std::io::Result<()> {
    let there = folder.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("."));
    let probe = there.join(format!(".consort-doctor-{}", std::process::id()));
    fs::write(&probe, "")?;
    fs::remove_file(&probe)
}

fn space(folder: &Path) -> Check {
    let what = "disk space";
    let Some(bytes) = free_bytes(folder) else {
        return Check::ok(what, "unknown here");
    };
    let found = format!("{:.1} GB free in this folder", bytes as f64 / 1e9);
    match bytes < LITTLE_SPACE {
        true => Check::note(
            what,
            found,
            "`consort runs prune --checkpoints` and `consort runs prune` make room",
        ),
        false => Check::ok(what, found),
    }
}

#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_folder: &Path) -> Option<u64> {
    None
}
