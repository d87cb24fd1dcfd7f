//! Requests over HTTP beside the WebSocket: steps before a client connects, and publications.

use super::{Condition, DialectFile, Meaning, Signature};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A request over HTTP that each client makes once, before it first connects. `url`, `headers` and `body`
/// may have variables, and the values that earlier steps captured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpStep {
    /// `GET` where it is left out, and `POST` where there is a `body`.
    #[serde(default)]
    pub method: Option<String>,
    /// A path of the target's own server, or an absolute URL.
    pub url: String,
    /// Header lines by name.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body. Without a `Content-Type` in `headers` it is JSON if it begins with `{` or `[`, and a form
    /// otherwise. In a form the values of variables are percent-encoded.
    #[serde(default)]
    pub body: Option<String>,
    /// The statuses of an answer that a client goes on with. Empty for 200 to 299.
    #[serde(default)]
    pub status: Vec<u16>,
    /// What must hold of the JSON of the answer, by JSON pointer, for a client to go on.
    #[serde(default)]
    pub when: BTreeMap<String, Condition>,
    /// What is kept of the answer, by name. Later texts may have it as `{name}`.
    #[serde(default)]
    pub capture: BTreeMap<String, HttpCapture>,
}

/// Where a value is in an answer over HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HttpCapture {
    /// At this JSON pointer of the body, as a string or a number.
    Json(String),
    /// In the header of this name.
    Header(String),
    /// In the cookie of this name, which the answer sets.
    Cookie(String),
    /// In the place of `{value}` in the body: `name="csrf" content="{value}"`. The text before it is
    /// searched for, and the value ends where the text behind it begins.
    Pattern(String),
}

/// A publication over HTTP, in the place of the message of a broadcast or of `publish`. All texts may
/// have variables of the client that publishes, and `{topic}` in a run with rooms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpPublication {
    /// `POST` where it is left out.
    #[serde(default)]
    pub method: Option<String>,
    /// A path of the target's own server, or an absolute URL. It may have the names of `signatures`,
    /// `{timestamp}` and `{body_md5}`.
    pub url: String,
    /// Header lines by name, with the same names.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body, which carries what the message of a broadcast does: `{payload}`, `{escaped_payload}`, or
    /// `{stamp}` and `{padding}`.
    pub body: String,
    /// The statuses that acknowledge a publication; another one refuses it. Empty for 200 to 299.
    #[serde(default)]
    pub status: Vec<u16>,
    /// What must hold of the JSON of the answer, by JSON pointer, for it to acknowledge a publication.
    /// Another one refuses it.
    #[serde(default)]
    pub when: BTreeMap<String, Condition>,
    /// Signatures by name. `of` may have `{timestamp}`, the seconds since 1970, and `{body_md5}`, the MD5
    /// of the body in lower-case hexadecimal digits.
    #[serde(default)]
    pub signatures: BTreeMap<String, Signature>,
    /// Most connections to the server that a process has open for publications.
    #[serde(default = "connections")]
    pub connections: u32,
}

const fn connections() -> u32 {
    64
}

impl HttpStep {
    /// What is asked of the server.
    pub fn method(&self) -> &str {
        let otherwise = if self.body.is_some() { "POST" } else { "GET" };
        self.method.as_deref().unwrap_or(otherwise)
    }

    /// The texts that may have variables.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let others = self.headers.values().chain(&self.body);
        std::iter::once(&self.url).chain(others).map(String::as_str)
    }

    /// Whether a client goes on with such an answer.
    pub fn takes(&self, status: u16) -> bool {
        takes(&self.status, status)
    }
}

impl HttpPublication {
    /// What is asked of the server.
    pub fn method(&self) -> &str {
        self.method.as_deref().unwrap_or("POST")
    }

    /// The texts besides the body that may have variables.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let signed = self.signatures.values();
        let signed = signed.flat_map(|of| [&of.key, &of.of]);
        std::iter::once(&self.url)
            .chain(self.headers.values())
            .chain(signed)
            .map(String::as_str)
    }

    /// The names that its texts have a meaning for, besides variables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let signed = self.signatures.keys().map(String::as_str);
        PUBLICATION_NAMES.into_iter().chain(signed)
    }

    /// Whether such an answer acknowledges a publication.
    pub fn takes(&self, status: u16) -> bool {
        takes(&self.status, status)
    }
}

/// What texts of a publication over HTTP have a meaning for.
pub const PUBLICATION_NAMES: [&str; 2] = ["timestamp", "body_md5"];

fn takes(permitted: &[u16], status: u16) -> bool {
    match permitted.is_empty() {
        true => (200..300).contains(&status),
        false => permitted.contains(&status),
    }
}

/// The media type of a body, unless a header says another.
pub fn media_type(headers: &BTreeMap<String, String>, body: &str) -> String {
    let is_type = |name: &str| name.eq_ignore_ascii_case("content-type");
    let given = headers.iter().find(|(name, _)| is_type(name));
    match (given, body.trim_start().starts_with(['{', '['])) {
        (Some((_, value)), _) => value.clone(),
        (None, true) => "application/json".to_owned(),
        (None, false) => FORM.to_owned(),
    }
}

/// The media type of a form.
pub const FORM: &str = "application/x-www-form-urlencoded";

impl DialectFile {
    /// Names of what steps over HTTP capture.
    pub fn told_by_steps(&self) -> impl Iterator<Item = &str> {
        let steps = self.open.http.iter();
        steps.flat_map(|step| step.capture.keys().map(String::as_str))
    }

    /// What a broadcast carries, and its key.
    pub fn broadcast(&self) -> Option<(&str, &'static str)> {
        let over_http = self.published(Meaning::Delivery);
        let message = self.send.broadcast.as_deref();
        message.map(|text| (text, "send.broadcast")).or(over_http)
    }

    /// What a publication to a topic carries, and its key.
    pub fn publication(&self) -> Option<(&str, &'static str)> {
        let over_http = self.published(Meaning::Message);
        let message = self.send.publish.as_deref();
        message.map(|text| (text, "send.publish")).or(over_http)
    }

    fn published(&self, means: Meaning) -> Option<(&str, &'static str)> {
        let http = self.send.http.as_ref()?;
        let mut rules = self.receive.iter();
        let is_heard = rules.any(|rule| rule.means == means);
        is_heard.then_some((http.body.as_str(), "send.http.body"))
    }

    /// The URLs that requests over HTTP go to.
    pub fn http_urls(&self) -> impl Iterator<Item = &str> {
        let steps = self.open.http.iter().map(|step| step.url.as_str());
        steps.chain(self.send.http.iter().map(|of| of.url.as_str()))
    }

    /// Whether one of them is spoken to over TLS, whatever the target's own URL says.
    pub fn has_https(&self) -> bool {
        self.http_urls().any(|url| url.starts_with("https://"))
    }
}
