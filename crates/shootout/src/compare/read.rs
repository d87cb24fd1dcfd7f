//! Sides from files: records, result directories, servers within a result directory.

use super::side::{Contestant, Side};
use run_record::{Latency, MEASUREMENT_FORMAT, Measurement, RUN_FORMAT, RunRecord, VERSION};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Formats of this project's other files begin like this; they lie beside records.
const OWN_FORMATS: &str = "websocket-shootout/";
/// What the orchestrator keeps beside the measurements of a run.
const SESSION_FILE: &str = "session.json";

/// A side that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file or directory cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file that was named is no record.
    #[error("{}: {problem}; give a record of shootout run or of websocket-bench --json", path.display())]
    NoRecord {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A directory holds no record.
    #[error("{}: no record in this directory{}; shootout run writes them", path.display(), listed(problems))]
    Empty {
        /// The directory.
        path: PathBuf,
        /// What was found instead.
        problems: Vec<String>,
    },
    /// A server is not among the rows.
    #[error("no row of {wanted} in {}; there are {}", path.display(), known.join(", "))]
    UnknownServer {
        /// What was asked for.
        wanted: String,
        /// The directory.
        path: PathBuf,
        /// What is there.
        known: Vec<String>,
    },
    /// A server has several variants.
    #[error("{server} has several variants here: name one, {}", variants.join(" or "))]
    SeveralVariants {
        /// The server.
        server: String,
        /// How its variants are named.
        variants: Vec<String>,
    },
}

fn listed(problems: &[String]) -> String {
    problems
        .iter()
        .map(|problem| format!("\n{problem}\n"))
        .collect()
}

enum Record {
    Measurement(Box<Measurement>),
    Run(Box<RunRecord>),
}

/// A record, or the records of a directory: its measurements, or the runs of `websocket-bench`
/// where it has no measurement.
///
/// # Errors
/// [`ReadError`] when there is no record. Broken files beside good ones are named in
/// [`Side::left_out`].
pub fn side(path: &Path) -> Result<Side, ReadError> {
    let mut side = Side {
        name: path.display().to_string(),
        ..Side::default()
    };
    if !path.is_dir() {
        match record(path)? {
            Ok(Some(record)) => add(&mut side, record),
            Ok(None) => return Err(no_record(path, "neither a measurement nor a run".into())),
            Err(problem) => return Err(no_record(path, problem)),
        }
        return Ok(side);
    }
    let mut records = Vec::new();
    for file in files(path)? {
        match record(&file)? {
            Ok(found) => records.extend(found),
            Err(problem) => side.left_out.push(format!("{}: {problem}", file.display())),
        }
    }
    let measured = |record: &Record| matches!(record, Record::Measurement(_));
    if records.iter().any(measured) {
        records.retain(measured);
    }
    if records.is_empty() {
        return Err(ReadError::Empty {
            path: path.to_owned(),
            problems: side.left_out,
        });
    }
    for record in records {
        add(&mut side, record);
    }
    Ok(side)
}

/// Two servers of one directory, each named `server` or `server:variant`.
///
/// # Errors
/// [`ReadError`] when there is no record, or no such row.
pub fn servers(dir: &Path, names: &[String; 2]) -> Result<[Side; 2], ReadError> {
    let all = side(dir)?;
    let [a, b] = names;
    Ok([select(&all, a, dir)?, select(&all, b, dir)?])
}

fn select(all: &Side, wanted: &str, dir: &Path) -> Result<Side, ReadError> {
    let full = |row: &Contestant| {
        let (server, variant) = row.server.clone().unwrap_or_default();
        (format!("{server}:{variant}"), server)
    };
    let is_wanted = |row: &&Contestant| {
        let (full, server) = full(row);
        row.server.is_some() && (full == wanted || server == wanted)
    };
    let mut rows: Vec<Contestant> = all.rows.iter().filter(is_wanted).cloned().collect();
    let mut variants: Vec<String> = rows.iter().map(|row| full(row).0).collect();
    variants.sort();
    variants.dedup();
    if variants.len() > 1 {
        return Err(ReadError::SeveralVariants {
            server: wanted.to_owned(),
            variants,
        });
    }
    if rows.is_empty() {
        let mut known: Vec<String> = all.rows.iter().map(|row| full(row).0).collect();
        known.sort();
        known.dedup();
        return Err(ReadError::UnknownServer {
            wanted: wanted.to_owned(),
            path: dir.to_owned(),
            known,
        });
    }
    // Rows of two servers are told apart by request and message format alone.
    for row in &mut rows {
        row.server = None;
    }
    Ok(Side {
        name: wanted.to_owned(),
        rows,
        left_out: all.left_out.clone(),
    })
}

fn add(side: &mut Side, record: Record) {
    match record {
        Record::Measurement(measurement) => side.add_measurement(*measurement),
        Record::Run(run) => side.add_run(*run),
    }
}

fn no_record(path: &Path, problem: String) -> ReadError {
    ReadError::NoRecord {
        path: path.to_owned(),
        problem,
    }
}

fn files(dir: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let unreadable = |source| ReadError::Unreadable {
        path: dir.to_owned(),
        source,
    };
    let entries = fs::read_dir(dir).map_err(unreadable)?;
    let mut files = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(unreadable)?;
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

/// The record in a file, nothing for another file of this project, or what is wrong with it.
fn record(path: &Path) -> Result<Result<Option<Record>, String>, ReadError> {
    let text = fs::read_to_string(path).map_err(|source| ReadError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    Ok(parsed(&text))
}

fn parsed(text: &str) -> Result<Option<Record>, String> {
    let head: Head =
        serde_json::from_str(text).map_err(|error| format!("not a record: {error}"))?;
    if let Some(version) = head.version.filter(|version| *version > VERSION) {
        return Err(format!(
            "written by a newer program (format version {version}, this one reads up to {VERSION})"
        ));
    }
    let record = match head.format.as_str() {
        MEASUREMENT_FORMAT => Record::Measurement(broken_or(text)?),
        RUN_FORMAT => Record::Run(broken_or(text)?),
        other if other.starts_with(OWN_FORMATS) => return Ok(None),
        other => return Err(format!("not a record: its format is {other:?}")),
    };
    let run = match &record {
        Record::Measurement(measurement) => measurement.run.as_ref(),
        Record::Run(run) => Some(&**run),
    };
    for step in run.iter().flat_map(|run| &run.steps) {
        let all: [&Option<Latency>; 3] = [&step.completion, &step.delivery, &step.ack];
        for latency in all.into_iter().flatten() {
            let readable = latency.recorder();
            readable
                .map_err(|error| format!("a broken record: {} clients: {error}", step.clients))?;
        }
    }
    Ok(Some(record))
}

fn broken_or<T: DeserializeOwned>(text: &str) -> Result<Box<T>, String> {
    serde_json::from_str(text).map_err(|error| format!("a broken record: {error}"))
}
