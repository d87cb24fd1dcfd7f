//! `shootout check`: whether the figures of a result directory follow from its records, and whether
//! the records are what a published table needs.
//!
//! Reads a directory and nothing else; measures nothing. It finds what was changed afterwards in one
//! place and what is missing. Records that were made up as a whole it cannot tell.

mod claim;
mod clients;
mod figures;
mod held;
mod row;
mod run;
mod samples;
mod search;
mod server;
mod step;
mod together;

use crate::records::{self, Record, Texts};
use record::{Certificate, MEASUREMENT_FORMAT, Measurement, SELFTEST_FORMAT};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

/// Most findings of a file that are told one by one.
const MOST_FINDINGS: usize = 100;

/// Something that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The file, by its name in the directory; empty of the directory itself.
    pub file: String,
    /// What is wrong, and with what it was compared.
    pub words: String,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file.as_str() {
            "" => f.write_str(&self.words),
            file => write!(f, "{file}: {}", self.words),
        }
    }
}

/// What was looked at.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Measurements.
    pub rows: usize,
    /// Those of them with a result.
    pub measured: usize,
    /// Distributions whose figures were made again from their histograms.
    pub histograms: usize,
    /// What does not hold.
    pub findings: Vec<Contradiction>,
}

/// A measurement and its file.
struct Row {
    file: String,
    measurement: Measurement,
}

/// Checks a result directory.
///
/// # Errors
/// When the directory cannot be read.
pub fn check(dir: &Path) -> io::Result<Checked> {
    let mut checked = Checked::default();
    let mut rows = Vec::new();
    let mut certificates = Vec::new();
    let texts = Texts::default();
    for path in records::files(dir)? {
        let file = records::name(&path);
        match read(&texts, &path) {
            Ok(Read::Row(mut measurement, value)) => {
                let (count, broken) = figures::recomputed(&value);
                checked.histograms += count;
                checked.note(&file, broken);
                checked.note(&file, row::check(&file, &measurement));
                // What all rows are held against is no figure of a step.
                if let Some(run) = &mut measurement.run {
                    run.steps = Vec::new();
                }
                rows.push(Row {
                    file,
                    measurement: *measurement,
                });
            }
            Ok(Read::Certificate(certificate)) => certificates.push(*certificate),
            Ok(Read::Other) => {}
            Err(words) => checked.note(&file, vec![words]),
        }
        if texts.is_spent() {
            return Ok(checked);
        }
    }
    checked.rows = rows.len();
    checked.measured = rows
        .iter()
        .filter(|row| row.measurement.run.is_some())
        .count();
    let missing = records::rows_of(dir).map(|names| together::missing(&names, &rows));
    checked.note("session.json", missing.unwrap_or_else(|words| vec![words]));
    for file in together::twice(&rows) {
        let words = "is there twice, packed and as it is; remove one";
        checked.note(&file, vec![words.to_owned()]);
    }
    for (file, words) in together::mixed(&rows) {
        checked.note(&file, vec![words]);
    }
    checked.note("", together::certified(&certificates, &rows));
    checked.note("report.md", printed(dir));
    Ok(checked)
}

impl Checked {
    fn note(&mut self, file: &str, words: Vec<String>) {
        let more = words.len().saturating_sub(MOST_FINDINGS);
        let words = words.into_iter().take(MOST_FINDINGS);
        let rest = (more > 0).then(|| format!("and {more} things more do not hold"));
        self.findings
            .extend(words.chain(rest).map(|words| Contradiction {
                file: file.to_owned(),
                words,
            }));
    }
}

enum Read {
    Row(Box<Measurement>, Value),
    Certificate(Box<Certificate>),
    Other,
}

fn read(texts: &Texts, path: &Path) -> Result<Read, String> {
    let text = texts.text(path).map_err(|error| error.to_string())?;
    let value: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    Ok(
        match records::parse(&text, &[MEASUREMENT_FORMAT, SELFTEST_FORMAT])? {
            Some(Record::Measurement(measurement)) => Read::Row(measurement, value),
            Some(Record::Certificate(certificate)) => Read::Certificate(certificate),
            Some(Record::Run(_)) | None => Read::Other,
        },
    )
}

/// Whether the table for people is the one that the records make.
fn printed(dir: &Path) -> Vec<String> {
    let path = dir.join("report.md");
    let shown = match records::beside(&path) {
        Ok(shown) => shown,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return vec!["is missing; write it with `shootout report`".to_owned()];
        }
        Err(error) => return vec![error.to_string()],
    };
    let runs = [PathBuf::from(dir)];
    match crate::report::tables(&runs) {
        Err(error) => vec![error.to_string()],
        Ok(made) if shown.contains(&made) => Vec::new(),
        Ok(made) => {
            let lines: HashSet<&str> = shown.lines().collect();
            let differs = made.lines().find(|line| !lines.contains(line));
            let line = differs.unwrap_or("the order of its lines");
            vec![format!(
                "is not what the records say, which is: {line}; write it again with `shootout report`"
            )]
        }
    }
}
