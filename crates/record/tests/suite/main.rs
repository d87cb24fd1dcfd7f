//! The tests of this crate from outside, in one program: each more is linked anew.

mod engine_words;
mod foreign_readers;
mod fuzz_corpus;
mod imports;
mod judge;
mod names;
mod results_of_2016;
mod schema;
mod shown;
mod sources;
mod storms;
mod support;
mod verdict;
