//! JSON lines: an object per line, whose members are the columns.

use super::{DataError, MOST_COLUMNS, Rows, error};
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::io::{BufRead, Read as _};

/// Longest line in bytes.
const LONGEST_LINE: usize = 1 << 20;

/// Reads all lines.
///
/// # Errors
/// [`DataError`] with the line that cannot be used.
pub(super) fn read(mut reader: impl BufRead, rows: &mut Rows<'_>) -> Result<(), DataError> {
    let mut line = Vec::new();
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
            Ok(_) => read_row(&line, number, rows)?,
            Err(source) => return Err(failed(source.to_string())),
        }
    }
}

fn read_row(line: &[u8], number: u64, rows: &mut Rows<'_>) -> Result<(), DataError> {
    let mut parser = serde_json::Deserializer::from_slice(line);
    let parsed = parser.deserialize_map(Members(&rows.data.columns));
    let members = parsed.and_then(|members| parser.end().map(|()| members));
    let Row { fields, names } = members.map_err(|failed| {
        // The library's own words may quote the line, which is secret.
        let words = match failed.classify() {
            serde_json::error::Category::Data => {
                "is no JSON object of strings, numbers and booleans"
            }
            _ => "is no JSON",
        };
        error(rows.path, Some(number), words.to_owned())
    })?;
    rows.begin_row();
    for (column, field) in fields.iter().enumerate() {
        match field {
            Some(field) => rows.push(column, field.as_bytes(), number)?,
            None => {
                let name = rows.data.columns[column].clone();
                return Err(rows.unknown(&name, number, &names));
            }
        }
    }
    Ok(())
}

/// The fields of a row in the order of the columns; the names of its members where one is missing.
struct Row<'a> {
    fields: Vec<Option<Cow<'a, str>>>,
    names: Vec<String>,
}

struct Members<'a>(&'a [String]);

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Row<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row<'de>, A::Error> {
        use serde::de::Error as _;
        let mut fields: Vec<Option<Cow<'de, str>>> = vec![None; self.0.len()];
        let mut names = Vec::new();
        while let Some(Text(name)) = map.next_key::<Text<'de>>()? {
            match self.0.iter().position(|column| *column == name) {
                Some(column) => {
                    let Text(field) = map.next_value()?;
                    if fields[column].replace(field).is_some() {
                        return Err(A::Error::custom("a member twice"));
                    }
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                    if names.len() < MOST_COLUMNS {
                        names.push(name.into_owned());
                    }
                }
            }
        }
        Ok(Row { fields, names })
    }
}

/// A string, or a number or boolean as JSON writes it.
struct Text<'a>(Cow<'a, str>);

impl<'de> serde::Deserialize<'de> for Text<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Scalar)
    }
}

struct Scalar;

impl<'de> Visitor<'de> for Scalar {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a number or a boolean")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(value.to_string())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(value.to_string())))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(value.to_string())))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(value.to_string())))
    }
}
