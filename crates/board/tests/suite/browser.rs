//! A report in a real browser.

use board::report;
use record::{Json, Measurement};
use std::fs;
use std::path::{Path, PathBuf};
use test_browser::Shown;

/// A report of the measurements in a directory of its own, and what the browser made of it.
pub(crate) struct Opened {
    pub(crate) html: String,
    pub(crate) shown: Shown,
}

pub(crate) fn open(measurements: &[Measurement]) -> Opened {
    let scratch = tempfile::tempdir().unwrap();
    let html = written(measurements, scratch.path());
    Opened {
        shown: test_browser::show(&html, scratch.path()),
        html: fs::read_to_string(html).unwrap(),
    }
}

/// The report in a window of so many pixels, with what of it does not fit there.
pub(crate) fn opened_at(measurements: &[Measurement], width: u32) -> (Opened, Vec<String>) {
    let scratch = tempfile::tempdir().unwrap();
    let html = written(measurements, scratch.path());
    let (shown, found) = test_browser::look(&html, width, scratch.path());
    let html = fs::read_to_string(html).unwrap();
    (Opened { html, shown }, found)
}

/// The report of measurements, as a file in a folder.
fn written(measurements: &[Measurement], scratch: &Path) -> PathBuf {
    let results = scratch.join("results");
    fs::create_dir(&results).unwrap();
    for (index, measurement) in measurements.iter().enumerate() {
        let text = measurement.to_json().unwrap();
        fs::write(results.join(format!("{index}.json")), text).unwrap();
    }
    let html = scratch.join("report.html");
    report::write(&[results], &[], &html, &scratch.join("report.md")).unwrap();
    html
}
