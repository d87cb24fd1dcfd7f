//! Result directories: which files are measurements, and what is wrong with the others.

use super::ReportError;
use crate::records::{self, Record};
use run_record::{MEASUREMENT_FORMAT, Measurement};
use std::fs;
use std::path::{Path, PathBuf};

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
    let files = records::files(dir).map_err(unreadable)?;
    let (mut measurements, mut warnings) = (Vec::new(), Vec::new());
    for path in files {
        match measurement(&path) {
            Ok(Some(measurement)) => measurements.push(measurement),
            Ok(None) => {}
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

/// A measurement, nothing for another file of this project, or what is wrong.
fn measurement(path: &Path) -> Result<Option<Measurement>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("not readable: {error}"))?;
    Ok(match records::parse(&text, &[MEASUREMENT_FORMAT])? {
        Some(Record::Measurement(measurement)) => Some(*measurement),
        _ => None,
    })
}
