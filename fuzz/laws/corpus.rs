//! A law over a committed corpus, without a fuzzer.

use std::fs;
use std::path::Path;

/// Runs a law over a corpus and over every prefix of each of its files; under Miri, which takes a
/// thousand times as long, over the files alone.
pub(crate) fn check_all(corpus: &str, law: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(corpus);
    let mut files = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        let shortest = if cfg!(miri) { bytes.len() } else { 0 };
        (shortest..=bytes.len()).for_each(|end| law(&bytes[..end]));
        files += 1;
    }
    assert!(files >= 5, "{} holds {files} files", folder.display());
}
