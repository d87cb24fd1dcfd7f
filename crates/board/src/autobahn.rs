//! The summaries of the Autobahn|Testsuite, as `shootout autobahn` stores them.

use crate::records;
use record::AutobahnRecord;
use std::io;
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

/// A file that is no summary of the suite.
#[derive(Debug, thiserror::Error)]
enum NoSummary {
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    #[error("not a summary: {0}")]
    Broken(#[from] serde_json::Error),
    #[error("format {0:?} is not a summary's")]
    Format(String),
}

fn read(path: &Path) -> Result<AutobahnRecord, NoSummary> {
    let text = records::beside(path)?;
    let record: AutobahnRecord = serde_json::from_str(&text)?;
    if record.format != record::AUTOBAHN_FORMAT {
        return Err(NoSummary::Format(record.format));
    }
    Ok(record)
}
