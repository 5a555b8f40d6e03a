//! TCP sockets with the options that links need.
//!
//! The system chooses the sizes of the buffers: sizes set by hand would be capped far below what
//! it grows them to.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// How many connections may wait to be accepted.
const BACKLOG: u32 = 64;
/// A link on which sent data stay unacknowledged for so long is dead.
#[cfg(target_os = "linux")]
const SILENCE: Duration = Duration::from_secs(10);
/// An idle link is probed after `IDLE`, then three more times at intervals of `PROBE`.
const IDLE: Duration = Duration::from_secs(4);
const PROBE: Duration = Duration::from_secs(2);

/// Listens on `address`, even if a process that just ended used it.
pub(super) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // On other systems the option would let a second process bind a port that is in use.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Makes small frames leave at once, and a dead machine be noticed.
pub(super) fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    let keepalive = TcpKeepalive::new().with_time(IDLE).with_interval(PROBE);
    #[cfg(target_os = "linux")]
    let keepalive = keepalive.with_retries(3);
    socket.set_tcp_keepalive(&keepalive)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(SILENCE))?;
    Ok(())
}
