//! A dialect as a file: what is sent, and what the messages of a server mean. See docs/dialects.md.
//!
//! Pure data. Whether a file makes sense is found when the load generator compiles it.

mod bytes;
mod condition;
mod dialogue;
mod feed;
mod heartbeat;
mod http;
mod progress;
mod returning;

pub use bytes::{
    BytePart, ByteTextError, HoleForm, LengthPrefix, NumberForm, TemplateForm, byte_parts,
};
pub use condition::{Condition, JsonType, Scalar};
pub use feed::{FEED_NAMES, MOST_FEED_KEYS, SentUnit};
pub use heartbeat::{BeatInterval, Heartbeat, NoInterval};
pub use http::{FORM, HttpCapture, HttpPublication, HttpStep, PUBLICATION_NAMES, media_type};
pub use progress::{PART, PARTS};

use super::Nanos;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// JSON Schema of a dialect file, for editors.
pub fn dialect_schema() -> Schema {
    SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<DialectFile>()
}

/// A dialect: the messages of a protocol over WebSocket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DialectFile {
    /// Lower-case letters, digits and hyphens.
    pub name: String,
    /// The dialect in one sentence.
    pub summary: String,
    /// Whether messages are text or binary, both ways. They are UTF-8 in both cases, unless `form` is
    /// `hex`.
    #[serde(default)]
    pub opcode: MessageType,
    /// How the messages are written here: as text, or as bytes.
    #[serde(default)]
    pub form: TemplateForm,
    /// `Sec-WebSocket-Protocol` of the handshake, which the server must name in its answer.
    #[serde(default)]
    pub subprotocol: Option<String>,
    /// `Origin` of the handshake, unless the plan names one.
    #[serde(default)]
    pub origin: OriginRule,
    /// False when a server may deliver the broadcasts of one sender in any order.
    #[serde(default = "yes")]
    pub keeps_order: bool,
    /// What stands between the messages where the server puts several of its own in one message of
    /// WebSocket, and may stand behind the last. No message may contain it.
    #[serde(default)]
    pub separator: Option<String>,
    /// In a file in bytes: each message of the server stands behind its length, and one message of
    /// WebSocket may have several.
    #[serde(default)]
    pub length_prefix: Option<LengthPrefix>,
    /// In a file in bytes: one message of WebSocket may have several of the server's, one behind the
    /// other. Each ends where the rule that it matches ends.
    #[serde(default)]
    pub packed: bool,
    /// What must hold of every JSON message, by JSON pointer. A message of which it does not hold
    /// is malformed.
    #[serde(default)]
    pub shape: BTreeMap<String, Condition>,
    /// What happens between the handshake and the first request. Without it a client is ready at
    /// once.
    #[serde(default)]
    pub open: OpeningExchange,
    /// What stands before the name of a topic, wherever the dialect writes or reads one.
    #[serde(default)]
    pub topic_prefix: String,
    /// Longest message of the server in bytes, besides the payload of a request.
    #[serde(default = "envelope")]
    pub longest_message: u32,
    /// What a ready client sends by the clock, where the server closes clients that are silent.
    #[serde(default)]
    pub heartbeat: Option<Heartbeat>,
    /// The requests. A file may do without them that has a rule which means `feed`.
    #[serde(default)]
    pub send: Requests,
    /// What the messages of a ready client mean. The first rule that matches decides; a message that
    /// no rule matches is malformed.
    pub receive: Vec<Rule>,
}

impl DialectFile {
    /// `longest_message` of a file that does not say it, in bytes.
    pub const ENVELOPE: u32 = 32 * 1024;

    /// What is not checked of the answers to echoes, in words; `None` where all of it is.
    pub fn unchecked(&self) -> Option<&'static str> {
        let file = self.outlined();
        let mut echoes = file
            .receive
            .iter()
            .filter(|rule| rule.means == Meaning::Echo);
        if !self.send.script.is_empty() {
            return Some(
                "content not checked: requests of a script have no stamp; answers are matched to \
                 them by their order on each connection",
            );
        }
        let is_bare = |rule: &Rule| {
            let is_named = rule.stamp.is_some() || rule.number.is_some();
            is_named && rule.line.is_none() || rule.is_bare_pattern() || rule.has_sequence()
        };
        match () {
            () if echoes.clone().any(|rule| rule.in_order) => Some(
                "content not checked: no stamp; answers are matched to requests by their order on \
                 each connection",
            ),
            () if echoes.any(is_bare) => Some(
                "content not checked: answers carry the stamp or number of their request and nothing \
                 else of it",
            ),
            () => None,
        }
    }

    /// The names of what is kept of the exchange, and of the signatures made of that. What is kept later
    /// has one of these names.
    pub fn captured(&self) -> impl Iterator<Item = &str> {
        let rules = self.open.receive.iter();
        let told = rules.flat_map(|rule| rule.capture.keys());
        let told = told.chain(self.open.signatures.keys()).map(String::as_str);
        self.told_by_steps().chain(told)
    }

    /// The requests that may have variables.
    pub fn requests(&self) -> impl Iterator<Item = &str> {
        let others = [&self.send.broadcast, &self.send.publish];
        self.echoes()
            .chain(others.into_iter().flatten().map(String::as_str))
    }

    /// The requests that one client makes for itself.
    pub fn echoes(&self) -> impl Iterator<Item = &str> {
        let kinds = self.send.kinds.iter().map(|kind| kind.message.as_str());
        self.send.echo.as_deref().into_iter().chain(kinds)
    }

    /// The messages that a client sends before its first request, and the texts of its signatures. They
    /// may have variables.
    pub fn exchange(&self) -> impl Iterator<Item = &str> {
        let rules = self.open.receive.iter();
        let answers = rules.filter(|rule| matches!(rule.means, Meaning::Send | Meaning::Ready));
        let signatures = self.open.signatures.values();
        let first = self.open.send.iter();
        first
            .chain(answers.filter_map(|rule| rule.send.as_ref()))
            .chain(&self.send.subscribe)
            .chain(signatures.flat_map(|signature| [&signature.key, &signature.of]))
            .map(String::as_str)
            .chain(self.returning())
    }
}

const fn yes() -> bool {
    true
}

/// For everything but the payload that a request carried: envelopes, topics, identifiers, what a
/// framework says of itself. Those of the dialects of the project take a few hundred bytes.
const fn envelope() -> u32 {
    DialectFile::ENVELOPE
}

/// What a message is sent as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MessageType {
    /// Text messages.
    #[default]
    Text,
    /// Binary messages.
    Binary,
}

/// Where the `Origin` header comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OriginRule {
    /// There is none.
    #[default]
    None,
    /// The server's own, as a browser sends it from a page of that server.
    Server,
}

/// The exchange that makes a client ready.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpeningExchange {
    /// Requests over HTTP that each client makes before it connects, one after the other.
    #[serde(default)]
    pub http: Vec<HttpStep>,
    /// Sent right after the handshake.
    #[serde(default)]
    pub send: Option<String>,
    /// In place of `send`: what a client sends that comes back, and that the server has told each value
    /// which this names.
    #[serde(default)]
    pub returning: Option<String>,
    /// Where nothing confirms what a client sent last: time from then on, or from the handshake if it
    /// sends nothing, until it is ready.
    #[serde(default)]
    pub ready_after: Option<Nanos>,
    /// What the messages mean that come before the client is ready. The first rule that matches
    /// decides; a message that no rule matches refuses the client.
    #[serde(default)]
    pub receive: Vec<Rule>,
    /// Signatures by name, made once the server has told a client what `capture` keeps. `{name}` stands
    /// for one in that client's later messages.
    #[serde(default)]
    pub signatures: BTreeMap<String, Signature>,
}

/// An HMAC with SHA-256 (RFC 2104) in lower-case hexadecimal digits. Both of its texts may have
/// variables, columns of the data file and what was captured, and `{topic}` in a run with rooms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// The key. A secret has its place in the data file, whose values no record has.
    pub key: String,
    /// The text that is signed.
    pub of: String,
}

/// The templates of requests. `{payload}` stands for `{"stamp":"...","padding":"..."}`,
/// `{escaped_payload}` for the same within a JSON string, `{stamp}` for 16 hexadecimal digits,
/// `{padding}` for the plan's padding or line, `{line}` for the same within a JSON string, `{number}`
/// for the number of the request, from 1 on, which rises on each connection, `{sequence}` for how many
/// messages with it the client has sent on its connection, this one included, `{topic}` for the topic of
/// a room, and `{{` for a brace. A closing brace is written once. In a file in bytes `{stamp:be8}` is the
/// stamp in 8 bytes, `{number:varint}` and `{sequence:le4}` are numbers of such forms, and
/// `{length:be4}( ... )` is the length of what the parentheses enclose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requests {
    /// One client asks, the same client is answered.
    #[serde(default)]
    pub echo: Option<String>,
    /// Several kinds of such requests, in the place of `echo`.
    #[serde(default)]
    pub kinds: Vec<RequestKind>,
    /// The requests of each client in their order, in the place of a choice by weights.
    #[serde(default)]
    pub script: Vec<Turn>,
    /// Time after the last request of the script until a client begins it again, where the load lasts
    /// longer. Without it each client carries the script out once in a step.
    #[serde(default)]
    pub repeat_after: Option<Nanos>,
    /// One client asks, every client is told, then the asker is answered.
    #[serde(default)]
    pub broadcast: Option<String>,
    /// One client publishes, the subscribers of `{topic}` are told, then the publisher is answered.
    #[serde(default)]
    pub publish: Option<String>,
    /// Makes a client a subscriber of `{topic}`: the last message of its opening exchange.
    #[serde(default)]
    pub subscribe: Option<String>,
    /// Ends the subscription of a ready client to `{topic}`, for clients that change rooms. Both this
    /// and `subscribe` are then answered while the client is ready.
    #[serde(default)]
    pub unsubscribe: Option<String>,
    /// A broadcast or a publication by a request over HTTP, in the place of `broadcast` and `publish`. A
    /// rule that means `delivery` makes it one, a rule that means `message` the other.
    #[serde(default)]
    pub http: Option<HttpPublication>,
    /// False where a broadcast or a publication reaches all but its sender.
    #[serde(default = "yes")]
    pub reaches_sender: bool,
    /// Whether the sender of a broadcast or a publication gets a result. Absent: where it reaches its
    /// sender.
    #[serde(default)]
    pub acknowledged: Option<bool>,
}

impl Default for Requests {
    fn default() -> Self {
        Self {
            echo: None,
            kinds: Vec::new(),
            script: Vec::new(),
            repeat_after: None,
            broadcast: None,
            publish: None,
            subscribe: None,
            unsubscribe: None,
            http: None,
            reaches_sender: true,
            acknowledged: None,
        }
    }
}

impl Requests {
    /// True where the sender of a broadcast or a publication gets a result.
    pub fn is_acknowledged(&self) -> bool {
        self.http.is_some() || self.acknowledged.unwrap_or(self.reaches_sender)
    }
}

/// The names that templates of requests have a meaning for; others are variables.
pub const PLACEHOLDERS: [&str; 8] = [
    "stamp",
    "number",
    "sequence",
    "payload",
    "escaped_payload",
    "padding",
    "line",
    "topic",
];

/// One of several kinds of requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestKind {
    /// Lower-case letters, digits and hyphens.
    pub name: String,
    /// How many requests are of this kind, as a share of the sum of all weights.
    #[serde(default = "one")]
    pub weight: u32,
    /// False of requests of a script that no answer is awaited to. They are sent and counted, and are
    /// in no latency.
    #[serde(default = "yes")]
    pub answered: bool,
    /// The template.
    pub message: String,
}

/// A request of a script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// When it is due, by `arrivals = "recorded"`: after the moment at which its client begins.
    #[serde(default)]
    pub at: Nanos,
    /// In place of `at`: the time that the client thinks before it sends this. It begins with the answer to
    /// its request before; where that has none, with the send of it; of the first request, when the client
    /// begins.
    #[serde(default)]
    pub after: Option<Nanos>,
    /// The share of `after`, from 0 to 1, by which the time may be shorter or longer, at random.
    #[serde(default)]
    pub jitter: Option<f64>,
    /// The name of one of `kinds`.
    pub kind: String,
}

const fn one() -> u32 {
    1
}

/// What a message means, and how it is recognised: by `text`, by `pattern`, or by `prefix` and
/// `when`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What the message means.
    pub means: Meaning,
    /// The message is exactly this.
    #[serde(default)]
    pub text: Option<String>,
    /// The message has this shape. `{any}` stands for any text, up to the next text of the pattern;
    /// `{payload}`, `{stamp}`, `{padding}` and `{sequence}` are what a request carried. In a keep-alive, any
    /// other name captures a text, and `send` can repeat it. In a feed, `{sequence}`, `{key}` and
    /// `{sent_at}` take the place of the keys of the same names; so do `{part}` in a part of an answer and
    /// `{parts}` in its last message.
    #[serde(default)]
    pub pattern: Option<String>,
    /// The message begins with this. If a message begins with the prefixes of several rules, only
    /// the longest counts. JSON pointers apply to what follows the prefix.
    #[serde(default)]
    pub prefix: Option<String>,
    /// In a file in bytes: what stands at these places of the message, counted from 0 on, or from the end
    /// where they are negative. Alone, or beside one of the others.
    #[serde(default)]
    pub at: BTreeMap<String, String>,
    /// JSON pointer to the payload, which is compared with the one that was sent.
    #[serde(default)]
    pub payload: Option<String>,
    /// Whether the payload is a JSON value there, or a string that holds JSON.
    #[serde(default)]
    pub payload_form: PayloadForm,
    /// JSON pointer to the stamp, in an answer to an echo or a result that carries no payload.
    #[serde(default)]
    pub stamp: Option<String>,
    /// JSON pointer to the number of the request, in such an answer.
    #[serde(default)]
    pub number: Option<String>,
    /// JSON pointer to the `{sequence}` of the request, in such an answer: it belongs to that request of
    /// the same connection. In a feed: to the number of the message, which rises by 1 from message to
    /// message.
    #[serde(default)]
    pub sequence: Option<String>,
    /// In a feed with several sequences on a connection: JSON pointer to the string or number that tells
    /// them apart, a symbol or a channel.
    #[serde(default)]
    pub key: Option<String>,
    /// In a feed: JSON pointer to the time at which the server sent the message.
    #[serde(default)]
    pub sent_at: Option<String>,
    /// How that time is written; `ms` where it is left out.
    #[serde(default)]
    pub sent_unit: Option<SentUnit>,
    /// In a feed: on a client's next connection, and in its next room, its numbers go on where they
    /// were, and do not begin anew.
    #[serde(default)]
    pub resumes: bool,
    /// In a part of an answer: JSON pointer to its number within the answer, which begins with 0 or 1 and
    /// rises by 1.
    #[serde(default)]
    pub part: Option<String>,
    /// In the last message of an answer that comes in parts: JSON pointer to how many parts came before it.
    #[serde(default)]
    pub parts: Option<String>,
    /// Beside `stamp` or `number`: JSON pointer to the string that `{line}` stands for in the request,
    /// which is compared with it.
    #[serde(default)]
    pub line: Option<String>,
    /// The answer to an echo, or the part of one, carries nothing of it: it belongs to the oldest request
    /// of its connection that has no answer yet.
    #[serde(default)]
    pub in_order: bool,
    /// The name of the kind of requests that it answers; absent for any.
    #[serde(default)]
    pub kind: Option<String>,
    /// JSON pointer to the topic.
    #[serde(default)]
    pub topic: Option<String>,
    /// Where `topic` leads to a string that holds JSON: JSON pointer to the topic in that.
    #[serde(default)]
    pub topic_in_string: Option<String>,
    /// JSON pointers to the strings or numbers to keep, by name. The client's later messages may contain
    /// the value as `{name}`. A value captured once the client is ready replaces the one captured while
    /// it opened. One that `returning` names is kept for the client's next connections as well. In a
    /// keep-alive, the pointers may lead to any value, and only its `send` can repeat it.
    #[serde(default)]
    pub capture: BTreeMap<String, String>,
    /// Where that stands in a string that holds JSON: JSON pointer to the string. The pointers of
    /// `capture` apply to what it holds.
    #[serde(default)]
    pub capture_in_string: Option<String>,
    /// Sent in answer: the next message of the opening exchange, the last one where the rule means
    /// `ready`, or the answer to a keep-alive, which may repeat what is captured of that.
    #[serde(default)]
    pub send: Option<String>,
    /// While a client opens, in place of `send`: what a client sends that comes back, and that the server
    /// has told each value which this names, perhaps on an earlier connection.
    #[serde(default)]
    pub returning: Option<String>,
    /// What the user is told of a refusal while a client opens.
    #[serde(default)]
    pub words: Option<String>,
    /// JSON pointer to the server's own words, which are added to that.
    #[serde(default)]
    pub reason: Option<String>,
    /// An answer of this kind as a template of a request is written. It shows users what was
    /// expected, and it proves the rule.
    #[serde(default)]
    pub example: Option<String>,
    /// What must hold, by JSON pointer (RFC 6901): a value, or the tests of [`Condition`].
    #[serde(default)]
    pub when: BTreeMap<String, Condition>,
}

impl Rule {
    /// True of an answer that says the sequence of its request.
    pub fn has_sequence(&self) -> bool {
        let pattern = self.pattern.as_deref();
        self.sequence.is_some() || pattern.is_some_and(|of| of.contains("{sequence}"))
    }

    /// True of a pattern that finds the stamp alone.
    pub fn is_bare_pattern(&self) -> bool {
        let has = |hole| self.pattern.as_deref().is_some_and(|of| of.contains(hole));
        has("{stamp}") && !has("{padding}")
    }
}

/// What a message means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// The answer to an echo.
    Echo,
    /// A delivery of a broadcast.
    Delivery,
    /// The sender's result of a broadcast.
    Result,
    /// A message of a topic that the client subscribes to.
    Message,
    /// The publisher's result of a message of a topic.
    Published,
    /// The server could not do what it was asked, or turns the client away.
    Refused,
    /// Traffic of the framework itself.
    Ignored,
    /// The server asks whether the client lives, or something else; `send` is the answer.
    KeepAlive,
    /// The answer to a heartbeat of the client.
    Heartbeat,
    /// A message of a stream that the server sends without a request.
    Feed,
    /// A part of the answer to an echo, which comes in parts. The message that means `echo` is the last.
    Progress,
    /// While a client opens: it is ready for requests.
    Ready,
    /// The client is subscribed to the topic; one that opens is ready with it.
    Subscribed,
    /// The client is no longer subscribed to the topic.
    Unsubscribed,
    /// While a client opens: `send` is the next message.
    Send,
    /// While a client opens: nothing is sent, and the next message of the server decides.
    Wait,
    /// While a client opens: a message of those that it missed while it was away. It counts as one that
    /// comes right after the client is ready.
    Missed,
}

/// How a payload stands in a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PayloadForm {
    /// As a JSON value.
    #[default]
    Json,
    /// As a string that holds JSON.
    String,
}
