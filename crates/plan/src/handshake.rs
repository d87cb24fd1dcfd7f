//! What clients say in their handshakes beside what RFC 6455 asks for: which header lines, cookies,
//! parameters and subprotocols a plan may name.

use super::error::PlanError;
use super::redact::{has_user, is_secret};
use super::variables::{self, Part};
use super::{Connection, Target};
use std::path::Path;

/// What stands in a printed plan in the place of a secret. No plan with it can be carried out.
pub const REDACTED_VALUE: &str = "<redacted>";
/// Most header lines, cookies, parameters and subprotocols, of each kind.
const MOST_ENTRIES: usize = 100;
/// Most bytes of all header lines. Servers take 8 to 64 KiB of a request's head.
const MOST_BYTES: usize = 1 << 16;
/// Header lines of the handshake itself (RFC 6455, 4.1), of the connection (RFC 9110, 7.6.1) and of
/// a body, which an upgrade has not.
const OWNED: [&str; 11] = [
    "upgrade",
    "connection",
    "keep-alive",
    "sec-websocket-key",
    "sec-websocket-version",
    "sec-websocket-accept",
    "content-length",
    "transfer-encoding",
    "te",
    "trailer",
    "expect",
];
/// Header lines that have a key of their own.
const WITH_KEY: [(&str, &str); 3] = [
    ("origin", "connection.origin"),
    ("sec-websocket-protocol", "connection.subprotocols"),
    ("sec-websocket-extensions", "connection.compression"),
];
/// Header lines that a request has once.
const ONCE: [&str; 4] = ["host", "authorization", "proxy-authorization", "cookie"];
/// Longest host name (RFC 1035, 2.3.4).
const LONGEST_HOST: usize = 253;

type Checked = Result<(), PlanError>;

/// An entry of a list of a plan that has a name and a value.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The plan's key, like `connection.headers`.
    pub field: &'static str,
    /// What stands before the separator.
    pub name: &'a str,
    /// What stands behind it.
    pub value: &'a str,
}

impl Entry<'_> {
    /// The value as a reference to where its secret is kept, with the word that stands before it
    /// (`Bearer env:TOKEN`).
    pub fn reference(&self) -> Option<(&str, Reference<'_>)> {
        if let Some(reference) = Reference::new(self.value) {
            return Some(("", reference));
        }
        let (scheme, rest) = self.scheme()?;
        Some((scheme, Reference::new(rest)?))
    }

    /// The authentication scheme and what follows it (RFC 9110, 11.4).
    fn scheme(&self) -> Option<(&str, &str)> {
        let is_credential = |name: &str| self.name.eq_ignore_ascii_case(name);
        if !is_credential("authorization") && !is_credential("proxy-authorization") {
            return None;
        }
        let at = self.value.find(' ')?;
        Some(self.value.split_at(at + 1))
    }

    /// The value as it is shown: a secret is replaced, a reference or a variable is not one.
    pub(crate) fn shown(&self) -> Option<String> {
        let is_public = self.field == HEADERS
            && !ONCE[1..]
                .iter()
                .any(|name| self.name.eq_ignore_ascii_case(name))
            && !is_secret(self.name);
        if is_public || self.reference().is_some() {
            return None;
        }
        let known = self.scheme().filter(|(scheme, _)| is_scheme(scheme));
        let (scheme, secret) = known.unwrap_or(("", self.value));
        if is_one_variable(secret) {
            return None;
        }
        Some(format!("{scheme}{REDACTED_VALUE}"))
    }
}

/// Schemes of authentication: those of IANA's register, and others that servers have.
const SCHEMES: [&str; 16] = [
    "apikey",
    "aws4-hmac-sha256",
    "basic",
    "bearer",
    "concealed",
    "digest",
    "dpop",
    "gnap",
    "hoba",
    "mutual",
    "negotiate",
    "ntlm",
    "oauth",
    "privatetoken",
    "token",
    "vapid",
];

fn is_scheme(word: &str) -> bool {
    SCHEMES.contains(&word.trim().to_ascii_lowercase().as_str())
}

fn is_one_variable(value: &str) -> bool {
    matches!(variables::parts(value).as_slice(), [Part::Variable(_)])
}

/// Shorter words are no secrets.
const SHORTEST_SECRET: usize = 4;

/// True of a secret that is written out, and not as variables with punctuation or a scheme between
/// them.
pub(crate) fn is_literal(value: &str) -> bool {
    let is_secret = |text: &str| {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| word.len() >= SHORTEST_SECRET && !is_scheme(word))
    };
    let parts = variables::parts(value);
    parts.iter().any(|part| match part {
        Part::Text(text) => is_secret(text),
        Part::Variable(_) => false,
    })
}

/// True of a subprotocol that carries a secret, as servers have it that browsers cannot show a header
/// to: behind one with a name like `access_token`, or with such a name before it, as in
/// `base64url.bearer.authorization.k8s.io.1f2e`.
pub(crate) fn is_secret_subprotocol(before: Option<&str>, name: &str) -> bool {
    if !is_literal(name) {
        return false;
    }
    let last = last_part(name);
    let within = &name[..name.len() - last.len()];
    before.is_some_and(|before| is_secret(last_part(before)))
        || last.len() >= LONG_PART && is_secret(within)
}

fn last_part(name: &str) -> &str {
    let is_end = |c: char| matches!(c, '.' | '-' | '_' | '|' | '~');
    name.rsplit(is_end).next().unwrap_or_default()
}

/// Bytes of a subprotocol's last part that may be a token; a version is shorter.
const LONG_PART: usize = 8;

/// Where a secret is kept, so that a plan need not hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference<'a> {
    /// `env:NAME`: an environment variable.
    Env(&'a str),
    /// `file:PATH`: the first line of a file; relative to the file of the plan.
    File(&'a Path),
}

impl<'a> Reference<'a> {
    fn new(value: &'a str) -> Option<Self> {
        let named = |prefix| {
            value
                .strip_prefix(prefix)
                .filter(|rest: &&str| !rest.is_empty())
        };
        named("env:")
            .map(Self::Env)
            .or_else(|| named("file:").map(|path| Self::File(Path::new(path))))
    }
}

const HEADERS: &str = "connection.headers";
const COOKIES: &str = "connection.cookies";
const QUERY: &str = "connection.query";

impl Connection {
    /// Every header line, cookie and parameter, by name and value. Those without a separator, which
    /// no valid plan has, are left out.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let lists = [
            (HEADERS, &self.headers),
            (COOKIES, &self.cookies),
            (QUERY, &self.query),
        ];
        lists
            .into_iter()
            .flat_map(|(field, list)| list.iter().filter_map(move |text| entry(field, text)))
    }

    /// Replaces the values for which `change` has another.
    ///
    /// # Errors
    /// The first that `change` returns.
    pub fn change_values<E>(
        &mut self,
        mut change: impl FnMut(Entry<'_>) -> Result<Option<String>, E>,
    ) -> Result<(), E> {
        for (field, list) in [
            (HEADERS, &mut self.headers),
            (COOKIES, &mut self.cookies),
            (QUERY, &mut self.query),
        ] {
            for text in list {
                let Some(of) = entry(field, text) else {
                    continue;
                };
                if let Some(value) = change(of)? {
                    let separator = if field == HEADERS { ": " } else { "=" };
                    *text = format!("{}{separator}{value}", of.name);
                }
            }
        }
        Ok(())
    }

    /// True when the plan holds what clients show the server and others must not see, once its
    /// references are filled in. The rows of a data file are not in the plan.
    pub fn has_secrets(&self) -> bool {
        let mut names = self.subprotocols.iter().enumerate();
        let is_secret = |(at, name): (usize, &String)| {
            let before = at.checked_sub(1).map(|at| self.subprotocols[at].as_str());
            is_secret_subprotocol(before, name)
        };
        names.any(is_secret)
            || self
                .entries()
                .any(|entry| entry.reference().is_some() || entry.shown().is_some())
    }

    pub(super) fn validate_handshake(&self, target: &Target) -> Checked {
        self.validate_headers(target)?;
        for (field, list, permitted) in [
            (COOKIES, &self.cookies, COOKIE),
            (QUERY, &self.query, PARAMETER),
        ] {
            count(field, list)?;
            for text in list {
                let of = entry(field, text).ok_or_else(|| unfit(field, "", permitted))?;
                let is_fit = match field {
                    COOKIES => is_token(of.name) && of.value.bytes().all(is_cookie_byte),
                    _ => !of.name.is_empty() && !of.name.chars().any(char::is_control),
                };
                if !is_fit {
                    return Err(unfit(field, of.name, permitted));
                }
                known(field, of)?;
            }
        }
        self.validate_subprotocols()
    }

    fn validate_headers(&self, target: &Target) -> Checked {
        count(HEADERS, &self.headers)?;
        let bytes: usize = self.headers.iter().map(String::len).sum();
        if bytes > MOST_BYTES {
            let most = format!("at most {MOST_BYTES} bytes together");
            return Err(out_of_range(HEADERS, format!("{bytes} bytes"), &most));
        }
        let mut seen: Vec<String> = Vec::new();
        for text in &self.headers {
            let of = entry(HEADERS, text)
                .filter(|of| is_token(of.name))
                .ok_or_else(|| unfit(HEADERS, "", HEADER))?;
            if !of.value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
                return Err(unfit(HEADERS, of.name, "printable ASCII on one line"));
            }
            let name = of.name.to_ascii_lowercase();
            self.validate_header(&name, target)?;
            if ONCE.contains(&name.as_str()) && seen.contains(&name) {
                return Err(unfit(HEADERS, of.name, "one line of this name"));
            }
            known(HEADERS, of)?;
            seen.push(name);
        }
        Ok(())
    }

    fn validate_header(&self, name: &str, target: &Target) -> Checked {
        if OWNED.contains(&name) {
            return Err(unfit(
                HEADERS,
                name,
                "any header but those of the handshake itself",
            ));
        }
        if let Some((_, key)) = WITH_KEY.iter().find(|(owned, _)| *owned == name) {
            return Err(unfit(HEADERS, name, &format!("not here: write {key}")));
        }
        match name {
            "cookie" if !self.cookies.is_empty() => contradiction(
                HEADERS,
                "has a Cookie beside connection.cookies: write all of them in one place",
            ),
            "authorization" if target.has_user() => contradiction(
                HEADERS,
                "has an Authorization, and the URL a user or a password: leave one out",
            ),
            "proxy-authorization" if target.proxy.is_none() => contradiction(
                HEADERS,
                "has a Proxy-Authorization without a proxy to see it: give target.proxy",
            ),
            _ => Ok(()),
        }
    }

    fn validate_subprotocols(&self) -> Checked {
        const FIELD: &str = "connection.subprotocols";
        count(FIELD, &self.subprotocols)?;
        for (at, name) in self.subprotocols.iter().enumerate() {
            let parts = variables::parts(name);
            let is_fit = !parts.is_empty()
                && parts.iter().all(|part| match part {
                    Part::Text(text) => is_token(text),
                    Part::Variable(_) => true,
                });
            if !is_fit || name.len() > MOST_BYTES {
                return Err(unfit(
                    FIELD,
                    "",
                    "a token of HTTP, like graphql-ws (RFC 6455, 4.1)",
                ));
            }
            if name.contains(REDACTED_VALUE) {
                return Err(unfit(
                    FIELD,
                    "",
                    "the name itself, which printed plans do not show, or {column} of a data file",
                ));
            }
            if self.subprotocols[..at].contains(name) {
                return Err(unfit(FIELD, "", "each name once (RFC 6455, 4.1)"));
            }
        }
        Ok(())
    }
}

const HEADER: &str = "`Name: value`, e.g. \"X-Tenant: blue\"";
const COOKIE: &str =
    "`name=value` without spaces, quotes, commas, semicolons and backslashes (RFC 6265, 4.1.1)";
const PARAMETER: &str = "`name=value`, without percent signs where none are meant";

fn entry<'a>(field: &'static str, text: &'a str) -> Option<Entry<'a>> {
    let (name, value) = text.split_once(if field == HEADERS { ':' } else { '=' })?;
    Some(Entry {
        field,
        name,
        value: if field == HEADERS {
            value.trim()
        } else {
            value
        },
    })
}

/// Refuses the placeholder of a printed plan.
fn known(field: &'static str, of: Entry<'_>) -> Checked {
    if of.value.contains(REDACTED_VALUE) {
        return Err(unfit(
            field,
            of.name,
            "the value itself, which printed plans do not show, or env:NAME or file:PATH",
        ));
    }
    Ok(())
}

fn count(field: &'static str, list: &[String]) -> Checked {
    super::within(field, list.len(), (0, MOST_ENTRIES))
}

/// A value is never shown: it may be a secret.
fn unfit(field: &'static str, name: &str, permitted: &str) -> PlanError {
    let value = match name {
        "" => "an entry that is none".to_owned(),
        name => {
            let shown: String = name.chars().take(60).collect();
            format!("an entry for \"{}\"", shown.escape_default())
        }
    };
    out_of_range(field, value, permitted)
}

fn out_of_range(field: &'static str, value: String, permitted: &str) -> PlanError {
    PlanError::OutOfRange {
        field,
        value,
        permitted: permitted.to_owned(),
    }
}

const fn contradiction(field: &'static str, reason: &'static str) -> Checked {
    Err(PlanError::Contradiction { field, reason })
}

/// RFC 9110, 5.6.2.
pub fn is_token(text: &str) -> bool {
    let is_of_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_of_token)
}

/// A byte of a cookie's value (RFC 6265, 4.1.1).
pub const fn is_cookie_byte(byte: u8) -> bool {
    matches!(byte, 0x21 | 0x23..=0x2B | 0x2D..=0x3A | 0x3C..=0x5B | 0x5D..=0x7E)
}

impl Target {
    /// Whether the URL of the server or of the proxy has a user or a password.
    pub fn has_credentials(&self) -> bool {
        self.has_user() || self.proxy.as_deref().is_some_and(has_user)
    }

    /// Whether the URL has a user or a password.
    pub(super) fn has_user(&self) -> bool {
        has_user(&self.url)
    }

    pub(super) fn validate_way(&self) -> Checked {
        self.validate_resolve()?;
        self.validate_unix()?;
        let Some(proxy) = &self.proxy else {
            return Ok(());
        };
        let rest = proxy.strip_prefix("http://").unwrap_or_default();
        let host = rest
            .rsplit('@')
            .next()
            .unwrap_or_default()
            .trim_end_matches('/');
        let is_fit = !host.is_empty()
            && proxy.len() <= MOST_BYTES
            && !proxy.contains(|c: char| c.is_control() || c.is_whitespace())
            && !host.contains(['/', '?', '#']);
        match is_fit {
            true => Ok(()),
            false => Err(out_of_range(
                "target.proxy",
                "no URL of a proxy".to_owned(),
                "http://HOST:PORT, with USER:PASSWORD@ before the host where it wants them",
            )),
        }
    }

    fn validate_unix(&self) -> Checked {
        const FIELD: &str = "target.unix_socket";
        let Some(path) = &self.unix_socket else {
            return Ok(());
        };
        // `sun_path` of unix(7) has 108 bytes, with the zero at its end.
        super::within(FIELD, path.as_os_str().len(), (1, 107))?;
        if self.proxy.is_some() {
            return contradiction(
                FIELD,
                "and target.proxy are two ways to the server: leave one out",
            );
        }
        if !self.local_addrs.is_empty() {
            return contradiction(
                FIELD,
                "has no source addresses: leave out target.local_addrs",
            );
        }
        match self.resolve.is_empty() {
            true => Ok(()),
            false => contradiction(FIELD, "needs no address: leave out target.resolve"),
        }
    }

    fn validate_resolve(&self) -> Checked {
        const FIELD: &str = "target.resolve";
        count(FIELD, &self.resolve)?;
        for text in &self.resolve {
            if Resolve::parse(text).is_none() {
                let shown: String = text.chars().take(60).collect();
                return Err(out_of_range(
                    FIELD,
                    format!("\"{}\"", shown.escape_default()),
                    "HOST:PORT:ADDRESS[,ADDRESS]..., e.g. chat.example:443:127.0.0.1 (IPv6 in brackets)",
                ));
            }
        }
        Ok(())
    }
}

/// Addresses that stand for a host and port, as curl's `--resolve` gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolve {
    /// The host, in lower case; IPv6 without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// At least one.
    pub addrs: Vec<std::net::IpAddr>,
}

impl Resolve {
    /// `HOST:PORT:ADDRESS[,ADDRESS]...`; `None` of anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (host, rest) = match text.strip_prefix('[') {
            Some(inner) => inner.split_once("]:")?,
            None => text.split_once(':')?,
        };
        let (port, addrs) = rest.split_once(':')?;
        if host.is_empty() || host.len() > LONGEST_HOST {
            return None;
        }
        let addr = |text: &str| {
            let bare = text
                .strip_prefix('[')
                .and_then(|text| text.strip_suffix(']'));
            bare.unwrap_or(text).parse().ok()
        };
        Some(Self {
            host: host.to_ascii_lowercase(),
            port: port.parse().ok().filter(|port| *port > 0)?,
            addrs: addrs.split(',').map(addr).collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests;
