//! The data file of a plan: a row for each connection of the capture.

use super::error::ImportError;
use super::handshake::Handshake;
use super::variables::Templates;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Writes the rows of the connections. Secret columns are empty, and named for the user to fill in.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn write_data(
    handshake: &Handshake,
    templates: &Templates,
    path: Option<&Path>,
    notes: &mut Vec<String>,
) -> Result<Option<String>, ImportError> {
    let secret: Vec<&String> = handshake.columns.iter().chain(&templates.secret).collect();
    let names: Vec<&str> = secret.iter().map(|name| name.as_str()).collect();
    let Some(path) = path else {
        if !names.is_empty() {
            notes.push(format!(
                "not copied, since it may be secret: {}; give connection.data a file with these \
                 columns, of which --data-out FILE.csv writes the head",
                names.join(", ")
            ));
        }
        return Ok(None);
    };
    if names.is_empty() && templates.differing.is_empty() {
        notes.push(format!(
            "{} is not written: no value differs between connections",
            path.display()
        ));
        return Ok(None);
    }
    let unwritten = |error: &dyn std::fmt::Display| ImportError::Data {
        path: path.to_owned(),
        why: error.to_string(),
    };
    let differing = &templates.differing;
    let rows = differing.first().map_or(1, |(_, row)| row.len());
    let mut out = csv::Writer::from_writer(Vec::new());
    let head = names
        .iter()
        .copied()
        .chain(differing.iter().map(|(name, _)| name.as_str()));
    out.write_record(head).map_err(|error| unwritten(&error))?;
    for row in 0..rows {
        let values = differing.iter().map(|(_, values)| values[row].as_str());
        let empty = names.iter().map(|_| "");
        out.write_record(empty.chain(values))
            .map_err(|error| unwritten(&error))?;
    }
    let bytes = out.into_inner().map_err(|error| unwritten(&error))?;
    // Values of messages are those of users.
    let mut options = OpenOptions::new();
    let file = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path);
    file.and_then(|mut file| file.write_all(&bytes))
        .map_err(|error| unwritten(&error))?;
    if !names.is_empty() {
        notes.push(format!(
            "fill in the columns {} of {}: they may be secret and are not copied",
            names.join(", "),
            path.display()
        ));
    }
    let absolute = std::path::absolute(path).map_err(|error| unwritten(&error))?;
    Ok(Some(absolute.display().to_string()))
}
