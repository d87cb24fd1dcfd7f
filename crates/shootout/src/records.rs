//! The records of a directory: which files are records, and what is wrong with the others.

use run_record::{Latency, MEASUREMENT_FORMAT, Measurement, RUN_FORMAT, RunRecord, VERSION};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Formats of this project's other files begin like this; they lie beside records.
const OWN_FORMATS: &str = "websocket-shootout/";
/// What the orchestrator keeps beside the measurements of a run.
const SESSION_FILE: &str = "session.json";

/// What `shootout run` or `websocket-bench --json` wrote.
#[derive(Debug)]
pub enum Record {
    /// A row of a run of the orchestrator.
    Measurement(Box<Measurement>),
    /// A run of the generator.
    Run(Box<RunRecord>),
}

/// The files of a directory that may be records, in the order of their names.
///
/// # Errors
/// When the directory cannot be listed.
pub fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files = entries.collect::<io::Result<Vec<_>>>()?;
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
            && path.file_name().is_some_and(|name| name != SESSION_FILE)
    });
    files.sort();
    Ok(files)
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
        _ => return Ok(None),
    };
    let run = match &record {
        Record::Measurement(measurement) => measurement.run.as_ref(),
        Record::Run(run) => Some(&**run),
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
