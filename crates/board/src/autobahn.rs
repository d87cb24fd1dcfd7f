//! The summaries of the Autobahn|Testsuite, as `shootout autobahn` stores them.

use crate::records;
use record::AutobahnRecord;
use std::path::{Path, PathBuf};

/// Most summaries that are read: a server has a few.
const MOST_FILES: usize = 5_000;

/// Every summary under the project's results, by server and variant; a file that is none is told
/// to `warn`.
pub fn summaries(results: &Path, warn: &mut dyn FnMut(String)) -> Vec<AutobahnRecord> {
    let Ok(listing) = std::fs::read_dir(results) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = listing
        .take(MOST_FILES)
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    files
        .into_iter()
        .filter_map(|path| match read(&path) {
            Ok(record) => Some(record),
            Err(problem) => {
                warn(format!("{}: {problem}; left out", path.display()));
                None
            }
        })
        .collect()
}

fn read(path: &Path) -> Result<AutobahnRecord, String> {
    let text = records::beside(path).map_err(|error| error.to_string())?;
    let record: AutobahnRecord =
        serde_json::from_str(&text).map_err(|error| format!("not a summary: {error}"))?;
    if record.format != record::AUTOBAHN_FORMAT {
        return Err(format!("format {:?} is not a summary's", record.format));
    }
    Ok(record)
}
