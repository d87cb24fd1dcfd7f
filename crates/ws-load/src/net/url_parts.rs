//! A plan's URL and proxy, taken apart.

use super::origins::bases;
use super::target::TargetError;
use percent_encoding::percent_decode_str;
use plan::{Part, Plan, Resolve, escaped_braces, parts, redacted_url};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use url::Url;
use ws_proto::basic_credentials;

/// What stands in written plans in the place of a secret of a URL.
const REDACTED: &str = "REDACTED";

/// What a plan's URL says.
#[derive(Debug)]
pub(super) struct UrlParts {
    pub(super) secure: bool,
    /// IPv6 in brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// Host and, unless it is the scheme's own, port.
    pub(super) authority: String,
    /// Path and query, with the plan's variables.
    pub(super) target: String,
    /// `Authorization` of a user and password.
    pub(super) authorization: Option<String>,
    /// That user and password, as they are in the URL.
    user: Vec<String>,
    pub(super) proxy: Option<Proxy>,
}

/// A proxy before the server.
#[derive(Debug)]
pub(super) struct Proxy {
    host: String,
    port: u16,
    /// `Proxy-Authorization` of a user and password.
    pub(super) authorization: Option<String>,
    /// That user and password, as they are in the URL.
    user: Vec<String>,
}

impl UrlParts {
    pub(super) fn new(plan: &Plan) -> Result<Self, TargetError> {
        let text = &plan.target.url;
        let unfit = |reason: String| TargetError::Url {
            url: redacted_url(text),
            reason,
        };
        let (marked, names) = marked(text).map_err(|error| unfit(error.to_string()))?;
        let url = Url::parse(&marked.text).map_err(|error| unfit(error.to_string()))?;
        let secure = match url.scheme() {
            "ws" => false,
            "wss" => true,
            other => {
                return Err(TargetError::Scheme {
                    url: redacted_url(text),
                    scheme: other.to_owned(),
                });
            }
        };
        let host = url.host_str().ok_or_else(|| unfit("no host".to_owned()))?;
        if url.fragment().is_some() {
            let url = redacted_url(text);
            return Err(TargetError::Fragment { url });
        }
        let target = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        Ok(Self {
            host: host.to_owned(),
            port: url.port_or_known_default().unwrap_or(80),
            authority: url
                .port()
                .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
            secure,
            target: marked.restored(&target, &names),
            authorization: user(&url),
            user: user_as_written(&url),
            proxy: plan.target.proxy.as_deref().map(Proxy::new).transpose()?,
        })
    }

    /// Users and passwords in the URLs of the server and the proxy.
    pub(super) fn users(&self) -> Vec<String> {
        let of_proxy = self.proxy.iter().flat_map(|proxy| &proxy.user);
        self.user.iter().chain(of_proxy).cloned().collect()
    }

    /// The addresses to connect to: the proxy's, or the server's.
    pub(super) fn addrs(&self, plan: &Plan) -> Result<Vec<SocketAddr>, TargetError> {
        let (host, port) = self.next_host();
        addrs_of(plan, host, port)
    }

    /// The host, without brackets, and port that the clients connect to.
    pub(super) fn next_host(&self) -> (&str, u16) {
        match &self.proxy {
            Some(proxy) => (bare(&proxy.host), proxy.port),
            None => (bare(&self.host), self.port),
        }
    }

    /// Refuses what a plan says of its URL and does not use, and a URL that lacks its secrets.
    pub(super) fn check(&self, plan: &Plan) -> Result<(), TargetError> {
        let url = &plan.target.url;
        let lacks = [
            url.as_str(),
            plan.target.proxy.as_deref().unwrap_or_default(),
        ]
        .into_iter()
        .any(|text| {
            text.contains(&format!("={REDACTED}")) || text.contains(&format!("{REDACTED}@"))
        });
        if lacks {
            return Err(TargetError::Redacted);
        }
        let (host, port) = self.next_host();
        let is_of_request = |of: &Resolve| {
            let urls = bases(plan).filter_map(|base| Url::parse(base).ok());
            let mut hosts = urls.map(|url| {
                (
                    url.host_str().map(str::to_owned),
                    url.port_or_known_default(),
                )
            });
            hosts.any(|(host, port)| host.as_deref() == Some(&of.host) && port == Some(of.port))
        };
        let is_used = |of: &Resolve| of.host == host.to_ascii_lowercase() && of.port == port;
        match resolves(plan).find(|of| !is_used(of) && !is_of_request(of)) {
            Some(of) => Err(TargetError::Unused {
                given: format!("{}:{}", of.host, of.port),
                host: host.to_owned(),
                port,
            }),
            None => Ok(()),
        }
    }
}

/// The addresses that a plan gives for a host, or those that its name stands for.
pub(super) fn addrs_of(plan: &Plan, host: &str, port: u16) -> Result<Vec<SocketAddr>, TargetError> {
    let given = resolves(plan).find(|of| of.host == host.to_ascii_lowercase() && of.port == port);
    match given {
        Some(of) => Ok(of
            .addrs
            .iter()
            .map(|ip: &IpAddr| (*ip, port).into())
            .collect()),
        None => look_up(host, port),
    }
}

fn resolves(plan: &Plan) -> impl Iterator<Item = Resolve> {
    plan.target
        .resolve
        .iter()
        .filter_map(|text| Resolve::parse(text))
}

impl Proxy {
    fn new(text: &str) -> Result<Self, TargetError> {
        let unfit = |reason: String| TargetError::Proxy { reason };
        let url = Url::parse(text).map_err(|error| unfit(error.to_string()))?;
        let host = url.host_str().ok_or_else(|| unfit("no host".to_owned()))?;
        if url.scheme() != "http" {
            return Err(unfit("its scheme is not http".to_owned()));
        }
        Ok(Self {
            host: host.to_owned(),
            port: url.port_or_known_default().unwrap_or(80),
            authorization: user(&url),
            user: user_as_written(&url),
        })
    }
}

fn user(url: &Url) -> Option<String> {
    let decoded = |text: &str| percent_decode_str(text).collect::<Vec<u8>>();
    let has_user = !url.username().is_empty() || url.password().is_some();
    has_user.then(|| {
        basic_credentials(
            &decoded(url.username()),
            &decoded(url.password().unwrap_or_default()),
        )
    })
}

fn user_as_written(url: &Url) -> Vec<String> {
    let both = [url.username(), url.password().unwrap_or_default()];
    both.map(str::to_owned).to_vec()
}

pub(super) fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
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
        return Err(failed("it has no address".to_owned()));
    }
    Ok(all)
}

/// A URL with a word in the place of each variable, so that it can be taken apart.
struct Marked {
    text: String,
    /// Begins each of these words, and nothing else in the text.
    mark: String,
}

/// A URL whose host or port is a variable.
#[derive(Debug, thiserror::Error)]
#[error("a variable can stand in its path and query alone")]
struct VariableInHost;

/// The URL with its variables marked, and their names.
fn marked(url: &str) -> Result<(Marked, Vec<String>), VariableInHost> {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| start + at);
    let (authority, rest) = url.split_at(end);
    let is_variable = |part: &Part<'_>| matches!(part, Part::Variable(_));
    if parts(authority).iter().any(is_variable) {
        return Err(VariableInHost);
    }
    let mut mark = "wsvar".to_owned();
    while url.contains(&mark) {
        mark.push('x');
    }
    let mut text = authority.to_owned();
    let mut names = Vec::new();
    for part in parts(rest) {
        match part {
            Part::Text(literal) => text.push_str(&literal),
            Part::Variable(name) => {
                text.push_str(&format!("{mark}{}.", names.len()));
                names.push(name.to_owned());
            }
        }
    }
    Ok((Marked { text, mark }, names))
}

impl Marked {
    /// The path and query, with the variables in their places again.
    fn restored(&self, target: &str, names: &[String]) -> String {
        let mut out = String::new();
        for (at, piece) in target.split(self.mark.as_str()).enumerate() {
            let known = piece.split_once('.').filter(|_| at > 0);
            let name = known.and_then(|(number, _)| names.get(number.parse::<usize>().ok()?));
            match (known, name) {
                (Some((_, rest)), Some(name)) => {
                    out.push_str(&format!("{{{name}}}"));
                    out.push_str(&escaped_braces(rest));
                }
                _ => out.push_str(&escaped_braces(piece)),
            }
        }
        out
    }
}
