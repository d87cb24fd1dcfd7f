//! The records of a directory: which files are records, packed ones too, and what is wrong with the
//! others.

mod bounded;
mod pack;

pub use bounded::text;
pub(crate) use bounded::{Texts, beside, directories, named_text};
pub use pack::{Packed, pack};

use record::{
    Certificate, Json, Latency, MEASUREMENT_FORMAT, Measurement, RUN_FORMAT, RunRecord,
    SELFTEST_FORMAT, VERSION,
};
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};

/// Formats of this project's other files begin like this; they lie beside records.
const OWN_FORMATS: &str = "websocket-shootout/";
/// What the orchestrator keeps beside the measurements of a run.
pub const SESSION_FILE: &str = "session.json";
/// How the name of a record ends, and what a packed one (gzip, RFC 1952) has behind that.
const ENDING: &str = ".json";
const PACKED: &str = ".gz";
/// Most bytes of the names and the reason of a measurement: one of a published round has 700.
const MOST_NAMES: usize = 16 << 10;
/// Most files of a directory that may be records: a published run has 345, and one workload of all 107
/// variants, six times, 642. All 22 workloads in one run would have 14,124, and more bytes than are read.
pub const MOST_FILES: usize = 5_000;

/// What `shootout run`, `websocket-bench --json` or `websocket-bench selftest --json` wrote.
#[derive(Debug)]
pub(crate) enum Record {
    /// A row of a run of the orchestrator.
    Measurement(Box<Measurement>),
    /// A run of the generator.
    Run(Box<RunRecord>),
    /// What the generator proved of itself.
    Certificate(Box<Certificate>),
}

/// The files of a directory that may be records, packed or not, in the order of their names.
///
/// # Errors
/// When the directory cannot be listed, or has more of them than any run.
pub fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = bounded::entries(dir)?.into_iter().map(|(path, _)| path);
    let files: Vec<PathBuf> = entries
        .filter(|path| {
            let name = name(path);
            name.ends_with(ENDING) && name != SESSION_FILE
        })
        .collect();
    if files.len() > MOST_FILES {
        let words = format!(
            "it has {} records, and at most {MOST_FILES} are read: make several runs of it",
            files.len()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidData, words));
    }
    Ok(files)
}

/// The name of a record's file as it is when it is not packed.
pub(crate) fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = name
        .strip_suffix(PACKED)
        .filter(|plain| plain.ends_with(ENDING));
    plain.unwrap_or(&name).to_owned()
}

/// The directory itself where it holds records, else those within it that do: the runs of a round,
/// in the order of their names.
///
/// # Errors
/// When a directory cannot be listed, or has more than any round or run, or a link to a directory.
pub fn runs(dir: &Path) -> io::Result<Vec<PathBuf>> {
    if !files(dir)?.is_empty() {
        return Ok(vec![dir.to_owned()]);
    }
    let mut runs = Vec::new();
    for path in directories(dir)? {
        if !files(&path)?.is_empty() {
            runs.push(path);
        }
    }
    Ok(runs)
}

/// A file that gives no record.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoRecord {
    #[error("not readable: {0}")]
    Unreadable(io::Error),
    #[error("not a record: {0}")]
    Other(serde_json::Error),
    #[error("not a record: its format is {0:?}")]
    Format(String),
    #[error(
        "written by a newer shootout (format version {0}, this one reads up to {VERSION}); read it with that one"
    )]
    Newer(u32),
    #[error("its names and its reason have {0} bytes, and at most {MOST_NAMES} are read")]
    LongNames(usize),
    #[error("a broken record: {0}")]
    Broken(serde_json::Error),
    #[error("a broken record: step of {clients} clients: {why}")]
    Histogram { clients: u64, why: String },
}

/// A session that does not say what its run was to measure.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoRows {
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    #[error(transparent)]
    Broken(#[from] serde_json::Error),
    #[error("does not name the rows of the run; it was written by an earlier version")]
    Unnamed,
}

/// The names of the measurements that a run in `dir` was to make.
///
/// # Errors
/// When its session cannot be read or does not say.
pub(crate) fn rows_of(dir: &Path) -> Result<Vec<String>, NoRows> {
    #[derive(Deserialize)]
    struct Session {
        /// Absent in files that were written before they were kept.
        rows: Option<Vec<String>>,
    }
    let text = beside(&dir.join(SESSION_FILE))?;
    let session: Session = serde_json::from_str(&text)?;
    session.rows.ok_or(NoRows::Unnamed)
}

#[derive(Deserialize)]
struct Head {
    format: String,
    version: Option<u32>,
}

/// The record in a text, of one of `formats`; nothing for another file of this project.
///
/// # Errors
/// What is wrong with the text. Every histogram must be readable, so that no figure is
/// made from a part of its samples.
pub(crate) fn parse(text: &str, formats: &[&str]) -> Result<Option<Record>, NoRecord> {
    let head: Head = serde_json::from_str(text).map_err(NoRecord::Other)?;
    if !head.format.starts_with(OWN_FORMATS) {
        return Err(NoRecord::Format(head.format));
    }
    if !formats.contains(&head.format.as_str()) {
        return Ok(None);
    }
    if let Some(version) = head.version.filter(|version| *version > VERSION) {
        return Err(NoRecord::Newer(version));
    }
    let record = match head.format.as_str() {
        MEASUREMENT_FORMAT => Record::Measurement(broken_or(text)?),
        RUN_FORMAT => Record::Run(broken_or(text)?),
        SELFTEST_FORMAT => Record::Certificate(broken_or(text)?),
        _ => return Ok(None),
    };
    if let Record::Measurement(measurement) = &record {
        let names = names_of(measurement);
        if names > MOST_NAMES {
            return Err(NoRecord::LongNames(names));
        }
    }
    let run = match &record {
        Record::Measurement(measurement) => measurement.run.as_ref(),
        Record::Run(run) => Some(&**run),
        Record::Certificate(_) => None,
    };
    for step in run.iter().flat_map(|run| &run.steps) {
        let all: [&Option<Latency>; 3] = [&step.completion, &step.delivery, &step.ack];
        for latency in all.into_iter().flatten() {
            let readable = latency.recorder();
            readable.map_err(|error| NoRecord::Histogram {
                clients: step.clients,
                why: error.to_string(),
            })?;
        }
    }
    Ok(Some(record))
}

/// Bytes of what every table and page says of a measurement.
fn names_of(measurement: &Measurement) -> usize {
    let server = serde_json::to_string(&measurement.server).map_or(0, |text| text.len());
    let texts = [&measurement.workload_name, &measurement.reason];
    let texts = texts.into_iter().flatten().map(String::len);
    server + measurement.started.len() + texts.sum::<usize>()
}

fn broken_or<T: Json>(text: &str) -> Result<Box<T>, NoRecord> {
    T::from_json(text).map(Box::new).map_err(NoRecord::Broken)
}
