//! `HOST:PORT` as users write it.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// A host, by name or address, and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// Name or address, IPv6 without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl Address {
    /// The addresses that the host stands for.
    ///
    /// # Errors
    /// What the resolver says.
    pub(crate) async fn resolve(&self) -> std::io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((self.host.as_str(), self.port))
            .await?
            .collect())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.parse::<Ipv6Addr>().is_ok() {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// A text that is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}; expected HOST:PORT, e.g. neptune:4000 or [fd00::1]:4000")]
pub struct NoAddress {
    why: Unfit,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Unfit {
    #[error("it has no port")]
    NoPort,
    #[error("`{0}` is not a port")]
    Port(String),
    #[error("`{0}` is not a host")]
    Host(String),
}

impl From<Unfit> for NoAddress {
    fn from(why: Unfit) -> Self {
        Self { why }
    }
}

impl FromStr for Address {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Self, NoAddress> {
        let (host, port) = text.rsplit_once(':').ok_or(Unfit::NoPort)?;
        let number = port.parse().map_err(|_| Unfit::Port(port.to_owned()))?;
        Ok(Self {
            host: host_of(host).ok_or_else(|| Unfit::Host(host.to_owned()))?,
            port: number,
        })
    }
}

/// A host name or address; IPv6 in brackets, so that its last group is not taken for a port.
pub(crate) fn host_of(text: &str) -> Option<String> {
    if let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        return inner.parse::<Ipv6Addr>().is_ok().then(|| inner.to_owned());
    }
    let named = !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'));
    named.then(|| text.to_owned())
}

/// Whether only this machine can reach an address.
pub(crate) fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_and_addresses_with_ports() {
        for (text, host, port) in [
            ("neptune:4000", "neptune", 4000),
            ("192.168.50.5:1", "192.168.50.5", 1),
            ("[::1]:65535", "::1", 65535),
            (
                "worker-0.workers.bench.svc:4000",
                "worker-0.workers.bench.svc",
                4000,
            ),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!((address.host.as_str(), address.port), (host, port));
            assert_eq!(address.to_string(), text);
        }
        for text in [
            "neptune", "neptune:", ":4000", "::1:4000", "a:65536", "a b:1", "ws://a:1", "[a]:1",
        ] {
            let error = text.parse::<Address>().unwrap_err();
            assert!(
                error.to_string().contains("expected HOST:PORT"),
                "{text}: {error}"
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_alike(text in "\\PC{0,40}") {
            if let Ok(address) = text.parse::<Address>() {
                prop_assert_eq!(address.to_string().parse::<Address>().unwrap(), address);
            }
        }
    }

    #[test]
    fn a_mapped_loopback_address_is_loopback() {
        for (ip, expected) in [
            ("127.9.9.9", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("0.0.0.0", false),
            ("::", false),
            ("10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(ip.parse().unwrap()), expected, "{ip}");
        }
    }
}
