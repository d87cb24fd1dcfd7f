//! Result directories: which files are measurements, and what is wrong with the others.

use super::ReportError;
use crate::records::{self, NoRecord, Record, Texts};
use crate::side_by_side::side_by_side;
use record::{Certificate, MEASUREMENT_FORMAT, Measurement, SELFTEST_FORMAT};
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};

/// The measurements of one result directory.
#[derive(Debug)]
pub(crate) struct Run {
    /// Name of the directory.
    pub(crate) name: String,
    /// When the first measurement began; empty without any.
    pub(crate) started: String,
    pub(crate) measurements: Vec<Measurement>,
    /// What the generator proved of itself beside them.
    pub(crate) certificates: Vec<Certificate>,
    /// Files that were left out, each with the reason and the remedy.
    pub(crate) warnings: Vec<String>,
}

/// Reads the directories; the newest run comes first.
pub(crate) fn runs(dirs: &[PathBuf]) -> Result<Vec<Run>, ReportError> {
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

/// Reads one directory. Its files are read side by side, on every core.
pub(crate) fn run(dir: &Path) -> Result<Run, ReportError> {
    let files = files(dir)?;
    let texts = &Texts::default();
    let found = side_by_side(&files, |path| read(texts, path));
    if texts.is_spent() {
        let words = "its records are more than a run has (docs/submitting.md, Bounds)";
        return Err(ReportError::UnreadableDirectory {
            path: dir.to_owned(),
            source: io::Error::new(io::ErrorKind::InvalidData, words),
        });
    }
    let (mut measurements, mut certificates) = (Vec::new(), Vec::new());
    let mut warnings = Vec::new();
    for (path, record) in files.iter().zip(found) {
        match record {
            Ok(Some(Record::Measurement(measurement))) => measurements.push(*measurement),
            Ok(Some(Record::Certificate(certificate))) => certificates.push(*certificate),
            Ok(Some(Record::Run(_)) | None) => {}
            Err(problem) => {
                let path = path.display();
                warnings.push(format!("{path}: {problem}; left out of the report"));
            }
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
        certificates,
        warnings,
    })
}

fn files(dir: &Path) -> Result<Vec<PathBuf>, ReportError> {
    records::files(dir).map_err(|source| ReportError::UnreadableDirectory {
        path: dir.to_owned(),
        source,
    })
}

/// When the first measurement of a directory began; empty where all that it has are broken, and
/// `None` where it has none.
pub(crate) fn first_start(dir: &Path) -> Result<Option<String>, ReportError> {
    #[derive(Deserialize)]
    struct Head {
        format: String,
        started: String,
    }
    let mut found: Option<String> = None;
    let texts = Texts::default();
    for path in files(dir)? {
        let read = texts.text(&path);
        let started = match read.as_deref().map(serde_json::from_str::<Head>) {
            Ok(Ok(head)) if head.format == MEASUREMENT_FORMAT => head.started,
            Ok(Err(_))
                if read
                    .as_ref()
                    .is_ok_and(|text| text.contains(MEASUREMENT_FORMAT)) =>
            {
                String::new()
            }
            // What is wrong with it is told when the directory is read.
            Err(_) => String::new(),
            Ok(_) => continue,
        };
        let is_earlier =
            |known: &String| known.is_empty() || (!started.is_empty() && started < *known);
        if found.as_ref().is_none_or(is_earlier) {
            found = Some(started);
        }
    }
    Ok(found)
}

/// Name of a directory, however it is given.
pub(crate) fn name(dir: &Path) -> String {
    let absolute = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    absolute.file_name().map_or_else(
        || absolute.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// What a file holds, nothing where it is another file of this project, or what is wrong.
fn read(texts: &Texts, path: &Path) -> Result<Option<Record>, NoRecord> {
    let text = texts.text(path).map_err(NoRecord::Unreadable)?;
    records::parse(&text, &[MEASUREMENT_FORMAT, SELFTEST_FORMAT])
}
