//! Imports run down: no module imports one that stands above it or beside it.

use crate::import_graph::check;
use std::path::Path;

/// From the highest to the lowest.
const LAYERS: [&[&str]; 7] = [
    &["site"],
    &["check", "servers_table"],
    &["compare", "conformance_table", "explain"],
    &["report"],
    &["about", "autobahn"],
    &[
        "failover", "quiet", "records", "stats", "status", "terminal",
    ],
    &["network", "side_by_side"],
];

#[test]
fn no_import_runs_back_up() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert_eq!(check(&src, &LAYERS), Ok(()));
}
