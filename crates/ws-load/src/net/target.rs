//! Where to connect: a URL taken apart, its name resolved, its TLS set up.

use super::asks::{Asks, Places, Unasked};
use super::data::DataError;
use super::endpoint::Endpoint;
use super::origins::{Origin, origins};
use super::reach::{self, PassedOver};
use super::tls::Tls;
use super::url_parts::{UrlParts, bare};
use crate::lines::{Lines, LinesError};
use plan::Plan;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A server to load.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// What all clients of the run connect to; of several nodes the first.
    pub(crate) endpoint: Endpoint,
    /// The nodes of the server; empty where it has one address.
    nodes: Vec<Endpoint>,
    /// Other addresses of its name, that took no connection before this one was taken.
    pub(crate) passed_over: Vec<PassedOver>,
    /// What each client asks for.
    pub(crate) asks: Asks,
    /// The lines that requests carry.
    pub(crate) lines: Option<Arc<Lines>>,
    /// TLS, for `wss`.
    pub(crate) tls: Option<Tls>,
    /// Other servers, of absolute URLs of requests over HTTP.
    pub(crate) origins: HashMap<String, Origin>,
    /// Host and, unless it is the scheme's own, port of the server.
    pub(crate) authority: String,
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
    /// The URL of a printed plan, which lacks its secrets.
    #[error(
        "the URL of the server or of the proxy has REDACTED in the place of a secret, as written plans have: give it in full, or have connection.query or connection.headers refer to it by env:VARIABLE or file:PATH"
    )]
    Redacted,
    /// Addresses for another name.
    #[error("target.resolve {given} is not used: clients connect to {host}:{port}")]
    Unused {
        /// The host and port that it is for.
        given: String,
        /// The host that is connected to.
        host: String,
        /// Its port.
        port: u16,
    },
    /// Not the URL of a proxy. It is not shown, since it may hold a password.
    #[error(
        "target.proxy is no URL of a proxy ({reason}); expected http://HOST:PORT, with USER:PASSWORD@ before the host where it wants them"
    )]
    Proxy {
        /// What is wrong with it.
        reason: String,
    },
    /// A Unix socket that nothing can be connected to.
    #[error("cannot connect to the Unix socket {}: {reason}; is the server running, and on this path?", path.display())]
    Unix {
        /// Its path.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A variable, and nothing that it could stand for.
    #[error(
        "`{key}` has the variable {{{name}}}, which is neither a placeholder (docs/dialects.md) nor a column, since there is no data file: name one in connection.data, or write `{{{{` for a brace"
    )]
    NoData {
        /// The plan's key.
        key: &'static str,
        /// The variable.
        name: String,
    },
    /// A data file that cannot be used.
    #[error("the data file {0}")]
    Data(#[from] DataError),
    /// A file of payload lines that cannot be used.
    #[error("the payload lines {0}")]
    Lines(#[from] LinesError),
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
        "the source address {local} cannot reach {remote}: one is IPv4, the other IPv6; have addresses of the server's family in target.local_addrs"
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
    /// A key file that cannot be used. Its path is not shown: it may be the key.
    #[error(
        "cannot read the key of the clients' certificate: {reason}; have connection.tls.client_key name a PEM file that holds it"
    )]
    Key {
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

impl From<Unasked> for TargetError {
    fn from(unasked: Unasked) -> Self {
        match unasked {
            Unasked::NoData(key, name) => Self::NoData { key, name },
            Unasked::Data(error) => Self::Data(error),
        }
    }
}

impl Target {
    /// Takes the plan's URL apart, resolves its host, and chooses one of its addresses.
    pub(crate) fn new(plan: &Plan) -> Result<Self, TargetError> {
        Self::at(plan, &target_addrs(plan)?)
    }

    /// As [`Self::new`], where the host has been resolved: no other address is connected to.
    pub(crate) fn at(plan: &Plan, addrs: &[SocketAddr]) -> Result<Self, TargetError> {
        let place = UrlParts::new(plan)?;
        let (endpoint, passed_over) = endpoint(plan, &place, addrs)?;
        let tls = place.secure.then(|| Tls::new(bare(&place.host), plan));
        let tunnel = place.proxy.as_ref().map(|proxy| {
            let authority = format!("{}:{}", place.host, place.port);
            (authority, proxy.authorization.clone())
        });
        let asks = Asks::new(
            plan,
            Places {
                target: &place.target,
                authority: &place.authority,
                authorization: place.authorization.clone(),
                users: place.users(),
                tunnel,
            },
        )?;
        Ok(Self {
            endpoint,
            nodes: plan
                .target
                .nodes
                .iter()
                .copied()
                .map(Endpoint::from)
                .collect(),
            passed_over,
            asks,
            lines: Lines::new(plan)?.map(Arc::new),
            tls: tls.transpose()?,
            origins: origins(plan, &place)?,
            authority: place.authority,
        })
    }
}

impl Target {
    /// How many nodes there are.
    pub(crate) fn nodes(&self) -> u64 {
        self.nodes.len().max(1) as u64
    }

    /// Where a node is, by its number from 0.
    pub(crate) fn node(&self, number: u32) -> &Endpoint {
        self.nodes.get(number as usize).unwrap_or(&self.endpoint)
    }
}

/// What the clients connect to, and the addresses that were tried before it.
fn endpoint(
    plan: &Plan,
    place: &UrlParts,
    addrs: &[SocketAddr],
) -> Result<(Endpoint, Vec<PassedOver>), TargetError> {
    if let Some(path) = &plan.target.unix_socket {
        check_socket(path)?;
        return Ok((Endpoint::Unix(path.as_path().into()), Vec::new()));
    }
    let (host, _) = place.next_host();
    if let Some(first) = plan.target.nodes.first() {
        for node in &plan.target.nodes {
            reachable(&[*node], plan, host)?;
        }
        return Ok((Endpoint::Tcp(*first), Vec::new()));
    }
    let (addr, passed_over) = reach::first_open(
        &reachable(addrs, plan, host)?,
        plan.target.local_addrs.first().copied(),
        Duration::from_nanos(plan.connection.timeout.ns()),
    )
    .ok_or_else(|| no_address(host))?;
    let endpoint = match place.proxy {
        Some(_) => Endpoint::Proxy(addr),
        None => Endpoint::Tcp(addr),
    };
    Ok((endpoint, passed_over))
}

fn check_socket(path: &Path) -> Result<(), TargetError> {
    let unfit = |reason: String| TargetError::Unix {
        path: path.to_owned(),
        reason,
    };
    let facts = std::fs::metadata(path).map_err(|error| unfit(error.to_string()))?;
    match facts.file_type().is_socket() {
        true => Ok(()),
        false => Err(unfit("it is no socket".to_owned())),
    }
}

/// The address of the server of a plan, where clients connect to it and not to a proxy.
pub(crate) fn server_addr(plan: &Plan) -> Option<SocketAddr> {
    let place = UrlParts::new(plan).ok()?;
    let addrs = target_addrs(plan).ok()?;
    endpoint(plan, &place, &addrs).ok()?.0.server()
}

/// Whether the plan's URL names a server, without looking for it.
///
/// # Errors
/// [`TargetError`] with what is wrong with it.
pub fn check_url(plan: &Plan) -> Result<(), TargetError> {
    UrlParts::new(plan)?.check(plan)
}

/// All addresses that the name of a plan's server, or of the proxy before it, stands for, of which a
/// run takes the first that opens. None of a Unix socket.
///
/// # Errors
/// [`TargetError`] when the URL names no server, or its name does not resolve.
pub fn target_addrs(plan: &Plan) -> Result<Vec<SocketAddr>, TargetError> {
    let place = UrlParts::new(plan)?;
    match plan.target.unix_socket {
        Some(_) => Ok(Vec::new()),
        None if !plan.target.nodes.is_empty() => Ok(plan.target.nodes.clone()),
        None => place.addrs(plan),
    }
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
        Target::new(&crate::test_plan(url))
    }

    fn request(target: &Target, client: u64) -> String {
        let mut out = Vec::new();
        let rest = ws_proto::UpgradeRequest {
            authority: "",
            target: "",
            key: "k",
            origin: None,
            subprotocol: None,
            deflate: None,
        };
        target.asks.of_client(client, &[]).encode(rest, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn urls_are_taken_apart() {
        for (url, line, host) in [
            (
                "ws://127.0.0.1:3334/ws?vsn=2.0.0",
                "/ws?vsn=2.0.0",
                "127.0.0.1:3334",
            ),
            ("ws://127.0.0.1", "/", "127.0.0.1"),
            ("ws://[::1]:9/a%7Bb%7D?x={{a}", "/a%7Bb%7D?x={a}", "[::1]:9"),
        ] {
            let plain = target(url).unwrap();
            assert!(plain.tls.is_none());
            let head = format!("GET {line} HTTP/1.1\r\nHost: {host}\r\n");
            let request = request(&plain, 0);
            assert!(request.starts_with(&head), "{request}");
        }
        let addr = |url| target(url).unwrap().endpoint.server().unwrap();
        assert_eq!(addr("ws://127.0.0.1"), "127.0.0.1:80".parse().unwrap());
    }

    #[test]
    fn each_bad_url_has_its_own_words() {
        let words = |url: &str| target(url).unwrap_err().to_string();
        assert!(words("127.0.0.1:80").contains("is not a URL"));
        assert!(words("http://127.0.0.1/").contains("use ws:// or wss://"));
        assert!(words("ws://127.0.0.1/#x").contains("%23"));
        assert!(words("ws://no-such-host.invalid/").contains("cannot resolve"));
        let mut plan = crate::test_plan("ws://127.0.0.1/");
        plan.target.local_addrs = vec!["::1".parse().unwrap()];
        assert!(matches!(
            Target::new(&plan),
            Err(TargetError::Family { .. })
        ));
        assert!(words("ws://127.0.0.1/{t}").contains("connection.data"));
        assert!(words("ws://{t}/").contains("path and query alone"));
        let mut plan = crate::test_plan("wss://127.0.0.1/");
        plan.target.ca_file = Some("/nonexistent.pem".into());
        assert!(matches!(
            Target::new(&plan),
            Err(TargetError::Certificates { .. })
        ));
    }
}
