//! Which servers a worker may be told to load.

use crate::address::{self, Address};
use ipnet::IpNet;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// One destination that a worker may load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// A range of addresses, any port.
    Range(IpNet),
    /// A host, on one port or on any.
    Host {
        /// Name or address.
        host: String,
        /// The only port, if there is one.
        port: Option<u16>,
    },
}

/// A text that names no server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAllowed {
    /// It has a `/`, and is no range.
    #[error("`{0}` is no range of addresses; expected e.g. 10.0.0.0/8 or fd00::/8")]
    Range(String),
    /// It is no host.
    #[error("`{0}` is neither HOST, HOST:PORT nor a range like 10.0.0.0/8")]
    Host(String),
}

impl FromStr for Allowed {
    type Err = NotAllowed;

    fn from_str(text: &str) -> Result<Self, NotAllowed> {
        if text.contains('/') {
            let range = text.parse().map(Self::Range);
            return range.map_err(|_| NotAllowed::Range(text.to_owned()));
        }
        if let Ok(ip) = text.parse::<IpAddr>() {
            return Ok(Self::Host {
                host: ip.to_string(),
                port: None,
            });
        }
        if let Ok(Address { host, port }) = text.parse() {
            return Ok(Self::Host {
                host,
                port: Some(port),
            });
        }
        address::host_of(text)
            .map(|host| Self::Host { host, port: None })
            .ok_or_else(|| NotAllowed::Host(text.to_owned()))
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(range) => range.fmt(f),
            Self::Host { host, port: None } => f.write_str(host),
            Self::Host {
                host,
                port: Some(port),
            } => Address {
                host: host.clone(),
                port: *port,
            }
            .fmt(f),
        }
    }
}

impl Allowed {
    /// Whether it holds `target`; names are looked up with `resolve`.
    fn holds(&self, target: SocketAddr, resolve: &dyn Fn(&str) -> Vec<IpAddr>) -> bool {
        let ip = target.ip().to_canonical();
        match self {
            Self::Range(range) => range.contains(&ip),
            Self::Host { host, port } => {
                port.is_none_or(|port| port == target.port())
                    && match host.parse::<IpAddr>() {
                        Ok(own) => own.to_canonical() == ip,
                        Err(_) => resolve(host).iter().any(|own| own.to_canonical() == ip),
                    }
            }
        }
    }
}

/// All destinations that a worker may load; empty allows any.
#[derive(Clone, Debug, Default)]
pub struct AllowList(pub Vec<Allowed>);

impl AllowList {
    /// The first of `targets` that is not allowed: a name may stand for several addresses, and a
    /// run uses any of them.
    pub(crate) fn refuses(
        &self,
        targets: &[SocketAddr],
        resolve: &dyn Fn(&str) -> Vec<IpAddr>,
    ) -> Option<SocketAddr> {
        if self.0.is_empty() {
            return None;
        }
        let allowed = |target: &&SocketAddr| self.0.iter().any(|one| one.holds(**target, resolve));
        targets.iter().find(|target| !allowed(target)).copied()
    }
}

impl fmt::Display for AllowList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&words.join(", "))
    }
}

/// The addresses of a host as the system's resolver gives them; none when it knows none.
pub(crate) fn look_up(host: &str) -> Vec<IpAddr> {
    use std::net::ToSocketAddrs as _;
    (host, 0)
        .to_socket_addrs()
        .map(|found| found.map(|addr| addr.ip()).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[&str]) -> AllowList {
        AllowList(entries.iter().map(|entry| entry.parse().unwrap()).collect())
    }

    fn names(host: &str) -> Vec<IpAddr> {
        match host {
            "mercury" => vec!["192.168.50.12".parse().unwrap()],
            _ => Vec::new(),
        }
    }

    #[track_caller]
    fn assert_refuses(entries: &[&str], targets: &[&str], refused: Option<&str>) {
        let targets: Vec<SocketAddr> = targets.iter().map(|addr| addr.parse().unwrap()).collect();
        assert_eq!(
            list(entries).refuses(&targets, &names),
            refused.map(|addr| addr.parse().unwrap()),
            "{entries:?} {targets:?}"
        );
    }

    #[test]
    fn an_empty_list_allows_everything() {
        assert_refuses(&[], &["8.8.8.8:80"], None);
    }

    #[test]
    fn ranges_hosts_and_ports() {
        let entries = ["10.1.0.0/16", "127.0.0.1:3334", "mercury", "fd00::/8"];
        for target in [
            "10.1.255.1:9",
            "127.0.0.1:3334",
            "192.168.50.12:1",
            "[fd00::9]:80",
        ] {
            assert_refuses(&entries, &[target], None);
        }
        for target in [
            "10.2.0.1:9",
            "127.0.0.1:3335",
            "192.168.50.13:1",
            "[fe80::9]:80",
        ] {
            assert_refuses(&entries, &[target], Some(target));
        }
    }

    #[test]
    fn one_address_of_several_is_enough_to_refuse() {
        assert_refuses(
            &["10.0.0.1"],
            &["10.0.0.1:80", "10.0.0.2:80"],
            Some("10.0.0.2:80"),
        );
    }

    #[test]
    fn a_mapped_address_is_the_one_that_it_stands_for() {
        assert_refuses(&["10.0.0.0/8"], &["[::ffff:10.0.0.1]:80"], None);
        assert_refuses(
            &["10.0.0.0/8"],
            &["[::ffff:11.0.0.1]:80"],
            Some("[::ffff:11.0.0.1]:80"),
        );
    }

    #[test]
    fn what_is_no_destination_says_what_is() {
        for text in ["10.0.0.0/33", "a b", "", "x:99999"] {
            assert!(text.parse::<Allowed>().is_err(), "{text}");
        }
    }
}
