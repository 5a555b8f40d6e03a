//! Loopback addresses, for agents that run side by side on one machine.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Below the ports that Linux (from 32768), macOS and Windows (from 49152) assign to outgoing
/// connections and to listeners on port 0. So a port of this range that is free stays free until
/// somebody asks for it by number.
const PORTS: Range<u16> = 20_000..32_000;

/// Loopback addresses that are free for TCP and UDP, and that will still be free when an agent
/// binds to one a moment later. No two calls of a process return the same address until all have
/// been tried.
///
/// # Errors
///
/// If fewer than `count` addresses are free.
///
/// ```
/// let addresses = consort_transport::free_addresses(3)?;
/// assert!(std::net::TcpListener::bind(addresses[0]).is_ok());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn free_addresses(count: usize) -> io::Result<Vec<SocketAddr>> {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    let ports = PORTS.len() as u32;
    // Processes that start together have similar ids; this makes them begin far from each other.
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
            "{count} free ports on {} are needed, from {} to {}; {} were found",
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
    fn no_address_is_returned_twice_or_while_it_is_in_use() {
        let first = free_addresses(50).unwrap();
        let held = TcpListener::bind(first[0]).unwrap();
        let second = free_addresses(50).unwrap();
        let all: HashSet<_> = first.iter().chain(&second).collect();
        assert_eq!(all.len(), 100);
        assert!(all.iter().all(|address| PORTS.contains(&address.port())));
        // All the others, once around: those in use are left out.
        let wanted = PORTS.len();
        let error = free_addresses(wanted).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{wanted} free ports on 127.0.0.1")), "{error}");
        drop(held);
    }
}
