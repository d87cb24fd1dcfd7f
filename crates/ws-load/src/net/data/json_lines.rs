//! JSON lines: an object per line, whose members are the columns.

use super::{DataError, MOST_COLUMNS, Rows, error};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt::{self, Display, Write as _};
use std::io::{BufRead, Read as _};
use std::ops::Range;

/// Longest line in bytes.
const LONGEST_LINE: usize = 1 << 20;

/// Reads all lines.
///
/// # Errors
/// [`DataError`] with the line that cannot be used.
pub(super) fn read(mut reader: impl BufRead, rows: &mut Rows<'_>) -> Result<(), DataError> {
    let (mut line, mut row) = (Vec::new(), Row::default());
    let mut number = 0;
    loop {
        number += 1;
        line.clear();
        let most = LONGEST_LINE as u64 + 1;
        let read = reader.by_ref().take(most).read_until(b'\n', &mut line);
        let failed = |reason: String| error(rows.path, Some(number), reason);
        match read {
            Ok(0) => return Ok(()),
            Ok(_) if line.len() > LONGEST_LINE => {
                return Err(failed(format!("is longer than {LONGEST_LINE} bytes")));
            }
            Ok(_) if line.trim_ascii().is_empty() => {}
            Ok(_) => read_row(&line, number, &mut row, rows)?,
            Err(source) => return Err(failed(source.to_string())),
        }
    }
}

fn read_row(line: &[u8], number: u64, row: &mut Row, rows: &mut Rows<'_>) -> Result<(), DataError> {
    let failed = |words: &str| error(rows.path, Some(number), words.to_owned());
    // Once for the line, and not for each of its strings.
    let line = std::str::from_utf8(line).map_err(|_| failed("is no UTF-8"))?;
    row.clear(rows.data.columns.len());
    let mut parser = serde_json::Deserializer::from_str(line);
    let columns = &rows.data.columns;
    let parsed = parser.deserialize_map(Members { columns, row });
    parsed.and_then(|()| parser.end()).map_err(|error| {
        // The library's own words may quote the line, which is secret.
        failed(match error.classify() {
            serde_json::error::Category::Data => {
                "is no JSON object of strings, numbers and booleans"
            }
            _ => "is no JSON",
        })
    })?;
    rows.begin_row();
    for (column, field) in row.fields.iter().enumerate() {
        match field {
            Some(field) => rows.push(column, &row.text[field.clone()], number)?,
            None => {
                let name = rows.data.columns[column].clone();
                return Err(rows.unknown(&name, number, &others(line, &rows.data.columns)));
            }
        }
    }
    Ok(())
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
    fields: Vec<Option<Range<usize>>>,
}

impl Row {
    fn clear(&mut self, columns: usize) {
        self.text.clear();
        self.fields.clear();
        self.fields.resize(columns, None);
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
            let field = start..row.text.len();
            if row.fields[column].replace(field).is_some() {
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
