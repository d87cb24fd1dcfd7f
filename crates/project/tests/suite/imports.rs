//! Imports run down: no module imports one that stands above it or beside it.

use crate::import_graph::check;
use std::path::Path;

/// From the highest to the lowest.
const LAYERS: [&[&str]; 3] = [
    &["folder", "names", "workload"],
    &["manifest"],
    &["leaves", "refusal"],
];

#[test]
fn no_import_runs_back_up() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert_eq!(check(&src, &LAYERS), Ok(()));
}
