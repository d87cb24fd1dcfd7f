//! Laws of the words that a coordinator takes from its sites: any bytes as `ws_load::site::Word`.

use ws_load::site::Word;

/// The bytes of one word. What can be read is the same when it is written and read again.
pub(crate) fn check(data: &[u8]) {
    let Ok(word) = postcard::from_bytes::<Word>(data) else {
        return;
    };
    let written = postcard::to_stdvec(&word).expect("a word can be written");
    let again: Word = postcard::from_bytes(&written).expect("what was written can be read");
    assert_eq!(postcard::to_stdvec(&again), Ok(written));
}
