//! The rows of a data file: what each client is, in the words of the plan's variables.
//!
//! Only columns that the plan names are kept, in one buffer: each field behind its length, and for
//! every 64th field where it begins. So rows take no more memory than the file has bytes, and a field is
//! found as fast in wide rows as in narrow ones.

mod csv_file;
mod json_lines;
mod json_shape;
mod lines;

use lines::WholeLines;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use plan::{LONGEST_VARIABLE, is_cookie_byte, is_token};
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Fields for which one place is kept. Up to as many are gone through to find one.
const STRIDE: u64 = 64;
/// Longest field in bytes.
const LONGEST_FIELD: usize = 1 << 16;
/// Most columns of a file.
const MOST_COLUMNS: usize = 10_000;
/// Characters of a file's words that are shown.
const SHOWN: usize = LONGEST_VARIABLE;
/// What stands in a URL as it is (RFC 3986, 2.3).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A data file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}{}: {reason}", path.display(), at_line(*line))]
pub struct DataError {
    path: PathBuf,
    line: Option<u64>,
    reason: String,
}

fn at_line(line: Option<u64>) -> String {
    line.map_or_else(String::new, |line| format!(", line {line}"))
}

/// Where a field is to stand, which decides what it may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldPlace {
    /// In a URL, percent-encoded.
    Url,
    /// In a header line.
    Header,
    /// In a cookie.
    Cookie,
    /// In the name of a subprotocol.
    Token,
    /// In a message, which may be JSON.
    Message,
}

/// Whether all bytes of a field are permitted: every one is looked at, which the compiler does many at
/// a time.
fn all_bytes(field: &str, permitted: impl Fn(u8) -> bool) -> bool {
    field.bytes().fold(true, |all, byte| all & permitted(byte))
}

impl FieldPlace {
    pub(super) fn admits(self, field: &str) -> Result<(), &'static str> {
        let fits = |fit: bool, words| if fit { Ok(()) } else { Err(words) };
        match self {
            Self::Url => Ok(()),
            Self::Header => fits(
                all_bytes(field, |byte| matches!(byte, b' '..=b'~')),
                "cannot stand in a header: it is no printable ASCII on one line",
            ),
            Self::Cookie => fits(
                field.bytes().all(is_cookie_byte),
                "cannot stand in a cookie (RFC 6265, 4.1.1)",
            ),
            Self::Message => fits(
                !field.contains(|c: char| c.is_control() || matches!(c, '"' | '\\')),
                "cannot stand in a message: it has a quote, a backslash or a control character",
            ),
            Self::Token => fits(
                is_token(field),
                "cannot stand in the name of a subprotocol, which is a token (RFC 9110, 5.6.2)",
            ),
        }
    }

    /// A field as it is written there.
    pub(super) fn written(self, field: &str) -> String {
        let mut out = String::new();
        self.write(field, &mut out);
        out
    }

    /// Appends a field as it is written there.
    pub(crate) fn write(self, field: &str, out: &mut String) {
        match self {
            Self::Url => out.extend(utf8_percent_encode(field, ENCODED)),
            _ => out.push_str(field),
        }
    }
}

/// A variable of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) name: String,
    pub(crate) place: FieldPlace,
    /// The plan's key that has it.
    pub(crate) key: &'static str,
}

/// The rows of a file.
#[derive(Debug, Default)]
pub(crate) struct Data {
    /// Names of the columns that are kept.
    columns: Vec<String>,
    /// Where each of them stands in a row.
    by_name: HashMap<String, usize>,
    bytes: Vec<u8>,
    marks: Vec<usize>,
    rows: u64,
    fields: u64,
}

impl Data {
    /// Reads the columns that are wanted.
    ///
    /// # Errors
    /// [`DataError`] with the line, when the file cannot be read, has no such column, or a row that
    /// cannot be used.
    pub(crate) fn read(path: &Path, wanted: &[Wanted]) -> Result<Self, DataError> {
        let failed = |reason: String| error(path, None, reason);
        let file =
            File::open(path).map_err(|error| failed(format!("{error} (connection.data)")))?;
        let facts = file.metadata().map_err(|error| failed(error.to_string()))?;
        if !facts.is_file() {
            return Err(failed("is no file".to_owned()));
        }
        let mut lines = WholeLines::new(file);
        let first = lines.peek().map_err(|error| failed(error.to_string()))?;
        let is_json = first.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        let mut rows = Rows::new(path, wanted);
        if is_json {
            json_lines::read(lines, &mut rows)?;
        } else {
            csv_file::read(lines, &mut rows)?;
        }
        if rows.data.rows == 0 {
            return Err(failed("has no rows".to_owned()));
        }
        let mut data = rows.data;
        data.bytes.shrink_to_fit();
        Ok(data)
    }

    /// Where a column stands in a row.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Every field of the row that belongs to a client.
    pub(crate) fn row(&self, client: u64) -> impl Iterator<Item = &str> {
        let columns = if self.rows == 0 {
            0
        } else {
            self.columns.len()
        };
        (0..columns).map(move |column| self.field(client, column))
    }

    /// A field of the row that belongs to a client.
    pub(crate) fn field(&self, client: u64, column: usize) -> &str {
        let row = client % self.rows;
        let field = row * self.columns.len() as u64 + column as u64;
        let mut at = self.marks[(field / STRIDE) as usize];
        for _ in 0..field % STRIDE {
            let (len, start) = self.len_at(at);
            at = start + len;
        }
        let (len, start) = self.len_at(at);
        std::str::from_utf8(&self.bytes[start..start + len]).unwrap_or_default()
    }

    /// Length of the field at a place, and where it begins: seven bits to a byte.
    fn len_at(&self, mut at: usize) -> (usize, usize) {
        let (mut len, mut shift) = (0, 0);
        loop {
            let byte = self.bytes[at];
            at += 1;
            len |= usize::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return (len, at);
            }
            shift += 7;
        }
    }

    fn push(&mut self, field: &str) {
        if self.fields.is_multiple_of(STRIDE) {
            self.marks.push(self.bytes.len());
        }
        self.fields += 1;
        let mut len = field.len();
        while len >= 0x80 {
            self.bytes.push(len as u8 | 0x80);
            len >>= 7;
        }
        self.bytes.push(len as u8);
        self.bytes.extend_from_slice(field.as_bytes());
    }
}

/// Rows while they are read.
struct Rows<'a> {
    path: &'a Path,
    wanted: &'a [Wanted],
    /// Where the field of each column stands, each place once.
    places: Vec<Vec<FieldPlace>>,
    data: Data,
}

impl<'a> Rows<'a> {
    fn new(path: &'a Path, wanted: &'a [Wanted]) -> Self {
        let mut data = Data::default();
        for one in wanted {
            if data.column(&one.name).is_none() {
                data.by_name.insert(one.name.clone(), data.columns.len());
                data.columns.push(one.name.clone());
            }
        }
        let places = data.columns.iter().map(|name| {
            let mut places: Vec<FieldPlace> = Vec::new();
            for one in wanted.iter().filter(|one| one.name == *name) {
                if !places.contains(&one.place) {
                    places.push(one.place);
                }
            }
            places
        });
        Self {
            path,
            wanted,
            places: places.collect(),
            data,
        }
    }

    fn begin_row(&mut self) {
        self.data.rows += 1;
    }

    /// Takes the next column's field of a row.
    #[inline]
    fn push(&mut self, column: usize, field: &str, line: u64) -> Result<(), DataError> {
        let is_fit = field.len() <= LONGEST_FIELD
            && self.places[column]
                .iter()
                .all(|place| place.admits(field).is_ok());
        if !is_fit {
            return Err(self.unfit(column, field, line));
        }
        self.data.push(field);
        Ok(())
    }

    /// Why a field cannot be taken.
    #[cold]
    fn unfit(&self, column: usize, field: &str, line: u64) -> DataError {
        let name = &self.data.columns[column];
        if field.len() > LONGEST_FIELD {
            let size = field.len();
            let words = format!("`{name}` has {size} bytes; permitted: at most {LONGEST_FIELD}");
            return error(self.path, Some(line), words);
        }
        let mut wanted = self.wanted.iter().filter(|one| one.name == *name);
        let words = wanted.find_map(|one| Some((one.place.admits(field).err()?, one.key)));
        let (words, key) = words.unwrap_or_default();
        error(
            self.path,
            Some(line),
            format!("`{name}` {words}; {key} has it"),
        )
    }

    /// A variable for which there is no column.
    fn unknown(&self, name: &str, line: u64, known: &[String]) -> DataError {
        let key = self.wanted.iter().find(|one| one.name == name);
        let key = key.map_or("the plan", |one| one.key);
        let known: Vec<String> = known.iter().take(10).map(|name| shown(name)).collect();
        error(
            self.path,
            Some(line),
            format!(
                "has no column `{name}`, which {key} has as a variable; it has {}",
                known.join(", ")
            ),
        )
    }
}

fn error(path: &Path, line: Option<u64>, reason: String) -> DataError {
    DataError {
        path: path.to_owned(),
        line,
        reason,
    }
}

fn shown(name: &str) -> String {
    let short: String = name.chars().take(SHOWN).collect();
    format!("`{}`", short.escape_debug())
}

#[cfg(test)]
mod tests;
