//! Dialect files with `form = "hex"`: messages in bytes.

mod check;
mod compose;
mod fed;
mod number;
mod rule;
mod shape;

pub(super) use check::{check, check_lengths};
pub(super) use compose::{Composed, Role};
pub(super) use rule::{ByteRule, compile};
pub(super) use shape::Held;

use super::error::DialectError;
use super::payload::Body;
use super::placeholders::with_variables;
use super::rules::Rules;
use super::template::Template;
use super::{Opening, StampForm, Variables};
use plan::{DialectFile, HoleForm, NumberForm, TemplateForm};
use std::sync::Arc;

/// Fewest bytes of a number that counts messages or clients, so that no run counts beyond it.
const FEWEST_BYTES: usize = 4;

/// How the messages of a file in bytes are told apart and recognised.
#[derive(Clone, Copy, Debug)]
pub(super) struct Framing {
    pub(super) stamps: StampForm,
    length_prefix: Option<NumberForm>,
    packed: bool,
    /// A length depends on that of the padding.
    pub(super) says_size: bool,
}

impl Framing {
    /// `None` of a file in text.
    ///
    /// # Errors
    /// Stamps of several forms.
    pub(super) fn new(file: &DialectFile) -> Result<Option<Self>, DialectError> {
        if file.form == TemplateForm::Text {
            return Ok(None);
        }
        Ok(Some(Self {
            stamps: check::only_stamp_form(file)?,
            length_prefix: file.length_prefix.map(plan::LengthPrefix::form),
            packed: file.packed,
            says_size: check::says_size(file),
        }))
    }

    /// Cuts the first message off those of one message of WebSocket.
    pub(super) fn cut<'m>(self, message: &'m [u8], rules: [&Rules; 2]) -> (&'m [u8], &'m [u8]) {
        if let Some(form) = self.length_prefix {
            let of_length = number::read(form, message)
                .and_then(|(length, rest)| rest.split_at_checked(usize::try_from(length).ok()?));
            return of_length.unwrap_or((message, &[]));
        }
        if self.packed {
            let end = rules.into_iter().find_map(|of| of.end_of_first(message));
            return message.split_at(end.unwrap_or(message.len()));
        }
        (message, &[])
    }
}

/// A message with what is open in it, to be sent by a client.
#[derive(Clone, Debug)]
pub(crate) struct Fill {
    template: Arc<Template>,
    room: u32,
}

impl PartialEq for Fill {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.template, &other.template) && self.room == other.room
    }
}

impl Eq for Fill {}

impl Fill {
    pub(super) const fn new(template: Arc<Template>, room: u32) -> Self {
        Self { template, room }
    }

    /// The message of a client.
    pub(crate) fn message(&self, variables: &dyn Variables) -> Vec<u8> {
        let mut message = Vec::new();
        self.template.write(self.room, 0, variables, &mut message);
        message
    }
}

/// Compiles a message of a file in bytes.
///
/// # Errors
/// What is not of the notation, or a hole that means nothing there.
pub(super) fn template(
    key: &str,
    text: &str,
    role: Role<'_>,
    prefix: &str,
    body: &Body,
) -> Result<Template, DialectError> {
    let parts = check::parts(key, text)?;
    compose::compile(key, &parts, role, prefix, body)
}

/// Compiles a request of a file of either form.
///
/// # Errors
/// What cannot be written.
pub(super) fn request(
    file: &DialectFile,
    key: &str,
    text: &str,
    body: &Body,
) -> Result<Template, DialectError> {
    match file.form {
        TemplateForm::Text => Template::compile_request(key, text, body),
        TemplateForm::Hex => template(key, text, Role::Request, "", body),
    }
}

/// The same for what names a topic.
///
/// # Errors
/// As [`request`].
pub(super) fn of_topic(
    file: &DialectFile,
    key: &str,
    text: &str,
    body: &Body,
) -> Result<Template, DialectError> {
    let prefix = &file.topic_prefix;
    match file.form {
        TemplateForm::Text => Template::of_topic(key, text, prefix, body),
        TemplateForm::Hex => template(key, text, Role::OfTopic, prefix, body),
    }
}

/// Compiles an answer, as an example.
///
/// # Errors
/// As [`request`].
pub(super) fn example(
    key: &str,
    rule: &plan::Rule,
    framing: Option<Framing>,
    prefix: &str,
    body: &Body,
) -> Result<Template, DialectError> {
    let text = rule.example.as_deref().unwrap_or_default();
    match (framing, &rule.topic) {
        (Some(_), _) => template(key, text, Role::Example, prefix, body),
        (None, None) => Template::compile(key, text, body),
        (None, Some(_)) => Template::of_topic(key, text, prefix, body),
    }
}

/// Compiles a message of the exchange, with what a client that comes back sends in its place. `key` is that
/// of the rule.
///
/// # Errors
/// As [`template`], and as [`with_variables`].
pub(super) fn opening(
    file: &DialectFile,
    (key, text): (&str, &str),
    returning: Option<&str>,
) -> Result<Opening, DialectError> {
    match file.form {
        TemplateForm::Text => opening_in_text((key, text), returning),
        TemplateForm::Hex => opening_in_bytes((key, text), returning),
    }
}

/// The same of a file in text.
///
/// # Errors
/// As [`with_variables`].
pub(super) fn opening_in_text(
    (key, text): (&str, &str),
    returning: Option<&str>,
) -> Result<Opening, DialectError> {
    either((key, text), returning, |key, text| {
        Ok(Opening::Send(with_variables(key, text)?))
    })
}

/// The same of a file in bytes.
///
/// # Errors
/// As [`template`].
pub(super) fn opening_in_bytes(
    (key, text): (&str, &str),
    returning: Option<&str>,
) -> Result<Opening, DialectError> {
    either((key, text), returning, |key, text| {
        Ok(Opening::Fill(fill(key, text)?))
    })
}

fn either(
    (key, text): (&str, &str),
    returning: Option<&str>,
    compile: impl Fn(&str, &str) -> Result<Opening, DialectError>,
) -> Result<Opening, DialectError> {
    let first = compile(&format!("{key}.send"), text)?;
    let again = returning.map(|again| compile(&format!("{key}.returning"), again));
    Ok(match again.transpose()? {
        None => first,
        Some(again) => Opening::Returning(Box::new(first), Box::new(again)),
    })
}

/// Compiles a message that carries nothing of a request.
///
/// # Errors
/// As [`template`].
pub(super) fn fill(key: &str, text: &str) -> Result<Fill, DialectError> {
    let body = Body::new(String::new());
    let template = template(key, text, Role::Exchange, "", &body)?;
    Ok(Fill::new(Arc::new(template), 0))
}

/// Bytes without a hole.
///
/// # Errors
/// What is not of the notation, or a hole.
fn literal(key: &str, text: &str) -> Result<Vec<u8>, DialectError> {
    match &check::parts(key, text)?[..] {
        [plan::BytePart::Literal(bytes)] => Ok(bytes.clone()),
        [] => Ok(Vec::new()),
        _ => Err(DialectError::unfit(
            key,
            "has a hole or a length",
            "write bytes alone, or `pattern`",
        )),
    }
}

fn number_form(key: &str, name: &str, form: Option<HoleForm>) -> Result<NumberForm, DialectError> {
    match form {
        None => Ok(NumberForm::Text),
        Some(HoleForm::Number(form)) if form.width().is_none_or(|of| of >= FEWEST_BYTES) => {
            Ok(form)
        }
        Some(_) => Err(DialectError::unfit(
            key,
            format!("has {{{name}}} of a form that does not count far enough"),
            format!("write {{{name}}}, {{{name}:varint}}, or a form from be4 to be8 or le4 to le8"),
        )),
    }
}

fn stamp_form(key: &str, form: Option<HoleForm>) -> Result<StampForm, DialectError> {
    match form {
        None => Ok(StampForm::Hex),
        Some(HoleForm::Number(NumberForm::BigEndian(8))) => Ok(StampForm::Binary),
        Some(HoleForm::Number(NumberForm::LittleEndian(8))) => Ok(StampForm::Little),
        Some(_) => Err(DialectError::unfit(
            key,
            "has a stamp of another form, and a stamp has 64 bits",
            "write {stamp:be8} or {stamp:le8}, or {stamp} for 16 hexadecimal digits",
        )),
    }
}

fn formless(key: &str, name: &str) -> DialectError {
    DialectError::unfit(
        key,
        format!("has a form behind {{{name}}}, which is text"),
        format!("write {{{name}}}"),
    )
}

fn unknown(key: &str, name: &str) -> DialectError {
    let remedy = match name {
        "payload" | "escaped_payload" | "line" => {
            "write {stamp} or {stamp:be8}, and {padding}: a file in bytes has no JSON payload"
        }
        _ => "leave it out, or write bytes",
    };
    DialectError::unfit(
        key,
        format!("has {{{name}}}, which means nothing there"),
        remedy,
    )
}
