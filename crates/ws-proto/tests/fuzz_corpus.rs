//! The laws of the fuzz targets over their committed corpora, without a fuzzer.

#[path = "../../../fuzz/laws/decoder.rs"]
mod decoder;
#[path = "../../../fuzz/laws/handshake.rs"]
mod handshake;

use std::fs;
use std::path::Path;

/// Runs a law over a corpus and over every prefix of each of its files.
fn check_all(corpus: &str, law: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(corpus);
    let mut files = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        (0..=bytes.len()).for_each(|end| law(&bytes[..end]));
        files += 1;
    }
    assert!(files >= 5, "{} holds {files} files", folder.display());
}

#[test]
fn decoding_does_not_depend_on_how_the_stream_is_cut() {
    check_all("decoder", decoder::check);
}

#[test]
fn a_verdict_on_a_prefix_of_an_answer_stands() {
    check_all("handshake", handshake::check);
}
