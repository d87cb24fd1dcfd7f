//! A result directory after a change, and what is found in it.
#![allow(dead_code, reason = "each test program uses its part")]

use board::check::check;
use serde_json::Value;
use std::fs;
use std::path::Path;

pub(crate) fn read(dir: &Path, file: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(dir.join(file)).unwrap()).unwrap()
}

pub(crate) fn write(dir: &Path, file: &str, value: &Value) {
    fs::write(dir.join(file), serde_json::to_string_pretty(value).unwrap()).unwrap();
}

pub(crate) fn edit(dir: &Path, file: &str, change: impl FnOnce(&mut Value)) {
    let mut value = read(dir, file);
    change(&mut value);
    write(dir, file, &value);
}

/// What is found in a copy of the directory after a change.
pub(crate) fn found(dir: &Path, change: impl FnOnce(&Path)) -> Vec<String> {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
    }
    change(copy.path());
    let checked = check(copy.path()).unwrap();
    checked.findings.iter().map(ToString::to_string).collect()
}

/// Asserts that a change is found: each place is named, and nothing else is but the table, which may
/// follow from what was changed.
#[track_caller]
pub(crate) fn assert_found(dir: &Path, places: &[&str], change: impl FnOnce(&Path)) {
    let found = found(dir, change);
    for place in places {
        let named = found.iter().any(|words| words.contains(place));
        assert!(named, "{place} in {found:#?}");
    }
    for words in &found {
        let expected = places.iter().any(|place| words.contains(place));
        assert!(
            expected || words.starts_with("report.md"),
            "{words} beside {places:?}"
        );
    }
}
