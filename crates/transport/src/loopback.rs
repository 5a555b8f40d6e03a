//! Addresses of this machine alone, for agents that run side by side on it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Below every port that Linux (from 32768), macOS and Windows (from 49152) give to outgoing
/// connections and to listeners that ask for any: a port that is free here stays free until
/// somebody asks for it by its number.
const PORTS: Range<u16> = 20_000..32_000;

/// Loopback addresses that nobody has, neither for TCP nor for UDP, and that will still be free
/// when an agent started a moment later binds to one. No two calls of a process return the same
/// one until all have been tried.
///
/// # Errors
///
/// If fewer than `count` are free.
///
/// ```
/// let addresses = consort_transport::free_addresses(3)?;
/// assert!(std::net::TcpListener::bind(addresses[0]).is_ok());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn free_addresses(count: usize) -> io::Result<Vec<SocketAddr>> {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    let ports = PORTS.len() as u32;
    // Processes that start together have neighbouring numbers: they begin far from each other.
    let first = std::process::id().wrapping_mul(997) % ports;
    let next = |_| {
        let port = (first + TAKEN.fetch_add(1, Ordering::Relaxed) % ports) % ports;
        SocketAddr::from((Ipv4Addr::LOCALHOST, PORTS.start + port as u16))
    };
    let free = |address: &SocketAddr| {
        TcpListener::bind(address).is_ok() && UdpSocket::bind(address).is_ok()
    };
    let found: Vec<_> = (0..ports).map(next).filter(free).take(count).collect();
    if found.len() < count {
        let error = format!(
            "{count} free ports of {} are needed, from {} to {}; {} were found",
            Ipv4Addr::LOCALHOST,
            PORTS.start,
            PORTS.end - 1,
            found.len(),
        );
        return Err(io::Error::new(io::ErrorKind::AddrInUse, error));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_address_is_given_twice_or_while_somebody_has_it() {
        let first = free_addresses(50).unwrap();
        let held = TcpListener::bind(first[0]).unwrap();
        let second = free_addresses(50).unwrap();
        let all: HashSet<_> = first.iter().chain(&second).collect();
        assert_eq!(all.len(), 100);
        assert!(all.iter().all(|address| PORTS.contains(&address.port())));
        // All the others, once around: those that are held are left out.
        let wanted = PORTS.len();
        let error = free_addresses(wanted).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{wanted} free ports of 127.0.0.1")), "{error}");
        drop(held);
    }
}
