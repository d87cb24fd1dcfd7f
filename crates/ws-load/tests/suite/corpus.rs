//! The committed corpora of the fuzz targets.

use std::fs;
use std::path::Path;

/// The files of the corpus of a target.
pub(crate) fn files(target: &str) -> Vec<Vec<u8>> {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let files = fs::read_dir(corpora.join(target)).unwrap();
    files
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect()
}
