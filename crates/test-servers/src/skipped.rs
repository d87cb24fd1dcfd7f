//! Tests that cannot run on a machine: reported as skipped, and not counted as passed.
//!
//! The test harness knows passed and failed only, and a test that returns early has passed. A test
//! that cannot run calls [`skipped`], and `scripts/test` subtracts it from those that passed.

use std::fs::File;
use std::io::{self, Write as _};

/// Names the file in which `scripts/test` gathers what was skipped.
pub const SKIPPED_VARIABLE: &str = "TESTS_SKIPPED";

/// Reports that the running test cannot run, or not completely, and why. Called on the thread of
/// the test, once for each reason.
///
/// # Panics
/// When the file that is to hold it cannot be written.
pub fn skipped(reason: &str) {
    let program = std::env::current_exe().unwrap_or_default();
    let program = program.file_stem().unwrap_or_default().to_string_lossy();
    // cargo adds a hash to the names of its test programs.
    let program = program.rsplit_once('-').map_or(&*program, |(name, _)| name);
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = format!("{program} {test}: {reason}\n");
    // Not by eprint!, which the harness captures and shows of failed tests only.
    let _ = write!(io::stderr(), "skipped: {line}");
    if let Some(path) = std::env::var_os(SKIPPED_VARIABLE) {
        let file = File::options().append(true).create(true).open(path);
        // In one write, since tests run side by side.
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .expect("the file of skipped tests is written");
    }
}
