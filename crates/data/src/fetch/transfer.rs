//! One file over HTTP: resumed after a cut, tried again after a fault that may pass, at every
//! address it has.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use ureq::Agent;
use ureq::http::{Response, header};

use super::{FetchOptions, Progress, digest};
use crate::DataError;
use crate::catalogue::Download;
use crate::formats::describe;

/// Why there is no file.
pub(super) enum Problem {
    /// This machine's fault: no other address helps.
    Here(DataError),
    /// What happened at each address.
    There(String),
}

/// Why an attempt failed.
enum Fault {
    /// This machine's fault.
    Here(DataError),
    /// It may pass: a cut connection, a busy server.
    Passing(String),
    /// It will not: no such file, another file.
    Lasting(String),
}

/// The addresses of a file, best first.
pub(super) fn addresses(download: &Download, options: &FetchOptions) -> Vec<String> {
    match &options.base {
        Some(base) => vec![format!("{}/{}", base.trim_end_matches('/'), download.file)],
        None => download.bases.iter().map(|base| format!("{base}{}", download.file)).collect(),
    }
}

/// Fetches `download` to `part`, going on from what is there, until size and digests are right.
pub(super) fn transfer(
    download: &Download,
    part: &Path,
    options: &FetchOptions,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), Problem> {
    let agent = agent(options);
    let mut addresses = addresses(download, options);
    let mut lasting = Vec::new();
    let mut pause = options.pause;
    for attempt in 0..=options.retries {
        let mut passing = Vec::new();
        for address in std::mem::take(&mut addresses) {
            match attempt_once(&agent, &address, download, part, progress) {
                Ok(()) => return Ok(()),
                Err(Fault::Here(error)) => return Err(Problem::Here(error)),
                Err(Fault::Lasting(text)) => lasting.push(format!("{address}: {text}")),
                Err(Fault::Passing(text)) => {
                    passing.push(format!("{address}: {text}"));
                    addresses.push(address);
                }
            }
        }
        if addresses.is_empty() || attempt == options.retries {
            lasting.extend(passing);
            break;
        }
        std::thread::sleep(pause);
        pause *= 2;
    }
    Err(Problem::There(lasting.join("; ")))
}

fn agent(options: &FetchOptions) -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .user_agent(concat!("consort/", env!("CARGO_PKG_VERSION")))
        .timeout_connect(Some(options.timeout))
        .timeout_recv_response(Some(options.timeout))
        .timeout_per_read(Some(options.timeout))
        .build()
        .into()
}

fn attempt_once(
    agent: &Agent,
    address: &str,
    download: &Download,
    part: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), Fault> {
    let local = |action| {
        let error = DataError::io(action, part);
        move |source| Fault::Here(error(source))
    };
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .read(true)
        .open(part)
        .map_err(local("write"))?;
    let mut have = file.seek(SeekFrom::End(0)).map_err(local("read"))?;
    let resumed = have > 0;
    if have < download.bytes {
        let mut request = agent.get(address);
        if resumed {
            request = request.header(header::RANGE, format!("bytes={have}-"));
        }
        let response = request.call().map_err(|error| Fault::Passing(error.to_string()))?;
        if response.status() == 416 {
            // There are no bytes from there on: what is here was of another file.
            let _ = fs::remove_file(part);
            return Err(Fault::Passing(format!("the file has no more than {have} bytes")));
        }
        if begins_anew(&response, have)? {
            file.set_len(0).map_err(local("write"))?;
            have = 0;
        }
        receive(response, &mut file, have, download, part, progress)?;
    }
    drop(file);
    digest::check(part, download).map_err(|problem| {
        // What was here before may be to blame; a file that came whole is simply another one.
        let _ = fs::remove_file(part);
        if resumed { Fault::Passing(problem) } else { Fault::Lasting(problem) }
    })
}

/// Whether the answer is the whole file rather than the rest that was asked for.
fn begins_anew(response: &Response<ureq::Body>, have: u64) -> Result<bool, Fault> {
    let field = |name| {
        response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    };
    let status = response.status();
    match status.as_u16() {
        200 | 206 if field(header::CONTENT_TYPE).starts_with("text/html") => {
            Err(Fault::Lasting("got an HTML page instead of the file".to_owned()))
        }
        200 => Ok(true),
        206 if field(header::CONTENT_RANGE).starts_with(&format!("bytes {have}-")) => Ok(false),
        206 => Err(Fault::Lasting(format!(
            "asked for the bytes from {have} on, got `{}`",
            field(header::CONTENT_RANGE)
        ))),
        408 | 429 | 500..=599 => Err(Fault::Passing(format!("the server says {status}"))),
        _ => Err(Fault::Lasting(format!("the server says {status}"))),
    }
}

/// Appends the body to the file: never more than the file may have.
fn receive(
    response: Response<ureq::Body>,
    file: &mut File,
    mut have: u64,
    download: &Download,
    part: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), Fault> {
    let total = download.bytes;
    let mut buffer = vec![0; 1 << 16];
    let offered = response.body().content_length();
    let mut body = response.into_body().into_reader();
    if let Some(offered) = offered.filter(|&offered| have + offered != total) {
        let count = body.read(&mut buffer).unwrap_or(0);
        let got = format!("{} ({})", have + offered, describe(&buffer[..count]));
        return Err(Fault::Lasting(format!("expected {total} bytes, got {got}")));
    }
    loop {
        progress(Progress { file: download.file, bytes: have, total });
        let count = body
            .read(&mut buffer)
            .map_err(|error| Fault::Passing(format!("{error}, after {have} of {total} bytes")))?;
        if count == 0 {
            break;
        }
        have += count as u64;
        if have > total {
            let _ = fs::remove_file(part);
            return Err(Fault::Lasting(format!("expected {total} bytes, got more")));
        }
        let write = DataError::io("write", part);
        file.write_all(&buffer[..count]).map_err(|source| Fault::Here(write(source)))?;
    }
    if have < total {
        return Err(Fault::Passing(format!("the connection ended after {have} of {total} bytes")));
    }
    Ok(())
}
