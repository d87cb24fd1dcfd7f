//! JSON lines: an object per line, whose members are the columns.

use super::json_shape::Shape;
use super::lines::{Next, WholeLines, without_return};
use super::{DataError, MOST_COLUMNS, Rows, error};
use memchr::{memchr_iter, memrchr};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt::{self, Display, Write as _};
use std::io;
use std::ops::Range;

/// Longest line in bytes.
const LONGEST_LINE: usize = 1 << 20;
/// How often the shape of the lines is learned anew.
const SHAPES: u32 = 16;

/// Reads all lines.
///
/// # Errors
/// [`DataError`] with the line that cannot be used.
pub(super) fn read(
    mut lines: WholeLines<impl io::Read>,
    rows: &mut Rows<'_>,
) -> Result<(), DataError> {
    let mut reader = Reader {
        rows,
        row: Row::default(),
        shape: None,
        learned: 0,
        number: 0,
    };
    loop {
        match lines.next(LONGEST_LINE) {
            Ok(Next::Lines(some)) => reader.take(some)?,
            Ok(Next::TooLong) => {
                return Err(reader.failed(&format!("is longer than {LONGEST_LINE} bytes")));
            }
            Ok(Next::End) => return Ok(()),
            Err(source) => return Err(reader.failed(&source.to_string())),
        }
    }
}

struct Reader<'a, 'b> {
    rows: &'a mut Rows<'b>,
    row: Row,
    /// How the lines before were written.
    shape: Option<Shape>,
    learned: u32,
    /// Lines that were read.
    number: u64,
}

impl Reader<'_, '_> {
    /// The line after those that were read cannot be used.
    fn failed(&self, words: &str) -> DataError {
        error(self.rows.path, Some(self.number + 1), words.to_owned())
    }

    fn take(&mut self, lines: &[u8]) -> Result<(), DataError> {
        // Once for all lines, and not for each of their strings.
        let (text, is_whole) = match std::str::from_utf8(lines) {
            Ok(text) => (text, true),
            Err(bad) => {
                let good = &lines[..bad.valid_up_to()];
                let good = &good[..memrchr(b'\n', good).map_or(0, |feed| feed + 1)];
                (std::str::from_utf8(good).unwrap_or_default(), false)
            }
        };
        let mut from = 0;
        let last = (!text.is_empty() && !text.ends_with('\n')).then_some(text.len());
        for feed in memchr_iter(b'\n', text.as_bytes()).chain(last) {
            self.take_line(without_return(&text[from..feed]))?;
            self.number += 1;
            from = feed + 1;
        }
        if is_whole {
            Ok(())
        } else {
            Err(self.failed("is no UTF-8"))
        }
    }

    fn take_line(&mut self, line: &str) -> Result<(), DataError> {
        let columns = self.rows.data.columns.len();
        let number = self.number + 1;
        let fields = &mut self.row.fields;
        if let Some(shape) = &self.shape
            && shape.fields(line, fields)
        {
            self.rows.begin_row();
            for column in 0..columns {
                let field = self.row.fields[column].clone();
                self.rows.push(column, &line[field], number)?;
            }
            return Ok(());
        }
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        self.parse(line)?;
        self.rows.begin_row();
        for column in 0..columns {
            let field = self.row.fields[column].clone();
            self.rows.push(column, &self.row.text[field], number)?;
        }
        if self.learned < SHAPES {
            self.learned += 1;
            let text = self
                .row
                .fields
                .iter()
                .map(|field| &self.row.text[field.clone()]);
            self.shape = Shape::learn(line, &self.rows.data.columns, &text.collect::<Vec<_>>());
        }
        Ok(())
    }

    /// The fields of a line, for the `row`.
    fn parse(&mut self, line: &str) -> Result<(), DataError> {
        let columns = &self.rows.data.columns;
        self.row.clear(columns.len());
        let mut parser = serde_json::Deserializer::from_str(line);
        let row = &mut self.row;
        let parsed = parser.deserialize_map(Members { columns, row });
        parsed.and_then(|()| parser.end()).map_err(|error| {
            // The library's own words may quote the line, which is secret.
            self.failed(match error.classify() {
                serde_json::error::Category::Data => {
                    "is no JSON object of strings, numbers and booleans"
                }
                _ => "is no JSON",
            })
        })?;
        match self.row.has.iter().position(|has| !has) {
            Some(column) => {
                let name = self.rows.data.columns[column].clone();
                let known = others(line, &self.rows.data.columns);
                Err(self.rows.unknown(&name, self.number + 1, &known))
            }
            None => Ok(()),
        }
    }
}

/// Names of the members that are no columns.
fn others(line: &str, columns: &[String]) -> Vec<String> {
    let members: Map<String, Value> = serde_json::from_str(line).unwrap_or_default();
    let names = members.into_iter().map(|(name, _)| name);
    names
        .filter(|name| !columns.contains(name))
        .take(MOST_COLUMNS)
        .collect()
}

/// The fields of a row as text, in the order of the columns. It is used again for each row.
#[derive(Default)]
struct Row {
    text: String,
    /// Where each field stands, in `text` or in the line.
    fields: Vec<Range<usize>>,
    /// The columns that were found in a line.
    has: Vec<bool>,
}

impl Row {
    fn clear(&mut self, columns: usize) {
        self.text.clear();
        self.fields.clear();
        self.fields.resize(columns, 0..0);
        self.has.clear();
        self.has.resize(columns, false);
    }
}

struct Members<'a> {
    columns: &'a [String],
    row: &'a mut Row,
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { columns, row } = self;
        while let Some(column) = map.next_key_seed(Name(columns))? {
            let Some(column) = column else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let start = row.text.len();
            map.next_value_seed(Field(&mut row.text))?;
            row.fields[column] = start..row.text.len();
            if std::mem::replace(&mut row.has[column], true) {
                return Err(A::Error::custom("a member twice"));
            }
        }
        Ok(())
    }
}

/// The name of a member: its column, if it is one.
struct Name<'a>(&'a [String]);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|column| column == name))
    }
}

/// A string, or a number or boolean as JSON writes it, appended to a text.
struct Field<'a>(&'a mut String);

impl Field<'_> {
    fn append<E: serde::de::Error>(self, value: impl Display) -> Result<(), E> {
        write!(self.0, "{value}").map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Field<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl Visitor<'_> for Field<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a number or a boolean")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.push_str(text);
        Ok(())
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.append(value)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.append(value)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.append(value)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.append(value)
    }
}
