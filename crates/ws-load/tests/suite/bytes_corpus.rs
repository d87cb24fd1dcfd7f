//! The laws of the fuzz target of messages in bytes over its committed corpus, without a fuzzer.

#[path = "../../../../fuzz/laws/bytes.rs"]
mod bytes;

use proptest::prelude::*;

/// The files of the corpus.
fn corpus() -> Vec<Vec<u8>> {
    crate::corpus::files("bytes")
}

#[test]
fn intact_answers_have_lengths_that_fit() {
    let found = corpus().into_iter().map(|bytes| {
        for end in 0..bytes.len() {
            bytes::check(&bytes[..end]);
        }
        bytes::check(&bytes)
    });
    // One alone, three together, one with a longer length, and one before another that is cut off.
    assert_eq!(found.sum::<usize>(), 6);
}

proptest! {
    /// A file of the corpus with one byte changed, and others behind it.
    #[test]
    fn the_laws_hold_of_messages_that_were_changed(
        file: prop::sample::Index,
        change: (prop::sample::Index, u8),
        behind in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut bytes = file.get(&corpus()).clone();
        let at = change.0.index(bytes.len());
        bytes[at] = change.1;
        bytes.extend(behind);
        bytes::check(&bytes);
    }

    #[test]
    fn any_text_is_a_pattern_or_is_refused(
        text in r#"([0-9a-f]{2}| |"[a-z\\"]{0,3}"?|\{(any|stamp|padding|length|x|sequence)(:(be8|le4|varint|4))?\}|\(|\)){0,12}"#,
    ) {
        bytes::check(text.as_bytes());
    }
}
