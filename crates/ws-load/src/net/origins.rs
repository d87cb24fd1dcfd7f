//! Where requests over HTTP go: the server of the run, or another one that an absolute URL names.

use super::endpoint::Endpoint;
use super::reach;
use super::target::TargetError;
use super::tls::Tls;
use super::url_parts::{UrlParts, addrs_of, bare};
use plan::{Part, Plan, parts};
use std::collections::HashMap;
use std::time::Duration;
use url::Url;

/// A URL of a dialect file: its server, unless that is the target's own, and its path with the query.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HttpUrl<'a> {
    /// As it is written.
    pub(crate) base: Option<&'a str>,
    /// `/` where there is none.
    pub(crate) path: &'a str,
}

/// A URL that no request over HTTP can go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HttpUrlError {
    #[error("is neither a path that begins with `/` nor an http or https URL")]
    Scheme,
    #[error("has a variable in the place of its host, and only path and query can have one")]
    Variable,
    #[error("has a user before its host; headers may have `Authorization`")]
    User,
    #[error("has a fragment, which is not sent")]
    Fragment,
    #[error("has no readable host and port")]
    Host,
}

impl<'a> HttpUrl<'a> {
    /// Takes a URL apart.
    pub(crate) fn new(url: &'a str) -> Result<Self, HttpUrlError> {
        if url.contains('#') {
            return Err(HttpUrlError::Fragment);
        }
        if url.starts_with('/') {
            return Ok(Self {
                base: None,
                path: url,
            });
        }
        let start = ["http://", "https://"].into_iter();
        let start = start
            .filter(|scheme| url.starts_with(*scheme))
            .map(str::len);
        let start = start.max().ok_or(HttpUrlError::Scheme)?;
        let end = url[start..].find(['/', '?']);
        let (base, path) = url.split_at(end.map_or(url.len(), |at| start + at));
        let is_variable = |part: Part<'_>| matches!(part, Part::Variable(_));
        if parts(base).into_iter().any(is_variable) {
            return Err(HttpUrlError::Variable);
        }
        if base.contains('@') {
            return Err(HttpUrlError::User);
        }
        let parsed = Url::parse(base).map_err(|_| HttpUrlError::Host)?;
        match parsed.host_str() {
            Some(_) => Ok(Self {
                base: Some(base),
                path: if path.is_empty() { "/" } else { path },
            }),
            None => Err(HttpUrlError::Host),
        }
    }
}

/// A server of requests over HTTP that is not the target.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) endpoint: Endpoint,
    pub(crate) tls: Option<Tls>,
    /// Host and, unless it is the scheme's own, port.
    pub(crate) authority: String,
    /// Host and port for CONNECT.
    pub(crate) destination: String,
}

/// The servers of a plan's absolute URLs, by what these begin with. Those that are the target's own are
/// left out.
pub(super) fn origins(plan: &Plan, own: &UrlParts) -> Result<HashMap<String, Origin>, TargetError> {
    let mut all = HashMap::new();
    for base in bases(plan) {
        if !all.contains_key(base)
            && let Some(origin) = Origin::new(base, plan, own)?
        {
            all.insert(base.to_owned(), origin);
        }
    }
    Ok(all)
}

/// What the absolute URLs of a plan's dialect file begin with.
pub(super) fn bases(plan: &Plan) -> impl Iterator<Item = &str> {
    let file = plan.message.definition.as_deref();
    let urls = file.into_iter().flat_map(|file| file.http_urls());
    urls.filter_map(|url| HttpUrl::new(url).ok()?.base)
}

/// Whether a plan's requests over HTTP go to another server than its target.
pub fn asks_other_servers(plan: &Plan) -> bool {
    let own = UrlParts::new(plan);
    bases(plan).any(|base| {
        let url = Url::parse(base);
        match (&own, &url) {
            (Ok(own), Ok(url)) => !is_own(url, own),
            _ => true,
        }
    })
}

fn is_own(url: &Url, own: &UrlParts) -> bool {
    let is_secure = url.scheme() == "https";
    let port = url.port_or_known_default();
    url.host_str() == Some(&own.host) && port == Some(own.port) && is_secure == own.secure
}

impl Origin {
    fn new(base: &str, plan: &Plan, own: &UrlParts) -> Result<Option<Self>, TargetError> {
        let unfit = |reason: String| TargetError::Url {
            url: base.to_owned(),
            reason,
        };
        let url = Url::parse(base).map_err(|error| unfit(error.to_string()))?;
        let host = url.host_str().ok_or_else(|| unfit("no host".to_owned()))?;
        let port = url.port_or_known_default().unwrap_or(80);
        let is_secure = url.scheme() == "https";
        if is_own(&url, own) {
            return Ok(None);
        }
        let (next, next_port) = match own.proxy {
            Some(_) => own.next_host(),
            None => (bare(host), port),
        };
        let addrs = addrs_of(plan, next, next_port)?;
        let patience = Duration::from_nanos(plan.connection.timeout.ns());
        let local = plan.target.local_addrs.first().copied();
        let open = reach::first_open(&addrs, local, patience);
        let (addr, _) = open.ok_or_else(|| unfit("its host has no address".to_owned()))?;
        let tls = is_secure.then(|| {
            let mut plan = plan.clone();
            plan.connection.tls.get_or_insert_default().server_name = None;
            Tls::new(bare(host), &plan)
        });
        Ok(Some(Self {
            endpoint: match own.proxy {
                Some(_) => Endpoint::Proxy(addr),
                None => Endpoint::Tcp(addr),
            },
            tls: tls.transpose()?,
            authority: url
                .port()
                .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
            destination: format!("{host}:{port}"),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_a_path_of_the_target_or_names_a_server() {
        let of = |url| HttpUrl::new(url).map(|of| (of.base, of.path));
        assert_eq!(of("/a?b={c}"), Ok((None, "/a?b={c}")));
        assert_eq!(of("http://h:1/a{b}"), Ok((Some("http://h:1"), "/a{b}")));
        assert_eq!(of("https://h"), Ok((Some("https://h"), "/")));
        for (url, error) in [
            ("login", HttpUrlError::Scheme),
            ("ws://h/", HttpUrlError::Scheme),
            ("http://{h}/", HttpUrlError::Variable),
            ("http://u:p@h/", HttpUrlError::User),
            ("/a#b", HttpUrlError::Fragment),
            ("http://:x/", HttpUrlError::Host),
        ] {
            assert_eq!(of(url), Err(error), "{url}");
        }
    }
}
