//! The laws of the fuzz targets over their committed corpora, without a fuzzer.

#[path = "../../../fuzz/laws/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/laws/decoder.rs"]
mod decoder;
#[path = "../../../fuzz/laws/handshake.rs"]
mod handshake;
#[path = "../../../fuzz/laws/inflater.rs"]
mod inflater;

use corpus::check_all;

#[test]
fn decoding_does_not_depend_on_how_the_stream_is_cut() {
    check_all("decoder", decoder::check);
}

#[test]
fn a_verdict_on_a_prefix_of_an_answer_stands() {
    check_all("handshake", handshake::check);
}

#[test]
fn compressed_messages_are_what_the_library_says_within_their_bound() {
    check_all("inflater", inflater::check);
}
