//! What of a captured handshake a plan says, and what must be given anew since it is secret.

use super::har::Connection;
use run_record::{escaped_braces, is_secret, is_token};
use std::fmt::Write as _;
use url::Url;

/// Shortest text that may be a token, in bytes.
const SHORTEST_TOKEN: usize = 24;
/// Header lines that every handshake has, or that a key of the plan says.
const KNOWN: [&str; 9] = [
    "host",
    "upgrade",
    "connection",
    "origin",
    "cookie",
    "authorization",
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
}

/// True of a text that looks like a session, a key or a token.
pub(super) fn is_like_token(text: &str) -> bool {
    let is_of_token = |c: char| c.is_ascii_alphanumeric() || "_-.=+/~%|:".contains(c);
    let is_jwt = text.starts_with("eyJ") && text.matches('.').count() == 2;
    let is_mixed = text.chars().any(|c| c.is_ascii_digit())
        && text.chars().any(|c| c.is_ascii_alphabetic())
        && text.chars().all(is_of_token);
    is_jwt || text.len() >= SHORTEST_TOKEN && is_mixed
}

/// What connections have in common that lead to the same place.
///
/// # Errors
/// In words, when the URL is none.
pub(super) fn place_of(connection: &Connection) -> Result<String, String> {
    let mut url = parsed(connection)?;
    url.set_query(None);
    url.set_fragment(None);
    Ok(url.into())
}

fn parsed(connection: &Connection) -> Result<Url, String> {
    let wrong = |why: &str| {
        format!(
            "the URL of connection {} {why}: choose another connection (--entry)",
            connection.number
        )
    };
    let (scheme, rest) = connection
        .url
        .split_once("://")
        .ok_or_else(|| wrong("has no scheme"))?;
    // mitmproxy names the scheme of the handshake.
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "ws" | "http" => "ws",
        "wss" | "https" => "wss",
        _ => return Err(wrong("is of no WebSocket")),
    };
    Url::parse(&format!("{scheme}://{rest}")).map_err(|error| wrong(&format!("is none: {error}")))
}

impl Handshake {
    /// # Errors
    /// In words, when the URL is none.
    pub(super) fn of(connection: &Connection) -> Result<Self, String> {
        let mut handshake = Self {
            is_compressed: connection.is_compressed,
            ..Self::default()
        };
        handshake.take_url(parsed(connection)?);
        for header in &connection.headers {
            let name = header.name.to_ascii_lowercase();
            match name.as_str() {
                "origin" => handshake.origin = Some(header.value.clone()),
                "cookie" => handshake.take_cookies(&header.value),
                "sec-websocket-protocol" => handshake.take_subprotocols(&header.value),
                _ if name == "authorization" || is_secret(&name) && is_token(&name) => {
                    handshake.take_secret(&header.name, &header.value);
                }
                _ if KNOWN.contains(&name.as_str()) || is_own(&name) => {}
                _ => handshake.left_out.push(header.name.clone()),
            }
        }
        Ok(handshake)
    }

    fn want(&mut self, name: &str, what: String) -> String {
        let upper = name.to_ascii_uppercase();
        let fits = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let variable: String = upper.chars().map(fits).collect();
        let reference = format!("env:{variable}");
        self.wanted.push((variable, what));
        reference
    }

    fn take_url(&mut self, mut url: Url) {
        if !url.username().is_empty() || url.password().is_some() {
            self.left_out.push("the user in the URL".to_owned());
            // A URL with a host takes both.
            let _ = url.set_username("").and_then(|()| url.set_password(None));
        }
        url.set_fragment(None);
        let query = url.query().unwrap_or_default().to_owned();
        url.set_query(None);
        let mut kept = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if value.is_empty() || !is_secret(name) && !is_like_token(value) {
                kept.push(pair);
            } else if is_token(name) && self.query.len() < MOST_ENTRIES {
                let what = format!("the parameter {name} of the URL");
                let reference = self.want(&format!("QUERY_{name}"), what);
                self.query.push(format!("{name}={reference}"));
            } else {
                self.left_out
                    .push(format!("the parameter {name} of the URL"));
            }
        }
        let (before, path) = url.as_str().split_at(url.as_str().len() - url.path().len());
        let mut text = escaped_braces(before).into_owned();
        for (index, segment) in path.split('/').enumerate() {
            text.push_str(if index == 0 { "" } else { "/" });
            if is_like_token(segment) {
                let column = format!("path-{index}");
                let _ = write!(text, "{{{column}}}");
                self.columns.push(column);
            } else {
                text.push_str(&escaped_braces(segment));
            }
        }
        if !kept.is_empty() {
            text.push('?');
            text.push_str(&escaped_braces(&kept.join("&")));
        }
        self.url = text;
    }

    fn take_cookies(&mut self, header: &str) {
        for pair in header.split(';') {
            let name = pair.split_once('=').map_or(pair, |(name, _)| name).trim();
            let known = format!("{name}=");
            let is_new = !self.cookies.iter().any(|cookie| cookie.starts_with(&known));
            if is_token(name) && is_new && self.cookies.len() < MOST_ENTRIES {
                let reference = self.want(&format!("COOKIE_{name}"), format!("the cookie {name}"));
                self.cookies.push(format!("{name}={reference}"));
            }
        }
    }

    fn take_subprotocols(&mut self, header: &str) {
        for name in header.split(',').map(str::trim) {
            let is_hidden = is_secret(name)
                || ["bearer", "authorization"]
                    .iter()
                    .any(|word| name.to_ascii_lowercase().contains(word))
                || name.len() > 40
                || name.starts_with("eyJ");
            if is_hidden {
                self.left_out
                    .push("a subprotocol that may be secret".to_owned());
            } else if is_token(name) && !self.subprotocols.iter().any(|known| known == name) {
                self.subprotocols.push(name.to_owned());
            }
        }
    }

    fn take_secret(&mut self, name: &str, value: &str) {
        let scheme = match value.split_once(' ') {
            Some((scheme, _)) if name.eq_ignore_ascii_case("authorization") && is_token(scheme) => {
                format!("{scheme} ")
            }
            _ => String::new(),
        };
        let reference = self.want(name, format!("the header {name}"));
        self.headers.push(format!("{name}: {scheme}{reference}"));
    }
}

/// Header lines of HTTP/2 and of the handshake itself.
fn is_own(name: &str) -> bool {
    name.starts_with(':') || name.starts_with("sec-")
}
