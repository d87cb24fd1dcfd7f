//! What is said, and who is to hear it.

use super::{DialectFile, MqttTerms, Sizes, built_in_dialect, built_in_dialects};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use std::path::PathBuf;
use std::sync::OnceLock;

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
    /// JSON in text messages.
    #[default]
    Text,
    /// Type byte, size, payload in binary messages.
    Binary,
    /// Phoenix channels; the serializer follows from `vsn` in the URL.
    Phoenix,
    /// Action Cable.
    ActionCable,
    /// Socket.IO 4.
    SocketIo,
    /// That of a file, which is the plan's `message.definition`.
    File,
    /// MQTT 3.1.1.
    Mqtt,
    /// MQTT 5.
    Mqtt5,
}

impl Dialect {
    /// The dialect with this name and a value of its own.
    fn named(name: &str) -> Option<Self> {
        match name {
            "text" | "json" => Some(Self::Text),
            "binary" => Some(Self::Binary),
            "phoenix" => Some(Self::Phoenix),
            "actioncable" => Some(Self::ActionCable),
            "socketio" => Some(Self::SocketIo),
            "file" => Some(Self::File),
            "mqtt" => Some(Self::Mqtt),
            "mqtt5" => Some(Self::Mqtt5),
            _ => None,
        }
    }

    /// The word of plans and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Binary => "binary",
            Self::Phoenix => "phoenix",
            Self::ActionCable => "actioncable",
            Self::SocketIo => "socketio",
            Self::File => "file",
            Self::Mqtt => "mqtt",
            Self::Mqtt5 => "mqtt5",
        }
    }
}

/// What `mqtt` is, in one sentence.
pub const MQTT: &str = "MQTT 3.1.1: an echo goes to a topic of the client's own, a broadcast to one of all, with QoS 1.";
/// What `mqtt5` is.
pub const MQTT_5: &str = "The same by MQTT 5";

/// What the messages are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", default, deny_unknown_fields)]
#[schemars(!try_from)]
pub struct Message {
    /// The message format. A plan may also give the name of a file in dialects/, or the path of a dialect
    /// file. Both mean `file` with the definition that the dialect file holds.
    #[schemars(schema_with = "names_of_dialects")]
    pub dialect: Dialect,
    /// Bytes of padding in each payload.
    pub padding: u32,
    /// Paddings of several sizes, in the place of one.
    pub sizes: Option<Sizes>,
    /// A text file whose lines are the paddings, in the place of both: request *n* of the run, from 0
    /// on, carries line *n* modulo their number.
    pub lines: Option<PathBuf>,
    /// The dialect `file`, as docs/dialects.md describes it.
    pub definition: Option<Box<DialectFile>>,
    /// What clients of MQTT say of themselves and ask for.
    pub mqtt: Option<MqttTerms>,
}

/// A message as plans have it.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields, rename = "Message")]
struct Written {
    dialect: Name,
    padding: u32,
    sizes: Option<Sizes>,
    lines: Option<PathBuf>,
    definition: Option<Box<DialectFile>>,
    mqtt: Option<MqttTerms>,
}

/// A dialect with a value of its own, a file of dialects/, or one of the user's, which is not read
/// here.
enum Name {
    Own(Dialect),
    File(&'static DialectFile),
    Path,
}

/// True where the dialect of a plan is the path of a file and no name.
pub fn names_dialect_file(dialect: &str) -> bool {
    dialect.contains('/') || dialect.ends_with(".toml")
}

impl Default for Written {
    fn default() -> Self {
        let Message {
            dialect,
            padding,
            sizes,
            lines,
            definition,
            mqtt,
        } = Message::default();
        Self {
            dialect: Name::Own(dialect),
            padding,
            sizes,
            lines,
            definition,
            mqtt,
        }
    }
}

impl Message {
    /// Every size of a padding in bytes, with its weight; 0 of lines, whose file it does not read.
    pub fn paddings(&self) -> Vec<(u32, u32)> {
        let sizes = self.sizes.as_ref();
        sizes.map_or_else(|| vec![(self.padding, 1)], Sizes::all)
    }

    /// True of a dialect file that is none of the project's.
    pub fn has_own_definition(&self) -> bool {
        let definition = self.definition.as_deref();
        definition.is_some_and(|file| built_in_dialect(&file.name) != Some(file))
    }

    /// The longest padding in bytes.
    pub fn longest_padding(&self) -> u32 {
        let sizes = self.paddings().into_iter();
        sizes.map(|(bytes, _)| bytes).max().unwrap_or(0)
    }

    /// The padding in words, in bytes; of lines the name of their file.
    pub fn padding_in_words(&self) -> String {
        if let Some(file) = &self.lines {
            let name = file.file_name().unwrap_or(file.as_os_str());
            return format!("lines of {}", name.to_string_lossy());
        }
        let shortest = self.paddings().into_iter().map(|(bytes, _)| bytes).min();
        match (self.sizes.as_ref(), shortest) {
            (Some(sizes), Some(shortest)) => format!(
                "{shortest} to {} in {} sizes",
                self.longest_padding(),
                sizes.all().len()
            ),
            _ => self.padding.to_string(),
        }
    }
}

/// A message format that is given twice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum TwoFormats {
    #[error("names a dialect file, and there is a definition too; leave one of them out")]
    Path,
    #[error("`{0}` has a definition already; write dialect = \"file\" beside that of the plan")]
    File(String),
}

impl TryFrom<Written> for Message {
    type Error = TwoFormats;

    fn try_from(written: Written) -> Result<Self, TwoFormats> {
        let (dialect, definition) = match (written.dialect, written.definition) {
            (Name::Own(dialect), definition) => (dialect, definition),
            (Name::Path, None) => (Dialect::File, None),
            (Name::Path, Some(_)) => {
                return Err(TwoFormats::Path);
            }
            (Name::File(file), None) => (Dialect::File, Some(Box::new(file.clone()))),
            (Name::File(file), Some(_)) => {
                return Err(TwoFormats::File(file.name.clone()));
            }
        };
        Ok(Self {
            dialect,
            padding: written.padding,
            sizes: written.sizes,
            lines: written.lines,
            definition,
            mqtt: written.mqtt,
        })
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Dialect::deserialize(deserializer).map(Self::Own);
        }
        let name = String::deserialize(deserializer)?;
        if let Some(own) = Dialect::named(&name) {
            return Ok(Self::Own(own));
        }
        if names_dialect_file(&name) {
            return Ok(Self::Path);
        }
        built_in_dialect(&name)
            .map(Self::File)
            .ok_or_else(|| D::Error::unknown_variant(&name, known_names()))
    }
}

/// Every name that a plan may have, that of its own definition last.
fn known_names() -> &'static [&'static str] {
    static NAMES: OnceLock<Vec<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let files = built_in_dialects().map(|file| &*file.name);
        let mut names = vec!["json", "text", "binary", "mqtt", "mqtt5"];
        names.extend(files.filter(|name| *name != "text"));
        names.push("file");
        names
    })
}

fn names_of_dialects(_: &mut SchemaGenerator) -> Schema {
    let mut names = vec![
        json!({"const": "text", "description": "JSON in text messages. `json` is the same."}),
        json!({"const": "json"}),
        json!({"const": "binary", "description": "Type byte, size, payload in binary messages."}),
        json!({"const": "mqtt", "description": MQTT}),
        json!({"const": "mqtt5", "description": MQTT_5}),
        json!({"const": "file", "description": "That of `message.definition`."}),
    ];
    let files = built_in_dialects().filter(|file| file.name != "text");
    names.extend(files.map(|file| json!({"const": file.name, "description": file.summary})));
    names.push(json!({
        "pattern": "/|\\.toml$",
        "description": "The path of a dialect file, from the folder of the plan's file on.",
    }));
    json_schema!({"type": "string", "oneOf": names})
}
