//! What a list of frames is refused for. No value of the list is in the words: it may be secret.

use super::columns::Column;
use std::fmt;

/// What is wrong, and where.
#[derive(Debug)]
pub(in crate::import) struct ListError {
    /// The line of the file, from 1 on.
    line: u64,
    why: Why,
}

#[derive(Debug)]
pub(super) enum Why {
    /// The header has no name for it.
    NoColumn(Column),
    /// Two columns have the same name.
    Twice(&'static str),
    Cells {
        has: usize,
        wants: usize,
    },
    NotUtf8(&'static str),
    NoDirection(&'static str),
    /// An object has no text.
    NoText,
    /// The text of an object is a value of another type.
    NotText(&'static str),
    OpenQuote,
    NotJson {
        column: usize,
    },
    /// The line ends within its object.
    Cut,
    NotObject,
    Array,
    Backwards,
    NoFrame,
    Connections(usize),
    TooLong,
    Unread(String),
}

impl Why {
    pub(super) const fn at(self, line: u64) -> ListError {
        ListError { line, why: self }
    }
}

fn listed(column: Column) -> String {
    column.names().join(", ")
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        match &self.why {
            Why::NoColumn(column) => write!(
                f,
                " has no column `{}`: name one so (also: {})",
                column.names()[0],
                listed(*column)
            ),
            Why::Twice(name) => write!(f, " has two columns `{name}`: rename one of them"),
            Why::Cells { has, wants } => write!(
                f,
                " has {has} columns, and the header {wants}: put a text that holds the delimiter, \
                 quotes or line breaks in quotes, and write each quote in it twice"
            ),
            Why::NotUtf8(name) => write!(
                f,
                ", column `{name}`: no UTF-8; convert the file, as with iconv -t UTF-8"
            ),
            Why::NoDirection(name) => write!(
                f,
                ", column `{name}`: no direction; write send or receive (also: sent and received, out \
                 and in, tx and rx, > and <, client and server), as the client sees it"
            ),
            Why::NoText => write!(
                f,
                " has a direction and no text: name it `{}` (also: {})",
                Column::Text.names()[0],
                listed(Column::Text)
            ),
            Why::NotText(name) => write!(
                f,
                ", column `{name}`: a value of JSON that is no string; make one of it, as with \
                 jq -c '.{name} |= tojson'"
            ),
            Why::OpenQuote => write!(
                f,
                " has a quote that is not closed, in it or further up: close it, and write each quote \
                 within a text twice"
            ),
            Why::NotJson { column } => write!(
                f,
                ", column {column}: no JSON; every line of such a list is a JSON object"
            ),
            Why::Cut => f.write_str(
                " ends within a JSON object: write each object in one line, as with jq -c .",
            ),
            Why::NotObject => f.write_str(
                " is no JSON object, as every line of such a list is: take it out of the file",
            ),
            Why::Array => f.write_str(
                " begins a list of JSON: write its objects one per line, as with jq -c '.[]'",
            ),
            Why::Backwards => f.write_str(
                ": the times fall from the first frame to the last; sort the list by time",
            ),
            Why::NoFrame => write!(
                f,
                ": no frame until here has a direction, which is named {}",
                listed(Column::Direction)
            ),
            Why::Connections(most) => write!(
                f,
                " begins one connection more than the {most} that are read: leave some out"
            ),
            Why::TooLong => f.write_str(
                ": the file goes on beyond what is read of a capture; leave rows out, as with head",
            ),
            Why::Unread(why) => write!(f, ": cannot read on: {why}"),
        }
    }
}
