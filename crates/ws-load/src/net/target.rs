//! Where to connect: a URL taken apart, its name resolved, its TLS set up.

use super::reach::{self, PassedOver};
use super::tls::Tls;
use run_record::Plan;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// A server to load.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The address that all clients of the run connect to.
    pub(crate) addr: SocketAddr,
    /// Other addresses of its name, that took no connection before this one was taken.
    pub(crate) passed_over: Vec<PassedOver>,
    /// Value of the `Host` header.
    pub(crate) authority: String,
    /// Path and query.
    pub(crate) path: String,
    /// TLS, for `wss`.
    pub(crate) tls: Option<Tls>,
}

/// A target that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Not a URL.
    #[error("`{url}` is not a URL ({reason}); expected something like ws://127.0.0.1:3334/ws")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Neither ws nor wss.
    #[error("`{url}`: the scheme `{scheme}` is not supported; use ws:// or wss://")]
    Scheme {
        /// What was given.
        url: String,
        /// Its scheme.
        scheme: String,
    },
    /// A user or a password, which the opening handshake has no place for but a header.
    #[error(
        "the URL of `{host}` has a user or a password in it, which are not sent; leave them out, and give the server a token in the path or query if it takes one"
    )]
    UserInfo {
        /// The name; the URL is not shown, since it holds a secret.
        host: String,
    },
    /// A fragment, which RFC 6455, 3, forbids.
    #[error("`{url}` has a fragment, which is not sent (RFC 6455, 3); write `#` as %23")]
    Fragment {
        /// What was given.
        url: String,
    },
    /// The name does not resolve.
    #[error(
        "cannot resolve the host name `{host}`: {reason}; check its spelling or use an address"
    )]
    Resolve {
        /// The name.
        host: String,
        /// The resolver's error.
        reason: String,
    },
    /// A source address of the other family.
    #[error(
        "the source address {local} cannot reach {remote}: one is IPv4, the other IPv6; pass -l addresses of the server's family"
    )]
    Family {
        /// The source address.
        local: std::net::IpAddr,
        /// The server's address.
        remote: SocketAddr,
    },
    /// A certificate file that cannot be used.
    #[error("cannot read certificates from {}: {reason}", path.display())]
    Certificates {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A key file that cannot be used.
    #[error("cannot read the key of the clients' certificate from {}: {reason}", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A certificate and a key of which the clients can show nothing.
    #[error(
        "the certificate in {} cannot be shown with the key in {}: {reason}", cert.display(), key.display()
    )]
    KeyOfAnother {
        /// The certificate.
        cert: PathBuf,
        /// The key.
        key: PathBuf,
        /// What is wrong with the two.
        reason: String,
    },
    /// The name cannot be checked against a certificate.
    #[error("`{host}` is not a name that a certificate can carry")]
    ServerName {
        /// The name.
        host: String,
    },
}

impl Target {
    /// Takes the plan's URL apart, resolves its host, and chooses one of its addresses.
    pub(crate) fn of(plan: &Plan) -> Result<Self, TargetError> {
        Self::at(plan, &target_addrs(plan)?)
    }

    /// As [`Self::of`], where the host has been resolved: no other address is connected to.
    pub(crate) fn at(plan: &Plan, addrs: &[SocketAddr]) -> Result<Self, TargetError> {
        let Place {
            url, secure, host, ..
        } = Place::of(plan)?;
        let bare_host = bare(&host);
        let (addr, passed_over) = reach::first_open(
            &reachable(addrs, plan, bare_host)?,
            plan.target.local_addrs.first().copied(),
            Duration::from_nanos(plan.connection.timeout.ns()),
        )
        .ok_or_else(|| no_address(bare_host))?;
        let tls = secure.then(|| Tls::new(bare_host, plan)).transpose()?;
        Ok(Self {
            addr,
            passed_over,
            authority: url
                .port()
                .map_or_else(|| host.clone(), |port| format!("{host}:{port}")),
            path: match url.query() {
                Some(query) => format!("{}?{query}", url.path()),
                None => url.path().to_owned(),
            },
            tls,
        })
    }
}

/// What a plan's URL says.
struct Place {
    url: Url,
    secure: bool,
    /// IPv6 in brackets.
    host: String,
    port: u16,
}

impl Place {
    fn of(plan: &Plan) -> Result<Self, TargetError> {
        let url = Url::parse(&plan.target.url).map_err(|error| TargetError::Url {
            url: plan.target.url.clone(),
            reason: error.to_string(),
        })?;
        let secure = match url.scheme() {
            "ws" => false,
            "wss" => true,
            other => {
                return Err(TargetError::Scheme {
                    url: plan.target.url.clone(),
                    scheme: other.to_owned(),
                });
            }
        };
        let host = url.host_str().ok_or_else(|| TargetError::Url {
            url: plan.target.url.clone(),
            reason: "no host".to_owned(),
        })?;
        if !url.username().is_empty() || url.password().is_some() {
            let host = host.to_owned();
            return Err(TargetError::UserInfo { host });
        }
        if url.fragment().is_some() {
            let url = plan.target.url.clone();
            return Err(TargetError::Fragment { url });
        }
        Ok(Self {
            host: host.to_owned(),
            port: url.port_or_known_default().unwrap_or(80),
            secure,
            url,
        })
    }
}

fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

/// Whether the plan's URL names a server, without looking for it.
///
/// # Errors
/// [`TargetError`] with what is wrong with it.
pub fn check_url(plan: &Plan) -> Result<(), TargetError> {
    Place::of(plan).map(|_| ())
}

/// All addresses that the name of a plan's server stands for, of which a run takes the first that
/// opens.
///
/// # Errors
/// [`TargetError`] when the URL names no server, or its name does not resolve.
pub fn target_addrs(plan: &Plan) -> Result<Vec<SocketAddr>, TargetError> {
    let place = Place::of(plan)?;
    look_up(bare(&place.host), place.port)
}

/// At least one address.
fn look_up(host: &str, port: u16) -> Result<Vec<SocketAddr>, TargetError> {
    let failed = |reason: String| TargetError::Resolve {
        host: host.to_owned(),
        reason,
    };
    let all: Vec<SocketAddr> = (host, port)
        .to_socket_addrs()
        .map_err(|error| failed(error.to_string()))?
        .collect();
    if all.is_empty() {
        return Err(no_address(host));
    }
    Ok(all)
}

fn no_address(host: &str) -> TargetError {
    TargetError::Resolve {
        host: host.to_owned(),
        reason: "it has no address".to_owned(),
    }
}

/// Those addresses, at least one, that the plan's source addresses can reach.
fn reachable(all: &[SocketAddr], plan: &Plan, host: &str) -> Result<Vec<SocketAddr>, TargetError> {
    let other_family = |remote: &SocketAddr| -> Option<std::net::IpAddr> {
        let mut locals = plan.target.local_addrs.iter().copied();
        locals.find(|local| local.is_ipv4() != remote.is_ipv4())
    };
    let reachable: Vec<SocketAddr> = all
        .iter()
        .copied()
        .filter(|remote| other_family(remote).is_none())
        .collect();
    if !reachable.is_empty() {
        return Ok(reachable);
    }
    let remote = *all.first().ok_or_else(|| no_address(host))?;
    Err(match other_family(&remote) {
        Some(local) => TargetError::Family { local, remote },
        None => no_address(host),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> Result<Target, TargetError> {
        Target::of(&crate::test_plan(url))
    }

    #[test]
    fn urls_are_taken_apart() {
        let plain = target("ws://127.0.0.1:3334/ws?vsn=2.0.0").unwrap();
        assert_eq!(plain.addr, "127.0.0.1:3334".parse().unwrap());
        assert_eq!(plain.authority, "127.0.0.1:3334");
        assert_eq!(plain.path, "/ws?vsn=2.0.0");
        assert!(plain.tls.is_none());
        let bare = target("ws://127.0.0.1").unwrap();
        assert_eq!((bare.addr.port(), bare.path.as_str()), (80, "/"));
        assert_eq!(bare.authority, "127.0.0.1");
        assert_eq!(target("ws://[::1]:9/").unwrap().authority, "[::1]:9");
    }

    #[test]
    fn each_bad_url_has_its_own_words() {
        let words = |url: &str| target(url).unwrap_err().to_string();
        assert!(words("127.0.0.1:80").contains("is not a URL"));
        assert!(words("http://127.0.0.1/").contains("use ws:// or wss://"));
        for secret in ["ws://user:secret@h/", "ws://:secret@h/", "ws://secret@h/"] {
            let words = words(secret);
            assert!(
                words.contains("not sent") && !words.contains("secret"),
                "{words}"
            );
        }
        assert!(words("ws://127.0.0.1/#x").contains("%23"));
        assert!(words("ws://no-such-host.invalid/").contains("cannot resolve"));
        let mut plan = crate::test_plan("ws://127.0.0.1/");
        plan.target.local_addrs = vec!["::1".parse().unwrap()];
        assert!(matches!(Target::of(&plan), Err(TargetError::Family { .. })));
        let mut plan = crate::test_plan("wss://127.0.0.1/");
        plan.target.ca_file = Some("/nonexistent.pem".into());
        assert!(matches!(
            Target::of(&plan),
            Err(TargetError::Certificates { .. })
        ));
    }
}
