//! The loopback interface, the ports of `consort init`, and the transports of this program.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use super::Check;

/// Agents on one machine take so many ports by default.
const PORTS: u16 = 8;
const TIMEOUT: Duration = Duration::from_secs(2);
const HOME: Ipv4Addr = Ipv4Addr::LOCALHOST;

pub(super) fn checks(base_port: u16) -> Vec<Check> {
    vec![transports(), loopback(), ports(base_port)]
}

fn transports() -> Check {
    let built = [
        ("iroh", cfg!(feature = "iroh")),
        ("tls", cfg!(feature = "tls")),
        ("mdns", cfg!(feature = "mdns")),
        ("downloads", cfg!(feature = "download")),
    ];
    let names = |wanted: bool| -> Vec<&str> {
        built.iter().filter(|(_, here)| *here == wanted).map(|(name, _)| *name).collect()
    };
    let (here, missing) = (names(true).join(", "), names(false).join(", "));
    let found = if here.is_empty() { String::from("none") } else { here };
    match cfg!(feature = "iroh") || cfg!(feature = "tls") {
        true => Check::ok("built in", found),
        false => Check::note(
            "built in",
            found,
            format!("agents on several machines need a transport; not built in: {missing}"),
        ),
    }
}

fn loopback() -> Check {
    let what = "loopback";
    match tcp().and_then(|()| udp()) {
        Ok(()) => Check::ok(what, format!("TCP and UDP reach {HOME}")),
        Err(error) => Check::bad(
            what,
            format!("no connection to {HOME}: {error}"),
            "`consort launch --local` needs it: ip link set lo up; allow it in the firewall",
        ),
    }
}

fn tcp() -> std::io::Result<()> {
    let listener = TcpListener::bind((HOME, 0))?;
    let mut out = TcpStream::connect_timeout(&listener.local_addr()?, TIMEOUT)?;
    out.write_all(b"consort")?;
    let (mut incoming, _) = listener.accept()?;
    incoming.set_read_timeout(Some(TIMEOUT))?;
    incoming.read_exact(&mut [0; 7])
}

fn udp() -> std::io::Result<()> {
    let (here, there) = (UdpSocket::bind((HOME, 0))?, UdpSocket::bind((HOME, 0))?);
    there.set_read_timeout(Some(TIMEOUT))?;
    here.send_to(b"consort", there.local_addr()?)?;
    there.recv(&mut [0; 7]).map(drop)
}

fn ports(base: u16) -> Check {
    let what = "ports";
    let last = base + PORTS - 1;
    let free = |port: u16| {
        TcpListener::bind((HOME, port)).is_ok() && UdpSocket::bind((HOME, port)).is_ok()
    };
    let taken: Vec<String> =
        (base..=last).filter(|&port| !free(port)).map(|port| port.to_string()).collect();
    match taken.is_empty() {
        true => Check::ok(what, format!("{base} to {last} are free")),
        false => Check::note(
            what,
            format!("of {base} to {last}, these are taken: {}", taken.join(", ")),
            "an agent may be running; for other ports: consort init --base-port PORT",
        ),
    }
}
