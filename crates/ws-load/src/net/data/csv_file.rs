//! CSV: a header row with the names of the columns, and a row for each client.
//!
//! Lines without a quote are split at their commas, which takes a third of the time that a parser
//! takes. From the first piece of the file on that has a quote, the `csv` crate reads.

use super::lines::{Next, WholeLines, without_return};
use super::{DataError, MOST_COLUMNS, Rows, error, shown};
use memchr::{memchr, memchr_iter, memchr2_iter};
use plan::{LONGEST_VARIABLE, is_variable};
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

/// The byte order mark in UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";
/// Longest line that is split here.
const LONGEST_LINE: usize = 1 << 16;

/// Reads all rows.
///
/// # Errors
/// [`DataError`] with the line that cannot be used.
pub(super) fn read(
    mut lines: WholeLines<impl io::Read>,
    rows: &mut Rows<'_>,
) -> Result<(), DataError> {
    let path = rows.path;
    let broken = |failed: io::Error| error(path, None, failed.to_string());
    if lines.peek().map_err(broken)?.starts_with(MARK) {
        lines.skip(MARK.len());
    }
    let mut table = Table {
        rows,
        header: None,
        lines: 0,
    };
    loop {
        let handed_out = match lines.next(LONGEST_LINE).map_err(broken)? {
            Next::Lines(text) => match plain(text) {
                Some(text) => {
                    table.split(text)?;
                    continue;
                }
                None => text.len(),
            },
            Next::TooLong => 0,
            Next::End => break,
        };
        lines.give_back(handed_out);
        table.parse(lines.rest())?;
        break;
    }
    if table.header.is_none() {
        table.begin(&[])?;
    }
    Ok(())
}

/// The text of lines that splitting at commas reads as CSV is read: without a quote, in UTF-8, with
/// no carriage return but before a line feed.
fn plain(lines: &[u8]) -> Option<&str> {
    let is_split = memchr(b'"', lines).is_none()
        && memchr_iter(b'\r', lines).all(|at| lines.get(at + 1) == Some(&b'\n'));
    is_split.then(|| std::str::from_utf8(lines).ok()).flatten()
}

/// The header row, once it is known.
struct Header {
    /// Number of columns.
    len: usize,
    /// Where each column that is kept stands.
    places: Vec<usize>,
}

struct Table<'a, 'b> {
    rows: &'a mut Rows<'b>,
    header: Option<Header>,
    /// Lines that were read.
    lines: u64,
}

impl Table<'_, '_> {
    /// Takes the header row.
    fn begin(&mut self, names: &[&[u8]]) -> Result<&Header, DataError> {
        let names = header_names(self.rows.path, names)?;
        let by_name: HashMap<&String, usize> = names.iter().zip(0..).collect();
        let mut places = Vec::new();
        for name in &self.rows.data.columns {
            let place = by_name.get(name).copied();
            places.push(place.ok_or_else(|| self.rows.unknown(name, 1, &names))?);
        }
        let len = names.len();
        Ok(self.header.insert(Header { len, places }))
    }

    /// Reads lines that are plain.
    fn split(&mut self, text: &str) -> Result<(), DataError> {
        let mut fields: Vec<&str> = Vec::new();
        let mut from = 0;
        let feed_at_end = (!text.ends_with('\n')).then_some(text.len());
        for at in memchr2_iter(b',', b'\n', text.as_bytes()).chain(feed_at_end) {
            let field = &text[from..at];
            from = at + 1;
            if text.as_bytes().get(at) == Some(&b',') {
                fields.push(field);
                continue;
            }
            self.lines += 1;
            let field = without_return(field);
            if fields.is_empty() && field.is_empty() {
                continue;
            }
            fields.push(field);
            let line = self.lines;
            match &self.header {
                Some(header) => {
                    same_length(self.rows.path, line, fields.len(), header.len)?;
                    self.rows.begin_row();
                    for (column, place) in header.places.iter().enumerate() {
                        self.rows.push(column, fields[*place], line)?;
                    }
                }
                None => {
                    let names: Vec<&[u8]> = fields.iter().map(|name| name.as_bytes()).collect();
                    self.begin(&names)?;
                }
            }
            fields.clear();
        }
        Ok(())
    }

    /// Reads what is left with the parser.
    fn parse(&mut self, rest: impl io::Read) -> Result<(), DataError> {
        let path = self.rows.path;
        let mut reader = csv::ReaderBuilder::new()
            .buffer_capacity(1 << 16)
            .has_headers(false)
            .flexible(true)
            .from_reader(rest);
        let mut record = csv::ByteRecord::new();
        loop {
            let begun = self.lines + reader.position().line();
            let some = reader.read_byte_record(&mut record);
            if !some.map_err(|failed| csv_error(path, begun, &failed))? {
                return Ok(());
            }
            let Some(header) = &self.header else {
                self.begin(&record.iter().collect::<Vec<_>>())?;
                continue;
            };
            let line = self.lines + record.position().map_or(0, csv::Position::line);
            same_length(path, line, record.len(), header.len)?;
            self.rows.begin_row();
            for (column, place) in header.places.iter().enumerate() {
                let field = std::str::from_utf8(&record[*place]).map_err(|_| {
                    let name = &self.rows.data.columns[column];
                    error(path, Some(line), format!("`{name}` is no UTF-8"))
                })?;
                self.rows.push(column, field, line)?;
            }
        }
    }
}

fn same_length(path: &Path, line: u64, found: usize, expected: usize) -> Result<(), DataError> {
    if found == expected {
        return Ok(());
    }
    let words = format!("the row has {found} fields, the header row {expected}");
    Err(error(path, Some(line), words))
}

fn header_names(path: &Path, header: &[&[u8]]) -> Result<Vec<String>, DataError> {
    let failed = |reason: String| Err(error(path, Some(1), reason));
    if header.is_empty() {
        return failed("has no header row with the names of its columns".to_owned());
    }
    if header.len() > MOST_COLUMNS {
        return failed(format!(
            "has {} columns; permitted: at most {MOST_COLUMNS}",
            header.len()
        ));
    }
    let mut names: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for name in header {
        let name = String::from_utf8_lossy(name).trim().to_owned();
        if !is_variable(&name) {
            return failed(format!(
                "the column {} is no name of a variable: 1 to {LONGEST_VARIABLE} letters, digits, `_`, `-` and `.`",
                shown(&name)
            ));
        }
        if !seen.insert(name.clone()) {
            return failed(format!("has the column `{name}` twice"));
        }
        names.push(name);
    }
    Ok(names)
}

fn csv_error(path: &Path, line: u64, failed: &csv::Error) -> DataError {
    let reason = match failed.kind() {
        csv::ErrorKind::Io(source) => source.to_string(),
        _ => "is no CSV".to_owned(),
    };
    error(path, Some(line), reason)
}
