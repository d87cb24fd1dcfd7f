//! CONNECT, by which an HTTP proxy is asked for a way to another host (RFC 9110, 9.3.6).

use crate::handshake::{MAX_HEADERS, MAX_INTERIM, MAX_RESPONSE_HEAD, MAX_SHOWN, joined};
use crate::printable;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// What a client asks a proxy for.
#[derive(Clone, Copy, Debug)]
pub struct ConnectRequest<'a> {
    /// Host and port of the server.
    pub authority: &'a str,
    /// `Proxy-Authorization`, when the proxy is to be shown one.
    pub authorization: Option<&'a str>,
}

impl ConnectRequest<'_> {
    /// Appends the request head to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let authority = self.authority;
        let line = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
        out.extend_from_slice(line.as_bytes());
        if let Some(value) = self.authorization {
            out.extend_from_slice(format!("Proxy-Authorization: {value}\r\n").as_bytes());
        }
        out.extend_from_slice(b"\r\n");
    }
}

/// The credentials of a user by the scheme Basic (RFC 7617, 2), the value of an `Authorization`.
pub fn basic_credentials(user: &[u8], password: &[u8]) -> String {
    format!("Basic {}", BASE64.encode([user, b":", password].concat()))
}

/// An answer of a proxy that opens no way to the server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectRefusal {
    /// The bytes are not an HTTP response.
    #[error("its answer to CONNECT is not HTTP ({0})")]
    NotHttp(String),
    /// The answer has no end, or too many parts.
    #[error(
        "its answer to CONNECT is longer than {MAX_RESPONSE_HEAD} bytes, {MAX_HEADERS} headers or {MAX_INTERIM} interim answers"
    )]
    TooLong,
    /// Any final status but 2xx.
    #[error("it answered CONNECT with HTTP {status} {reason}")]
    Status {
        /// HTTP status code.
        status: u16,
        /// HTTP reason phrase, printable.
        reason: String,
        /// `Proxy-Authenticate` of 407, printable.
        says: Option<String>,
    },
    /// Bytes behind the answer, where the client speaks first.
    #[error("{0} bytes follow its answer to CONNECT before the server was asked for anything")]
    Unasked(usize),
}

impl ConnectRefusal {
    /// The words in it that the proxy said.
    pub fn words_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let words = match self {
            Self::Status { reason, says, .. } => [Some(reason), says.as_mut()],
            Self::NotHttp(words) => [Some(words), None],
            Self::TooLong | Self::Unasked(_) => [None, None],
        };
        words.into_iter().flatten()
    }
}

/// Reads the answer to a [`ConnectRequest`]. True once the way is open, false when `bytes` ends within
/// the answer.
///
/// # Errors
/// [`ConnectRefusal`] when the way can no longer open.
pub fn parse_connect(bytes: &[u8]) -> Result<bool, ConnectRefusal> {
    let mut end = 0;
    for _ in 0..=MAX_INTERIM {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        end += match response.parse(&bytes[end..]) {
            Ok(httparse::Status::Complete(len)) => len,
            Ok(httparse::Status::Partial) if bytes.len() < MAX_RESPONSE_HEAD => return Ok(false),
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                return Err(ConnectRefusal::TooLong);
            }
            Err(error) => return Err(ConnectRefusal::NotHttp(error.to_string())),
        };
        match response.code.unwrap_or_default() {
            200..=299 if end < bytes.len() => {
                return Err(ConnectRefusal::Unasked(bytes.len() - end));
            }
            200..=299 => return Ok(true),
            100..=199 => {}
            status => {
                let shown = |text: &str| printable(text.as_bytes(), MAX_SHOWN);
                let says = (status == 407).then(|| joined(response.headers, "Proxy-Authenticate"));
                return Err(ConnectRefusal::Status {
                    status,
                    reason: shown(response.reason.unwrap_or_default()),
                    says: says.flatten().map(|says| shown(&says)),
                });
            }
        }
    }
    Err(ConnectRefusal::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_names_the_server_and_shows_what_it_was_given() {
        let mut out = Vec::new();
        ConnectRequest {
            authority: "h:80",
            authorization: Some(&basic_credentials(b"Aladdin", b"open sesame")),
        }
        .encode(&mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\n\
             Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n"
        );
    }

    #[test]
    fn any_2xx_opens_the_way_at_its_last_byte_and_not_before() {
        for answer in [
            "HTTP/1.1 200 Connection established\r\n\r\n",
            "HTTP/1.0 204 No\r\nVia: x\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        ] {
            for cut in 0..answer.len() {
                assert_eq!(parse_connect(&answer.as_bytes()[..cut]), Ok(false), "{cut}");
            }
            assert_eq!(parse_connect(answer.as_bytes()), Ok(true));
            let more = format!("{answer}x");
            assert_eq!(
                parse_connect(more.as_bytes()),
                Err(ConnectRefusal::Unasked(1))
            );
        }
    }

    #[test]
    fn refusals_are_told_printable_and_endless_answers_have_an_end() {
        let refused = |answer: &str| parse_connect(answer.as_bytes()).unwrap_err();
        assert_eq!(
            refused("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n"),
            ConnectRefusal::Status {
                status: 407,
                reason: "No".to_owned(),
                says: Some("Basic realm=\"x\"".to_owned()),
            }
        );
        assert!(matches!(
            refused("HTTP/1.1 101 Y\r\n\r\nSSH-2.0\r\n"),
            ConnectRefusal::NotHttp(_)
        ));
        assert!(matches!(
            refused("SSH-2.0-x\r\n"),
            ConnectRefusal::NotHttp(_)
        ));
        let long = format!("HTTP/1.1 200 OK\r\nX: {}", "y".repeat(MAX_RESPONSE_HEAD));
        assert_eq!(refused(&long), ConnectRefusal::TooLong);
        let many = format!(
            "HTTP/1.1 200 OK\r\n{}\r\n",
            "X: y\r\n".repeat(MAX_HEADERS + 1)
        );
        assert_eq!(refused(&many), ConnectRefusal::TooLong);
        let interim = "HTTP/1.1 100 C\r\n\r\n".repeat(MAX_INTERIM + 1);
        assert_eq!(refused(&interim), ConnectRefusal::TooLong);
    }
}
