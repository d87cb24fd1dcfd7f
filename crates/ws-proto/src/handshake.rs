//! The opening handshake (RFC 6455, sections 1.3, 4.1 and 4.2.2).

use crate::deflate::{DeflateOffer, DeflateTerms, NegotiationError};
use crate::printable;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use sha1::{Digest as _, Sha1};

/// Appended to the key before hashing (RFC 6455, 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Longest answer to an upgrade, in bytes and with its interim answers. A server that answers with
/// more is given up.
pub const MAX_RESPONSE_HEAD: usize = 16 * 1024;

/// Most interim answers (100 Continue, 103 Early Hints) that are skipped. A server that sends more
/// is given up.
pub const MAX_INTERIM: usize = 8;

pub(crate) const MAX_HEADERS: usize = 64;

/// Most characters of a header's value that an error shows.
pub(crate) const MAX_SHOWN: usize = 100;

/// What a client asks for when it opens a connection.
#[derive(Clone, Copy, Debug)]
pub struct UpgradeRequest<'a> {
    /// Host and, unless it is the scheme's own, port: the value of `Host`.
    pub authority: &'a str,
    /// Path and query, beginning with `/`.
    pub target: &'a str,
    /// `Sec-WebSocket-Key`, from [`encode_key`].
    pub key: &'a str,
    /// `Origin`, when one is to be sent.
    pub origin: Option<&'a str>,
    /// `Sec-WebSocket-Protocol`, when one is asked for; several with commas between them.
    pub subprotocol: Option<&'a str>,
    /// permessage-deflate, when it is offered.
    pub deflate: Option<DeflateOffer>,
}

impl UpgradeRequest<'_> {
    /// Appends the request head to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.encode_with("", out);
    }

    /// As [`Self::encode`], with more header lines, each with its line break.
    pub fn encode_with(&self, lines: &str, out: &mut Vec<u8>) {
        let mut put = |parts: [&str; 3]| parts.iter().for_each(|p| out.extend(p.as_bytes()));
        put(["GET ", self.target, " HTTP/1.1\r\n"]);
        put(["Host: ", self.authority, "\r\n"]);
        put(["Upgrade: websocket\r\nConnection: Upgrade\r\n", "", ""]);
        put(["Sec-WebSocket-Key: ", self.key, "\r\n"]);
        put(["Sec-WebSocket-Version: 13\r\n", "", ""]);
        if let Some(origin) = self.origin {
            put(["Origin: ", origin, "\r\n"]);
        }
        if let Some(subprotocol) = self.subprotocol {
            put(["Sec-WebSocket-Protocol: ", subprotocol, "\r\n"]);
        }
        if let Some(offer) = self.deflate {
            put(["Sec-WebSocket-Extensions: ", &offer.to_string(), "\r\n"]);
        }
        put([lines, "\r\n", ""]);
    }
}

/// A `Sec-WebSocket-Key` from 16 random bytes (RFC 6455, 4.1).
pub fn encode_key(nonce: [u8; 16]) -> String {
    BASE64.encode(nonce)
}

/// The `Sec-WebSocket-Accept` that belongs to a key (RFC 6455, 4.2.2).
pub fn accept_for(key: &str) -> String {
    let mut hash = Sha1::new();
    hash.update(key.as_bytes());
    hash.update(GUID.as_bytes());
    BASE64.encode(hash.finalize())
}

/// A response that does not open a WebSocket connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// The bytes are not an HTTP/1.1 response.
    #[error("the answer to the upgrade is not HTTP ({0})")]
    NotHttp(String),
    /// An answer of a version before HTTP/1.1. It has no 1xx status (RFC 9110, 15.2) and cannot
    /// upgrade (7.8).
    #[error(
        "the answer to the upgrade is HTTP/1.0 with status {status}, which needs HTTP/1.1 (RFC 9110, 15.2)"
    )]
    Version {
        /// HTTP status code.
        status: u16,
    },
    /// More headers than are read.
    #[error("the answer to the upgrade has more than {MAX_HEADERS} headers")]
    TooManyHeaders,
    /// More than [`MAX_INTERIM`] interim answers.
    #[error("more than {MAX_INTERIM} interim answers (1xx) came before the one to the upgrade")]
    Interim,
    /// The answer does not end within [`MAX_RESPONSE_HEAD`] bytes.
    #[error("the head of the answer to the upgrade is longer than {MAX_RESPONSE_HEAD} bytes")]
    HeadTooLong,
    /// Any final status but 101.
    #[error("the server answered the upgrade with HTTP {status} {reason}{}", quoted(body.as_deref()))]
    Status {
        /// HTTP status code.
        status: u16,
        /// HTTP reason phrase, printable.
        reason: String,
        /// What the server says on it, printable: `Location` of 3xx, `WWW-Authenticate` of 401,
        /// `Sec-WebSocket-Version` of 400 and 426, `Retry-After` of 429 and 503.
        says: Option<String>,
        /// The first line of the body, printable, as far as it came with the head, of which the words
        /// of the error show the beginning. Absent of a page for browsers.
        body: Option<String>,
    },
    /// `Upgrade: websocket` is missing (4.1, item 2).
    #[error("the 101 answer lacks `Upgrade: websocket` (RFC 6455, 4.1)")]
    Upgrade,
    /// `Connection: Upgrade` is missing (4.1, item 3).
    #[error("the 101 answer lacks `Connection: Upgrade` (RFC 6455, 4.1)")]
    Connection,
    /// More than one accept key (11.3.3).
    #[error("the 101 answer has more than one Sec-WebSocket-Accept (RFC 6455, 11.3.3)")]
    AcceptTwice,
    /// The accept key is missing, or does not belong to the key that was sent (4.1, item 4).
    #[error("wrong Sec-WebSocket-Accept: expected {expected}, got {got} (RFC 6455, 4.1)")]
    Accept {
        /// The accept key that belongs to the key that was sent.
        expected: String,
        /// What the server sent, or `nothing`.
        got: String,
    },
    /// An extension that was not asked for (4.1, item 5).
    #[error("the server turned on the extension `{0}`, which was not asked for (RFC 6455, 4.1)")]
    Extension(String),
    /// Compression was offered, and not negotiated as RFC 7692 says.
    #[error(transparent)]
    Deflate(#[from] NegotiationError),
    /// A subprotocol that was not asked for, or none where one was (4.1, item 6).
    #[error("the server chose the subprotocol `{got}`, asked for was `{asked}` (RFC 6455, 4.1)")]
    Subprotocol {
        /// What the request named, or `none`.
        asked: String,
        /// What the server named, or `none`.
        got: String,
    },
}

impl HandshakeError {
    /// The words in it that the server said.
    pub fn words_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let words = match self {
            Self::Status {
                reason, says, body, ..
            } => [Some(reason), says.as_mut(), body.as_mut()],
            Self::Subprotocol { asked, got } => [Some(asked), Some(got), None],
            Self::NotHttp(words) | Self::Extension(words) => [Some(words), None, None],
            Self::Accept { got, .. } => [Some(got), None, None],
            Self::Deflate(
                NegotiationError::NotOffered(words)
                | NegotiationError::Syntax(words)
                | NegotiationError::Unknown(words),
            ) => [Some(words), None, None],
            Self::Deflate(NegotiationError::Value { value, .. }) => [value.as_mut(), None, None],
            _ => [None, None, None],
        };
        words.into_iter().flatten()
    }
}

/// Reads the answer to an [`UpgradeRequest`] sent with `key` and `subprotocol` (of several the server
/// has to choose one), and without an extension.
///
/// Interim answers are skipped (RFC 9110, 15.2). Returns the length of all response heads in bytes,
/// since frames may follow at once, or `None` when `bytes` ends within the heads.
///
/// # Errors
/// [`HandshakeError`] when the response can no longer open a connection.
pub fn parse_response(
    bytes: &[u8],
    key: &str,
    subprotocol: Option<&str>,
) -> Result<Option<usize>, HandshakeError> {
    let parsed = parse_answer(bytes, key, subprotocol, None)?;
    Ok(parsed.map(|(len, _)| len))
}

/// The same of a request that may offer permessage-deflate, which the server must then turn on:
/// beside the length, what was agreed.
///
/// # Errors
/// As [`parse_response`].
pub fn parse_answer(
    bytes: &[u8],
    key: &str,
    subprotocol: Option<&str>,
    deflate: Option<&DeflateOffer>,
) -> Result<Option<(usize, Option<DeflateTerms>)>, HandshakeError> {
    let mut end = 0;
    for _ in 0..=MAX_INTERIM {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        end += match response.parse(&bytes[end..]) {
            Ok(httparse::Status::Complete(len)) => len,
            Ok(httparse::Status::Partial) if bytes.len() < MAX_RESPONSE_HEAD => return Ok(None),
            Ok(httparse::Status::Partial) => return Err(HandshakeError::HeadTooLong),
            Err(httparse::Error::TooManyHeaders) => return Err(HandshakeError::TooManyHeaders),
            Err(error) => return Err(HandshakeError::NotHttp(error.to_string())),
        };
        if end > MAX_RESPONSE_HEAD {
            return Err(HandshakeError::HeadTooLong);
        }
        let status = response.code.unwrap_or_default();
        let is_1xx = (100..200).contains(&status);
        if is_1xx && response.version == Some(0) {
            return Err(HandshakeError::Version { status });
        }
        if !is_1xx || status == 101 {
            let judged = judge(&response, key, subprotocol, deflate);
            let terms = judged.map_err(|error| with_body(error, &response, &bytes[end..]))?;
            return Ok(Some((end, terms)));
        }
    }
    Err(HandshakeError::Interim)
}

/// As much of a body as is shown; nothing where there is none.
fn quoted(body: Option<&str>) -> String {
    let Some(body) = body else {
        return String::new();
    };
    match body.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!(" (`{}...`)", &body[..end]),
        None => format!(" (`{body}`)"),
    }
}

/// An answer without a WebSocket, with the first line of what follows its head.
fn with_body(
    mut error: HandshakeError,
    response: &httparse::Response<'_, '_>,
    rest: &[u8],
) -> HandshakeError {
    if let HandshakeError::Status { body, .. } = &mut error {
        let chunked = joined(response.headers, "Transfer-Encoding");
        let is_chunked = chunked.is_some_and(|of| of.eq_ignore_ascii_case("chunked"));
        // Before each chunk stands its size (RFC 9112, 7.1).
        let lines = rest.split(|byte| *byte == b'\n').skip(is_chunked.into());
        let mut lines = lines
            .map(<[u8]>::trim_ascii)
            .filter(|line| !line.is_empty());
        let first = lines.next().filter(|line| !line.starts_with(b"<"));
        *body = first.map(|line| printable(line, line.len()));
    }
    error
}

/// Whether a final answer opens the connection, and with which compression.
fn judge(
    response: &httparse::Response<'_, '_>,
    key: &str,
    subprotocol: Option<&str>,
    deflate: Option<&DeflateOffer>,
) -> Result<Option<DeflateTerms>, HandshakeError> {
    let header = |name: &str| joined(response.headers, name);
    let shown = |value: String| printable(value.as_bytes(), MAX_SHOWN);
    let status = response.code.unwrap_or_default();
    if status != 101 {
        let explained_by = match status {
            300..=399 => "Location",
            401 => "WWW-Authenticate",
            400 | 426 => "Sec-WebSocket-Version",
            429 | 503 => "Retry-After",
            _ => "",
        };
        return Err(HandshakeError::Status {
            status,
            reason: shown(response.reason.unwrap_or_default().to_owned()),
            says: header(explained_by).map(shown),
            body: None,
        });
    }
    let has_token = |name: &str, token: &str| {
        header(name).is_some_and(|value| {
            value
                .split(',')
                .any(|part| part.trim().eq_ignore_ascii_case(token))
        })
    };
    if !has_token("Upgrade", "websocket") {
        return Err(HandshakeError::Upgrade);
    }
    if !has_token("Connection", "upgrade") {
        return Err(HandshakeError::Connection);
    }
    const ACCEPT: &str = "Sec-WebSocket-Accept";
    if response.headers.iter().filter(|h| is(h, ACCEPT)).count() > 1 {
        return Err(HandshakeError::AcceptTwice);
    }
    let expected = accept_for(key);
    let got = header(ACCEPT).unwrap_or_else(|| "nothing".to_owned());
    if got != expected {
        let got = shown(got);
        return Err(HandshakeError::Accept { expected, got });
    }
    let extensions = header("Sec-WebSocket-Extensions");
    let terms = match (deflate, extensions) {
        (Some(offer), answer) => Some(offer.answered(answer.as_deref())?),
        (None, Some(answer)) if answer.split(',').any(|part| !part.trim().is_empty()) => {
            return Err(HandshakeError::Extension(shown(answer)));
        }
        (None, _) => None,
    };
    let chosen = header("Sec-WebSocket-Protocol");
    let is_chosen = match (&chosen, subprotocol) {
        (Some(chosen), Some(asked)) => asked.split(',').any(|one| one.trim() == chosen),
        (chosen, asked) => chosen.is_none() && asked.is_none(),
    };
    if !is_chosen {
        return Err(HandshakeError::Subprotocol {
            asked: subprotocol.unwrap_or("none").to_owned(),
            got: chosen.map_or_else(|| "none".to_owned(), shown),
        });
    }
    Ok(terms)
}

fn is(header: &httparse::Header<'_>, name: &str) -> bool {
    header.name.eq_ignore_ascii_case(name)
}

/// The value of all header lines of a name, in their order, as one list (RFC 9110, 5.3).
pub(crate) fn joined(headers: &[httparse::Header<'_>], name: &str) -> Option<String> {
    let lines = headers.iter().filter(|header| is(header, name));
    lines
        .map(|header| String::from_utf8_lossy(header.value).trim().to_owned())
        .reduce(|all, line| format!("{all}, {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

    fn response(lines: &[&str]) -> Vec<u8> {
        format!("{}\r\n\r\n", lines.join("\r\n")).into_bytes()
    }

    fn good() -> Vec<&'static str> {
        vec![
            "HTTP/1.1 101 Switching Protocols",
            "upgrade: WebSocket",
            "connection: keep-alive, Upgrade",
            "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        ]
    }

    #[test]
    fn accept_key_of_rfc_6455_section_1_3() {
        assert_eq!(accept_for(KEY), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(encode_key(*b"the sample nonce"), KEY);
    }

    #[test]
    fn a_good_answer_is_accepted_at_every_cut_and_leaves_what_follows() {
        let mut bytes = response(&good());
        let head = bytes.len();
        for cut in 0..head {
            assert_eq!(parse_response(&bytes[..cut], KEY, None), Ok(None));
        }
        bytes.extend_from_slice(&[0x81, 0]);
        assert_eq!(parse_response(&bytes, KEY, None), Ok(Some(head)));
    }

    #[test]
    fn each_missing_or_wrong_header_has_its_own_error() {
        let without = |index: usize| {
            let mut lines = good();
            lines.remove(index);
            parse_response(&response(&lines), KEY, None).unwrap_err()
        };
        assert_eq!(without(1), HandshakeError::Upgrade);
        assert_eq!(without(2), HandshakeError::Connection);
        assert!(matches!(without(3), HandshakeError::Accept { got, .. } if got == "nothing"));
        let with = |line: &'static str, subprotocol| {
            let mut lines = good();
            lines.push(line);
            parse_response(&response(&lines), KEY, subprotocol).map_err(|e| e.to_string())
        };
        assert!(
            with("Sec-WebSocket-Extensions: permessage-deflate", None)
                .unwrap_err()
                .contains("permessage-deflate")
        );
        assert!(with("Sec-WebSocket-Protocol: chat", None).is_err());
        assert!(with("Sec-WebSocket-Protocol: chat", Some("chat")).is_ok());
        assert!(with("X-Other: chat", Some("chat")).is_err());
        assert!(with("Sec-WebSocket-Protocol: chat", Some("talk, chat")).is_ok());
        for wrong in ["talk, chat", "cha", "Chat", ""] {
            let mut lines = good();
            let line = format!("Sec-WebSocket-Protocol: {wrong}");
            lines.push(&line);
            assert!(
                parse_response(&response(&lines), KEY, Some("talk, chat")).is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn interim_answers_are_read_over_at_every_cut() {
        let continued: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
        let hints: &[u8] = b"HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n";
        let bytes = [continued, hints, &response(&good())].concat();
        for cut in 0..bytes.len() {
            assert_eq!(parse_response(&bytes[..cut], KEY, None), Ok(None));
        }
        assert_eq!(parse_response(&bytes, KEY, None), Ok(Some(bytes.len())));
        let refused = [hints, b"HTTP/1.1 404 Not Found\r\n\r\n"].concat();
        assert!(matches!(
            parse_response(&refused, KEY, None),
            Err(HandshakeError::Status { status: 404, .. })
        ));
    }

    #[test]
    fn interim_answers_have_an_end_in_number_and_in_bytes() {
        let hints = |count: usize, header: usize| {
            let one = format!(
                "HTTP/1.1 103 Early Hints\r\nX: {}\r\n\r\n",
                "x".repeat(header)
            );
            [one.repeat(count).into_bytes(), response(&good())].concat()
        };
        let parse = |bytes: &[u8]| parse_response(bytes, KEY, None);
        assert!(matches!(parse(&hints(MAX_INTERIM, 1)), Ok(Some(_))));
        assert_eq!(
            parse(&hints(MAX_INTERIM + 1, 1)),
            Err(HandshakeError::Interim)
        );
        assert_eq!(parse(&hints(4, 5_000)), Err(HandshakeError::HeadTooLong));
    }

    #[test]
    fn an_upgrade_of_http_1_0_is_refused_by_its_version() {
        let with_status = |line: &'static str| {
            let mut lines = good();
            lines[0] = line;
            parse_response(&response(&lines), KEY, None).unwrap_err()
        };
        assert_eq!(
            with_status("HTTP/1.0 101 Switching Protocols"),
            HandshakeError::Version { status: 101 }
        );
        assert_eq!(
            with_status("HTTP/1.0 100 Continue"),
            HandshakeError::Version { status: 100 }
        );
        // Servers that are no WebSocket servers answer so, and say more with their status.
        assert!(matches!(
            with_status("HTTP/1.0 404 Not Found"),
            HandshakeError::Status { status: 404, .. }
        ));
    }

    #[test]
    fn repeated_headers_are_one_list_but_for_the_accept_key() {
        let with = |lines: &[&'static str]| {
            let all = [&good()[..], lines].concat();
            parse_response(&response(&all), KEY, None)
        };
        let mut split = good();
        split[2] = "Connection: keep-alive";
        split.push("Connection: Upgrade");
        split.push("Upgrade: h2c");
        assert!(matches!(
            parse_response(&response(&split), KEY, None),
            Ok(Some(_))
        ));
        assert_eq!(
            with(&["Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="]),
            Err(HandshakeError::AcceptTwice)
        );
        assert!(with(&["Sec-WebSocket-Extensions:", "Sec-WebSocket-Extensions:"]).is_ok());
        assert_eq!(
            with(&["Sec-WebSocket-Extensions:", "Sec-WebSocket-Extensions: x"]),
            Err(HandshakeError::Extension(", x".to_owned()))
        );
        let two = ["Sec-WebSocket-Protocol: a", "Sec-WebSocket-Protocol: b"];
        assert!(matches!(
            with(&two),
            Err(HandshakeError::Subprotocol { got, .. }) if got == "a, b"
        ));
        let many = vec!["X: y"; MAX_HEADERS];
        assert_eq!(with(&many), Err(HandshakeError::TooManyHeaders));
    }

    #[test]
    fn a_refusal_is_told_with_the_first_line_of_its_body() {
        let words = |rest: &str| {
            let answer = format!("HTTP/1.1 400 Bad Request\r\n{rest}");
            let error = parse_response(answer.as_bytes(), KEY, None).unwrap_err();
            error.to_string()
        };
        let begins = "the server answered the upgrade with HTTP 400 Bad Request";
        let long = "x".repeat(500);
        for (rest, shown) in [
            ("\r\n", String::new()),
            ("\r\n{\"code\":3}", " (`{\"code\":3}`)".to_owned()),
            ("\r\n\r\n no\x07 \r\nmore", " (`no\\x07`)".to_owned()),
            ("\r\n<!doctype html>\n<p>no", String::new()),
            (
                "Transfer-Encoding: chunked\r\n\r\n3\r\nno!\r\n0\r\n",
                " (`no!`)".to_owned(),
            ),
            (
                &format!("\r\n{long}"),
                format!(" (`{}...`)", &long[..MAX_SHOWN]),
            ),
        ] {
            assert_eq!(words(rest), format!("{begins}{shown}"), "{rest:?}");
        }
    }

    #[test]
    fn a_refusal_keeps_what_explains_it_and_nothing_is_left_raw() {
        let says = |answer: &[u8]| match parse_response(answer, KEY, None) {
            Err(HandshakeError::Status { says, .. }) => says,
            other => panic!("{other:?}"),
        };
        for (answer, explained) in [
            ("HTTP/1.1 302 Found\r\nLocation: /login\r\n\r\n", "/login"),
            (
                "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\r\n",
                "Basic realm=\"x\"",
            ),
            ("HTTP/1.1 426 No\r\nSec-WebSocket-Version: 8\r\n\r\n", "8"),
            ("HTTP/1.1 503 No\r\nRetry-After: 5\r\n\r\n", "5"),
            (
                "HTTP/1.1 302 Found\r\nLocation: \u{9b}31m\r\n\r\n",
                "\\xc2\\x9b31m",
            ),
        ] {
            assert_eq!(
                says(answer.as_bytes()).as_deref(),
                Some(explained),
                "{answer}"
            );
        }
        assert_eq!(
            says(b"HTTP/1.1 404 Not Found\r\nLocation: /x\r\n\r\n"),
            None
        );
    }

    #[test]
    fn other_statuses_and_other_protocols_are_named() {
        let answer = b"HTTP/1.1 404 Not Found\r\n\r\n";
        assert_eq!(
            parse_response(answer, KEY, None).unwrap_err().to_string(),
            "the server answered the upgrade with HTTP 404 Not Found"
        );
        assert!(matches!(
            parse_response(b"SSH-2.0-OpenSSH_9.2\r\n", KEY, None),
            Err(HandshakeError::NotHttp(_))
        ));
        let endless = [b"HTTP/1.1 101 ".as_slice(), &vec![b'x'; MAX_RESPONSE_HEAD]].concat();
        assert_eq!(
            parse_response(&endless, KEY, None),
            Err(HandshakeError::HeadTooLong)
        );
    }

    #[test]
    fn the_request_names_everything_it_was_given() {
        let mut out = Vec::new();
        UpgradeRequest {
            authority: "localhost:3334",
            target: "/cable?x=1",
            key: KEY,
            origin: Some("http://localhost"),
            deflate: None,
            subprotocol: Some("actioncable-v1-json"),
        }
        .encode(&mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("GET /cable?x=1 HTTP/1.1\r\nHost: localhost:3334\r\n"));
        assert!(text.contains("\r\nOrigin: http://localhost\r\n"));
        assert!(text.contains("\r\nSec-WebSocket-Protocol: actioncable-v1-json\r\n"));
        assert!(text.ends_with("\r\n\r\n"));
    }
}
