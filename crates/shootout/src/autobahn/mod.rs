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

use record::AutobahnRecord;
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

#[cfg(test)]
mod tests;
