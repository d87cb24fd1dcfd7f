//! A connection before its first frame: the upgrade request and the head of the answer.

use super::{Client, MAX_MESSAGE, OpenError, READ_SIZE, is_timeout, origin};
use crate::dialect::Speech;
use crate::stream::Stream;
use crate::target::{Dialect, Target};
use std::collections::VecDeque;
use std::fmt;
use std::io::Read;
use std::time::{Duration, Instant};
use ws_proto::{Decoder, HandshakeError, Sender, UpgradeRequest, parse_response};

/// A connection whose upgrade request is under way.
pub(crate) struct Opening {
    pub(super) stream: Stream,
    pub(super) speech: &'static dyn Speech,
    pub(super) key: String,
    pub(super) timeout: Duration,
}

impl Opening {
    /// Connects and sends the upgrade request.
    pub(crate) fn start(target: &Target, dialect: Dialect, key: &str) -> Result<Self, OpenError> {
        Self::start_with(target, dialect, key, "")
    }

    /// The same with more header lines.
    pub(crate) fn start_with(
        target: &Target,
        dialect: Dialect,
        key: &str,
        lines: &str,
    ) -> Result<Self, OpenError> {
        let speech = dialect.speech();
        let mut stream = Stream::connect(target).map_err(OpenError::Connect)?;
        let (path, origin) = (speech.path(&target.path), origin(target, dialect));
        let request = UpgradeRequest {
            authority: &target.host,
            target: &path,
            key,
            origin: origin.as_deref(),
            subprotocol: speech.subprotocol(),
            deflate: None,
        };
        let mut head = Vec::new();
        request.encode(&mut head);
        head.truncate(head.len() - 2);
        head.extend_from_slice(lines.as_bytes());
        head.extend_from_slice(b"\r\n");
        // A server that is gone already is found by the read.
        let _ = stream.send(&head);
        Ok(Self {
            stream,
            speech,
            key: key.to_owned(),
            timeout: target.timeout,
        })
    }

    /// Waits for the answer. Anything but 101 is an error; headers are left to their own checks.
    /// The dialect's opening is still to come.
    pub(crate) fn finish(mut self) -> Result<Client, OpenError> {
        let (head, rest) = read_head(&mut self.stream, self.timeout)
            .map_err(|error| OpenError::Handshake(error.to_string()))?;
        let parsed = parse_response(&head, &self.key, None);
        if let Err(error) = parsed
            && is_no_101(&error)
        {
            return Err(OpenError::Handshake(error.to_string()));
        }
        let mut client = self.into_client();
        client.feed(&rest);
        Ok(client)
    }

    pub(super) fn into_client(self) -> Client {
        Client {
            stream: self.stream,
            speech: self.speech,
            decoder: Decoder::new(Sender::Server, MAX_MESSAGE),
            inbox: VecDeque::new(),
            ended: None,
            timeout: self.timeout,
            read_timeout: None,
            buffer: vec![0; READ_SIZE],
            deflate: None,
            joined: false,
            has_added: false,
        }
    }

    /// The unparsed head of the answer. The checks of headers read it.
    pub(crate) fn into_head(mut self) -> Result<Vec<u8>, NoHead> {
        Ok(read_head(&mut self.stream, self.timeout)?.0)
    }
}

/// True when the answer is no 101 at all.
pub(crate) const fn is_no_101(error: &HandshakeError) -> bool {
    matches!(
        error,
        HandshakeError::NotHttp(_)
            | HandshakeError::Version { .. }
            | HandshakeError::TooManyHeaders
            | HandshakeError::Interim
            | HandshakeError::Status { .. }
    )
}

/// Why there is no head of an answer.
#[derive(Debug)]
pub(crate) enum NoHead {
    /// The server said nothing, or not all, in time.
    Silent(Duration),
    /// The server ended the connection, or sent what can be no head.
    Ended(String),
}

impl fmt::Display for NoHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent(wait) => write!(f, "no complete answer to the request within {wait:?}"),
            Self::Ended(how) => f.write_str(how),
        }
    }
}

/// Reads up to the empty line that ends the head; interim heads may come before it. Returns the
/// heads, and the bytes after them.
pub(crate) fn read_head(
    stream: &mut Stream,
    timeout: Duration,
) -> Result<(Vec<u8>, Vec<u8>), NoHead> {
    const END: &[u8] = b"\r\n\r\n";
    let ended = |how: &str| Err(NoHead::Ended(how.to_owned()));
    let deadline = Instant::now() + timeout;
    let mut head = Vec::new();
    // Where the head that is under way begins, behind interim ones.
    let mut begun = 0;
    let mut buffer = [0; 4096];
    while Instant::now() < deadline {
        match stream.read(&mut buffer) {
            Ok(0) => return ended("the server ended the connection without an answer"),
            Ok(count) => head.extend_from_slice(&buffer[..count]),
            Err(error) if is_timeout(&error) => break,
            Err(error) => return ended(&format!("no answer: {error}")),
        }
        while let Some(at) = head[begun..].windows(END.len()).position(|w| w == END) {
            let end = begun + at + END.len();
            if is_interim(&head[begun..]) {
                begun = end;
                continue;
            }
            let rest = head.split_off(end);
            return Ok((head, rest));
        }
        if head.len() > ws_proto::MAX_RESPONSE_HEAD {
            return ended(&HandshakeError::HeadTooLong.to_string());
        }
    }
    Err(NoHead::Silent(timeout))
}

/// 1xx but 101 (RFC 9110, 15.2).
fn is_interim(head: &[u8]) -> bool {
    head.starts_with(b"HTTP/1.1 1") && !head.starts_with(b"HTTP/1.1 101")
}
