//! Texts with placeholders: `{"type":"echo","payload":{payload}}`.
//!
//! A template is cut into pieces once. The text that is the same in every message of a run, padding
//! included, becomes literal; only stamps and numbers remain open.

use super::bytes::Composed;
use super::error::DialectError;
use super::payload::{AFTER_STAMP, BEFORE_STAMP, Body, number_of};
use super::placeholders::{Hole, SEQUENCE, Token, cut, tokens};
use super::topic::TOPIC;
use super::{StampForm, Variables};
use crate::lines::Form;
use std::borrow::Cow;
use std::io::Write as _;

/// A message in which only stamps, numbers and what is the client's own are open.
#[derive(Debug, Default)]
pub(super) struct Template {
    pub(super) pieces: Vec<Piece>,
}

#[derive(Debug)]
pub(super) enum Piece {
    Literal(Vec<u8>),
    Stamp,
    Number,
    Topic,
    /// The client's own.
    Variable(String),
    /// The padding, where requests have several, and how it stands there.
    Padding(Body, Around, Form),
    /// What bytes have and text has not.
    Composed(Composed),
}

/// What stands around a padding, unless it is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    Nothing,
    Payload,
    EscapedPayload,
}

/// The placeholders of requests that go to a topic.
const OF_PUBLICATIONS: [Hole; 8] = [
    Hole::Topic,
    Hole::Payload,
    Hole::EscapedPayload,
    Hole::Stamp,
    Hole::Padding,
    Hole::Line,
    Hole::Number,
    Hole::Sequence,
];

/// The placeholders of requests.
const OF_REQUESTS: [Hole; 7] = [
    Hole::Payload,
    Hole::EscapedPayload,
    Hole::Stamp,
    Hole::Padding,
    Hole::Line,
    Hole::Number,
    Hole::Sequence,
];

impl Template {
    /// A request, which may have variables.
    ///
    /// # Errors
    /// As [`tokens`]; a payload that stands there twice.
    pub(super) fn compile_request(
        key: &str,
        text: &str,
        body: &Body,
    ) -> Result<Self, DialectError> {
        Self::of_tokens(key, &cut(key, text, &OF_REQUESTS, true)?, body)
    }

    /// An answer, as an example.
    ///
    /// # Errors
    /// As [`Template::compile_request`].
    pub(super) fn compile(key: &str, text: &str, body: &Body) -> Result<Self, DialectError> {
        Self::of_tokens(key, &tokens(key, text, &OF_REQUESTS)?, body)
    }

    /// The same for what names a topic, which is written with a prefix; a request has variables.
    ///
    /// # Errors
    /// As [`Template::compile`].
    pub(super) fn of_topic(
        key: &str,
        text: &str,
        prefix: &str,
        body: &Body,
    ) -> Result<Self, DialectError> {
        let has_variables = matches!(key, "send.publish" | "send.subscribe" | "send.http.body");
        let tokens = cut(key, text, &OF_PUBLICATIONS, has_variables)?;
        let with_prefix = tokens.into_iter().flat_map(|token| match token {
            Token::Hole(Hole::Topic) => vec![Token::Literal(prefix.to_owned()), token],
            token => vec![token],
        });
        Self::of_tokens(key, &with_prefix.collect::<Vec<_>>(), body)
    }

    fn of_tokens(key: &str, tokens: &[Token], body: &Body) -> Result<Self, DialectError> {
        let count = |wanted: &[Hole]| {
            let is_wanted =
                |token: &&Token| matches!(token, Token::Hole(hole) if wanted.contains(hole));
            tokens.iter().filter(is_wanted).count()
        };
        let payloads = count(&[Hole::Payload, Hole::EscapedPayload]);
        if payloads + count(&[Hole::Padding, Hole::Line]) > 1 {
            return Err(DialectError::unfit(
                key,
                "carries the padding twice",
                "write {payload}, {escaped_payload}, {padding} or {line} once",
            ));
        }
        let mut template = Self::default();
        for token in tokens {
            template.push(token, body);
        }
        Ok(template)
    }

    /// True where it has something of the client's own.
    pub(super) fn has_variables(&self) -> bool {
        self.any(&|piece| piece.variable().is_some())
    }

    /// True where it has the sequence of its message.
    pub(super) fn says_sequence(&self) -> bool {
        self.any(&|piece| piece.variable() == Some(SEQUENCE))
    }

    /// True where it has the number of the request.
    pub(super) fn says_number(&self) -> bool {
        let is_number =
            |piece: &Piece| matches!(piece, Piece::Number | Piece::Composed(Composed::Number(_)));
        self.any(&is_number)
    }

    /// True where a piece, or one that a length encloses, is so.
    fn any(&self, is: &dyn Fn(&Piece) -> bool) -> bool {
        self.pieces.iter().any(|piece| match piece {
            Piece::Composed(Composed::Length(_, _, inner)) => inner.any(is),
            piece => is(piece),
        })
    }

    /// Bytes of the message, where they are the same for each request.
    pub(super) fn width(&self) -> Option<usize> {
        let widths = self.pieces.iter().map(|piece| match piece {
            Piece::Literal(bytes) => Some(bytes.len()),
            Piece::Stamp => Some(StampForm::Hex.width()),
            Piece::Composed(composed) => composed.width(),
            Piece::Number | Piece::Topic | Piece::Variable(_) | Piece::Padding(..) => None,
        });
        widths.sum()
    }

    /// Adds another one behind it.
    pub(super) fn append(&mut self, other: Self) {
        for piece in other.pieces {
            match piece {
                Piece::Literal(bytes) => self.literal(&bytes),
                piece => self.pieces.push(piece),
            }
        }
    }

    /// True where a text carries its stamp and the plan's padding.
    pub(super) fn is_complete(text: &str) -> bool {
        has_payload(text) || text.contains("{stamp}") && Self::has_padding(text)
    }

    /// True where a placeholder stands within a string of JSON.
    pub(super) fn is_quoted(text: &str, placeholder: &str) -> bool {
        let Some((before, _)) = text.split_once(placeholder) else {
            return false;
        };
        let quotes = before.replace("\\\\", "").replace("\\\"", "");
        quotes.matches('"').count() % 2 == 1
    }

    /// True where a text carries its stamp.
    pub(super) fn has_stamp(text: &str) -> bool {
        has_payload(text) || text.contains("{stamp}")
    }

    /// True where a text carries the plan's padding.
    pub(super) fn has_padding(text: &str) -> bool {
        has_payload(text) || text.contains("{padding}") || text.contains("{line}")
    }

    pub(super) fn push(&mut self, token: &Token, body: &Body) {
        match token {
            Token::Literal(text) => self.literal(text),
            Token::Variable(name) => self.pieces.push(Piece::Variable(name.clone())),
            Token::Hole(Hole::Stamp) => self.pieces.push(Piece::Stamp),
            Token::Hole(Hole::Number) => self.pieces.push(Piece::Number),
            Token::Hole(Hole::Sequence) => self.pieces.push(Piece::Variable(SEQUENCE.to_owned())),
            Token::Hole(Hole::Topic) => self.pieces.push(Piece::Topic),
            Token::Hole(Hole::Padding | Hole::Any) => {
                self.padding(body, Around::Nothing, Form::AsIs);
            }
            Token::Hole(Hole::Line) => {
                let form = self.form_in_string();
                self.padding(body, Around::Nothing, form);
            }
            Token::Hole(Hole::Payload) => {
                self.literal(BEFORE_STAMP);
                self.pieces.push(Piece::Stamp);
                self.padding(body, Around::Payload, Form::InString);
                self.literal(r#""}"#);
            }
            Token::Hole(Hole::EscapedPayload) => {
                self.literal(escaped(BEFORE_STAMP));
                self.pieces.push(Piece::Stamp);
                self.padding(body, Around::EscapedPayload, Form::InNestedString);
                self.literal(escaped(r#""}"#));
            }
        }
    }

    /// How a text stands behind what was written last: an escaped quote begins a string within another.
    fn form_in_string(&self) -> Form {
        let before = self.pieces.last().and_then(|piece| match piece {
            Piece::Literal(bytes) => bytes.rsplitn(2, |byte| *byte == b'"').nth(1),
            _ => None,
        });
        match before {
            Some([.., b'\\']) => Form::InNestedString,
            _ => Form::InString,
        }
    }

    /// A stamp needs no escapes, nor does a padding of digits.
    fn padding(&mut self, body: &Body, around: Around, form: Form) {
        let Some(padding) = body.fixed() else {
            self.pieces.push(Piece::Padding(body.clone(), around, form));
            return;
        };
        if !padding.is_empty() {
            self.literal(around.before().as_bytes());
            self.literal(padding);
        }
    }

    pub(super) fn literal(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        if let Some(Piece::Literal(last)) = self.pieces.last_mut() {
            last.extend_from_slice(bytes);
        } else if !bytes.is_empty() {
            self.pieces.push(Piece::Literal(bytes.to_vec()));
        }
    }

    /// Appends the message that carries `stamp`, to the topic of `room`.
    pub(super) fn write(
        &self,
        room: u32,
        stamp: u64,
        variables: &dyn Variables,
        out: &mut Vec<u8>,
    ) {
        for piece in &self.pieces {
            match piece {
                Piece::Variable(name) => variables.write(name, out),
                Piece::Literal(bytes) => out.extend_from_slice(bytes),
                Piece::Stamp => StampForm::Hex.write(stamp, out),
                Piece::Composed(composed) => composed.write(room, stamp, variables, out),
                Piece::Padding(body, around, form) => {
                    let padding = body.padding(stamp);
                    if !padding.text.is_empty() {
                        out.extend_from_slice(around.before().as_bytes());
                        padding.write(*form, out);
                    }
                }
                Piece::Topic => {
                    write!(out, "{TOPIC}{room}").expect("a Vec takes everything");
                }
                Piece::Number => {
                    write!(out, "{}", number_of(stamp)).expect("a Vec takes everything");
                }
            }
        }
    }
}

impl Piece {
    /// The name of what is the client's own.
    fn variable(&self) -> Option<&str> {
        match self {
            Self::Variable(name) | Self::Composed(Composed::Variable(name, _)) => Some(name),
            _ => None,
        }
    }
}

/// As it stands in a JSON string.
fn escaped(text: &str) -> String {
    text.replace('"', r#"\""#)
}

impl Around {
    fn before(self) -> Cow<'static, str> {
        match self {
            Self::Nothing => Cow::Borrowed(""),
            Self::Payload => Cow::Borrowed(AFTER_STAMP),
            Self::EscapedPayload => Cow::Owned(escaped(AFTER_STAMP)),
        }
    }
}

fn has_payload(text: &str) -> bool {
    text.contains("{payload}") || text.contains("{escaped_payload}")
}

/// A template for messages to the user, with an ellipsis in place of what differs.
pub(super) fn shown(text: &str) -> String {
    let escaped = r#"{\"stamp\":...}"#;
    text.replace("{payload}", r#"{"stamp":...}"#)
        .replace("{escaped_payload}", escaped)
        .replace("{stamp}", "...")
        .replace("{padding}", "...")
        .replace("{line}", "...")
        .replace("{number}", "...")
        .replace("{sequence}", "...")
        .replace("{topic}", "...")
}

#[cfg(test)]
mod tests {
    use super::super::NoVariables;
    use super::super::placeholders::{MOST_TEMPLATE, with_variables};
    use super::*;

    fn written(text: &str, padding: &str) -> String {
        let template = Template::compile("send.echo", text, &Body::new(padding.to_owned()));
        let mut out = Vec::new();
        template.unwrap().write(0, 0xAB, &NoVariables, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn placeholders_are_replaced_and_all_else_stays() {
        assert_eq!(
            written(r#"42["echo",{payload}]"#, "12"),
            r#"42["echo",{"stamp":"00000000000000ab","padding":"12"}]"#
        );
        assert_eq!(
            written(r#"{"a":{},"data":"{\"p\":{escaped_payload}}"}"#, "1"),
            r#"{"a":{},"data":"{\"p\":{\"stamp\":\"00000000000000ab\",\"padding\":\"1\"}}"}"#
        );
        assert_eq!(
            written("{{stamp} {stamp} {number}{padding} { x }", "77"),
            "{stamp} 00000000000000ab 17277 { x }"
        );
        assert_eq!(written("{payload}", ""), r#"{"stamp":"00000000000000ab"}"#);
    }

    #[test]
    fn a_message_is_written_from_its_pieces() {
        let body = Body::new("12345".repeat(100));
        let template = Template::compile("send.echo", r#"{"p":{payload}}"#, &body).unwrap();
        assert_eq!(template.pieces.len(), 3);
    }

    #[test]
    fn what_cannot_be_written_is_refused_with_the_key_and_a_remedy() {
        let refused = |text: &str| {
            Template::compile("send.echo", text, &Body::new(String::new()))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused("{stmp}"),
            "`send.echo` has the placeholder {stmp}; known here: {stamp}, {number}, {sequence}, \
             {payload}, {escaped_payload}, {padding}, {line}; write `{{` for a brace"
        );
        assert!(refused("{any}").contains("placeholder {any}"));
        assert_eq!(
            refused("{payload} {padding}"),
            "`send.echo` carries the padding twice; write {payload}, {escaped_payload}, \
             {padding} or {line} once"
        );
        assert_eq!(
            refused(&"x".repeat(MOST_TEMPLATE + 1)),
            "`send.echo` has 1048577 bytes; permitted: at most 1048576"
        );
    }

    #[test]
    fn a_closing_brace_is_written_once() {
        // Balanced as they stand, or no template of braces at all.
        for (text, sent) in [
            (r#"{"a":{"b":{stamp}}}"#, r#"{"a":{"b":00000000000000ab}}"#),
            (r#"{"a":{"b":"{{name}"}}"#, r#"{"a":{"b":"{name}"}}"#),
            (r#"{{"a":{"b":{stamp}}}"#, r#"{"a":{"b":00000000000000ab}}"#),
            ("{{ {stamp}", "{ 00000000000000ab"),
            ("{stamp}}}", "00000000000000ab}}"),
            ("}} {stamp} {{{{", "}} 00000000000000ab {{"),
        ] {
            assert_eq!(written(text, ""), sent, "{text}");
        }
        let words = |text: &str| {
            let body = Body::new(String::new());
            Template::compile("send.echo", text, &body)
                .unwrap_err()
                .to_string()
        };
        for (text, place) in [
            (
                r#"{{"type":"echo","payload":{payload}}}"#,
                r#"ype":"echo","payload":{payload}}"#,
            ),
            (r#"{{"a":{{"b":{stamp}}}}}"#, r#"{{"a":{{"b":{stamp}}"#),
            ("{{x}} {stamp}", "{{x}}"),
        ] {
            assert_eq!(
                words(text),
                format!(
                    "`send.echo` has more closing braces than opening ones, from `{place}` on; \
                     write a closing brace once: `{{{{` is a brace, and `}}}}` is two"
                )
            );
            assert!(
                with_variables(
                    "open.send",
                    &text.replace("stamp", "x").replace("payload", "y")
                )
                .is_err()
            );
        }
    }
}
