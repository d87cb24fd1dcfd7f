//! The opening handshake (RFC 6455, sections 1.3, 4.1 and 4.2.2).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use sha1::{Digest as _, Sha1};

/// Appended to the key before hashing (RFC 6455, 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Longest response head that is read before the server is given up, in bytes.
pub const MAX_RESPONSE_HEAD: usize = 16 * 1024;

const MAX_HEADERS: usize = 64;

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
    /// `Sec-WebSocket-Protocol`, when one is asked for.
    pub subprotocol: Option<&'a str>,
}

impl UpgradeRequest<'_> {
    /// Appends the request head to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
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
        put(["\r\n", "", ""]);
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
    /// The bytes are no HTTP/1.1 response.
    #[error("the answer to the upgrade is not HTTP ({0})")]
    NotHttp(String),
    /// The head does not end within [`MAX_RESPONSE_HEAD`] bytes.
    #[error("the head of the answer to the upgrade is longer than {MAX_RESPONSE_HEAD} bytes")]
    HeadTooLong,
    /// Any status but 101.
    #[error("the server answered the upgrade with HTTP {status} {reason}")]
    Status {
        /// HTTP status code.
        status: u16,
        /// HTTP reason phrase.
        reason: String,
    },
    /// `Upgrade: websocket` is missing (4.1, item 2).
    #[error("the 101 answer lacks `Upgrade: websocket` (RFC 6455, 4.1)")]
    Upgrade,
    /// `Connection: Upgrade` is missing (4.1, item 3).
    #[error("the 101 answer lacks `Connection: Upgrade` (RFC 6455, 4.1)")]
    Connection,
    /// The accept key is missing or not the key's (4.1, item 4).
    #[error("wrong Sec-WebSocket-Accept: expected {expected}, got {got} (RFC 6455, 4.1)")]
    Accept {
        /// What belongs to the key that was sent.
        expected: String,
        /// What the server sent, or `nothing`.
        got: String,
    },
    /// An extension that was not asked for (4.1, item 5).
    #[error("the server turned on the extension `{0}`, which was not asked for (RFC 6455, 4.1)")]
    Extension(String),
    /// A subprotocol that was not asked for, or none where one was (4.1, item 6).
    #[error("the server chose the subprotocol `{got}`, asked for was `{asked}` (RFC 6455, 4.1)")]
    Subprotocol {
        /// What the request named, or `none`.
        asked: String,
        /// What the server named, or `none`.
        got: String,
    },
}

/// Reads the answer to an [`UpgradeRequest`] sent with `key` and `subprotocol`.
///
/// Returns the length of the response head in bytes (frames may follow it at once), or `None`
/// when `bytes` ends within it.
///
/// # Errors
/// [`HandshakeError`] when the response can no longer open a connection.
pub fn parse_response(
    bytes: &[u8],
    key: &str,
    subprotocol: Option<&str>,
) -> Result<Option<usize>, HandshakeError> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let head_len = match response.parse(bytes) {
        Ok(httparse::Status::Complete(len)) => len,
        Ok(httparse::Status::Partial) if bytes.len() < MAX_RESPONSE_HEAD => return Ok(None),
        Ok(httparse::Status::Partial) => return Err(HandshakeError::HeadTooLong),
        Err(error) => return Err(HandshakeError::NotHttp(error.to_string())),
    };
    let status = response.code.unwrap_or_default();
    if status != 101 {
        let reason = response.reason.unwrap_or_default().to_owned();
        return Err(HandshakeError::Status { status, reason });
    }
    let header = |name: &str| {
        response
            .headers
            .iter()
            .find(|h| h.name.eq_ignore_ascii_case(name))
            .map(|h| String::from_utf8_lossy(h.value).trim().to_owned())
    };
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
    let expected = accept_for(key);
    let got = header("Sec-WebSocket-Accept").unwrap_or_else(|| "nothing".to_owned());
    if got != expected {
        return Err(HandshakeError::Accept { expected, got });
    }
    if let Some(extension) = header("Sec-WebSocket-Extensions").filter(|v| !v.is_empty()) {
        return Err(HandshakeError::Extension(extension));
    }
    let chosen = header("Sec-WebSocket-Protocol");
    if chosen.as_deref() != subprotocol {
        return Err(HandshakeError::Subprotocol {
            asked: subprotocol.unwrap_or("none").to_owned(),
            got: chosen.unwrap_or_else(|| "none".to_owned()),
        });
    }
    Ok(Some(head_len))
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
