//! The source files of a crate.

use std::fs;
use std::path::{Path, PathBuf};

/// The files of a folder and of those in it, without those of tests.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        if stem == "tests" || stem.ends_with("_tests") {
            continue;
        }
        match path.is_dir() {
            true => found.extend(files(&path)),
            false if path.extension().is_some_and(|of| of == "rs") => found.push(path),
            false => {}
        }
    }
    found
}
