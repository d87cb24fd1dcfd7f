//! The laws of the fuzz target `records` over its committed corpus, without a fuzzer.

#[path = "../../../../fuzz/laws/corpus.rs"]
mod corpus;
#[path = "../../../../fuzz/laws/records.rs"]
mod records;

#[test]
fn what_is_read_of_a_record_is_what_was_written() {
    corpus::check_all("records", records::check);
}
