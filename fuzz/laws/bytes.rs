//! Laws of dialect files in bytes on any bytes.
//!
//! Any text is a pattern, or is refused in one line that names a key. The messages that a message is cut
//! into are the message. One that is called an intact answer is read here once more, byte by byte: its
//! lengths are those of what they enclose, and it holds the stamp and the padding once.

use ws_load::for_fuzzing::{PADDING, messages_in_bytes, pattern_in_bytes};

/// Any message, which is then taken as a pattern too. Returns how many intact answers are in it.
pub(crate) fn check(data: &[u8]) -> usize {
    if let Ok(text) = std::str::from_utf8(data)
        && let Some(refusal) = pattern_in_bytes(text)
    {
        assert!(refusal.starts_with('`'), "{refusal:?}");
        assert!(refusal.contains("; "), "a remedy: {refusal:?}");
    }
    let messages = messages_in_bytes(data);
    let parts: Vec<&[u8]> = messages.iter().map(|(part, _)| *part).collect();
    assert_eq!(parts.concat(), data, "what is cut is the message");
    assert!(parts.iter().all(|part| !part.is_empty()));
    let answers = messages
        .iter()
        .filter_map(|(part, of)| Some((*part, (*of)?)));
    answers
        .map(|(part, stamp)| check_answer(part, stamp))
        .count()
}

fn check_answer(part: &[u8], stamp: u64) {
    assert_eq!(part[0], b'M', "{part:?}");
    let zero = part.iter().position(|byte| *byte == 0);
    let mut at = zero.expect("a zero ends what may be anything") + 1;
    let (mut length, mut shift) = (0_usize, 0);
    loop {
        let byte = part[at];
        at += 1;
        length |= usize::from(byte & 0x7F) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    let size = (PADDING.len() as u16).to_be_bytes();
    let inside = [
        &b"\x09"[..],
        &stamp.to_le_bytes(),
        b"\x12",
        &size,
        PADDING.as_bytes(),
    ]
    .concat();
    assert_eq!(length, inside.len(), "{part:?}");
    assert_eq!(&part[at..], [&inside[..], b"\xff"].concat(), "{part:?}");
}
