//! A list of frames: CSV with a header, or a JSON object on each line. Programs that log what goes
//! over a connection write one; it has no handshake.
//!
//! What a column is for follows from its name; columns with other names are passed over. A direction is
//! that of the client.

mod columns;
mod error;
mod objects;
mod rows;
mod table;

use super::har::Connection;
use super::source::{self, Source};
use error::{ListError, Why};
use rows::Rows;

/// How a list is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// CSV with this delimiter.
    Table(u8),
    /// A JSON object on each line.
    Objects,
    /// One list of JSON, which is not read.
    Array,
}

impl Form {
    /// That of a file with this beginning, which may end anywhere. `None` if it is no list of frames.
    pub(super) fn new(head: &[u8]) -> Option<Self> {
        let text = head.trim_ascii_start();
        let array = text.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
        match (text.first()?, array) {
            (b'{', _) => objects::is_frame(text).then_some(Self::Objects),
            (_, Some(items)) => objects::is_frame(items).then_some(Self::Array),
            _ => table::delimiter(text).map(Self::Table),
        }
    }
}

/// Reads the connections of a list, each to `url`.
///
/// # Errors
/// [`ListError`] with the line.
pub(super) fn read(
    form: Form,
    mut from: Source,
    url: Option<&str>,
) -> Result<Vec<Connection>, ListError> {
    let mut rows = Rows::default();
    let read = match form {
        Form::Table(delimiter) => table::read(delimiter, &mut from, &mut rows),
        Form::Objects => objects::read(&mut from, &mut rows),
        Form::Array => Err(Why::Array.at(1)),
    };
    if source::is_cut(from) {
        return Err(Why::TooLong.at(rows.line));
    }
    read?;
    rows.into_connections(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_form_of_a_file_follows_from_its_beginning() {
        for (head, form) in [
            ("time,direction,text\n", Some(Form::Table(b','))),
            ("\n\"Direction\";\"Payload\"", Some(Form::Table(b';'))),
            ("ts\tdir\tlevel\n", Some(Form::Table(b'\t'))),
            ("{\"level\":1,\"dir\":\"in\",", Some(Form::Objects)),
            ("{\"data\":\"an end that is cu", Some(Form::Objects)),
            ("[ {\"TYPE\":\"in\"}", Some(Form::Array)),
            ("{\"log\":{\"type\":1}}", None),
            ("{\"type\":1,\"log\":{}}", None),
            ("{}", None),
            ("[]", None),
            ("\"text\"", Some(Form::Table(b','))),
            ("a,b,c\n1,in,text\n", None),
            ("", None),
        ] {
            assert_eq!(Form::new(head.as_bytes()), form, "{head}");
        }
    }

    proptest! {
        /// Law: no bytes make the reader panic.
        #[test]
        fn any_bytes_are_read_or_refused(
            head in prop::sample::select(vec!["time,dir,text\n", "dir;data;session\n", "{\"dir\":\"in\"}\n"]),
            rest in r#"((in|out|send|receive|7|"|\{"dir":"out","text":"a"\}|\n|,|;|[ -~\u{e9}]{0,5}){0,30})"#,
        ) {
            let bytes = [head, &rest].concat().into_bytes();
            let form = Form::new(&bytes).unwrap();
            let _ = read(form, source::of_bytes(bytes), None);
        }
    }
}
