//! `shootout check`: whether the figures of a result directory follow from its records, and whether
//! the records are what a published table needs.
//!
//! Reads a directory and nothing else; measures nothing. It finds what was changed afterwards in one
//! place and what is missing. Records that were made up as a whole it cannot tell.

mod beside;
mod claim;
mod clients;
mod drops;
mod figures;
mod held;
mod row;
mod run;
mod samples;
mod search;
mod server;
mod step;
mod together;
mod watched;

use crate::records::{self, Record, Texts};
use crate::side_by_side::side_by_side;
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
/// Most characters of a finding: the names in it are those of a stranger.
const LONGEST_FINDING: usize = 2_000;
/// Findings of a directory after which no more of its records are looked at.
const MOST_FINDINGS_IN_ALL: usize = 500;
/// Records that are looked at at once: what is found does not depend on how many cores there are.
const BATCH: usize = 64;

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
    let texts = &Texts::default();
    for batch in records::files(dir)?.chunks(BATCH) {
        let looked = side_by_side(batch, |path| look(texts, path));
        let files = batch.iter().map(|path| records::name(path));
        if texts.is_spent() {
            let spent = |(_, of): &(String, Looked)| of.is_spent;
            if let Some((file, of)) = files.zip(looked).find(spent) {
                checked.note(&file, of.findings);
            }
            return Ok(checked);
        }
        for (file, of) in files.zip(looked) {
            checked.histograms += of.histograms;
            checked.note(&file, of.findings);
            match of.read {
                Read::Row(measurement) => rows.push(Row {
                    file,
                    measurement: *measurement,
                }),
                Read::Certificate(certificate) => certificates.push(*certificate),
                Read::Other => {}
            }
        }
        if checked.findings.len() >= MOST_FINDINGS_IN_ALL {
            let words = format!(
                "has {} findings so far: the rest of its records is not looked at",
                checked.findings.len()
            );
            checked.note("", vec![words]);
            return Ok(checked);
        }
    }
    checked.rows = rows.len();
    checked.measured = rows
        .iter()
        .filter(|row| row.measurement.run.is_some())
        .count();
    let missing = records::rows_of(dir).map(|names| together::missing(&names, &rows));
    checked.note(
        "session.json",
        missing.unwrap_or_else(|error| vec![error.to_string()]),
    );
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
                words: shortened(words),
            }));
    }
}

fn shortened(words: String) -> String {
    match words.len() > LONGEST_FINDING {
        true => words
            .chars()
            .take(LONGEST_FINDING)
            .chain("...".chars())
            .collect(),
        false => words,
    }
}

enum Read {
    /// Without its steps: what all rows are held against is no figure of a step.
    Row(Box<Measurement>),
    Certificate(Box<Certificate>),
    Other,
}

/// What was found in a file by itself.
struct Looked {
    read: Read,
    histograms: usize,
    findings: Vec<String>,
    /// The records of the directory are together more than are read.
    is_spent: bool,
}

fn look(texts: &Texts, path: &Path) -> Looked {
    let mut looked = Looked {
        read: Read::Other,
        histograms: 0,
        findings: Vec::new(),
        is_spent: false,
    };
    let text = match texts.text(path) {
        Ok(text) => text,
        Err(error) => {
            looked.is_spent = texts.is_spent();
            looked.findings.push(error.to_string());
            return looked;
        }
    };
    match records::parse(&text, &[MEASUREMENT_FORMAT, SELFTEST_FORMAT]) {
        Ok(Some(Record::Measurement(mut measurement))) => {
            match serde_json::from_str::<Value>(&text) {
                Ok(value) => {
                    (looked.histograms, looked.findings) = figures::recomputed(&value);
                }
                Err(error) => looked.findings.push(error.to_string()),
            }
            let file = records::name(path);
            looked.findings.extend(row::check(&file, &measurement));
            if let Some(run) = &mut measurement.run {
                run.steps = Vec::new();
            }
            looked.read = Read::Row(measurement);
        }
        Ok(Some(Record::Certificate(certificate))) => {
            looked.read = Read::Certificate(certificate);
        }
        Ok(Some(Record::Run(_)) | None) => {}
        Err(error) => looked.findings.push(error.to_string()),
    }
    looked
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
