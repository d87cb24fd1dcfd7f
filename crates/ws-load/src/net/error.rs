//! What can go wrong with a connection, in words with place and remedy.

use super::endpoint::Endpoint;
use super::http_failure::{HttpFailure, remedy_of_proxy};
use super::tls::Offered;
use crate::message::Unable;
use record::DropHow;
use std::io;
use ws_proto::{
    CloseFrame, ConnectRefusal, DecodeError, HandshakeError, NegotiationError, escaped, printable,
};

/// Most bytes of a message that are shown.
const SHOWN: usize = 160;

/// How far a connection attempt had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The TCP connection was not established.
    Connect,
    /// The proxy did not open a way to the server.
    Tunnel,
    /// The upgrade was not answered.
    Upgrade,
    /// The dialect's subscription was not confirmed.
    Subscribe,
    /// The client was ready.
    Ready,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connect => "before the connection was established",
            Self::Tunnel => "before it answered CONNECT",
            Self::Upgrade => "before it answered the WebSocket upgrade",
            Self::Subscribe => "before it confirmed the subscription",
            Self::Ready => "after the WebSocket was open",
        })
    }
}

/// A client that could not be connected.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// A request over HTTP before the connection did not bring what it was made for.
    #[error(
        "step {step} of [[open.http]] ({method} {url}) {source}; {}",
        source.remedy()
    )]
    Step {
        /// Its number, from 1 on.
        step: usize,
        /// What it asked for.
        method: String,
        /// The URL as the file has it.
        url: String,
        /// What went wrong.
        source: HttpFailure,
    },
    /// Nothing listens there, or a firewall refuses the connection.
    #[error("{addr} refused the connection; is the server running, and on this port?")]
    Refused {
        /// The server's address.
        addr: Endpoint,
    },
    /// No answer in time.
    #[error(
        "{addr} did not get further within {seconds} s: it was silent {stage}; raise connection.timeout if it is only slow, the server's limit of open files if it has none left"
    )]
    TimedOut {
        /// The server's address.
        addr: Endpoint,
        /// How far it had come.
        stage: Stage,
        /// The time that it had.
        seconds: f64,
    },
    /// The WebSocket is open, and the dialect is not.
    #[error(
        "{addr} opened the WebSocket and did not answer as a server of {dialect} does within {seconds} s: {}; {}, or raise connection.timeout if it is only slow",
        last_heard(heard),
        path_of(dialect)
    )]
    NotOpened {
        /// The server's address.
        addr: Endpoint,
        /// The time that it had.
        seconds: f64,
        /// Name of the dialect.
        dialect: String,
        /// How the last message began that it said before the dialect was open; empty where it said none.
        heard: String,
    },
    /// Every other address of the server's name had failed before.
    #[error("{last}; tried before: {others}")]
    Unreachable {
        /// What became of the last address.
        last: Box<Self>,
        /// What became of the others, in words.
        others: String,
    },
    /// The server ended the connection.
    #[error("{addr} {} the connection {stage}{}{}", if *reset { "reset" } else { "closed" }, with_close(close.as_ref()), if_subscribing(*stage))]
    Closed {
        /// The server's address.
        addr: Endpoint,
        /// How far it had come.
        stage: Stage,
        /// By a reset, without a close.
        reset: bool,
        /// The close frame, where one came with a code.
        close: Option<CloseFrame>,
    },
    /// A ping was not answered in time.
    #[error(
        "{addr} did not answer a ping with its payload within {seconds} s (load.connect.ping_timeout)"
    )]
    PingUnanswered {
        /// The server's address.
        addr: Endpoint,
        /// The time that it had.
        seconds: f64,
    },
    /// A proxy opened no way to the server.
    #[error("{addr}: {source}; {}", remedy_of_proxy(source))]
    Proxy {
        /// The proxy's address.
        addr: Endpoint,
        /// What was wrong.
        source: ConnectRefusal,
    },
    /// The accept queue of a Unix socket has no place left.
    #[error(
        "{addr} takes no more connections at once (the queue of its listener is full); open fewer at once (connection.at_once)"
    )]
    QueueFull {
        /// The server's socket.
        addr: Endpoint,
    },
    /// The upgrade was answered wrongly.
    #[error("{addr}: {source}; {}", remedy(source))]
    Handshake {
        /// The server's address.
        addr: Endpoint,
        /// What was wrong.
        source: HandshakeError,
    },
    /// A frame that RFC 6455 forbids.
    #[error("{addr} broke the WebSocket protocol: {source}")]
    Protocol {
        /// The server's address.
        addr: Endpoint,
        /// What was wrong.
        source: DecodeError,
    },
    /// A message longer than any that the plan allows.
    #[error(
        "{addr} announced a message of {size} bytes or more, the longest that this plan allows is {limit} (it follows from message.padding and message.dialect)"
    )]
    TooLong {
        /// The server's address.
        addr: Endpoint,
        /// What it announced, in bytes.
        size: u64,
        /// The bound, in bytes.
        limit: usize,
    },
    /// A compressed message that becomes longer than any that the plan allows.
    #[error(
        "{addr} sent a compressed message of {compressed} bytes that expands past {limit} bytes, the longest that this plan allows (it follows from message.padding and message.dialect)"
    )]
    Expands {
        /// The server's address.
        addr: Endpoint,
        /// Its bytes on the wire.
        compressed: usize,
        /// The bound, in bytes.
        limit: usize,
    },
    /// The framework refused the client.
    #[error("{addr}: {words}; check message.dialect and connection.origin")]
    Turned {
        /// The server's address.
        addr: Endpoint,
        /// What it said.
        words: String,
    },
    /// This process may open no more files.
    #[error(
        "this process may have no more than {limit} open files (RLIMIT_NOFILE); raise it with `ulimit -n`, as root if need be"
    )]
    Files {
        /// The limit.
        limit: u64,
    },
    /// No port is left.
    #[error("no outgoing port is left for {sources} ({first}-{last}: about {} connections per source address, net.ipv4.ip_local_port_range); add source addresses to target.local_addrs, on loopback for example 127.0.0.2 and 127.0.0.3", u32::from(*last) - u32::from(*first) + 1)]
    Ports {
        /// The source addresses in use.
        sources: String,
        /// First port of the range.
        first: u16,
        /// Last port of the range.
        last: u16,
    },
    /// A source address that is not this machine's.
    #[error("the source address {local} is not one of this machine's; see `ip address`")]
    NotLocal {
        /// The address.
        local: std::net::IpAddr,
    },
    /// TLS did not come about, or broke.
    #[error("{addr}: {} ({stage})", super::tls::words(source, *offered))]
    Tls {
        /// The server's address.
        addr: Endpoint,
        /// How far it had come.
        stage: Stage,
        /// What it was offered.
        offered: Offered,
        /// The cause.
        source: rustls::Error,
    },
    /// Any other error of the kernel.
    #[error("{addr}: {} ({stage})", escaped(&source.to_string()))]
    Io {
        /// The server's address.
        addr: Endpoint,
        /// How far it had come.
        stage: Stage,
        /// The cause.
        source: io::Error,
    },
}

impl ConnectError {
    /// How a connection ended that was open, and the code of its close frame.
    pub(crate) fn drop_cause(&self) -> (DropHow, Option<u16>) {
        match self {
            Self::Closed {
                reset: false,
                close,
                ..
            } => (DropHow::Closed, close.as_ref().map(|close| close.code)),
            Self::PingUnanswered { .. } => (DropHow::Unanswered, None),
            Self::Protocol { .. } | Self::TooLong { .. } | Self::Expands { .. } => {
                (DropHow::Broken, None)
            }
            _ => (DropHow::Reset, None),
        }
    }

    /// True when this machine, and not the server, was the limit.
    pub const fn is_machine_limit(&self) -> bool {
        let is_step_limit = matches!(
            self,
            Self::Step {
                source: HttpFailure::Files,
                ..
            }
        );
        is_step_limit || matches!(self, Self::Files { .. } | Self::Ports { .. })
    }

    /// The same with other words in the places of those that the peer said.
    #[must_use]
    pub(crate) fn with_words(mut self, change: impl Fn(&str) -> String) -> Self {
        let replace = |words: &mut String| *words = change(words);
        match &mut self {
            Self::Closed {
                close: Some(close), ..
            } => replace(&mut close.reason),
            Self::Handshake { source, .. } => source.words_mut().for_each(replace),
            Self::Proxy { source, .. } => source.words_mut().for_each(replace),
            Self::Turned { words, .. } => replace(words),
            Self::Step { source, .. } => source.words_mut().into_iter().for_each(replace),
            Self::NotOpened { heard, .. } => replace(heard),
            _ => {}
        }
        self
    }
}

impl From<ConnectError> for Unable {
    fn from(error: ConnectError) -> Self {
        Self {
            words: error.to_string(),
            machine_limit: error.is_machine_limit(),
        }
    }
}

/// ` with 1008 "policy"`; nothing without a close code.
fn with_close(close: Option<&CloseFrame>) -> String {
    let Some(CloseFrame { code, reason }) = close else {
        return String::new();
    };
    // A control frame's payload cannot be longer (RFC 6455, 5.5).
    match printable(reason.as_bytes(), 123).as_str() {
        "" => format!(" with {code}"),
        reason => format!(" with {code} \"{reason}\""),
    }
}

/// What to do when the connection ends there.
const fn if_subscribing(stage: Stage) -> &'static str {
    match stage {
        Stage::Subscribe => "; check message.dialect, and the path of the URL",
        _ => "",
    }
}

/// What came in the place of an answer of the dialect.
fn last_heard(heard: &str) -> String {
    match heard {
        "" => "no message came".to_owned(),
        heard => format!(
            "the last message was `{}`",
            printable(heard.as_bytes(), SHOWN)
        ),
    }
}

/// What is likely when a server does not answer as the dialect says, and where such servers listen.
fn path_of(dialect: &str) -> String {
    let (what, path) = match dialect {
        "socketio" => ("Socket.IO", "/socket.io/?EIO=4&transport=websocket"),
        "phoenix" | "phoenix-2" => ("Phoenix", "/socket/websocket"),
        "actioncable" => ("Action Cable", "/cable"),
        "centrifugo" => ("Centrifugo", "/connection/websocket"),
        "pusher" => ("Pusher", "/app/KEY"),
        "home-assistant" => ("Home Assistant", "/api/websocket"),
        "graphql-ws" => ("GraphQL", "/graphql"),
        "wamp" => ("WAMP", "/ws"),
        _ => {
            return "it is likely no such server, or this is not its path: check message.dialect (or the \
                    dialect file), and the path of the URL"
                .to_owned();
        }
    };
    format!(
        "no {what} server answered on this path: check message.dialect, and the path of the URL (often \
         {path})"
    )
}

/// What to do when the upgrade was answered like this.
fn remedy(source: &HandshakeError) -> String {
    const PATH: &str = "check the path of the URL and that it is a WebSocket server";
    match source {
        HandshakeError::Deflate(NegotiationError::Declined) => {
            return "run without connection.compression, or turn it on at the server".to_owned();
        }
        HandshakeError::Deflate(_) => {
            return "the server negotiates compression wrongly: run without connection.compression"
                .to_owned();
        }
        _ => {}
    }
    if let HandshakeError::Subprotocol { .. } = source {
        return "name one that the server speaks (connection.subprotocols, or `subprotocol` of the dialect)"
            .to_owned();
    }
    let HandshakeError::Status { status, says, .. } = source else {
        return PATH.to_owned();
    };
    let said = |before: &str, after: &str| {
        says.as_ref()
            .map_or_else(String::new, |says| format!("{before}{says}{after}"))
    };
    match status {
        300..=399 => format!(
            "it is elsewhere, and redirects are not followed: give the URL that it names{}",
            said(" (", ")")
        ),
        401 => format!(
            "the server wants authorization{}: give what it takes: an Authorization in connection.headers, user:password in the URL, connection.cookies or connection.query",
            said(" (", ")")
        ),
        403 => "the server forbids it to this client: check the credentials (connection.headers, connection.cookies, connection.query, connection.data), and connection.origin".to_owned(),
        400 if says.is_none() => "it takes the request for a wrong one: check the path and the query of the URL, and what it wants beside them (connection.headers, connection.query, connection.cookies, connection.subprotocols)".to_owned(),
        400 | 426 => format!(
            "it takes no WebSocket of version 13 here{}: check that it is a WebSocket server, and the path of the URL",
            said(" (it names version ", ")")
        ),
        429 | 503 => format!(
            "the server has too much to do{}: open fewer connections at once (connection.at_once, load.connect.rate), or fewer clients",
            said(" (it says to wait for ", ")")
        ),
        500..=599 => "the server failed at it: its log says why".to_owned(),
        _ => PATH.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(status: u16, says: Option<&str>) -> String {
        ConnectError::Handshake {
            addr: ([127, 0, 0, 1], 1).into(),
            source: HandshakeError::Status {
                status,
                reason: "Words".to_owned(),
                says: says.map(str::to_owned),
                body: None,
            },
        }
        .to_string()
    }

    #[test]
    fn each_status_has_the_remedy_that_belongs_to_it() {
        for (status, says, remedy) in [
            (200, None, "check the path of the URL"),
            (302, Some("/login"), "the URL that it names (/login)"),
            (400, None, "check the path and the query of the URL"),
            (
                400,
                Some("8"),
                "takes no WebSocket of version 13 here (it names version 8):",
            ),
            (401, Some("Basic"), "wants authorization (Basic)"),
            (401, None, "wants authorization: give"),
            (403, None, "check the credentials"),
            (404, None, "check the path of the URL"),
            (426, Some("8"), "(it names version 8)"),
            (429, None, "connection.at_once"),
            (500, None, "its log"),
            (503, Some("5"), "(it says to wait for 5)"),
        ] {
            let words = words(status, says);
            assert!(words.contains(remedy), "{remedy:?} in {words}");
            assert!(words.contains(&format!("HTTP {status} Words; ")), "{words}");
            let about_path =
                words.contains("path of the URL") || words.contains("path and the query");
            assert_eq!(
                about_path,
                matches!(status, 200 | 400 | 404 | 426),
                "{words}"
            );
        }
    }

    #[test]
    fn a_close_code_and_its_reason_are_told_escaped() {
        let closed = |close| {
            ConnectError::Closed {
                addr: ([127, 0, 0, 1], 1).into(),
                stage: Stage::Ready,
                reset: false,
                close,
            }
            .to_string()
        };
        let frame = |reason: &str| {
            Some(CloseFrame {
                code: 1008,
                reason: reason.to_owned(),
            })
        };
        let begins = "127.0.0.1:1 closed the connection after the WebSocket was open";
        assert_eq!(closed(None), begins);
        assert_eq!(closed(frame("")), format!("{begins} with 1008"));
        assert_eq!(
            closed(frame("policy\u{1b}[2J")),
            format!("{begins} with 1008 \"policy\\x1b[2J\"")
        );
    }
}
