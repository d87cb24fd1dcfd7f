//! What is said, and who is to hear it.

use crate::DialectFile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which clients get each message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Audience {
    /// The client that asks.
    Sender,
    /// Every client, then the one that asks gets its result.
    #[default]
    Everyone,
    /// The clients in the room of the one that publishes, then that one gets its result. A client is
    /// in one room, whose topic it subscribes to before it is ready.
    Room(Rooms),
}

/// How clients are spread over rooms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rooms {
    /// So many rooms of equal size.
    Equal(u32),
    /// As many rooms of so many clients as there are clients for.
    Members(u32),
    /// Few large rooms and many small ones.
    Zipf(Zipf),
}

/// Rooms by Zipf's law: the size of room `k`, from 1 on, is proportional to `k` to the power of
/// minus `exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Zipf {
    /// How many rooms.
    pub rooms: u32,
    /// 0 for equal sizes; 1 for the law of its name.
    pub exponent: f64,
}

impl Default for Zipf {
    fn default() -> Self {
        Self {
            rooms: 100,
            exponent: 1.0,
        }
    }
}

/// The message format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// JSON in text messages; `json` in records of version 1.
    #[default]
    #[serde(alias = "json")]
    Text,
    /// Type byte, size, payload in binary messages.
    Binary,
    /// Phoenix channels; the serializer follows from `vsn` in the URL.
    Phoenix,
    /// Action Cable.
    ActionCable,
    /// That of a file, which is the plan's `message.definition`.
    File,
}

impl Dialect {
    /// The word of plans and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Binary => "binary",
            Self::Phoenix => "phoenix",
            Self::ActionCable => "actioncable",
            Self::File => "file",
        }
    }
}

/// What the messages are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Message {
    /// The message format.
    pub dialect: Dialect,
    /// Bytes of padding in each payload.
    pub padding: u32,
    /// The dialect `file`, as docs/dialects.md describes it.
    pub definition: Option<Box<DialectFile>>,
}
