//! The Autobahn|Testsuite against a server's raw echo.
//!
//! Purpose: install the suite apart from everything else, run it against an address, and turn its
//! report into a record. Knows no server; the suite's cases are the suite's own.

mod broken;
mod install;
mod suite;
mod tally;

pub use broken::Broken;
pub use install::{Unavailable, install};
pub use suite::{Suite, SuiteError};

use crate::records;
use run_record::AutobahnRecord;
use std::io;
use std::path::{Path, PathBuf};

/// Version of the suite, as requirements.txt pins it.
pub const SUITE_VERSION: &str = "25.10.1";
/// The cases of a server without compression. 8 does not exist; 11 is empty.
const PLAIN: [&str; 9] = [
    "1.*", "2.*", "3.*", "4.*", "5.*", "6.*", "7.*", "9.*", "10.*",
];
/// Those of permessage-deflate.
const COMPRESSED: [&str; 2] = ["12.*", "13.*"];
/// Most summaries that are read: a server has a few.
const MOST_FILES: usize = 5_000;

/// The cases that a variant runs.
pub const fn sections(compression: bool) -> &'static [&'static str] {
    if compression { &COMPRESSED } else { &PLAIN }
}

/// Where the summary of a server's variant is kept under the project's results.
pub fn summary_file(results: &Path, server: &str, variant: &str) -> PathBuf {
    results.join(format!("{server}.{variant}.json"))
}

/// Writes a summary, whole or not at all.
///
/// # Errors
/// Those of the file system.
pub fn store(results: &Path, record: &AutobahnRecord) -> io::Result<PathBuf> {
    std::fs::create_dir_all(results)?;
    let path = summary_file(results, &record.server.name, &record.server.variant);
    let draft = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut text = serde_json::to_string_pretty(record)?;
    text.push('\n');
    std::fs::write(&draft, text)?;
    std::fs::rename(&draft, &path)?;
    Ok(path)
}

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
    if record.format != run_record::AUTOBAHN_FORMAT {
        return Err(format!("format {:?} is not a summary's", record.format));
    }
    Ok(record)
}

#[cfg(test)]
mod tests;
