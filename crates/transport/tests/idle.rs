//! Waiting costs almost nothing. The only test of its process, whose time it measures.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(all(feature = "tls", feature = "iroh", target_os = "linux"))]

#[allow(dead_code, reason = "made for the other tests as well")]
mod support;

use std::time::Duration;

use consort_transport::{IrohTransport, TlsTransport, Transport};
use support::pair;

#[test]
fn waiting_takes_almost_no_processor_time() {
    let (mut zero, mut one) = pair::<TlsTransport>();
    let (mut two, mut three) = pair::<IrohTransport>();
    let before = ticks();
    std::thread::scope(|scope| {
        scope.spawn(|| while zero.wait(Duration::from_secs(2)).is_some() {});
        scope.spawn(|| while one.wait(Duration::from_secs(2)).is_some() {});
        scope.spawn(|| while two.wait(Duration::from_secs(2)).is_some() {});
        scope.spawn(|| while three.wait(Duration::from_secs(2)).is_some() {});
    });
    // Measured: 1 tick of 10 ms. One thread that spins would take 200.
    let taken = ticks() - before;
    assert!(taken < 40, "{taken} ticks of processor time in 2 s of waiting");
}

/// Processor time of this process so far, in hundredths of a second.
fn ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name, which may contain spaces, is followed by the state and then by numbers; user and
    // system time are the 14th and 15th field.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}
