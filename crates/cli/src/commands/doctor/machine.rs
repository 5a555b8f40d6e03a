//! The processor, its memory, the clock, and other programs.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use consort_model::Isa;

use super::{Check, first_line_of};
use crate::commands::consensus::all_cores;

/// 2026-01-01: no release is older.
const FIRST_RELEASE: u64 = 1_767_225_600;
/// A smaller memory is too small for some of the paper's models with all their agents.
const LITTLE_MEMORY: u64 = 2 << 30;

pub(super) fn checks() -> Vec<Check> {
    let mut checks = vec![instructions(), threads(), memory(), large_pages(), clock()];
    checks.push(mpi());
    checks.push(git());
    checks
}

fn instructions() -> Check {
    let what = "instruction set";
    let widest = Isa::detect();
    let all: Vec<String> = Isa::available().map(|isa| isa.to_string()).collect();
    let found = format!("{widest} (available: {})", all.join(", "));
    match widest {
        Isa::Portable => Check::note(
            what,
            found,
            "training is several times slower than with AVX2 or NEON; in a virtual machine, let it \
             pass the processor's features through",
        ),
        _ => Check::ok(what, found),
    }
}

fn threads() -> Check {
    let threads = all_cores();
    match threads {
        1 => Check::note("threads", "1", "agents are trained one after the other"),
        _ => Check::ok("threads", format!("{threads} (--threads takes fewer)")),
    }
}

fn memory() -> Check {
    let what = "memory";
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    let Some(bytes) = kilobytes.map(|count| count.saturating_mul(1024)) else {
        return Check::ok(what, "unknown here; `consort train --dry-run` tells what a run needs");
    };
    let found = format!("{:.1} GB available", bytes as f64 / 1e9);
    match bytes < LITTLE_MEMORY {
        true => Check::note(what, found, "`consort train --dry-run` tells what a run needs"),
        false => Check::ok(what, found),
    }
}

fn large_pages() -> Check {
    let what = "large pages";
    let path = "/sys/kernel/mm/transparent_hugepage/enabled";
    let Ok(text) = fs::read_to_string(path) else {
        return Check::ok(what, "not offered by this system; up to 10 % slower without");
    };
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    match chosen.map(|(chosen, _)| chosen) {
        Some(chosen @ ("always" | "madvise")) => Check::ok(what, chosen),
        _ => Check::note(
            what,
            "switched off",
            format!("up to 10 % slower without; on: echo madvise | sudo tee {path}"),
        ),
    }
}

#[allow(clippy::disallowed_methods, reason = "it examines the clock")]
fn clock() -> Check {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let found = crate::provenance::universal_time(SystemTime::now());
    match seconds < FIRST_RELEASE {
        true => Check::bad(
            "clock",
            format!("{found}, which is in the past"),
            "set the clock (timedatectl set-ntp true): downloads fail, and results get wrong dates",
        ),
        false => Check::ok("clock", found),
    }
}

fn mpi() -> Check {
    let what = "MPI";
    let launcher = first_line_of("mpirun", &["--version"]);
    let advice = "only clusters need it: docs/cluster.md";
    match (cfg!(feature = "mpi"), launcher) {
        (true, Some(version)) => Check::ok(what, version),
        (true, None) => Check::note(what, "built in, but there is no mpirun in PATH", advice),
        (false, Some(version)) => {
            let advice = format!("{advice}; build with --features mpi");
            Check::note(what, format!("not built in ({version} is here)"), advice)
        }
        (false, None) => Check::note(what, "not built in, and there is no mpirun", advice),
    }
}

fn git() -> Check {
    let what = "git";
    let built = env!("CONSORT_COMMIT");
    match (built, first_line_of("git", &["--version"])) {
        ("unknown", _) => Check::note(
            what,
            "this program does not know its commit, which results should name",
            "build it in a clone of the repository, with git installed",
        ),
        (_, Some(version)) => Check::ok(what, version),
        (_, None) => Check::note(
            what,
            "not installed",
            "only building needs it, so that results name their commit",
        ),
    }
}
