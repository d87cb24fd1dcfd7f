//! The server's half of the opening handshake (RFC 6455, 4.2). Does no I/O.

use crate::framework::Framework;
use ws_proto::accept_for;

/// Longest request head that is read, in bytes.
const MAX_HEAD: usize = 16 * 1024;

/// What matters of an upgrade request.
#[derive(Debug, Default)]
pub(crate) struct RequestHead {
    /// Length of the head in bytes; frames may follow it at once.
    pub(crate) len: usize,
    /// `Upgrade: websocket` and `Connection: Upgrade` are there.
    pub(crate) upgrade: bool,
    /// The value of `Sec-WebSocket-Version`.
    pub(crate) version: Option<String>,
    /// The value of `Sec-WebSocket-Key`.
    pub(crate) key: Option<String>,
    /// Path and query.
    pub(crate) target: String,
    /// `Origin` is there.
    pub(crate) origin: bool,
    /// The values of `Sec-WebSocket-Protocol`.
    pub(crate) subprotocols: Vec<String>,
    /// The values of `Sec-WebSocket-Extensions`, as one list.
    pub(crate) extensions: String,
}

/// Why a request opens no connection (RFC 6455, 4.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// An HTTP request that asks for no upgrade.
    Plain,
    /// A version other than 13.
    Version,
    /// No key.
    Key,
    /// No origin, where one is asked for.
    Origin,
    /// No offer of compression that fits, where messages are compressed.
    Extension,
}

/// Bytes that are no HTTP request, or a head without end.
#[derive(Debug)]
pub(crate) struct NotHttp;

impl RequestHead {
    /// Reads a request head; `None` when `bytes` ends within it.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Self>, NotHttp> {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut headers);
        let len = match request.parse(bytes) {
            Ok(httparse::Status::Complete(len)) => len,
            Ok(httparse::Status::Partial) if bytes.len() < MAX_HEAD => return Ok(None),
            _ => return Err(NotHttp),
        };
        let header = |name: &str| {
            let found = request.headers.iter();
            let mut found = found.filter(|h| h.name.eq_ignore_ascii_case(name));
            Some(
                String::from_utf8_lossy(found.next()?.value)
                    .trim()
                    .to_owned(),
            )
        };
        let has_token = |name: &str, token: &str| {
            header(name).is_some_and(|value| {
                let mut parts = value.split(',');
                parts.any(|part| part.trim().eq_ignore_ascii_case(token))
            })
        };
        let extensions = request.headers.iter();
        let extensions = extensions
            .filter(|h| h.name.eq_ignore_ascii_case("Sec-WebSocket-Extensions"))
            .map(|h| String::from_utf8_lossy(h.value));
        Ok(Some(Self {
            extensions: extensions.collect::<Vec<_>>().join(", "),
            len,
            upgrade: has_token("Upgrade", "websocket") && has_token("Connection", "upgrade"),
            version: header("Sec-WebSocket-Version"),
            key: header("Sec-WebSocket-Key"),
            target: request.path.unwrap_or_default().to_owned(),
            origin: header("Origin").is_some(),
            subprotocols: header("Sec-WebSocket-Protocol")
                .map(|value| {
                    value
                        .split(',')
                        .map(|name| name.trim().to_owned())
                        .collect()
                })
                .unwrap_or_default(),
        }))
    }

    /// Why this request must be refused, if it must.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        match self {
            Self { upgrade: false, .. } => Some(Refusal::Plain),
            Self { version, .. } if version.as_deref() != Some("13") => Some(Refusal::Version),
            Self { key: None, .. } => Some(Refusal::Key),
            _ => None,
        }
    }

    /// The same for a server of this framework.
    pub(crate) fn refusal_by(&self, framework: Framework) -> Option<Refusal> {
        let origin = framework.needs_origin() && !self.origin;
        self.refusal().or(origin.then_some(Refusal::Origin))
    }

    /// The answer that opens the connection, with the subprotocol of this framework if the client
    /// knows it.
    pub(crate) fn accept_by(&self, framework: Framework) -> String {
        let known = framework.subprotocol();
        let known = known.filter(|name| self.subprotocols.iter().any(|asked| asked == name));
        let line = known.map(|name| format!("\r\nSec-WebSocket-Protocol: {name}\r\n\r\n"));
        match line {
            Some(line) => self.accept().replace("\r\n\r\n", &line),
            None => self.accept(),
        }
    }

    /// The answer that opens the connection.
    pub(crate) fn accept(&self) -> String {
        let accept = accept_for(self.key.as_deref().unwrap_or_default());
        format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {accept}\r\n\r\n"
        )
    }
}

impl Refusal {
    /// The answer that refuses the connection.
    pub(crate) const fn response(self) -> &'static str {
        match self {
            Self::Plain | Self::Key | Self::Extension => {
                "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            }
            // As Action Cable does it.
            Self::Origin => {
                "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            }
            Self::Version => {
                "HTTP/1.1 426 Upgrade Required\r\nSec-WebSocket-Version: 13\r\n\
                 Connection: close\r\nContent-Length: 0\r\n\r\n"
            }
        }
    }
}
