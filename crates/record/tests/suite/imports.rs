//! Within every crate no two modules import each other.

#[path = "../../../shootout/tests/support/import_graph.rs"]
mod import_graph;

use import_graph::check;
use std::fs;
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("")
}

#[test]
fn no_two_modules_of_any_crate_import_each_other() {
    let mut read = 0;
    for entry in fs::read_dir(crates()).unwrap() {
        let src = entry.unwrap().path().join("src");
        if src.is_dir() {
            assert_eq!(check(&src, &[]), Ok(()), "{}", src.display());
            read += 1;
        }
    }
    assert!(read > 10, "{read}");
}
