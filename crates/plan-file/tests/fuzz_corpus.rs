//! The laws of plans in files over their committed corpus, without a fuzzer.

#[path = "../../../fuzz/laws/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/laws/plan_file.rs"]
mod plan_file_laws;

#[test]
fn a_plan_that_is_read_is_the_same_when_it_is_printed_and_read_again() {
    corpus::check_all("plan_file", plan_file_laws::check);
}
