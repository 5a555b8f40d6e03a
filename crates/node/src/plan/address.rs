//! The address of an agent.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

/// A host and a port, as in `192.0.2.7:7400`, `[2001:db8::7]:7400` or `lab7.example.org:7400`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    host: String,
    port: u16,
}

impl Address {
    /// The name or IP address of the host, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, never 0.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl FromStr for Address {
    /// What is wrong with it.
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let (host, port) = text.rsplit_once(':').ok_or("there is no port")?;
        let port = port.parse().ok().filter(|&port| port != 0);
        let port = port.ok_or("the port is not a number from 1 to 65535")?;
        let bracketed = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Some(number) = bracketed {
            let number = number.parse::<Ipv6Addr>();
            let number = number.map_err(|_| "the brackets do not contain an IPv6 address")?;
            return Ok(Address { host: number.to_string(), port });
        }
        if host.contains(':') {
            return Err("an IPv6 address must be in brackets");
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if host.is_empty() || !host.chars().all(plain) {
            return Err("the host is neither a name nor an IP address");
        }
        Ok(Address { host: host.to_ascii_lowercase(), port })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}
