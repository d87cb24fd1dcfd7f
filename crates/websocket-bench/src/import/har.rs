//! The WebSocket connections of a HAR file, as Chrome's DevTools and mitmproxy write them.
//!
//! HAR 1.2 knows no messages: both add `_webSocketMessages` to the entry of the handshake, each with
//! `type` (`send` or `receive`), `time` (seconds since 1970), `opcode` (RFC 6455, 5.2) and `data`
//! (base64 where the opcode is 2). mitmproxy writes the URL with `http` and an entry twice, the first
//! time without messages. What else a file holds is passed over as it is read, and an entry that lacks
//! something is no reason to refuse another.

use super::error::ImportError;
use super::frames::Frames;
use super::limits::MOST_CONNECTIONS;
use super::loose::{Collect, List, Loose, Object};
use super::source::{self, Source};
use serde::Deserialize;
use std::path::Path;

/// Most header lines and cookies of a handshake.
const MOST_PAIRS: usize = 1000;

/// A connection of a capture.
#[derive(Debug)]
pub(super) struct Connection {
    /// Its number among the WebSocket connections of the file, from 1 on.
    pub(super) number: usize,
    /// `None` of a list of frames, which may have none.
    pub(super) url: Option<String>,
    /// Names and values of the request's header lines.
    pub(super) headers: Vec<Pair>,
    /// The server compresses messages (RFC 7692).
    pub(super) is_compressed: bool,
    pub(super) frames: Frames,
}

/// A header line.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) name: String,
    pub(super) value: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Har {
    log: Object<Log>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Log {
    entries: List<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    total: usize,
    /// Those of WebSocket, with messages or without.
    handshakes: usize,
    /// Those with messages.
    connections: Vec<Connection>,
    left_out: usize,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Entry {
    request: Object<Request>,
    response: Object<Response>,
    #[serde(rename = "_resourceType")]
    resource_type: Loose,
    #[serde(rename = "_webSocketMessages")]
    messages: List<Frames>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Request {
    url: Loose,
    headers: List<Pairs>,
    /// Cookies have a list of their own, which some programs write in the place of the header.
    cookies: List<Pairs>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Response {
    headers: List<Pairs>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawPair {
    name: Loose,
    value: Loose,
}

#[derive(Debug, Default)]
struct Pairs(Vec<Pair>);

impl Collect for Pairs {
    type Item = Object<RawPair>;

    fn take(&mut self, item: Object<RawPair>) {
        if let Some(raw) = item.0.filter(|_| self.0.len() < MOST_PAIRS) {
            self.0.push(Pair {
                name: raw.name.into_text(),
                value: raw.value.into_text(),
            });
        }
    }
}

impl Collect for Entries {
    type Item = Object<Entry>;

    fn take(&mut self, item: Object<Entry>) {
        self.total += 1;
        let Some(entry) = item.0 else {
            return;
        };
        let frames = entry.messages.0;
        let is_named = entry.resource_type.into_text() == "websocket";
        self.handshakes += usize::from(frames.is_some() || is_named);
        let Some(frames) = frames.filter(|frames| frames.total > 0) else {
            return;
        };
        if self.connections.len() == MOST_CONNECTIONS {
            self.left_out += 1;
            return;
        }
        let number = self.connections.len() + 1;
        let request = entry.request.0.unwrap_or_default();
        let response = entry.response.0.unwrap_or_default();
        self.connections
            .push(connection(number, request, response, frames));
    }
}

fn connection(number: usize, request: Request, response: Response, frames: Frames) -> Connection {
    let mut headers = request.headers.0.unwrap_or_default().0;
    let has_cookie = headers
        .iter()
        .any(|of| of.name.eq_ignore_ascii_case("cookie"));
    if !has_cookie {
        let cookies = request.cookies.0.unwrap_or_default().0.into_iter();
        headers.extend(cookies.map(|cookie| Pair {
            name: "cookie".to_owned(),
            value: format!("{}={}", cookie.name, cookie.value),
        }));
    }
    let answered = response.headers.0.unwrap_or_default().0;
    Connection {
        number,
        url: Some(request.url.into_text()),
        headers,
        is_compressed: answered.iter().any(|of| {
            of.name.eq_ignore_ascii_case("sec-websocket-extensions")
                && of.value.contains("permessage-deflate")
        }),
        frames,
    }
}

/// Reads the WebSocket connections of a capture that have messages.
///
/// # Errors
/// With the file and a remedy.
pub(super) fn read(path: &Path, mut from: Source) -> Result<Vec<Connection>, ImportError> {
    let named = || path.to_owned();
    let parsed = serde_json::from_reader::<_, Object<Har>>(&mut from);
    if source::is_cut(from) {
        return Err(ImportError::Long { path: named() });
    }
    let none = |why: String| ImportError::NoHar { path: named(), why };
    let har = parsed.map_err(|error| none(error.to_string()))?;
    let log = har.0.and_then(|har| har.log.0);
    let entries = log.and_then(|log| log.entries.0);
    let read = entries.ok_or_else(|| none("it has no list log.entries".to_owned()))?;
    let Entries {
        total, handshakes, ..
    } = read;
    Err(match () {
        () if read.left_out > 0 => ImportError::ManyConnections {
            path: named(),
            count: read.connections.len() + read.left_out,
        },
        () if !read.connections.is_empty() => return Ok(read.connections),
        () if handshakes == 0 => ImportError::NoHandshake {
            path: named(),
            entries: total,
        },
        () => ImportError::NoMessages {
            path: named(),
            handshakes,
        },
    })
}
