//! The WebSocket connections of a HAR file, as Chrome's DevTools and mitmproxy write them.
//!
//! HAR 1.2 knows no messages: both add `_webSocketMessages` to the entry of the handshake, each with
//! `type` (`send` or `receive`), `time` (seconds since 1970), `opcode` (RFC 6455, 5.2) and `data`
//! (base64 where the opcode is 2). mitmproxy writes the URL with `http` and an entry twice, the first
//! time without messages. What else an entry holds is not kept.

use serde::Deserialize;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

/// Longest capture that is read, in bytes.
const MOST_BYTES: u64 = 256 << 20;

/// A connection of a capture.
#[derive(Debug)]
pub(super) struct Connection {
    /// Its number among the WebSocket connections of the file, from 1 on.
    pub(super) number: usize,
    pub(super) url: String,
    /// Names and values of the request's header lines.
    pub(super) headers: Vec<Pair>,
    /// The server compresses messages (RFC 7692).
    pub(super) is_compressed: bool,
    pub(super) messages: Vec<Message>,
}

/// A message of a capture.
#[derive(Debug, Deserialize)]
pub(super) struct Message {
    /// `send` or `receive`; of Chrome also `error`.
    #[serde(rename = "type", default)]
    pub(super) direction: String,
    /// Seconds since 1970.
    #[serde(default)]
    pub(super) time: f64,
    #[serde(default = "text")]
    pub(super) opcode: f64,
    #[serde(default)]
    pub(super) data: String,
}

const fn text() -> f64 {
    1.0
}

/// A header line.
#[derive(Debug, Deserialize)]
pub(super) struct Pair {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) value: String,
}

#[derive(Deserialize)]
struct Har {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    request: Request,
    response: Option<Response>,
    #[serde(rename = "_resourceType")]
    resource_type: Option<String>,
    #[serde(rename = "_webSocketMessages")]
    messages: Option<Vec<Message>>,
}

#[derive(Deserialize)]
struct Request {
    url: String,
    #[serde(default)]
    headers: Vec<Pair>,
    /// Cookies have a list of their own, which some programs write in the place of the header.
    #[serde(default)]
    cookies: Vec<Pair>,
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    headers: Vec<Pair>,
}

/// Reads the WebSocket connections of a capture that have messages.
///
/// # Errors
/// In words, with the file and a remedy.
pub(super) fn read(path: &Path) -> Result<Vec<Connection>, String> {
    let name = path.display();
    let unread = |error| format!("cannot read the capture {name}: {error}");
    let file = File::open(path).map_err(unread)?;
    if file.metadata().map_err(unread)?.is_dir() {
        return Err(format!("{name} is a folder: name the HAR file in it"));
    }
    let mut reader = BufReader::new(file.take(MOST_BYTES + 1));
    let parsed = serde_json::from_reader::<_, Har>(&mut reader);
    if reader.into_inner().limit() == 0 {
        return Err(format!(
            "{name} has more than {} MiB, and no more is read: leave the other requests out, as \
             with jq 'del(.log.entries[] | select(._webSocketMessages == null))'",
            MOST_BYTES >> 20
        ));
    }
    let har = parsed.map_err(|error| {
        format!(
            "{name} is no HAR: {error}; export one from the browser's DevTools (Network, Export \
             HAR) or with mitmproxy (save.har)"
        )
    })?;
    let is_websocket = |entry: &Entry| {
        entry.messages.is_some() || entry.resource_type.as_deref() == Some("websocket")
    };
    let entries = har.log.entries;
    let total = entries.len();
    let all: Vec<Entry> = entries.into_iter().filter(is_websocket).collect();
    let handshakes = all.len();
    let with_messages = all.into_iter().filter(|entry| {
        let messages = entry.messages.as_deref().unwrap_or_default();
        !messages.is_empty()
    });
    let connections: Vec<Connection> = with_messages
        .zip(1..)
        .map(|(entry, number)| connection(number, entry))
        .collect();
    match (connections.is_empty(), handshakes) {
        (false, _) => Ok(connections),
        (true, 0) => Err(format!(
            "{name} has no WebSocket connection among its {total} entries: open DevTools, then load \
             the page, so that the handshake is in the capture"
        )),
        (true, _) => Err(format!(
            "{name} has {handshakes} WebSocket connections and no message of any: export it when \
             messages have gone, with a Chrome of 2019 or later (`_webSocketMessages`)"
        )),
    }
}

fn connection(number: usize, entry: Entry) -> Connection {
    let mut headers = entry.request.headers;
    let has_cookie = headers
        .iter()
        .any(|of| of.name.eq_ignore_ascii_case("cookie"));
    if !has_cookie {
        let cookies = entry.request.cookies.into_iter();
        headers.extend(cookies.map(|cookie| Pair {
            name: "cookie".to_owned(),
            value: format!("{}={}", cookie.name, cookie.value),
        }));
    }
    let response = entry.response.map(|of| of.headers).unwrap_or_default();
    Connection {
        number,
        url: entry.request.url,
        headers,
        is_compressed: response.iter().any(|of| {
            of.name.eq_ignore_ascii_case("sec-websocket-extensions")
                && of.value.contains("permessage-deflate")
        }),
        messages: entry.messages.unwrap_or_default(),
    }
}
