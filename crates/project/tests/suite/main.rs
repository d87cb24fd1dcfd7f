//! What holds of the whole crate, and the laws of its fuzz target.

mod fuzz_corpus;
#[path = "../../../shootout/tests/support/import_graph.rs"]
mod import_graph;
mod imports;
