//! The dialects: how a request is written and what an answer says. See docs/dialects.md.
//!
//! A dialect sees whole messages, never sockets or frames. All but the binary one and MQTT are files, which
//! [`interpreter`] carries out. What it parses here is parsed fully; recognising messages without a
//! parse is the work of [`crate::verify`].

mod answer;
mod begun;
mod binary;
mod built_in;
mod bytes;
mod carried;
mod checks;
mod dialogue;
mod error;
mod feed;
pub mod for_fuzzing;
mod heartbeat;
mod http;
mod interpreter;
mod kinds;
mod malformed;
mod mqtt;
mod pattern;
mod payload;
mod place;
mod placeholders;
mod planned;
mod pointers;
mod progress;
mod question;
mod requirements;
mod returning;
mod rules;
mod script;
mod stamp;
mod template;
mod topic;

pub use error::DialectError;
pub use interpreter::check_dialect;
pub use planned::{check_message, payload_lines};

pub(crate) use answer::AnswerTerms;
pub(crate) use begun::Begun;
pub(crate) use bytes::Fill;
pub(crate) use feed::{FeedMessage, FeedNumber, FeedTerms, Said};
pub(crate) use heartbeat::{Beat, Every, Heartbeat, NoBeat};
pub(crate) use malformed::{Malformed, shown};
pub(crate) use place::Carries;
pub(crate) use placeholders::SEQUENCE;
pub(crate) use planned::codec;
#[cfg(test)]
pub(crate) use planned::codec_of_all;
pub(crate) use progress::{Progress, Whose};
pub(crate) use stamp::{StampForm, Stamps};
pub(crate) use topic::topic_of;

use crate::lines::{Form, Lines};
use plan::{Audience, Workload};
use std::ops::Range;
use ws_proto::Opcode;

/// What a message is, once it is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The answer to an echo.
    Echo,
    /// A delivery of a broadcast.
    Broadcast,
    /// The sender's result of a broadcast.
    Result,
    /// A message of a room.
    Message,
    /// The publisher's result of a message of a room.
    Published,
}

impl Kind {
    /// True of a kind that comes with such an audience.
    pub(crate) const fn is_of(self, audience: Audience) -> bool {
        matches!(
            (self, audience),
            (Self::Echo, Audience::Sender)
                | (Self::Broadcast | Self::Result, Audience::Everyone)
                | (Self::Message | Self::Published, Audience::Room(_))
        )
    }

    /// True of what tells a sender that the others have been told.
    pub(crate) const fn is_result(self) -> bool {
        matches!(self, Self::Result | Self::Published)
    }
}

/// What the sender of a broadcast or a publication gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Returns {
    /// A copy, as all others of the audience.
    pub(crate) copy: bool,
    /// A result.
    pub(crate) result: bool,
}

impl Returns {
    pub(crate) const BOTH: Self = Self {
        copy: true,
        result: true,
    };
}

/// A parsed message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Incoming {
    /// One of the kinds, with the stamp of its payload.
    Message {
        kind: Kind,
        stamp: u64,
        /// The rest of the payload is as it was sent.
        intact: bool,
        /// The room whose topic it names.
        topic: Option<u32>,
    },
    /// A refusal: the server could not do what it was asked.
    Refused,
    /// The client is now a subscriber of the topic of this room.
    Subscribed(u32),
    /// It no longer is.
    Unsubscribed(u32),
    /// Traffic of the framework itself.
    Ignored,
    /// The answer to the oldest request of its connection that has none, of this kind if its rule is
    /// for one.
    InOrder(Option<u32>),
    /// Of one of the kinds, for the request of its connection that has this sequence, of this kind if its
    /// rule is for one.
    Numbered {
        kind: Kind,
        sequence: u64,
        of_kind: Option<u32>,
        topic: Option<u32>,
    },
    /// The result of the request of its connection that has this identifier.
    Acknowledged(u16),
    /// The client is now a subscriber of the topic that it asked for with this identifier.
    SubscribedAs(u16),
    /// It no longer is.
    UnsubscribedAs(u16),
    /// The server asks whether the client lives, and is to be sent this.
    KeepAlive(Box<[u8]>),
    /// The server asks something, and is to be sent this, which repeats some of it.
    Question(Box<[u8]>),
    /// The answer to a heartbeat of the client.
    Heartbeat,
    /// A message that the server sends without a request.
    Feed(FeedMessage),
    /// A part of an answer, and the last message of an answer that says how many parts came before.
    Progress(Progress),
    Last(Box<Incoming>, Said<u64>),
}

/// The next move of a client between its handshake and its first request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Ready for requests.
    Ready,
    /// Wait for the next message of the server.
    Await,
    /// Send this message with what the variables in it stand for, of this client; then wait.
    Send(String),
    /// The same of a message in bytes.
    Fill(Fill),
    /// Send the second if the client comes back and was told what it names, else the first; then wait.
    Returning(Box<Opening>, Box<Opening>),
    /// Keep the message for when the client is ready, and wait.
    Keep,
    /// Send this message as it is, then wait.
    SendAsIs(Vec<u8>),
    /// Send the subscription to the topic of the client's own, then wait.
    SubscribeToOwn,
    /// Send what [`Codec::introduction`] makes for this client.
    Introduce,
    /// Ready once the time of [`Codec::ready_after_ns`] is over.
    ReadyLater,
    /// One of these after the other.
    Several(Vec<Opening>),
    /// The server refused the client.
    Refused(String),
}

impl Opening {
    /// Makes the client ready at once.
    pub(crate) fn makes_ready(&self) -> bool {
        match self {
            Self::Several(moves) => moves.contains(&Self::Ready),
            one => *one == Self::Ready,
        }
    }

    /// Makes the client ready later on, whatever comes until then.
    pub(crate) fn makes_ready_later(&self) -> bool {
        match self {
            Self::Several(moves) => moves.contains(&Self::ReadyLater),
            one => *one == Self::ReadyLater,
        }
    }
}

/// A name of a value that the server tells, and the value.
pub(crate) type Told = (String, Vec<u8>);

/// What the variables of one client stand for.
pub(crate) trait Variables {
    /// Appends the value of a variable.
    fn write(&self, name: &str, out: &mut Vec<u8>);
}

/// The variables of a message that has none.
pub(crate) struct NoVariables;

impl Variables for NoVariables {
    fn write(&self, _name: &str, _out: &mut Vec<u8>) {}
}

/// The identifier of 16 bits, other than 0, of a number: of the request with that stamp, or of the
/// subscription to the topic of that room. Another one has the same, so that it tells apart only what
/// one client waits for.
pub(crate) const fn identifier(number: u64) -> u16 {
    (number % Stamps::SAMPLES % 0xFFFF) as u16 + 1
}

/// One dialect.
pub(crate) trait Codec: Send + Sync {
    /// `Sec-WebSocket-Protocol` of the handshake.
    fn subprotocol(&self) -> Option<&str> {
        None
    }

    /// `Origin` of the handshake, unless the plan names one.
    fn origin(&self) -> Option<&str> {
        None
    }

    /// Opcode of every message, both ways.
    fn opcode(&self) -> Opcode {
        Opcode::Text
    }

    /// True where a message of the other opcode means nothing, as any text that is no answer.
    fn ignores_other_opcodes(&self) -> bool {
        false
    }

    /// How stamps are written.
    fn stamp_form(&self) -> StampForm {
        StampForm::Hex
    }

    /// False when a server may deliver the broadcasts of one sender in any order.
    fn keeps_order(&self) -> bool {
        true
    }

    /// What a broadcast or a publication brings to its sender.
    fn returns(&self) -> Returns {
        Returns::BOTH
    }

    /// The first move after the handshake of a client in `room`, if there are rooms.
    fn open(&self, _room: Option<u32>) -> Opening {
        Opening::Ready
    }

    /// The move after a message that came before [`Opening::Ready`].
    fn opened(&self, _message: &[u8], _room: Option<u32>) -> Opening {
        Opening::Ready
    }

    /// From [`Opening::ReadyLater`] until a client is ready, in nanoseconds.
    fn ready_after_ns(&self) -> u64 {
        0
    }

    /// The move after a message that came within that time: it may ask whether the client lives, or
    /// refuse it.
    fn heard_before_ready(&self, _message: &[u8]) -> Opening {
        Opening::Await
    }

    /// The message that subscribes a client to the topic of its own.
    fn own_subscription(&self, _client: u64) -> Vec<u8> {
        Vec::new()
    }

    /// Cuts the first message off what came in one message of WebSocket. Behind the last of them there
    /// is nothing.
    fn cut<'m>(&self, message: &'m [u8]) -> (&'m [u8], &'m [u8]) {
        (message, &[])
    }

    /// True of the beginning of a message that goes on in the next message of WebSocket.
    fn goes_on(&self, _message: &[u8]) -> bool {
        false
    }

    /// The move with which a client says who it is.
    fn introduction(&self, _variables: &dyn Variables) -> Opening {
        Opening::Await
    }

    /// What each client that gets a message sends for it, whatever else it means.
    fn acknowledgement(&self, _message: &[u8]) -> Option<Box<[u8]>> {
        None
    }

    /// What each ready client sends by the clock.
    fn heartbeat(&self) -> Option<Heartbeat> {
        None
    }

    /// What the messages say of themselves that the server sends by itself, if it sends any.
    fn feed(&self) -> Option<FeedTerms> {
        None
    }

    /// True where answers come in parts.
    fn has_parts(&self) -> bool {
        false
    }

    /// What a message that came before [`Opening::Ready`] tells for later messages of its client: names
    /// and values.
    fn captured(&self, _message: &[u8]) -> Vec<Told> {
        Vec::new()
    }

    /// The names of what a client keeps for its next connections.
    fn kept(&self) -> &[String] {
        &[]
    }

    /// True where messages to a ready client tell something for its later ones.
    fn renews(&self) -> bool {
        false
    }

    /// What a message to a ready client tells for its later ones.
    fn renewed(&self, _message: &[u8]) -> Vec<Told> {
        Vec::new()
    }

    /// The message with which a ready client subscribes to the topic of a room, or ends that. `None`
    /// where the dialect has none.
    fn subscription(
        &self,
        _room: u32,
        _wanted: bool,
        _variables: &dyn Variables,
    ) -> Option<Vec<u8>> {
        None
    }

    /// Appends the payload of a request message to `out`. `room` is where a publication goes,
    /// `variables` are those of the client that sends it.
    fn request(
        &self,
        workload: Workload,
        room: u32,
        stamp: u64,
        variables: &dyn Variables,
        out: &mut Vec<u8>,
    );

    /// Appends a request of a script, by the place of its kind among those of the dialect.
    fn scripted(&self, _kind: u32, _stamp: u64, _variables: &dyn Variables, _out: &mut Vec<u8>) {}

    /// The kind of the request with this stamp, where there are several.
    fn request_kind(&self, _stamp: u64) -> Option<u32> {
        None
    }

    /// What answers to the request with this stamp have in common, where not all are alike: those of
    /// requests of one kind and one size.
    fn variant(&self, stamp: u64) -> Option<u32> {
        self.request_kind(stamp)
    }

    /// The lines that requests carry, where they are several: answers to two requests then differ in
    /// their line as well as in their stamp.
    fn lines(&self) -> Option<&Lines> {
        None
    }

    /// What an answer that was understood carries of the padding of its request.
    fn carries(&self, _message: &[u8]) -> Carries {
        Carries::Padding(Form::AsIs)
    }

    /// True where a message says how many bytes its payload has: answers with lines of another length
    /// then differ in that too.
    fn says_size(&self) -> bool {
        false
    }

    /// True where the rule that `message` matches is the first for whatever begins with `head`, as it
    /// does, and has the same shape.
    fn decides_by(&self, _head: &[u8], _message: &[u8]) -> bool {
        true
    }

    /// True where an answer is what it is whatever stamp stands in this part of it.
    fn is_the_same(&self, _message: &[u8], _stamp: &Range<usize>) -> bool {
        true
    }

    /// True where requests say their number, which rises on each connection.
    fn says_number(&self) -> bool {
        false
    }

    /// True where answers do not say which request they belong to, and come in the order of these.
    fn answers_in_order(&self) -> bool {
        false
    }

    /// True where requests say their sequence, which begins anew on each connection.
    fn says_sequence(&self) -> bool {
        false
    }

    /// True where answers name the sequence of their request, or where there is none its [`identifier`].
    fn answers_by_identifier(&self) -> bool {
        false
    }

    /// An example of an answer to a request, for messages.
    fn expects(&self, workload: Workload) -> String;

    /// Understands a message.
    fn parse(&self, message: &[u8]) -> Result<Incoming, Malformed>;
}

/// A dialect file in a test.
#[cfg(test)]
pub(crate) fn read_dialect(text: &str) -> Result<plan::DialectFile, toml::de::Error> {
    toml::from_str(text)
}

#[cfg(test)]
mod tests;
