//! A list as CSV (RFC 4180) with a header.

use super::super::loose::{LONGEST_TEXT, Loose};
use super::columns::{Column, Direction};
use super::error::{ListError, Why};
use super::rows::{Row, Rows};
use csv::{ByteRecord, ReaderBuilder};
use std::io::Read;

/// What stands between the cells of a row.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

/// That of a file with this beginning; `None` if its first line is no header of a list of frames.
pub(super) fn delimiter(head: &[u8]) -> Option<u8> {
    let line = head.split(|byte| *byte == b'\n').next()?;
    let known = |delimiter: &u8| {
        let names = header(*delimiter, line).unwrap_or_default();
        let columns = names.iter().filter_map(|name| Column::named(name));
        let columns: Vec<Column> = columns.map(|(column, _)| column).collect();
        match columns.iter().any(|column| column.tells()) {
            true => columns.len(),
            false => 0,
        }
    };
    // The first of several that know as much.
    let best = DELIMITERS.iter().rev().max_by_key(|of| known(of))?;
    (known(best) > 0).then_some(*best)
}

/// The names in a first line.
fn header(delimiter: u8, line: &[u8]) -> Option<Vec<String>> {
    let mut reader = builder(delimiter).from_reader(line);
    let mut record = ByteRecord::new();
    let has_read = reader.read_byte_record(&mut record).ok()?;
    has_read.then(|| names(&record))
}

fn names(record: &ByteRecord) -> Vec<String> {
    let names = record.iter().map(|name| String::from_utf8_lossy(name));
    names.map(|name| name.trim().to_owned()).collect()
}

fn builder(delimiter: u8) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    builder
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter);
    builder
}

/// Reads all rows.
///
/// # Errors
/// [`ListError`] with the line.
pub(super) fn read(delimiter: u8, from: &mut impl Read, rows: &mut Rows) -> Result<(), ListError> {
    let mut reader = builder(delimiter).from_reader(Quotes { from, count: 0 });
    let mut record = ByteRecord::new();
    let mut head: Option<Head> = None;
    loop {
        let read = reader.read_byte_record(&mut record);
        if !read.map_err(|error| Why::Unread(error.to_string()).at(rows.line))? {
            break;
        }
        rows.line = record.position().map_or(rows.line, csv::Position::line);
        match &head {
            None => head = Some(Head::new(&names(&record))?),
            Some(head) => head.take(&record, rows)?,
        }
    }
    match reader.get_ref().count % 2 {
        0 => Ok(()),
        _ => Err(Why::OpenQuote.at(rows.line)),
    }
}

/// Where the columns are.
struct Head {
    places: [Option<(usize, &'static str)>; Column::ALL.len()],
    count: usize,
}

impl Head {
    fn new(names: &[String]) -> Result<Self, ListError> {
        const LINE: u64 = 1;
        let mut found: [Option<(usize, usize)>; Column::ALL.len()] = Default::default();
        for (at, name) in names.iter().enumerate() {
            let Some((column, rank)) = Column::named(name) else {
                continue;
            };
            let known = &mut found[column as usize];
            match known {
                Some((_, of)) if *of == rank => {
                    return Err(Why::Twice(column.names()[rank]).at(LINE));
                }
                Some((_, of)) if *of < rank => {}
                _ => *known = Some((at, rank)),
            }
        }
        for column in [Column::Direction, Column::Text] {
            if found[column as usize].is_none() {
                return Err(Why::NoColumn(column).at(LINE));
            }
        }
        let named = |column: Column| {
            let (at, rank) = found[column as usize]?;
            Some((at, column.names()[rank]))
        };
        Ok(Self {
            places: Column::ALL.map(named),
            count: names.len(),
        })
    }

    fn cell<'r>(
        &self,
        column: Column,
        record: &'r ByteRecord,
        line: u64,
    ) -> Result<&'r str, ListError> {
        let Some((at, name)) = self.places[column as usize] else {
            return Ok("");
        };
        std::str::from_utf8(&record[at]).map_err(|_| Why::NotUtf8(name).at(line))
    }

    fn take(&self, record: &ByteRecord, rows: &mut Rows) -> Result<(), ListError> {
        let line = rows.line;
        if record.len() != self.count {
            let (has, wants) = (record.len(), self.count);
            return Err(Why::Cells { has, wants }.at(line));
        }
        let cell = |column| self.cell(column, record, line);
        let name = self.places[Column::Direction as usize].map_or("", |(_, name)| name);
        let direction = rows.direction(name, cell(Column::Direction)?)?;
        let text = cell(Column::Text)?;
        let row = Row {
            time: of_cell(cell(Column::Time)?.trim()),
            opcode: of_cell(cell(Column::Opcode)?.trim()),
            connection: cell(Column::Connection)?.to_owned(),
            text: match (direction, text.len() > LONGEST_TEXT) {
                (Direction::Neither, _) => Loose::Null,
                (_, true) => Loose::Long(text.len()),
                (_, false) => Loose::Text(text.to_owned()),
            },
        };
        rows.take(direction, row)
    }
}

fn of_cell(text: &str) -> Loose {
    match text {
        "" => Loose::Null,
        text => Loose::Text(text.to_owned()),
    }
}

/// Counts quotes: an odd number of them leaves a text open, which then holds the rest of the file.
struct Quotes<R> {
    from: R,
    count: u64,
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.from.read(into)?;
        let quotes = into[..read].iter().filter(|byte| **byte == b'"').count();
        self.count += quotes as u64;
        Ok(read)
    }
}
