//! Result directories: which files are measurements, and what is wrong with the others.

use super::ReportError;
use run_record::{Latency, MEASUREMENT_FORMAT, Measurement, VERSION};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// Formats of this project's other files begin like this; they lie beside measurements.
const OWN_FORMATS: &str = "websocket-shootout/";
/// What the orchestrator keeps beside the measurements of a run.
const SESSION_FILE: &str = "session.json";

/// The measurements of one result directory.
#[derive(Debug)]
pub(super) struct Run {
    /// Name of the directory.
    pub(super) name: String,
    /// When the first measurement began; empty without any.
    pub(super) started: String,
    pub(super) measurements: Vec<Measurement>,
    /// Files that were left out, each with the reason and the remedy.
    pub(super) warnings: Vec<String>,
}

/// Reads the directories; the newest run comes first.
pub(super) fn runs(dirs: &[PathBuf]) -> Result<Vec<Run>, ReportError> {
    let mut runs = dirs
        .iter()
        .map(|dir| run(dir))
        .collect::<Result<Vec<_>, _>>()?;
    for index in 0..runs.len() {
        let name = runs[index].name.clone();
        let twins = runs.iter().filter(|run| run.name == name).count();
        if twins > 1 {
            for (run, dir) in runs.iter_mut().zip(dirs) {
                if run.name == name {
                    run.name = dir.display().to_string();
                }
            }
        }
    }
    runs.sort_by(|a, b| b.started.cmp(&a.started));
    Ok(runs)
}

fn run(dir: &Path) -> Result<Run, ReportError> {
    let unreadable = |source| ReportError::UnreadableDirectory {
        path: dir.to_owned(),
        source,
    };
    let mut files = fs::read_dir(dir)
        .map_err(unreadable)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(unreadable)?;
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
            && path.file_name().is_some_and(|name| name != SESSION_FILE)
    });
    files.sort();
    let (mut measurements, mut warnings) = (Vec::new(), Vec::new());
    for path in files {
        match measurement(&path) {
            Ok(Some(measurement)) => measurements.push(measurement),
            Ok(None) => {}
            Err(problem) => warnings.push(format!("{}: {problem}", path.display())),
        }
    }
    if measurements.is_empty() {
        warnings.push(format!(
            "{}: no measurement in this directory; `shootout run` writes them",
            dir.display()
        ));
    }
    Ok(Run {
        name: name(dir),
        started: measurements
            .iter()
            .map(|measurement| measurement.started.clone())
            .min()
            .unwrap_or_default(),
        measurements,
        warnings,
    })
}

fn name(dir: &Path) -> String {
    let absolute = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    absolute.file_name().map_or_else(
        || absolute.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

#[derive(Deserialize)]
struct Head {
    format: String,
    version: Option<u32>,
}

/// A measurement, nothing for another file of this project, or what is wrong.
fn measurement(path: &Path) -> Result<Option<Measurement>, String> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("not readable: {error}; left out of the report"))?;
    let head: Head = serde_json::from_str(&text)
        .map_err(|error| format!("not a file of this project: {error}; left out of the report"))?;
    if head.format != MEASUREMENT_FORMAT {
        if head.format.starts_with(OWN_FORMATS) {
            return Ok(None);
        }
        return Err(format!(
            "format {:?} is not {MEASUREMENT_FORMAT:?}; left out of the report",
            head.format
        ));
    }
    if let Some(version) = head.version.filter(|version| *version > VERSION) {
        return Err(format!(
            "written by a newer shootout (format version {version}, this one reads up to \
             {VERSION}); left out of the report: make it again with that shootout"
        ));
    }
    let measurement: Measurement = serde_json::from_str(&text)
        .map_err(|error| format!("a broken measurement: {error}; left out of the report"))?;
    histograms(&measurement)?;
    Ok(Some(measurement))
}

/// Every histogram must be readable, so that no row is made from a part of its samples.
fn histograms(measurement: &Measurement) -> Result<(), String> {
    for step in measurement.run.iter().flat_map(|run| &run.steps) {
        let all = [&step.completion, &step.delivery, &step.ack];
        for latency in all.into_iter().flatten() {
            latency
                .recorder()
                .map_err(|error| broken(step.clients, latency, &error))?;
        }
    }
    Ok(())
}

fn broken(clients: u64, latency: &Latency, error: &run_record::EncodeError) -> String {
    format!(
        "a broken measurement: step of {clients} clients, {} samples: {error}; left out of the \
         report",
        latency.count
    )
}
