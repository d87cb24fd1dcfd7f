//! Where a text has placeholders, which are words in braces, and what a brace is.

use super::error::DialectError;

/// Longest template in bytes. A plan, which goes to every worker, may have several of them.
pub(super) const MOST_TEMPLATE: usize = 1 << 20;
/// Characters that are shown before a brace in a template.
const SHOWN_BEFORE: usize = 30;

/// What a placeholder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hole {
    Stamp,
    Number,
    /// How many messages with it the connection has had.
    Sequence,
    Payload,
    EscapedPayload,
    Padding,
    /// The padding within a JSON string.
    Line,
    Any,
    Topic,
}

/// The name of [`Hole::Sequence`], which is written as a variable of the client.
pub(crate) const SEQUENCE: &str = "sequence";

const NAMES: [(&str, Hole); 9] = [
    ("stamp", Hole::Stamp),
    ("number", Hole::Number),
    (SEQUENCE, Hole::Sequence),
    ("payload", Hole::Payload),
    ("escaped_payload", Hole::EscapedPayload),
    ("padding", Hole::Padding),
    ("line", Hole::Line),
    ("any", Hole::Any),
    ("topic", Hole::Topic),
];

/// A part of a text with placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Literal(String),
    Hole(Hole),
    /// A column of the client's row, or another value of its own.
    Variable(String),
}

/// Cuts a text at its placeholders: lower-case words in braces. `{{` is a brace.
///
/// # Errors
/// A placeholder that is not among `known`, or a text that is too long.
pub(super) fn tokens(key: &str, text: &str, known: &[Hole]) -> Result<Vec<Token>, DialectError> {
    cut(key, text, known, false)
}

/// The same, where what is no placeholder is a variable.
pub(super) fn cut(
    key: &str,
    text: &str,
    known: &[Hole],
    has_variables: bool,
) -> Result<Vec<Token>, DialectError> {
    if text.len() > MOST_TEMPLATE {
        return Err(too_much(key, text));
    }
    let mut tokens = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        literal.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('{') {
            literal.push('{');
            rest = after;
            continue;
        }
        let name = match has_variables {
            true => plan::variable(rest),
            false => placeholder(rest),
        };
        let Some(name) = name else {
            literal.push('{');
            continue;
        };
        let hole = NAMES.iter().find(|(known, _)| *known == name);
        let token = match hole {
            Some((_, hole)) if known.contains(hole) => Token::Hole(*hole),
            None if has_variables => Token::Variable(name.to_owned()),
            _ => return Err(unknown(key, name, known)),
        };
        if !literal.is_empty() {
            tokens.push(Token::Literal(std::mem::take(&mut literal)));
        }
        tokens.push(token);
        rest = &rest[name.len() + 1..];
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        tokens.push(Token::Literal(literal));
    }
    let literals = tokens.iter().filter_map(|token| match token {
        Token::Literal(text) => Some(text.as_str()),
        Token::Hole(_) | Token::Variable(_) => None,
    });
    check_braces(key, text, literals)?;
    Ok(tokens)
}

/// Refuses a template whose author doubled closing braces too, as format strings of many languages
/// want it: it is not balanced as it stands, and would be if `}}` were one brace. `}}` cannot be one in
/// general, since most JSON has it. `literals` are its texts as they are sent.
fn check_braces<'t>(
    key: &str,
    text: &str,
    literals: impl Iterator<Item = &'t str>,
) -> Result<(), DialectError> {
    let Some(at) = text.find("}}").filter(|_| text.contains("{{")) else {
        return Ok(());
    };
    let (mut as_it_stands, mut if_doubled) = (0_i64, 0_i64);
    for literal in literals {
        let count = |of: &str| literal.matches(of).count() as i64;
        as_it_stands += count("{") - count("}");
        if_doubled += count("{") - (count("}") - count("}}"));
    }
    if as_it_stands == 0 || if_doubled != 0 {
        return Ok(());
    }
    let before = text[..at].char_indices().rev().nth(SHOWN_BEFORE - 1);
    let shown = &text[before.map_or(0, |(start, _)| start)..at + 2];
    Err(DialectError::unfit(
        key,
        format!("has more closing braces than opening ones, from `{shown}` on"),
        "write a closing brace once: `{{` is a brace, and `}}` is two",
    ))
}

fn too_much(key: &str, text: &str) -> DialectError {
    DialectError::TooMuch {
        key: key.to_owned(),
        count: format!("{} bytes", text.len()),
        most: MOST_TEMPLATE,
    }
}

/// The word that ends with the next brace, if it is one.
fn placeholder(rest: &str) -> Option<&str> {
    let (name, _) = rest.split_once('}')?;
    let is_word = |c: char| c.is_ascii_lowercase() || c == '_';
    (!name.is_empty() && name.chars().all(is_word)).then_some(name)
}

fn unknown(key: &str, name: &str, known: &[Hole]) -> DialectError {
    let shown: Vec<String> = NAMES
        .iter()
        .filter(|(_, hole)| known.contains(hole))
        .map(|(name, _)| format!("{{{name}}}"))
        .collect();
    let remedy = match shown.is_empty() {
        true => "no placeholder is known here; write `{{` for a brace".to_owned(),
        false => format!("known here: {}; write `{{{{` for a brace", shown.join(", ")),
    };
    DialectError::unfit(key, format!("has the placeholder {{{name}}}"), remedy)
}

/// A text without placeholders.
///
/// # Errors
/// As [`tokens`].
pub(super) fn plain(key: &str, text: &str) -> Result<String, DialectError> {
    let tokens = tokens(key, text, &[])?;
    Ok(tokens
        .into_iter()
        .map(|token| match token {
            Token::Literal(text) => text,
            Token::Hole(_) | Token::Variable(_) => String::new(),
        })
        .collect())
}

/// A text with variables: columns of the data file, and `client`.
///
/// # Errors
/// As [`tokens`], where it has a placeholder that only requests have.
pub(super) fn with_variables(key: &str, text: &str) -> Result<String, DialectError> {
    if text.len() > MOST_TEMPLATE {
        return Err(too_much(key, text));
    }
    let parts = plan::parts(text);
    for part in &parts {
        if let plan::Part::Variable(name) = part
            && *name != SEQUENCE
            && NAMES.iter().any(|(known, _)| known == name)
        {
            return Err(unknown(key, name, &[]));
        }
    }
    let literals = parts.iter().filter_map(|part| match part {
        plan::Part::Text(text) => Some(&**text),
        plan::Part::Variable(_) => None,
    });
    check_braces(key, text, literals)?;
    Ok(text.to_owned())
}

/// Refuses a name that a value cannot have which is kept for later messages.
pub(super) fn check_variable(key: &str, name: &str) -> Result<(), DialectError> {
    let has_meaning = plan::PLACEHOLDERS.contains(&name) || name == "client";
    match plan::is_variable(name) && !has_meaning {
        true => Ok(()),
        false => Err(DialectError::unfit(
            key,
            "is no name of a variable, or has another meaning",
            "write letters, digits, `_`, `-` and `.`",
        )),
    }
}
