//! The plan as a file that people read and change: only what differs from a plan's defaults.

use super::looks::{Held, Look, example};
use plan::{DialectFile, Nanos, escaped_braces};
use serde::Serialize;
use std::collections::BTreeMap;
use toml::Value;

#[derive(Debug, Serialize)]
pub(super) struct Document {
    pub(super) name: String,
    pub(super) reason: String,
    pub(super) audience: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<Target>,
    #[serde(skip_serializing_if = "Connection::is_empty")]
    pub(super) connection: Connection,
    pub(super) clients: Clients,
    pub(super) load: Load,
    pub(super) message: Message,
}

#[derive(Debug, Serialize)]
pub(super) struct Target {
    pub(super) url: String,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Connection {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) subprotocols: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) headers: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) cookies: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) query: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) compression: Option<Compression>,
}

/// What browsers offer.
#[derive(Debug, Serialize)]
pub(super) struct Compression {
    pub(super) client_max_window_bits: u8,
}

impl Connection {
    fn is_empty(&self) -> bool {
        let lists = [
            &self.subprotocols,
            &self.headers,
            &self.cookies,
            &self.query,
        ];
        self.origin.is_none()
            && self.data.is_none()
            && self.compression.is_none()
            && lists.iter().all(|list| list.is_empty())
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Clients {
    pub(super) steps: Steps,
}

#[derive(Debug, Serialize)]
pub(super) struct Steps {
    pub(super) first: u32,
    pub(super) add: u32,
    pub(super) count: u32,
}

#[derive(Debug, Serialize)]
pub(super) struct Load {
    pub(super) open: Open,
}

#[derive(Debug, Serialize)]
pub(super) struct Open {
    pub(super) arrivals: &'static str,
    pub(super) rate: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration: Option<Nanos>,
}

#[derive(Debug, Serialize)]
pub(super) struct Message {
    pub(super) dialect: &'static str,
    pub(super) definition: Definition,
}

#[derive(Debug, Serialize)]
pub(super) struct Definition {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    #[serde(skip_serializing_if = "is_default_length")]
    pub(super) longest_message: u32,
    pub(super) send: Send,
    pub(super) receive: Vec<Rule>,
}

// serde passes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_default_length(length: &u32) -> bool {
    *length == DialectFile::ENVELOPE
}

#[derive(Debug, Serialize)]
pub(super) struct Send {
    pub(super) kinds: Vec<Kind>,
    pub(super) script: Vec<Turn>,
}

#[derive(Debug, Serialize)]
pub(super) struct Kind {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answered: Option<bool>,
    pub(super) message: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Turn {
    pub(super) at: Nanos,
    pub(super) kind: String,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Rule {
    means: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_order: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    send: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    when: BTreeMap<String, Value>,
}

impl Rule {
    /// For answers that look like this, to requests of one kind or of any.
    pub(super) fn answer(look: &Look, kind: Option<String>) -> Self {
        let rule = Self {
            means: "echo",
            kind,
            in_order: Some(true),
            ..Self::default()
        };
        match look {
            Look::Text(text) => {
                let text = escaped_braces(text).into_owned();
                Self {
                    example: Some(text.clone()),
                    text: Some(text),
                    ..rule
                }
            }
            Look::Head(text) => Self {
                example: Some(escaped_braces(&format!("{text}...")).into_owned()),
                pattern: Some(format!("{}{{any}}", escaped_braces(text))),
                ..rule
            },
            Look::Tail(text) => Self {
                example: Some(escaped_braces(&format!("...{text}")).into_owned()),
                pattern: Some(format!("{{any}}{}", escaped_braces(text))),
                ..rule
            },
            Look::Json(prefix, held) => {
                let shown = format!("{prefix}{}", example(held));
                Self {
                    prefix: (!prefix.is_empty()).then(|| prefix.clone()),
                    when: held.iter().map(condition).collect(),
                    example: Some(escaped_braces(&shown).into_owned()),
                    ..rule
                }
            }
            Look::Other => rule,
        }
    }

    /// For the server's heartbeats of Engine.IO 4.
    pub(super) fn heartbeat() -> Self {
        Self {
            means: "keep-alive",
            text: Some("2".to_owned()),
            send: Some("3".to_owned()),
            ..Self::default()
        }
    }

    /// For all that the server says by itself.
    pub(super) fn rest() -> Self {
        Self {
            means: "ignored",
            pattern: Some("{any}".to_owned()),
            ..Self::default()
        }
    }
}

fn condition((pointer, held): &(String, Held)) -> (String, Value) {
    let value = match held {
        Held::Text(text) => Value::from(text.as_str()),
        Held::Integer(integer) => Value::from(*integer),
        Held::OfType(name) => {
            let is = Value::Array(vec![Value::from(*name)]);
            Value::Table([("is".to_owned(), is)].into_iter().collect())
        }
    };
    (pointer.clone(), value)
}
