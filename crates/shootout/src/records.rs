//! The records of a directory: which files are records, packed ones too, and what is wrong with the
//! others.

mod pack;

pub use pack::{Packed, pack};

use flate2::read::MultiGzDecoder;
use run_record::{
    Certificate, Latency, MEASUREMENT_FORMAT, Measurement, RUN_FORMAT, RunRecord, SELFTEST_FORMAT,
    VERSION,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Formats of this project's other files begin like this; they lie beside records.
const OWN_FORMATS: &str = "websocket-shootout/";
/// What the orchestrator keeps beside the measurements of a run.
const SESSION_FILE: &str = "session.json";
/// How the name of a record ends, and what a packed one (gzip, RFC 1952) has behind that.
const ENDING: &str = ".json";
const PACKED: &str = ".gz";
/// Bytes that a packed record may have when it is unpacked: a round has a megabyte at most in one.
const MOST: u64 = 64 << 20;

/// What `shootout run`, `websocket-bench --json` or `websocket-bench selftest --json` wrote.
#[derive(Debug)]
pub enum Record {
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
/// When the directory cannot be listed.
pub fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files = entries.collect::<io::Result<Vec<_>>>()?;
    files.retain(|path| {
        let name = name(path);
        name.ends_with(ENDING) && name != SESSION_FILE
    });
    files.sort();
    Ok(files)
}

/// The name of a record's file as it is when it is not packed.
pub fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = name
        .strip_suffix(PACKED)
        .filter(|plain| plain.ends_with(ENDING));
    plain.unwrap_or(&name).to_owned()
}

/// What a file holds, unpacked.
///
/// # Errors
/// When it cannot be read, is no text, or is more than 64 MiB unpacked.
pub fn text(path: &Path) -> io::Result<String> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return fs::read_to_string(path);
    }
    let mut text = String::new();
    MultiGzDecoder::new(File::open(path)?)
        .take(MOST + 1)
        .read_to_string(&mut text)?;
    match text.len() as u64 > MOST {
        false => Ok(text),
        true => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("more than {} MiB unpacked", MOST >> 20),
        )),
    }
}

/// The directory itself where it holds records, else those within it that do: the runs of a round,
/// in the order of their names.
///
/// # Errors
/// When a directory cannot be listed.
pub fn runs(dir: &Path) -> io::Result<Vec<PathBuf>> {
    if !files(dir)?.is_empty() {
        return Ok(vec![dir.to_owned()]);
    }
    let mut runs = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() && !files(&path)?.is_empty() {
            runs.push(path);
        }
    }
    runs.sort();
    Ok(runs)
}

#[derive(Deserialize)]
struct Head {
    format: String,
    version: Option<u32>,
}

/// The record in a text, of one of `formats`; nothing for another file of this project.
///
/// # Errors
/// What is wrong with the text, in words. Every histogram must be readable, so that no figure is
/// made from a part of its samples.
pub fn parse(text: &str, formats: &[&str]) -> Result<Option<Record>, String> {
    let head: Head =
        serde_json::from_str(text).map_err(|error| format!("not a record: {error}"))?;
    if !head.format.starts_with(OWN_FORMATS) {
        return Err(format!("not a record: its format is {:?}", head.format));
    }
    if !formats.contains(&head.format.as_str()) {
        return Ok(None);
    }
    if let Some(version) = head.version.filter(|version| *version > VERSION) {
        return Err(format!(
            "written by a newer shootout (format version {version}, this one reads up to \
             {VERSION}); read it with that one"
        ));
    }
    let record = match head.format.as_str() {
        MEASUREMENT_FORMAT => Record::Measurement(broken_or(text)?),
        RUN_FORMAT => Record::Run(broken_or(text)?),
        SELFTEST_FORMAT => Record::Certificate(broken_or(text)?),
        _ => return Ok(None),
    };
    let run = match &record {
        Record::Measurement(measurement) => measurement.run.as_ref(),
        Record::Run(run) => Some(&**run),
        Record::Certificate(_) => None,
    };
    for step in run.iter().flat_map(|run| &run.steps) {
        let all: [&Option<Latency>; 3] = [&step.completion, &step.delivery, &step.ack];
        for latency in all.into_iter().flatten() {
            let readable = latency.recorder();
            readable.map_err(|error| {
                format!("a broken record: step of {} clients: {error}", step.clients)
            })?;
        }
    }
    Ok(Some(record))
}

fn broken_or<T: DeserializeOwned>(text: &str) -> Result<Box<T>, String> {
    serde_json::from_str(text).map_err(|error| format!("a broken record: {error}"))
}
