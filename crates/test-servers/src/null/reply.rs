//! Recognises requests and builds answers by looking at as few bytes as possible. Parses no JSON:
//! see the head of the parent module.

use super::rooms::What;
use std::ops::Range;
use ws_proto::{FrameHeader, Opcode, encode_frame, encode_header};

/// What a message asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Echo,
    /// `result_at` is where the type ends: `Result` belongs there in a text result.
    Broadcast {
        result_at: usize,
    },
    /// `word` is where the type stands, and `topic` where the topic does.
    Topic {
        what: What,
        word: Range<usize>,
        topic: Range<usize>,
    },
    Unknown,
}

/// Recognises a request by its bytes.
pub(super) fn recognise(opcode: Opcode, message: &[u8]) -> Request {
    if opcode == Opcode::Binary {
        return match message.first() {
            Some(b'e') => Request::Echo,
            Some(b'b') => Request::Broadcast { result_at: 0 },
            _ => Request::Unknown,
        };
    }
    const USUAL: &[u8] = b"{\"type\":\"";
    let start = if message.starts_with(USUAL) {
        USUAL.len()
    } else {
        match type_start(message) {
            Some(start) => start,
            None => return Request::Unknown,
        }
    };
    let word = &message[start..];
    if word.starts_with(b"echo\"") {
        Request::Echo
    } else if word.starts_with(b"broadcast\"") {
        Request::Broadcast {
            result_at: start + "broadcast".len(),
        }
    } else {
        of_topic(message, start)
    }
}

/// A request about a topic, whose name stands right behind the type.
fn of_topic(message: &[u8], start: usize) -> Request {
    let whats = [
        (What::Publish, "publish"),
        (What::Subscribe, "subscribe"),
        (What::Unsubscribe, "unsubscribe"),
    ];
    let found = whats.into_iter().find_map(|(what, word)| {
        let rest = message[start..].strip_prefix(word.as_bytes())?;
        let topic = rest.strip_prefix(b"\",\"topic\":\"")?;
        let len = topic.iter().position(|byte| *byte == b'"')?;
        let at = message.len() - topic.len();
        Some(Request::Topic {
            what,
            word: start..start + word.len(),
            topic: at..at + len,
        })
    });
    found.unwrap_or(Request::Unknown)
}

/// Appends the frame of a text message in which another word stands for a part of it.
pub(super) fn put_with(out: &mut Vec<u8>, message: &[u8], part: Range<usize>, word: &[u8]) {
    let (before, after) = (&message[..part.start], &message[part.end..]);
    put_parts(out, Opcode::Text, [before, word, after]);
}

/// Where the type's first letter is when the message is not in the usual form. The last `"type"`
/// counts, so that one within a payload that comes first does no harm.
#[cold]
fn type_start(message: &[u8]) -> Option<usize> {
    const KEY: &[u8] = b"\"type\"";
    let key = message.windows(KEY.len()).rposition(|w| w == KEY)?;
    let mut at = key + KEY.len();
    for wanted in [b':', b'"'] {
        at += message[at..]
            .iter()
            .position(|b| !b.is_ascii_whitespace())?;
        if message[at] != wanted {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// Appends the frame of the result that belongs to a broadcast.
pub(super) fn put_result(out: &mut Vec<u8>, opcode: Opcode, message: &[u8], result_at: usize) {
    let (cut, word, kept): (_, &[u8], _) = match opcode {
        Opcode::Binary => (0, b"r", 1),
        _ => (result_at, b"Result", result_at),
    };
    put_parts(out, opcode, [&message[..cut], word, &message[kept..]]);
}

fn put_parts(out: &mut Vec<u8>, opcode: Opcode, parts: [&[u8]; 3]) {
    let header = FrameHeader {
        fin: true,
        opcode,
        mask: None,
        payload_len: parts.iter().map(|part| part.len() as u64).sum(),
    };
    encode_header(out, &header);
    for part in parts {
        out.extend_from_slice(part);
    }
}

/// Appends the frame that answers an unknown request.
pub(super) fn put_error(out: &mut Vec<u8>) {
    let words = br#"{"type":"error","payload":"unknown request"}"#;
    encode_frame(out, Opcode::Text, None, words);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_recognised_in_any_layout() {
        let text = |s: &str| recognise(Opcode::Text, s.as_bytes());
        assert_eq!(text(r#"{"type":"echo","payload":1}"#), Request::Echo);
        assert_eq!(
            text("{ \"payload\":1,\n\"type\" : \"echo\" }"),
            Request::Echo
        );
        assert_eq!(
            text(r#"{"payload":{"type":"echo"},"type":"broadcast"}"#),
            Request::Broadcast { result_at: 44 }
        );
        for unknown in ["", "{}", r#"{"type":"#, r#"{"type":"no"}"#, r#"{"type":1}"#] {
            assert_eq!(text(unknown), Request::Unknown, "{unknown}");
        }
        assert_eq!(recognise(Opcode::Binary, b"e"), Request::Echo);
        assert_eq!(recognise(Opcode::Binary, b""), Request::Unknown);
        assert_eq!(recognise(Opcode::Binary, b"r123"), Request::Unknown);
    }

    #[test]
    fn the_result_differs_from_the_broadcast_by_its_type_alone() {
        let message = br#"{"type":"broadcast","payload":[1]}"#;
        let Request::Broadcast { result_at } = recognise(Opcode::Text, message) else {
            panic!("no broadcast");
        };
        let mut out = Vec::new();
        put_result(&mut out, Opcode::Text, message, result_at);
        assert_eq!(&out[2..], br#"{"type":"broadcastResult","payload":[1]}"#);
        out.clear();
        put_result(&mut out, Opcode::Binary, b"b\0\0\0\x01x", 0);
        assert_eq!(&out[2..], b"r\0\0\0\x01x");
    }
}
