//! Fetching from a server in the test: one that serves, cuts, lies, forgets or is not there.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![cfg(feature = "download")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use consort_data::catalogue::{Download, Entry, File};
use consort_data::fetch::{FetchOptions, fetch};
use consort_data::{DataDir, DataError};
use md5::{Digest, Md5};
use tempfile::TempDir;

/// What the server does with a request.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    /// Serves ranges.
    Serve,
    /// Serves whole files only.
    NoRange,
    /// Ends the connection half-way, every second time.
    Cut,
    /// Says that the rest begins somewhere else.
    WrongRange,
    /// Has no such file.
    Absent,
    /// Is busy, every second time.
    Busy,
    /// Answers with a page.
    Page,
    /// Answers with a page that claims to be a file.
    DisguisedPage,
    /// Does not say how long the file is, and sends more.
    Endless,
}

/// A server of one file; the requests it got, as their `Range` fields.
struct Server {
    base: String,
    ranges: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(manner: Manner, content: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/data/", listener.local_addr().unwrap());
        let ranges = Arc::new(Mutex::new(Vec::new()));
        let log = ranges.clone();
        // It ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = answer(stream.unwrap(), manner, &content, &log);
            }
        });
        Self { base, ranges }
    }

    fn ranges(&self) -> Vec<String> {
        self.ranges.lock().unwrap().clone()
    }
}

fn answer(
    mut stream: TcpStream,
    manner: Manner,
    content: &[u8],
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut range = String::new();
    for line in BufReader::new(stream.try_clone()?).lines() {
        let line = line?.to_lowercase();
        if let Some(value) = line.strip_prefix("range: bytes=") {
            range = value.to_owned();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut log = log.lock().unwrap();
    log.push(range.clone());
    let odd = log.len() % 2 == 1;
    drop(log);
    let mut send = |head: String, body: &[u8]| {
        write!(stream, "HTTP/1.1 {head}\r\nConnection: close\r\n\r\n")?;
        stream.write_all(body)
    };
    let start: usize = range.trim_end_matches('-').parse().unwrap_or(0);
    match manner {
        Manner::Absent => send("404 Not Found\r\nContent-Length: 0".to_owned(), b""),
        Manner::Busy if odd => send("503 Service Unavailable\r\nContent-Length: 0".to_owned(), b""),
        Manner::Page => send("200 OK\r\nContent-Type: text/html".to_owned(), b"<html>Log in"),
        Manner::DisguisedPage => {
            send("200 OK\r\nContent-Length: 19".to_owned(), b"<!doctype html><p>.")
        }
        Manner::Endless => send("200 OK".to_owned(), &[content, content].concat()),
        _ if start > 0 && manner != Manner::NoRange => {
            let named = if manner == Manner::WrongRange { 1 } else { start };
            let last = content.len() - 1;
            let body = &content[start.min(content.len())..];
            let head = format!(
                "206 Partial Content\r\nContent-Range: bytes {named}-{last}/{}\r\nContent-Length: {}",
                content.len(),
                body.len()
            );
            let sent = if manner == Manner::Cut && odd { body.len() / 2 } else { body.len() };
            send(head, &body[..sent])
        }
        _ => {
            let sent = if manner == Manner::Cut && odd { content.len() / 2 } else { content.len() };
            send(format!("200 OK\r\nContent-Length: {}", content.len()), &content[..sent])
        }
    }
}

fn content() -> Vec<u8> {
    (0..300_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn md5(bytes: &[u8]) -> &'static str {
    let hex: String = Md5::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    hex.leak()
}

/// A dataset of one file.
fn entry(file: &'static str, content: &[u8], unpacked: Option<u64>) -> Entry {
    let download = Download {
        file,
        bytes: content.len() as u64,
        md5: md5(content),
        sha256: None,
        bases: &["http://127.0.0.1:9/"],
        unpacked,
    };
    Entry {
        folders: &["toy"],
        files: &[File { name: "a.bin", bytes: 300_000 }],
        downloads: vec![download].leak(),
        ..*Entry::find("mnist").unwrap()
    }
}

fn options(base: &str) -> FetchOptions {
    FetchOptions {
        base: Some(base.to_owned()),
        again: false,
        retries: 3,
        pause: Duration::from_millis(1),
        timeout: Duration::from_secs(5),
    }
}

fn folder() -> (TempDir, DataDir) {
    let folder = tempfile::tempdir().unwrap();
    let data_dir = DataDir::find(Some(folder.path())).unwrap();
    (folder, data_dir)
}

fn get(entry: &Entry, data_dir: &DataDir, base: &str) -> Result<u64, DataError> {
    let mut reached = 0;
    let folder = fetch(entry, data_dir, &options(base), &mut |progress| {
        assert_eq!(progress.total, entry.downloads[0].bytes);
        reached = progress.bytes;
    })?;
    assert_eq!(folder, data_dir.path().join("toy"));
    Ok(reached)
}

/// Nothing but the dataset is left.
fn assert_clean(root: &Path) {
    let names: Vec<_> = fs::read_dir(root).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["toy"]);
}

#[test]
fn a_file_arrives_whole_and_is_not_fetched_twice() {
    let server = Server::start(Manner::Serve, content());
    let (folder, data_dir) = folder();
    let entry = entry("a.bin", &content(), None);
    assert_eq!(get(&entry, &data_dir, &server.base).unwrap(), 300_000);
    assert_eq!(fs::read(folder.path().join("toy/a.bin")).unwrap(), content());
    assert_clean(folder.path());
    assert_eq!(get(&entry, &data_dir, &server.base).unwrap(), 0);
    assert_eq!(server.ranges(), [""]);
    let again = FetchOptions { again: true, ..options(&server.base) };
    fetch(&entry, &data_dir, &again, &mut |_| {}).unwrap();
    assert_eq!(server.ranges(), [""], "a file with the right digest is kept");
}

#[test]
fn a_cut_connection_is_resumed_where_it_was_cut() {
    let server = Server::start(Manner::Cut, content());
    let (folder, data_dir) = folder();
    get(&entry("a.bin", &content(), None), &data_dir, &server.base).unwrap();
    assert_eq!(fs::read(folder.path().join("toy/a.bin")).unwrap(), content());
    assert_eq!(server.ranges(), ["", "150000-"]);
}

/// As after a process that was ended: the part lies there, and may be anything.
#[test]
fn a_part_that_is_there_is_used_if_it_fits() {
    for (manner, part, requests) in [
        (Manner::Serve, &content()[..1000], &["1000-"][..]),
        (Manner::NoRange, &content()[..1000], &["1000-"]),
        (Manner::Serve, &[1; 1000], &["1000-", ""]),
        (Manner::Serve, &[1; 300_000], &[""]),
        (Manner::Serve, &[1; 300_001], &[""]),
        (Manner::Serve, &content(), &[]),
    ] {
        let server = Server::start(manner, content());
        let (folder, data_dir) = folder();
        let staging = folder.path().join(".fetch/mnist");
        fs::create_dir_all(&staging).unwrap();
        fs::write(staging.join("a.bin.part"), part).unwrap();
        get(&entry("a.bin", &content(), None), &data_dir, &server.base).unwrap();
        assert_eq!(fs::read(folder.path().join("toy/a.bin")).unwrap(), content());
        assert_eq!(server.ranges(), requests);
        assert_clean(folder.path());
    }
}

#[test]
fn a_busy_server_is_asked_again() {
    let server = Server::start(Manner::Busy, content());
    let (_folder, data_dir) = folder();
    get(&entry("a.bin", &content(), None), &data_dir, &server.base).unwrap();
    assert_eq!(server.ranges().len(), 2);
}

#[test]
fn what_is_not_the_file_is_refused_and_not_kept() {
    let mut other = content();
    other[77] ^= 1;
    for (manner, served, words) in [
        (Manner::Serve, other, "expected MD5"),
        (Manner::Serve, content()[..200_000].to_vec(), "expected 300000 bytes, got 200000"),
        (Manner::Absent, content(), "the server says 404 Not Found"),
        (Manner::Page, content(), "an HTML page instead of the file"),
        (Manner::DisguisedPage, content(), "expected 300000 bytes, got 19 (an HTML page"),
        (Manner::Endless, content(), "expected 300000 bytes, got more"),
    ] {
        let server = Server::start(manner, served);
        let (folder, data_dir) = folder();
        let error = get(&entry("a.bin", &content(), None), &data_dir, &server.base).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(words), "{error}");
        assert!(error.contains("without a network: get http://127.0.0.1:"), "{error}");
        assert!(error.contains("put it into"), "{error}");
        assert!(!folder.path().join("toy").exists());
        assert_eq!(server.ranges().len(), 1, "a lasting fault is not tried again: {error}");
    }
}

#[test]
fn a_range_that_lies_is_refused() {
    let server = Server::start(Manner::WrongRange, content());
    let (folder, data_dir) = folder();
    let staging = folder.path().join(".fetch/mnist");
    fs::create_dir_all(&staging).unwrap();
    fs::write(staging.join("a.bin.part"), [0; 1000]).unwrap();
    let error = get(&entry("a.bin", &content(), None), &data_dir, &server.base).unwrap_err();
    assert!(error.to_string().contains("asked for the bytes from 1000 on"), "{error}");
}

#[test]
fn without_a_server_the_message_says_what_to_put_where() {
    let (folder, data_dir) = folder();
    let entry = entry("a.tgz", &content(), Some(1));
    let mut options = options("http://127.0.0.1:9");
    options.retries = 1;
    let error = fetch(&entry, &data_dir, &options, &mut |_| {}).unwrap_err().to_string();
    assert!(error.starts_with("cannot fetch a.tgz: http://127.0.0.1:9/a.tgz: "), "{error}");
    let place = folder.path().join("toy");
    assert!(error.contains(&format!("unpack it so that {} is there", place.display())), "{error}");
}

fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut builder = tar::Builder::new(encoder);
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        builder.append_data(&mut header, name, *bytes).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

#[test]
fn an_archive_is_unpacked_into_place() {
    let bytes = archive(&[("toy/a.bin", b"abc"), ("toy/deep/er/b.bin", b"def")]);
    let server = Server::start(Manner::Serve, bytes.clone());
    let (folder, data_dir) = folder();
    // Half a dataset gives way to the whole.
    fs::create_dir_all(folder.path().join("toy")).unwrap();
    fs::write(folder.path().join("toy/readme"), b"old").unwrap();
    get(&entry("a.tgz", &bytes, Some(1 << 20)), &data_dir, &server.base).unwrap();
    assert_eq!(fs::read(folder.path().join("toy/a.bin")).unwrap(), b"abc");
    assert_eq!(fs::read(folder.path().join("toy/deep/er/b.bin")).unwrap(), b"def");
    assert!(!folder.path().join("toy/readme").exists());
    assert_clean(folder.path());
}

#[test]
fn an_archive_that_is_wrong_leaves_nothing_in_place() {
    for (members, limit, words) in [
        (&[("other/a.bin", &[1; 10][..])][..], 1 << 20, "expected a folder `toy`"),
        (&[("toy/a.bin", &[1; 100_000])], 50_000, "after at most 50000 bytes"),
    ] {
        let bytes = archive(members);
        let server = Server::start(Manner::Serve, bytes.clone());
        let (folder, data_dir) = folder();
        let error = get(&entry("a.tgz", &bytes, Some(limit)), &data_dir, &server.base).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert!(!folder.path().join("toy").exists());
    }
}

#[test]
fn two_that_fetch_the_same_wait_for_each_other() {
    let server = Server::start(Manner::Serve, content());
    let (folder, data_dir) = folder();
    let entry = entry("a.bin", &content(), None);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| fetch(&entry, &data_dir, &options(&server.base), &mut |_| {}).unwrap());
        }
    });
    assert_eq!(fs::read(folder.path().join("toy/a.bin")).unwrap(), content());
    assert_eq!(server.ranges(), [""]);
}
