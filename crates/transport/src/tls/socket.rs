//! TCP sockets as links need them.
//!
//! Sizes of buffers are left to the system: set by hand they would be capped at a fraction of
//! what it grows them to.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 64;
/// A link on which nothing is acknowledged for so long is dead.
#[cfg(target_os = "linux")]
const SILENCE: Duration = Duration::from_secs(10);
/// A link at rest is probed after so long, then three times more at this interval.
const REST: Duration = Duration::from_secs(4);
const PROBE: Duration = Duration::from_secs(2);

/// Listens at `address`, also if a process that ended a moment ago had it.
pub(super) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // Elsewhere the option would let a second process take a port that is in use.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Small frames leave at once, and a dead machine is noticed.
pub(super) fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    let keepalive = TcpKeepalive::new().with_time(REST).with_interval(PROBE);
    #[cfg(target_os = "linux")]
    let keepalive = keepalive.with_retries(3);
    socket.set_tcp_keepalive(&keepalive)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(SILENCE))?;
    Ok(())
}
