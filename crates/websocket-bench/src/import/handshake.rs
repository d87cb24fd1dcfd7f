//! What of a captured handshake a plan says, and what must be given anew since it is secret.

use super::error::{ImportError, UrlFault};
use super::har::Connection;
use super::secrets::{is_like_token as is_token_anywhere, is_secret_name, secrets};
use percent_encoding::percent_decode_str;
use plan::{escaped_braces, is_cookie_byte, is_secret, is_token};
use std::fmt::Write as _;
use url::Url;

/// Shortest text that may be a token, in bytes.
const SHORTEST_TOKEN: usize = 24;
/// Schemes of `Authorization` (RFC 9110, 11.1), which are no secrets.
const SCHEMES: [&str; 11] = [
    "apikey",
    "basic",
    "bearer",
    "digest",
    "dpop",
    "hawk",
    "key",
    "mutual",
    "negotiate",
    "ntlm",
    "token",
];
/// Parts of a subprotocol that carries a token.
const MARKS: [&str; 6] = ["auth", "authorization", "bearer", "jwt", "key", "token"];
/// What stands before `token` or `key` in a subprotocol that says that the next one is it.
const BEFORE_MARKS: [&str; 6] = ["", "access", "api", "auth", "id", "x"];
/// Longest name of a subprotocol that is no token, in bytes.
const LONGEST_SUBPROTOCOL: usize = 40;
/// Header lines that every handshake has, or that a key of the plan says.
const KNOWN: [&str; 8] = [
    "host",
    "upgrade",
    "connection",
    "origin",
    "cookie",
    "sec-websocket-protocol",
    "sec-websocket-extensions",
    "sec-websocket-key",
];
/// Most header lines of a kind that are taken.
const MOST_ENTRIES: usize = 100;

/// The part of a plan that a handshake decides on.
#[derive(Debug, Default)]
pub(super) struct Handshake {
    pub(super) url: String,
    pub(super) origin: Option<String>,
    pub(super) subprotocols: Vec<String>,
    pub(super) headers: Vec<String>,
    pub(super) cookies: Vec<String>,
    pub(super) query: Vec<String>,
    pub(super) is_compressed: bool,
    /// Environment variables that must be set, and what each is for.
    pub(super) wanted: Vec<(String, String)>,
    /// Columns of the data file that must be filled in.
    pub(super) columns: Vec<String>,
    /// Header lines that are left out, and what else was.
    pub(super) left_out: Vec<String>,
    /// Parameters of the URL that are copied with their values.
    pub(super) copied: Vec<String>,
    /// Names and values of secrets, to find them where else they stand.
    pub(super) secrets: Vec<(String, String)>,
    /// The user says that secrets are copied.
    keeps: bool,
}

/// True of a part of a URL that looks like a session, a key or a token.
fn is_like_token(text: &str) -> bool {
    let is_of_token = |c: char| c.is_ascii_alphanumeric() || "_-.=+/~%|:".contains(c);
    let is_mixed = text.chars().any(|c| c.is_ascii_digit())
        && text.chars().any(|c| c.is_ascii_alphabetic())
        && text.chars().all(is_of_token);
    text.len() >= SHORTEST_TOKEN && is_mixed || is_token_anywhere(text)
}

/// True of a value of a URL that is a secret whatever its name is.
fn is_hidden(value: &str) -> bool {
    let decoded = percent_decode_str(value).decode_utf8_lossy();
    is_like_token(value) || !secrets(&decoded).is_empty()
}

/// What connections have in common that lead to the same place: the URL without its query and its
/// secrets. It is empty where a capture has no URL.
///
/// # Errors
/// When the URL is none.
pub(super) fn place_of(connection: &Connection) -> Result<String, ImportError> {
    let mut handshake = Handshake::default();
    if let Some(mut url) = parsed(connection)? {
        url.set_query(None);
        handshake.take_url(url);
    }
    Ok(handshake.url)
}

fn parsed(connection: &Connection) -> Result<Option<Url>, ImportError> {
    let Some(url) = &connection.url else {
        return Ok(None);
    };
    let number = connection.number;
    let wrong = |why| ImportError::Url { number, why };
    let parts = url.split_once("://");
    let (scheme, rest) = parts.ok_or_else(|| wrong(UrlFault::NoScheme))?;
    // mitmproxy names the scheme of the handshake.
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "ws" | "http" => "ws",
        "wss" | "https" => "wss",
        _ => return Err(wrong(UrlFault::OtherScheme)),
    };
    let url = Url::parse(&format!("{scheme}://{rest}"));
    url.map(Some).map_err(|error| wrong(error.into()))
}

impl Handshake {
    /// # Errors
    /// When the URL is none.
    pub(super) fn new(connection: &Connection, keeps: bool) -> Result<Self, ImportError> {
        let mut handshake = Self {
            is_compressed: connection.is_compressed,
            keeps,
            ..Self::default()
        };
        if let Some(url) = parsed(connection)? {
            handshake.take_url(url);
        }
        for header in &connection.headers {
            let name = header.name.to_ascii_lowercase();
            match name.as_str() {
                // It is for a proxy, which a plan has or has not.
                "proxy-authorization" => handshake.left_out.push(header.name.clone()),
                "origin" if header.value.is_empty() => {}
                "origin" if keeps || secrets(&header.value).is_empty() => {
                    handshake.origin = Some(header.value.clone());
                }
                "cookie" => handshake.take_cookies(&header.value),
                "sec-websocket-protocol" => handshake.take_subprotocols(&header.value),
                _ if KNOWN.contains(&name.as_str()) || is_own(&name) => {}
                _ if is_token(&name) && (is_secret(&name) || is_secret_name(&header.name)) => {
                    handshake.take_secret(&header.name, &header.value);
                }
                _ => handshake.left_out.push(header.name.clone()),
            }
        }
        Ok(handshake)
    }

    /// The reference in the place of a secret, or the secret where it is kept.
    fn want(&mut self, name: &str, value: &str, what: String) -> String {
        if self.keeps {
            return value.to_owned();
        }
        self.secrets.push((name.to_owned(), value.to_owned()));
        let upper = name.to_ascii_uppercase();
        let fits = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let variable: String = upper.chars().map(fits).collect();
        let reference = format!("env:{variable}");
        self.wanted.push((variable, what));
        reference
    }

    fn take_url(&mut self, mut url: Url) {
        if !self.keeps && (!url.username().is_empty() || url.password().is_some()) {
            self.left_out.push("the user in the URL".to_owned());
            for secret in [url.username(), url.password().unwrap_or_default()] {
                self.secrets.push(("user".to_owned(), secret.to_owned()));
            }
            // A URL with a host takes both.
            let _ = url.set_username("").and_then(|()| url.set_password(None));
        }
        url.set_fragment(None);
        let query = url.query().unwrap_or_default().to_owned();
        url.set_query(None);
        let mut kept = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let has_name = is_secret(name) || is_secret_name(name);
            match () {
                () if self.keeps => kept.push(pair),
                () if is_like_token(name) => {
                    self.secrets.push(("parameter".to_owned(), name.to_owned()));
                    self.left_out.push("a parameter of the URL".to_owned());
                }
                () if value.is_empty() || !has_name && !is_hidden(value) => {
                    kept.push(pair);
                    self.copied
                        .extend((!value.is_empty()).then(|| name.to_owned()));
                }
                () if is_token(name) && self.query.len() < MOST_ENTRIES => {
                    let what = format!("the parameter {name} of the URL");
                    let reference = self.want(&format!("QUERY_{name}"), value, what);
                    self.query.push(format!("{name}={reference}"));
                }
                () => self
                    .left_out
                    .push(format!("the parameter {name} of the URL")),
            }
        }
        let (before, path) = url.as_str().split_at(url.as_str().len() - url.path().len());
        let mut text = escaped_braces(before).into_owned();
        let mut is_named = false;
        for (index, segment) in path.split('/').enumerate() {
            text.push_str(if index == 0 { "" } else { "/" });
            let is_word = segment.bytes().all(|byte| byte.is_ascii_lowercase());
            let is_secret = !is_word && (is_named || is_hidden(segment));
            if is_secret && !self.keeps {
                let column = format!("path-{index}");
                let _ = write!(text, "{{{column}}}");
                self.secrets.push((column.clone(), segment.to_owned()));
                self.columns.push(column);
            } else {
                text.push_str(&escaped_braces(segment));
            }
            is_named = is_secret_name(segment);
        }
        if !kept.is_empty() {
            text.push('?');
            text.push_str(&escaped_braces(&kept.join("&")));
        }
        self.url = text;
    }

    fn take_cookies(&mut self, header: &str) {
        for pair in header.split(';') {
            let Some((name, value)) = pair.split_once('=') else {
                if !pair.trim().is_empty() {
                    self.left_out.push("a cookie without a name".to_owned());
                }
                continue;
            };
            let (name, value) = (name.trim(), value.trim());
            let known = format!("{name}=");
            let is_new = !self.cookies.iter().any(|cookie| cookie.starts_with(&known));
            if !is_token(name) || !is_new || self.cookies.len() >= MOST_ENTRIES {
                continue;
            }
            if self.keeps && !value.bytes().all(is_cookie_byte) {
                self.left_out.push(format!("the cookie {name}"));
                continue;
            }
            let what = format!("the cookie {name}");
            let reference = self.want(&format!("COOKIE_{name}"), value, what);
            self.cookies.push(format!("{name}={reference}"));
            // What says nothing of a user may stand in messages as well.
            if !is_secret(name) && !is_secret_name(name) && !is_like_token(value) {
                self.secrets.pop();
            }
        }
    }

    fn take_subprotocols(&mut self, header: &str) {
        let mut is_behind_mark = false;
        for (name, number) in header.split(',').map(str::trim).zip(1..) {
            let words = name.to_ascii_lowercase();
            let is_mark = is_mark(&words);
            let is_hidden = is_behind_mark
                || name.len() > LONGEST_SUBPROTOCOL
                || is_like_token(name)
                || !is_mark && (is_secret(name) || is_secret_name(name) || holds_mark(&words));
            is_behind_mark = is_mark;
            if !is_token(name) || self.subprotocols.iter().any(|known| known == name) {
                continue;
            }
            if is_hidden && !self.keeps {
                let column = format!("subprotocol-{number}");
                self.subprotocols.push(format!("{{{column}}}"));
                self.secrets.push((column.clone(), name.to_owned()));
                self.columns.push(column);
            } else {
                self.subprotocols.push(escaped_braces(name).into_owned());
            }
        }
    }

    fn take_secret(&mut self, name: &str, value: &str) {
        let (scheme, value) = match value.split_once(' ') {
            Some((scheme, value)) if SCHEMES.contains(&&*scheme.to_ascii_lowercase()) => {
                (format!("{scheme} "), value)
            }
            _ => (String::new(), value),
        };
        let reference = self.want(name, value, format!("the header {name}"));
        self.headers.push(format!("{name}: {scheme}{reference}"));
    }
}

/// A subprotocol that says that the next one is a token: `bearer`, `access_token`.
fn is_mark(subprotocol: &str) -> bool {
    let mut parts = subprotocol.split(['.', '-', '_']).rev();
    parts.next().is_some_and(|last| MARKS.contains(&last))
        && parts.all(|part| BEFORE_MARKS.contains(&part))
}

/// A subprotocol with its token: `bearer.x`, `base64url.bearer.authorization.k8s.io.x`.
fn holds_mark(subprotocol: &str) -> bool {
    let parts = subprotocol.split(['.', '-', '_', ':', '|', '+', '~']);
    parts.into_iter().any(|part| MARKS.contains(&part))
}

/// Header lines of HTTP/2 and of the handshake itself.
fn is_own(name: &str) -> bool {
    name.starts_with(':') || name.starts_with("sec-")
}
