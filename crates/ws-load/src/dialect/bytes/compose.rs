//! Messages in bytes as they are written.

use super::number;
use crate::dialect::error::DialectError;
use crate::dialect::payload::{Body, number_of};
use crate::dialect::placeholders::{Hole, SEQUENCE, Token};
use crate::dialect::template::{Piece, Template};
use crate::dialect::{StampForm, Variables};
use plan::{BytePart, HoleForm, NumberForm};

/// A part that a text does not have.
#[derive(Debug)]
pub(in crate::dialect) enum Composed {
    Stamp(StampForm),
    Number(NumberForm),
    /// A variable that is a number.
    Variable(String, NumberForm),
    /// The length of what it encloses, bytes, and that.
    Length(NumberForm, Vec<u8>, Template),
}

impl Composed {
    /// Bytes, where they are the same in each message.
    pub(in crate::dialect) fn width(&self) -> Option<usize> {
        match self {
            Self::Stamp(form) => Some(form.width()),
            Self::Number(form) | Self::Variable(_, form) => form.width(),
            Self::Length(form, between, inner) => {
                Some(form.width()? + between.len() + inner.width()?)
            }
        }
    }

    pub(in crate::dialect) fn write(
        &self,
        room: u32,
        stamp: u64,
        variables: &dyn Variables,
        out: &mut Vec<u8>,
    ) {
        match self {
            Self::Stamp(form) => form.write(stamp, out),
            Self::Number(form) => number::write(*form, number_of(stamp), out),
            Self::Variable(name, form) => {
                let start = out.len();
                variables.write(name, out);
                let said = number::read(NumberForm::Text, &out[start..]);
                let said = said.map_or(0, |(number, _)| number);
                out.truncate(start);
                number::write(*form, said, out);
            }
            Self::Length(form, between, inner) => {
                let start = out.len();
                out.extend_from_slice(between);
                let inside = out.len();
                inner.write(room, stamp, variables, out);
                let end = out.len();
                number::write(*form, (end - inside) as u64, out);
                out[start..].rotate_left(end - start);
            }
        }
    }
}

/// Where a message may have which holes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dialect) enum Role<'f> {
    /// A request of one client, or to all.
    Request,
    /// What names a topic.
    OfTopic,
    /// An answer, to prove its rule.
    Example,
    /// A message of the exchange, or a heartbeat.
    Exchange,
    /// The answer to a keep-alive, which may repeat what has these names.
    Answer(&'f [(String, Option<HoleForm>)]),
}

impl Role<'_> {
    /// Whether a message may have a hole of this name.
    fn has(self, name: &str) -> bool {
        let of_request = matches!(name, "stamp" | "padding" | "number" | "sequence");
        let is_own = !matches!(
            name,
            "payload" | "escaped_payload" | "line" | "any" | "topic"
        ) && !of_request;
        match self {
            Self::Request => of_request || is_own,
            Self::OfTopic => of_request || is_own || name == "topic",
            Self::Example => of_request || name == "topic",
            Self::Exchange => is_own || name == SEQUENCE,
            Self::Answer(names) => names.iter().any(|(of, _)| of == name),
        }
    }
}

/// Compiles the parts of a message. A topic has `prefix` before it.
///
/// # Errors
/// A hole that means nothing there, or a form that it does not have.
pub(super) fn compile(
    key: &str,
    parts: &[BytePart],
    role: Role<'_>,
    prefix: &str,
    body: &Body,
) -> Result<Template, DialectError> {
    let mut template = Template::default();
    for part in parts {
        match part {
            BytePart::Literal(bytes) => template.literal(bytes),
            BytePart::Hole(name, form) => {
                if !role.has(name) {
                    return Err(super::unknown(key, name));
                }
                hole(key, name, *form, prefix, body, &mut template)?;
            }
            BytePart::Length(form, between, inner) => {
                let inner = compile(key, inner, role, prefix, body)?;
                let Some(width) = inner.width() else {
                    let length = Composed::Length(*form, between.clone(), inner);
                    template.pieces.push(Piece::Composed(length));
                    continue;
                };
                let mut length = Vec::new();
                number::write(*form, width as u64, &mut length);
                template.literal(&length);
                template.literal(between);
                template.append(inner);
            }
        }
    }
    Ok(template)
}

fn hole(
    key: &str,
    name: &str,
    form: Option<HoleForm>,
    prefix: &str,
    body: &Body,
    template: &mut Template,
) -> Result<(), DialectError> {
    let token = match (name, form) {
        ("stamp", form) => match super::stamp_form(key, form)? {
            StampForm::Hex => Token::Hole(Hole::Stamp),
            form => {
                template.pieces.push(Piece::Composed(Composed::Stamp(form)));
                return Ok(());
            }
        },
        ("number", None) => Token::Hole(Hole::Number),
        ("number", form) => {
            let form = super::number_form(key, name, form)?;
            template
                .pieces
                .push(Piece::Composed(Composed::Number(form)));
            return Ok(());
        }
        (SEQUENCE | "client", Some(_)) => {
            let form = super::number_form(key, name, form)?;
            let variable = Composed::Variable(name.to_owned(), form);
            template.pieces.push(Piece::Composed(variable));
            return Ok(());
        }
        (name, Some(_)) => return Err(super::formless(key, name)),
        ("topic", None) => {
            template.literal(prefix);
            Token::Hole(Hole::Topic)
        }
        ("padding", None) => Token::Hole(Hole::Padding),
        (name, None) => Token::Variable(name.to_owned()),
    };
    template.push(&token, body);
    Ok(())
}
