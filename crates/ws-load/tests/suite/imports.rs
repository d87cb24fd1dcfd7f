//! Imports of the engine run down: no module imports one that stands above it or beside it.

#[path = "../../../shootout/tests/support/import_graph.rs"]
mod import_graph;

use std::path::Path;

/// From the highest to the lowest; ARCHITECTURE.md says what each is for.
const LAYERS: [&[&str]; 13] = [
    &["cluster"],
    &["control"],
    &["worker"],
    &["scenario"],
    &["verify"],
    &["http"],
    &["dialect", "plain"],
    &["net"],
    &["io"],
    &["message"],
    &["figures"],
    &["plan"],
    &["clock", "lines"],
];

#[test]
fn no_import_runs_back_up() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert_eq!(import_graph::check(&src, &LAYERS), Ok(()));
}
