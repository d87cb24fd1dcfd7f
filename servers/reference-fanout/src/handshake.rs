//! The opening handshake (RFC 6455, section 4.2). Does not know sockets.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};

/// The longest head of a request, in bytes.
pub(crate) const LONGEST: usize = 8 * 1024;

/// The most header lines of a request.
const HEADERS: usize = 64;

/// RFC 6455, section 1.3.
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

#[derive(Debug)]
pub(crate) enum Answer {
    /// The head goes on.
    Incomplete,
    /// The head has so many bytes, and this is the response to it.
    Accepted(usize, String),
    Refused(&'static str),
}

macro_rules! refusal {
    ($status:literal, $headers:literal) => {
        concat!(
            "HTTP/1.1 ",
            $status,
            "\r\n",
            $headers,
            "Content-Length: 0\r\nConnection: close\r\n\r\n"
        )
    };
}

const BAD: &str = refusal!("400 Bad Request", "");
const NO_UPGRADE: &str = refusal!("426 Upgrade Required", "Upgrade: websocket\r\n");
const VERSION: &str = refusal!("426 Upgrade Required", "Sec-WebSocket-Version: 13\r\n");
const METHOD: &str = refusal!("405 Method Not Allowed", "Allow: GET\r\n");
const TOO_LONG: &str = refusal!("431 Request Header Fields Too Large", "");

/// Answers the request at the start of `input`.
pub(crate) fn answer(input: &[u8]) -> Answer {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let size = match request.parse(input) {
        Ok(httparse::Status::Complete(size)) if size <= LONGEST => size,
        Ok(httparse::Status::Partial) if input.len() < LONGEST => return Answer::Incomplete,
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Answer::Refused(TOO_LONG),
        Err(_) => return Answer::Refused(BAD),
    };
    match accept(&request) {
        Ok(accept) => Answer::Accepted(
            size,
            format!(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
                 Connection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
            ),
        ),
        Err(refusal) => Answer::Refused(refusal),
    }
}

/// The value of Sec-WebSocket-Accept, or the response that refuses.
fn accept(request: &httparse::Request<'_, '_>) -> Result<String, &'static str> {
    if request.method != Some("GET") {
        return Err(METHOD);
    }
    // HTTP/1.1 or later, and one Host (RFC 9112, section 3.2).
    if request.version != Some(1) || all(request, "host").count() != 1 {
        return Err(BAD);
    }
    if !has_token(request, "upgrade", "websocket") || !has_token(request, "connection", "upgrade") {
        return Err(NO_UPGRADE);
    }
    if one(request, "sec-websocket-version") != Some(b"13") {
        return Err(VERSION);
    }
    let key = one(request, "sec-websocket-key").ok_or(BAD)?;
    match STANDARD.decode(key) {
        Ok(bytes) if bytes.len() == 16 => {}
        _ => return Err(BAD),
    }
    let digest = Sha1::new().chain_update(key).chain_update(GUID).finalize();
    Ok(STANDARD.encode(digest))
}

fn all<'a>(request: &'a httparse::Request<'_, '_>, name: &str) -> impl Iterator<Item = &'a [u8]> {
    let named = move |header: &&httparse::Header<'_>| header.name.eq_ignore_ascii_case(name);
    let headers = request.headers.iter().filter(named);
    headers.map(|header| header.value.trim_ascii())
}

/// The value of a header that may stand once only.
fn one<'a>(request: &'a httparse::Request<'_, '_>, name: &str) -> Option<&'a [u8]> {
    let mut values = all(request, name);
    values.next().filter(|_| values.next().is_none())
}

fn has_token(request: &httparse::Request<'_, '_>, name: &str, token: &str) -> bool {
    all(request, name)
        .flat_map(|value| value.split(|&byte| byte == b','))
        .any(|value| value.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &str = "GET /chat HTTP/1.1\r\nHost: a\r\nUpgrade: WebSocket\r\n\
        Connection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

    #[test]
    fn the_example_of_the_rfc() {
        let with_frame = [REQUEST.as_bytes(), b"\x81\x80"].concat();
        match answer(&with_frame) {
            Answer::Accepted(size, response) => {
                assert_eq!(size, REQUEST.len());
                assert!(
                    response.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n")
                );
            }
            other => panic!("{other:?}"),
        }
        for end in 0..REQUEST.len() {
            let part = &REQUEST.as_bytes()[..end];
            assert!(matches!(answer(part), Answer::Incomplete), "{end} bytes");
        }
    }

    #[test]
    fn what_is_refused() {
        for (from, to, status) in [
            ("GET", "POST", "405"),
            ("HTTP/1.1", "HTTP/1.0", "400"),
            ("Host: a", "X: a", "400"),
            ("Upgrade: WebSocket", "Upgrade: h2c", "426"),
            ("keep-alive, Upgrade", "keep-alive", "426"),
            ("Version: 13", "Version: 12", "426"),
            ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZQ==", "400"),
            ("Sec-WebSocket-Key", "Other", "400"),
            (" /chat", "", "400"),
        ] {
            let request = REQUEST.replace(from, to);
            match answer(request.as_bytes()) {
                Answer::Refused(response) => {
                    assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{to}")
                }
                other => panic!("{to}: {other:?}"),
            }
        }
        let long = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(LONGEST));
        assert!(matches!(answer(long.as_bytes()), Answer::Refused(TOO_LONG)));
    }
}
