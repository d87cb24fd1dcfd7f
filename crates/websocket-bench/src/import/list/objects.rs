//! A list as JSON objects, one on each line.

use super::super::loose::Loose;
use super::columns::{Column, Direction};
use super::error::{ListError, Why};
use super::rows::{Row, Rows};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use std::fmt;
use std::io::BufRead;

/// True of a beginning of an object that only a frame has. That of a HAR file has `log`.
pub(super) fn is_frame(head: &[u8]) -> bool {
    let mut names = Vec::new();
    let mut json = serde_json::Deserializer::from_slice(head);
    // The end is missing where the object is longer: what was read until then is enough.
    let _ = json.deserialize_map(Names(&mut names));
    let tells = |name: &String| Column::named(name).is_some_and(|(column, _)| column.tells());
    names.iter().any(tells) && !names.iter().any(|name| name == "log")
}

struct Names<'n>(&'n mut Vec<String>);

impl<'de> Visitor<'de> for Names<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key()? {
            self.0.push(name);
            fields.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// The values of an object by their columns, with the place of their name among the names.
#[derive(Default)]
struct Cells([Option<(usize, Loose)>; Column::ALL.len()]);

impl Cells {
    fn take(&mut self, column: Column) -> Option<(&'static str, Loose)> {
        let (rank, value) = self.0[column as usize].take()?;
        Some((column.names()[rank], value))
    }

    fn value(&mut self, column: Column) -> Loose {
        self.take(column).map_or(Loose::Null, |(_, value)| value)
    }
}

struct OfCells;

impl<'de> Visitor<'de> for OfCells {
    type Value = Cells;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Cells, A::Error> {
        let mut cells = Cells::default();
        while let Some(name) = fields.next_key::<String>()? {
            let Some((column, rank)) = Column::named(&name) else {
                fields.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = fields.next_value()?;
            let cell = &mut cells.0[column as usize];
            if cell.as_ref().is_none_or(|(of, _)| rank <= *of) {
                *cell = Some((rank, value));
            }
        }
        Ok(cells)
    }
}

impl<'de> Deserialize<'de> for Cells {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(OfCells)
    }
}

/// Reads all lines.
///
/// # Errors
/// [`ListError`] with the line.
pub(super) fn read(from: &mut impl BufRead, rows: &mut Rows) -> Result<(), ListError> {
    let mut line = Vec::new();
    loop {
        line.clear();
        rows.line += 1;
        let read = from.read_until(b'\n', &mut line);
        if read.map_err(|error| Why::Unread(error.to_string()).at(rows.line))? == 0 {
            rows.line -= 1;
            return Ok(());
        }
        let text = line.trim_ascii();
        if !text.is_empty() {
            take(text, rows)?;
        }
    }
}

fn take(text: &[u8], rows: &mut Rows) -> Result<(), ListError> {
    use serde_json::error::Category;
    let line = rows.line;
    let mut cells: Cells = serde_json::from_slice(text).map_err(|error| {
        let why = match error.classify() {
            Category::Eof => Why::Cut,
            Category::Data => Why::NotObject,
            Category::Syntax | Category::Io => Why::NotJson {
                column: error.column(),
            },
        };
        why.at(line)
    })?;
    let direction = match cells.take(Column::Direction) {
        None | Some((_, Loose::Null)) => Direction::Neither,
        Some((name, Loose::Text(word))) => rows.direction(name, &word)?,
        Some((name, _)) => return Err(Why::NoDirection(name).at(line)),
    };
    let text = match (direction, cells.take(Column::Text)) {
        (Direction::Neither, _) => Loose::Null,
        (_, None) => return Err(Why::NoText.at(line)),
        (_, Some((name, Loose::Number(_) | Loose::Other))) => {
            return Err(Why::NotText(name).at(line));
        }
        (_, Some((_, text))) => text,
    };
    let connection = match cells.value(Column::Connection) {
        Loose::Text(text) => text,
        Loose::Number(number) => number.to_string(),
        Loose::Null | Loose::Long(_) | Loose::Other => String::new(),
    };
    let row = Row {
        time: cells.value(Column::Time),
        opcode: cells.value(Column::Opcode),
        connection,
        text,
    };
    rows.take(direction, row)
}
