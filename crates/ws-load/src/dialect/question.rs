//! What a keep-alive is answered with: a text, in which what was captured of the question stands again.

use super::Malformed;
use super::error::DialectError;
use super::placeholders::with_variables;
use super::template::Template;
use plan::{Part, parts};
use serde_json::Value;

/// The answer to a question.
#[derive(Debug)]
pub(super) enum Answer {
    /// The same to each.
    Fixed(String),
    Repeats(Vec<Piece>),
    /// Of a file in bytes.
    Bytes(Template),
}

#[derive(Debug)]
pub(super) enum Piece {
    Text(String),
    /// The value with this number among those that its rule captures, and how it stands there.
    Value(usize, Standing),
}

/// How a captured value stands in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// As text, of a pattern.
    Raw,
    /// As JSON has it: a string with its quotes.
    Json,
    /// Within a JSON string.
    InString,
    /// Within a JSON string in a JSON string.
    InNestedString,
}

impl Answer {
    /// Compiles the answer of a rule that captures values of these names, of a pattern or of JSON.
    ///
    /// # Errors
    /// A name that the rule does not capture, or a name that the answer does not repeat.
    pub(super) fn compile(
        key: &str,
        text: &str,
        names: &[&str],
        of_pattern: bool,
    ) -> Result<Self, DialectError> {
        let send = format!("{key}.send");
        with_variables(&send, text)?;
        let mut pieces = Vec::new();
        let mut before = String::new();
        for part in parts(text) {
            match part {
                Part::Text(text) => {
                    before.push_str(&text);
                    pieces.push(Piece::Text(text.into_owned()));
                }
                Part::Variable(name) => {
                    let Some(number) = names.iter().position(|known| *known == name) else {
                        return Err(DialectError::unfit(
                            send,
                            format!("has {{{name}}}, which its rule does not capture"),
                            "write `capture`, or {name} in `pattern`; or `{{` for a brace",
                        ));
                    };
                    let standing = Standing::behind(&before, of_pattern);
                    pieces.push(Piece::Value(number, standing));
                }
            }
        }
        let repeats = |number| {
            let is_it = |piece: &Piece| matches!(piece, Piece::Value(of, _) if *of == number);
            pieces.iter().any(is_it)
        };
        if let Some(unused) = (0..names.len()).find(|number| !repeats(*number)) {
            let name = names[unused];
            return Err(DialectError::unfit(
                send,
                format!("does not repeat `{name}`, which its rule captures"),
                format!("write {{{name}}} there, or leave it out of the rule"),
            ));
        }
        if !names.is_empty() {
            return Ok(Self::Repeats(pieces));
        }
        let text = pieces.into_iter().map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Value(..) => String::new(),
        });
        Ok(Self::Fixed(text.collect()))
    }

    /// The answer with these values.
    pub(super) fn with(pieces: &[Piece], values: &[Value]) -> String {
        let mut out = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Value(number, standing) => standing.write(&values[*number], &mut out),
            }
        }
        out
    }
}

impl Standing {
    fn behind(before: &str, of_pattern: bool) -> Self {
        if of_pattern {
            return Self::Raw;
        }
        let is_quoted = Template::is_quoted(&format!("{before}{{it}}"), "{it}");
        match (is_quoted, before.ends_with("\\\"")) {
            (false, _) => Self::Json,
            (true, false) => Self::InString,
            (true, true) => Self::InNestedString,
        }
    }

    fn write(self, value: &Value, out: &mut String) {
        let escapes = match self {
            Self::Json => return out.push_str(&value.to_string()),
            Self::Raw => 0,
            Self::InString => 1,
            Self::InNestedString => 2,
        };
        let mut text = match value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        for _ in 0..escapes {
            let quoted = Value::String(text).to_string();
            text = quoted[1..quoted.len() - 1].to_owned();
        }
        out.push_str(&text);
    }
}

/// What a message lacks that a rule captures of it.
pub(super) fn lacks(name: &str, pointer: &str) -> Malformed {
    Malformed(format!(
        "there is no value at `{pointer}` for `{name}`, or one that has a name twice"
    ))
}
