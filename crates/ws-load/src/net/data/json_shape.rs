//! JSON lines that are written alike, as programs write them: only their values differ.
//!
//! What stands around the values of one line, and that line is JSON, makes JSON of every line that has
//! the same around values of the same kinds. So those lines need no parser, which takes four times as
//! long.

use memchr::memchr;
use std::ops::Range;

/// Digits of a number that a parser would write again as they are.
const MOST_DIGITS: usize = 18;

/// How lines are written.
#[derive(Debug)]
pub(super) struct Shape {
    members: Vec<Member>,
    /// What stands after the last value.
    tail: String,
}

#[derive(Debug)]
struct Member {
    /// What stands before the value and after the one before it, quotes of strings included.
    before: String,
    kind: Kind,
    /// The column whose field the value is.
    column: Option<usize>,
}

#[derive(Debug)]
enum Kind {
    /// A string without escapes.
    Text,
    /// A whole number without a sign.
    Number,
}

impl Kind {
    /// Length of the value at the head of a text.
    fn len(&self, text: &str) -> Option<usize> {
        let bytes = text.as_bytes();
        match self {
            Self::Text => {
                let len = memchr(b'"', bytes)?;
                let is_plain = bytes[..len]
                    .iter()
                    .fold(true, |all, byte| all & (*byte >= b' ') & (*byte != b'\\'));
                is_plain.then_some(len)
            }
            Self::Number => {
                let len = bytes
                    .iter()
                    .take_while(|byte| byte.is_ascii_digit())
                    .count();
                let is_plain = len == 1 || (2..=MOST_DIGITS).contains(&len) && bytes[0] != b'0';
                is_plain.then_some(len)
            }
        }
    }
}

impl Shape {
    /// The shape of a line that is JSON and has these fields, if lines like it can be told.
    pub(super) fn learn(line: &str, columns: &[String], fields: &[&str]) -> Option<Self> {
        let shape = Self::new(line, columns)?;
        let mut found = vec![0..0; columns.len()];
        let is_right = shape.fields(line, &mut found)
            && found
                .into_iter()
                .map(|field| &line[field])
                .eq(fields.iter().copied());
        is_right.then_some(shape)
    }

    fn new(line: &str, columns: &[String]) -> Option<Self> {
        let bytes = line.as_bytes();
        let mut members = Vec::new();
        let mut name = None;
        let (mut from, mut at) = (0, 0);
        while let Some(byte) = bytes.get(at) {
            let kind = match byte {
                b'"' => Kind::Text,
                b'0'..=b'9' => Kind::Number,
                b'}' | b':' | b',' | b' ' | b'\t' => {
                    at += 1;
                    continue;
                }
                b'{' if members.is_empty() && name.is_none() => {
                    at += 1;
                    continue;
                }
                _ => return None,
            };
            let quote = usize::from(matches!(kind, Kind::Text));
            let start = at + quote;
            let end = start + kind.len(&line[start..])?;
            at = end + quote;
            match name.take() {
                Some(name) => {
                    members.push(Member {
                        before: line[from..start].to_owned(),
                        kind,
                        column: columns.iter().position(|column| column == name),
                    });
                    from = end;
                }
                None => name = Some(&line[start..end]),
            }
        }
        let tail = line[from..].to_owned();
        Some(Self { members, tail })
    }

    /// Whether a line has this shape, and if so where in it the field of each column stands.
    pub(super) fn fields(&self, line: &str, fields: &mut [Range<usize>]) -> bool {
        let mut at = 0;
        for member in &self.members {
            if !line[at..].starts_with(&member.before) {
                return false;
            }
            at += member.before.len();
            let Some(len) = member.kind.len(&line[at..]) else {
                return false;
            };
            if let Some(column) = member.column {
                fields[column] = at..at + len;
            }
            at += len;
        }
        line[at..] == self.tail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(line: &str) -> Option<Shape> {
        let columns = ["a".to_owned()];
        Shape::new(line, &columns)
    }

    #[test]
    fn lines_with_other_values_have_the_shape_and_no_others() {
        let shape = learned("{\"a\": \"x\", \"n\":12}").unwrap();
        for (line, field) in [
            ("{\"a\": \"\", \"n\":0}", Some("")),
            ("{\"a\": \"y, z\u{e9}\", \"n\":99}", Some("y, z\u{e9}")),
            ("{\"a\":\"x\", \"n\":12}", None),
            ("{\"a\": \"x\\n\", \"n\":12}", None),
            ("{\"a\": \"x\u{7}\", \"n\":12}", None),
            ("{\"a\": \"x\", \"n\":012}", None),
            ("{\"a\": \"x\", \"n\":12.5}", None),
            ("{\"a\": \"x\", \"n\":1234567890123456789}", None),
            ("{\"a\": \"x\", \"n\":}", None),
            ("{\"a\": \"x\", \"n\":12} ", None),
            ("{\"a\": \"x", None),
            ("", None),
        ] {
            let mut fields = vec![0..0; 1];
            let has = shape.fields(line, &mut fields);
            assert_eq!(has.then(|| &line[fields[0].clone()]), field, "{line}");
        }
    }

    #[test]
    fn what_is_no_string_or_whole_number_gives_no_shape() {
        for line in [
            "{\"a\":[1]}",
            "{\"a\":\"1\",\"b\":{\"c\":\"d\"}}",
            "{\"a\":true}",
            "{\"a\":null}",
            "{\"a\":-1}",
            "{\"a\":1.5}",
            "{\"a\":\"\\n\"}",
        ] {
            assert!(learned(line).is_none(), "{line}");
        }
    }

    #[test]
    fn a_shape_that_finds_other_fields_than_the_parser_is_not_learned() {
        let columns = ["a".to_owned()];
        assert!(Shape::learn("{\"a\":\"1\"}", &columns, &["1"]).is_some());
        assert!(Shape::learn("{\"a\":\"1\"}", &columns, &["2"]).is_none());
    }
}
