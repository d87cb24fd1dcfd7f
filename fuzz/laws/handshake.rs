//! Laws of `ws_proto::parse_response` on any bytes.

use ws_proto::{HandshakeError, accept_for, parse_response};

/// The key of RFC 6455, 1.3, whose answer stands in the corpus.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

type Verdict = Result<Option<usize>, HandshakeError>;

/// Longer answers are cut at every so many bytes only.
const CUTS: usize = 256;

/// The bytes of an answer to an upgrade, with and without a subprotocol asked for.
pub(crate) fn check(data: &[u8]) {
    for subprotocol in [None, Some("actioncable-v1-json")] {
        check_with(data, subprotocol);
    }
}

/// The verdict without the body of a refusal, which is told as far as it came with the head.
fn verdict(data: &[u8], subprotocol: Option<&str>) -> Verdict {
    let mut verdict = parse_response(data, KEY, subprotocol);
    if let Err(HandshakeError::Status { body, .. }) = &mut verdict {
        *body = None;
    }
    verdict
}

fn check_with(data: &[u8], subprotocol: Option<&str>) {
    let whole = verdict(data, subprotocol);
    if let Ok(Some(head)) = whole {
        let text = String::from_utf8_lossy(&data[..head]).into_owned();
        assert!(
            text.ends_with("\n\r\n") || text.ends_with("\n\n"),
            "{text:?}"
        );
        assert!(
            text.contains(" 101") && text.contains(&accept_for(KEY)),
            "{text:?}"
        );
    }
    for cut in (0..data.len()).step_by(data.len() / CUTS + 1) {
        match verdict(&data[..cut], subprotocol) {
            Ok(None) => {}
            // The length that was reached without an end is the verdict, and it only grows.
            Err(HandshakeError::HeadTooLong) => {}
            verdict => assert_eq!(verdict, whole, "at {cut} of {}", data.len()),
        }
    }
    let longer = [data, b"\x81\x00"].concat();
    if !matches!(whole, Ok(None)) {
        assert_eq!(
            verdict(&longer, subprotocol),
            whole,
            "with a frame behind it"
        );
    }
    check_interim(data, subprotocol, &whole);
}

/// An interim answer before it moves the end of an answer and changes nothing else.
fn check_interim(data: &[u8], subprotocol: Option<&str>, whole: &Verdict) {
    const HINTS: &[u8] = b"HTTP/1.1 103 Early Hints\r\n\r\n";
    let moved = whole.clone().map(|head| head.map(|len| len + HINTS.len()));
    match verdict(&[HINTS, data].concat(), subprotocol) {
        // It is one more, and so many bytes more.
        Err(HandshakeError::Interim | HandshakeError::HeadTooLong) => {}
        verdict => assert_eq!(verdict, moved, "behind an interim answer"),
    }
}
