//! Sides from files: records, result directories, servers within a result directory.

use super::side::{Contestant, Side};
use crate::records::{self, NoRecord, Record, Texts};
use project::Refusal;
use record::{MEASUREMENT_FORMAT, RUN_FORMAT};
use std::io;
use std::path::Path;

/// A record, or the records of a directory: its measurements, or the runs of `websocket-bench`
/// where it has no measurement.
///
/// # Errors
/// When there is no record. Broken files beside good ones are named in
/// [`Side::left_out`].
pub fn side(path: &Path) -> Result<Side, Refusal> {
    let mut side = Side {
        name: path.display().to_string(),
        ..Side::default()
    };
    if !path.is_dir() {
        let text = records::named_text(path).map_err(|error| unreadable(path, &error))?;
        match record(&text) {
            Ok(Some(record)) => add(&mut side, record),
            Ok(None) => return Err(no_record(path, "neither a measurement nor a run")),
            Err(problem) => return Err(no_record(path, &problem.to_string())),
        }
        return Ok(side);
    }
    let mut found = Vec::new();
    let texts = Texts::default();
    for file in records::files(path).map_err(|error| unreadable(path, &error))? {
        let text = texts
            .text(&file)
            .map_err(|error| unreadable(&file, &error))?;
        match record(&text) {
            Ok(record) => found.extend(record),
            Err(problem) => side.left_out.push(format!("{}: {problem}", file.display())),
        }
    }
    let measured = |record: &Record| matches!(record, Record::Measurement(_));
    if found.iter().any(measured) {
        found.retain(measured);
    }
    if found.is_empty() {
        let problems = side.left_out.iter().map(|problem| format!("\n{problem}\n"));
        return Err(Refusal::new(format!(
            "{}: no record in this directory{}; shootout run writes them",
            path.display(),
            problems.collect::<String>()
        )));
    }
    for record in found {
        add(&mut side, record);
    }
    Ok(side)
}

/// Two servers of one directory, each named `server` or `server:variant`.
///
/// # Errors
/// When there is no record, or no such row.
pub fn servers(dir: &Path, names: &[String; 2]) -> Result<[Side; 2], Refusal> {
    let all = side(dir)?;
    let [a, b] = names;
    Ok([select(&all, a, dir)?, select(&all, b, dir)?])
}

fn select(all: &Side, wanted: &str, dir: &Path) -> Result<Side, Refusal> {
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
        return Err(Refusal::new(format!(
            "{wanted} has several variants here: name one, {}",
            variants.join(" or ")
        )));
    }
    if rows.is_empty() {
        let mut known: Vec<String> = all.rows.iter().map(|row| full(row).0).collect();
        known.sort();
        known.dedup();
        return Err(Refusal::new(format!(
            "no row of {wanted} in {}; there are {}",
            dir.display(),
            known.join(", ")
        )));
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
        // Not among the formats that are read here.
        Record::Certificate(_) => {}
    }
}

fn no_record(path: &Path, problem: &str) -> Refusal {
    Refusal::new(format!(
        "{}: {problem}; give a record of shootout run or of websocket-bench --json",
        path.display()
    ))
}

fn unreadable(path: &Path, error: &io::Error) -> Refusal {
    Refusal::new(format!(
        "{}: cannot be read: {error}; give a directory or a record that `shootout run` made",
        path.display()
    ))
}

/// The record in a text, nothing for another file of this project, or what is wrong with it.
fn record(text: &str) -> Result<Option<Record>, NoRecord> {
    records::parse(text, &[MEASUREMENT_FORMAT, RUN_FORMAT])
}
