//! Reports: the ranking as text, as Markdown, and with charts as one HTML file.
//!
//! Purpose: everything that people read is made here from records, and from records alone. This
//! module measures nothing, knows no server, and uses no network; the page that it writes loads
//! nothing.

pub(crate) mod columns;
pub(crate) mod failures;
pub(crate) use run_page::figures;
pub(crate) mod headline;
pub(crate) mod load;
pub(crate) mod markdown;
pub(crate) mod notes;
pub(crate) mod over_time;
mod page;
pub(crate) mod ranking;
pub(crate) mod subject;
pub(crate) mod table;
pub mod text;
pub(crate) mod words;

pub use ranking::cost;
pub use words::measure_name;

use ranking::Row;
use record::{AutobahnRecord, Measurement};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// What went into a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportSummary {
    /// Runs, one for each result directory.
    pub runs: usize,
    /// Measurements of all runs.
    pub measurements: usize,
    /// The newest run in one sentence for each workload and dialect.
    pub headlines: Vec<String>,
    /// Files that were left out, each with the reason.
    pub warnings: Vec<String>,
}

/// A report that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A result directory cannot be listed.
    #[error("{}: cannot read this result directory: {source}; `shootout run` makes one", path.display())]
    UnreadableDirectory {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// No directory holds a measurement.
    #[error("nothing to report:\n{}\nmeasure first: `shootout run`", problems.join("\n"))]
    NothingToReport {
        /// What was found instead.
        problems: Vec<String>,
    },
    /// An output file cannot be written.
    #[error("{}: cannot write the report: {source}; choose another place", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The page could not be put together.
    #[error("cannot put the page together: {0}")]
    Page(#[from] askama::Error),
}

/// Reads the measurements of result directories and writes a page and its tables as Markdown.
/// The page shows those of the `autobahn` summaries whose servers it names, too.
///
/// Several directories are several runs, the newest first. A file that is broken, foreign or too
/// new is left out and named in the summary and in the report.
///
/// # Errors
/// [`ReportError`] when a directory cannot be read, none holds a measurement, or an output cannot
/// be written.
pub fn write(
    dirs: &[PathBuf],
    autobahn: &[AutobahnRecord],
    html: &Path,
    markdown: &Path,
) -> Result<ReportSummary, ReportError> {
    let runs = load::runs(dirs)?;
    let warnings: Vec<String> = runs.iter().flat_map(|run| run.warnings.clone()).collect();
    if runs.iter().all(|run| run.measurements.is_empty()) {
        return Err(ReportError::NothingToReport { problems: warnings });
    }
    let headlines = by_category(&runs[0].measurements, headline::sentence);
    store(html, &page::render(&runs, &headlines, &warnings, autobahn)?)?;
    store(markdown, &as_markdown(&runs, &warnings, autobahn))?;
    Ok(ReportSummary {
        runs: runs.len(),
        measurements: runs.iter().map(|run| run.measurements.len()).sum(),
        headlines,
        warnings,
    })
}

/// The tables of result directories as Markdown, without what comes from elsewhere.
///
/// # Errors
/// As [`write`] for what is read.
pub(crate) fn tables(dirs: &[PathBuf]) -> Result<String, ReportError> {
    let runs = load::runs(dirs)?;
    let all = runs.iter().map(|run| markdown::table(&run.measurements));
    Ok(all.collect())
}

fn as_markdown(runs: &[load::Run], warnings: &[String], autobahn: &[AutobahnRecord]) -> String {
    let mut text = String::from("# WebSocket shootout\n");
    for run in runs.iter().filter(|run| !run.measurements.is_empty()) {
        let (name, started) = (
            markdown::escaped(&run.name),
            markdown::escaped(&run.started),
        );
        let table = markdown::table(&run.measurements);
        let _ = write!(text, "\n## Run {name}, begun {started}\n\n{table}");
    }
    let named = |summary: &&AutobahnRecord| {
        let measurements = runs.iter().flat_map(|run| &run.measurements);
        measurements
            .into_iter()
            .any(|m| m.server.name == summary.server.name)
    };
    let tested: Vec<&AutobahnRecord> = autobahn.iter().filter(named).collect();
    if !tested.is_empty() {
        text.push_str("\n## Autobahn|Testsuite\n\n");
    }
    for summary in tested {
        let name = project::contestant(&summary.server.name, &summary.server.variant);
        let version = summary
            .server
            .library_version
            .as_deref()
            .unwrap_or("unknown");
        let _ = writeln!(
            text,
            "- {} {}: {}",
            markdown::escaped(&name),
            markdown::escaped(version),
            summary.tally()
        );
    }
    if !warnings.is_empty() {
        text.push_str("\n## Left out\n\n");
    }
    for warning in warnings {
        let _ = writeln!(text, "- {}", markdown::escaped(warning));
    }
    text
}

/// What is said of the ranked rows of each workload and dialect.
fn by_category(measurements: &[Measurement], say: fn(&[Row<'_>]) -> String) -> Vec<String> {
    let rows = ranking::rank(measurements);
    rows.chunk_by(same_category).map(say).collect()
}

pub(crate) fn same_category(a: &Row<'_>, b: &Row<'_>) -> bool {
    let of = |row: &Row<'_>| (row.workload(), row.dialect());
    of(a) == of(b)
        && a.workload_name() == b.workload_name()
        && ranking::is_over_the_same(a.network(), b.network())
}

fn store(path: &Path, text: &str) -> Result<(), ReportError> {
    fs::write(path, text).map_err(|source| ReportError::Unwritable {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod failures_tests;
#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
pub(crate) mod fixture_under;
#[cfg(test)]
pub(crate) mod fixture_watched;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod workload_tests;
