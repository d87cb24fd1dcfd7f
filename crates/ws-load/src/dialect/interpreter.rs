//! A dialect that is a file.

mod compile;
mod progress;

pub use compile::check_dialect;

use super::bytes::{Fill, Framing};
use super::feed::FeedTerms;
use super::heartbeat::Heartbeat;
use super::kinds::Kinds;
use super::payload::Body;
use super::place::{Carries, StampPlace};
use super::rules::{Match, Rules};
use super::template::Template;
use super::topic::room_of;
use super::{
    Codec, Incoming, Kind, Malformed, Opening, Returns, StampForm, Stamps, Told, Variables,
};
use crate::lines::Lines;
use plan::{Meaning, Nanos, Workload};
use std::ops::Range;
use std::sync::Arc;
use ws_proto::{Opcode, printable};

/// Most bytes of a server's text that are shown.
const SHOWN: usize = 100;

/// A dialect file that was compiled for one plan.
#[derive(Debug)]
pub(super) struct Interpreter {
    name: String,
    opcode: Opcode,
    subprotocol: Option<String>,
    origin: Option<String>,
    /// A script whose last rule passes over whatever else comes.
    ignores_all_else: bool,
    keeps_order: bool,
    returns: Returns,
    separator: Option<String>,
    /// Of a file in bytes.
    framing: Option<Framing>,
    heartbeat: Option<Heartbeat>,
    feed: Option<FeedTerms>,
    has_parts: bool,
    first: Option<Opening>,
    ready_after: Option<Nanos>,
    opening: Rules,
    receive: Rules,
    kinds: Kinds,
    answers_in_order: bool,
    /// Answers that say the sequence of their request.
    by_sequence: Vec<Meaning>,
    /// The server tells values in the exchange, and to ready clients.
    captures: bool,
    renews: bool,
    /// What clients keep for their next connections.
    kept: Vec<String>,
    broadcast: Option<Template>,
    publish: Option<Template>,
    subscribe: Option<Arc<Template>>,
    unsubscribe: Option<Template>,
    topic_prefix: String,
    /// A message of the server ends the exchange before a client is ready, but for its subscription to a
    /// topic.
    exchanges: bool,
    /// Examples of answers, with their meaning.
    examples: Vec<(Meaning, String)>,
    body: Body,
    stamps: Stamps,
}

impl Interpreter {
    /// The room whose topic a message names, if its rule says where.
    fn topic(&self, found: &Match<'_, '_>) -> Result<Option<u32>, Malformed> {
        let Some(topic) = found.topic() else {
            return Ok(None);
        };
        let room = topic.strip_prefix(&self.topic_prefix).and_then(room_of);
        match room {
            Some(room) => Ok(Some(room)),
            None => Err(Malformed("a topic that no client subscribes to".to_owned())),
        }
    }

    /// What makes a client ready that has got through the exchange, but for its last message.
    fn last_moves(&self, room: Option<u32>, last: Option<Opening>) -> Opening {
        let subscription = self.first_subscription(room);
        let then = match (self.ready_after, &subscription) {
            (Some(_), _) => Some(Opening::ReadyLater),
            (None, Some(_)) => None,
            (None, None) => Some(Opening::Ready),
        };
        let mut moves: Vec<Opening> = last.into_iter().chain(subscription).chain(then).collect();
        match moves.len() {
            1 => moves.remove(0),
            _ => Opening::Several(moves),
        }
    }

    /// The subscription of a client in a room.
    fn first_subscription(&self, room: Option<u32>) -> Option<Opening> {
        let (room, subscribe) = (room?, self.subscribe.as_ref()?);
        if self.framing.is_some() {
            return Some(Opening::Fill(Fill::new(Arc::clone(subscribe), room)));
        }
        let mut message = Vec::new();
        subscribe.write(room, 0, &ByName, &mut message);
        match String::from_utf8(message) {
            Ok(text) if subscribe.has_variables() => Some(Opening::Send(text)),
            Ok(text) => Some(Opening::SendAsIs(text.into_bytes())),
            Err(_) => unreachable!("a template is text"),
        }
    }

    /// The number of the rule that a message matches, from 0 on.
    pub(super) fn rule_of(&self, message: &[u8]) -> Option<usize> {
        let found = self.receive.find(message);
        found.ok().map(|found| found.index)
    }

    fn understand(&self, found: &Match<'_, '_>) -> Result<Incoming, Malformed> {
        let kind = match found.rule.means {
            Meaning::Echo => Kind::Echo,
            Meaning::Delivery => Kind::Broadcast,
            Meaning::Result => Kind::Result,
            Meaning::Message => Kind::Message,
            Meaning::Published => Kind::Published,
            Meaning::Refused => return Ok(Incoming::Refused),
            Meaning::KeepAlive => {
                return Ok(match found.answer()? {
                    (answer, false) => Incoming::KeepAlive(answer),
                    (answer, true) => Incoming::Question(answer),
                });
            }
            Meaning::Heartbeat => return Ok(Incoming::Heartbeat),
            Meaning::Feed => return Ok(Incoming::Feed(found.feed())),
            Meaning::Progress => return self.part_of(found),
            Meaning::Subscribed | Meaning::Unsubscribed => {
                let is_subscribed = found.rule.means == Meaning::Subscribed;
                return match self.topic(found)? {
                    Some(room) if is_subscribed => Ok(Incoming::Subscribed(room)),
                    Some(room) => Ok(Incoming::Unsubscribed(room)),
                    None => Err(Malformed("an answer without a topic".to_owned())),
                };
            }
            Meaning::Ignored | Meaning::Ready | Meaning::Send | Meaning::Wait | Meaning::Missed => {
                return Ok(Incoming::Ignored);
            }
        };
        let of_kind = found.rule.kind;
        if found.rule.place == StampPlace::Order {
            return Ok(Incoming::InOrder(of_kind));
        }
        let topic = self.topic(found)?;
        if let StampPlace::Sequence(_) = found.rule.place {
            return match found.sequence() {
                Some(sequence) => Ok(Incoming::Numbered {
                    kind,
                    sequence,
                    of_kind,
                    topic,
                }),
                None => Err(Malformed(format!(
                    "{} without a readable sequence",
                    name_of(kind)
                ))),
            };
        }
        match found.carried(&self.body, self.stamps) {
            Some((stamp, intact)) => Ok(Incoming::Message {
                kind,
                stamp,
                intact: intact && of_kind.is_none_or(|of| self.kinds.kind(stamp) == Some(of)),
                topic,
            }),
            None => Err(Malformed(format!(
                "{} without a readable stamp",
                name_of(kind)
            ))),
        }
    }
}

impl Codec for Interpreter {
    fn subprotocol(&self) -> Option<&str> {
        self.subprotocol.as_deref()
    }

    fn origin(&self) -> Option<&str> {
        self.origin.as_deref()
    }

    fn opcode(&self) -> Opcode {
        self.opcode
    }

    fn stamp_form(&self) -> StampForm {
        self.framing.map_or(StampForm::Hex, |of| of.stamps)
    }

    fn says_size(&self) -> bool {
        self.framing.is_some_and(|of| of.says_size)
    }

    fn ignores_other_opcodes(&self) -> bool {
        self.ignores_all_else
    }

    fn keeps_order(&self) -> bool {
        self.keeps_order
    }

    fn returns(&self) -> Returns {
        self.returns
    }

    fn open(&self, room: Option<u32>) -> Opening {
        match &self.first {
            Some(first) if self.exchanges => first.clone(),
            None if self.exchanges => Opening::Await,
            first => self.last_moves(room, first.clone()),
        }
    }

    fn opened(&self, message: &[u8], room: Option<u32>) -> Opening {
        let found = match self.opening.find(message) {
            Ok(found) => found,
            Err(why) => {
                let (name, why) = (&self.name, why.words(message));
                return Opening::Refused(format!("not a message of the dialect {name}: {why}"));
            }
        };
        if let Err(why) = found.captures() {
            return Opening::Refused(why.to_string());
        }
        match found.rule.means {
            Meaning::Ready => self.last_moves(room, found.rule.send.clone()),
            Meaning::Subscribed => match self.topic(&found) {
                Ok(topic) if topic == room => Opening::Ready,
                _ => Opening::Refused(
                    "the server confirms a subscription that was not asked for".to_owned(),
                ),
            },
            Meaning::Send => found.rule.send.clone().unwrap_or(Opening::Await),
            Meaning::Refused => Opening::Refused(refusal(&found)),
            Meaning::Missed => Opening::Keep,
            _ => Opening::Await,
        }
    }

    fn ready_after_ns(&self) -> u64 {
        self.ready_after.map_or(0, Nanos::ns)
    }

    fn heard_before_ready(&self, message: &[u8]) -> Opening {
        let found = self.opening.find(message);
        match found {
            Ok(found) if found.rule.means == Meaning::Refused => Opening::Refused(refusal(&found)),
            _ => match self.parse(message) {
                Ok(Incoming::KeepAlive(answer)) => Opening::SendAsIs(answer.into()),
                _ => Opening::Await,
            },
        }
    }

    fn cut<'m>(&self, message: &'m [u8]) -> (&'m [u8], &'m [u8]) {
        if let Some(framing) = self.framing {
            return framing.cut(message, [&self.receive, &self.opening]);
        }
        let Some(separator) = self.separator.as_deref().map(str::as_bytes) else {
            return (message, &[]);
        };
        let mut places = message.windows(separator.len());
        match places.position(|place| place == separator) {
            Some(at) => (&message[..at], &message[at + separator.len()..]),
            None => (message, &[]),
        }
    }

    fn heartbeat(&self) -> Option<Heartbeat> {
        self.heartbeat.clone()
    }

    fn feed(&self) -> Option<FeedTerms> {
        self.feed
    }

    fn has_parts(&self) -> bool {
        self.has_parts
    }

    fn captured(&self, message: &[u8]) -> Vec<Told> {
        if !self.captures {
            return Vec::new();
        }
        let found = self.opening.find(message);
        let values = found.ok().and_then(|found| found.captures().ok());
        values.unwrap_or_default()
    }

    fn kept(&self) -> &[String] {
        &self.kept
    }

    fn renews(&self) -> bool {
        self.renews
    }

    fn renewed(&self, message: &[u8]) -> Vec<Told> {
        let found = self.receive.find(message);
        let is_told = |found: &Match<'_, '_>| found.rule.means != Meaning::KeepAlive;
        let values = found.ok().filter(is_told);
        let values = values.and_then(|found| found.captures().ok());
        values.unwrap_or_default()
    }

    fn subscription(&self, room: u32, wanted: bool, variables: &dyn Variables) -> Option<Vec<u8>> {
        let template = match wanted {
            true => self.subscribe.as_deref(),
            false => self.unsubscribe.as_ref(),
        }?;
        let mut message = Vec::new();
        template.write(room, 0, variables, &mut message);
        Some(message)
    }

    fn request(
        &self,
        workload: Workload,
        room: u32,
        stamp: u64,
        variables: &dyn Variables,
        out: &mut Vec<u8>,
    ) {
        let template = match workload {
            Workload::Echo | Workload::Connect => self.kinds.template(stamp),
            Workload::Broadcast => self.broadcast.as_ref(),
            Workload::Rooms => self.publish.as_ref(),
        };
        if let Some(template) = template {
            template.write(room, stamp, variables, out);
        }
    }

    fn scripted(&self, kind: u32, stamp: u64, variables: &dyn Variables, out: &mut Vec<u8>) {
        if let Some(template) = self.kinds.of_script(kind) {
            template.write(0, stamp, variables, out);
        }
    }

    fn request_kind(&self, stamp: u64) -> Option<u32> {
        self.kinds.kind(stamp)
    }

    fn variant(&self, stamp: u64) -> Option<u32> {
        let (kind, size) = (self.kinds.kind(stamp), self.body.size(stamp));
        let of_both = kind.unwrap_or(0) * self.body.sizes() + size.unwrap_or(0);
        (kind.is_some() || size.is_some()).then_some(of_both)
    }

    fn lines(&self) -> Option<&Lines> {
        self.body.lines()
    }

    fn carries(&self, message: &[u8]) -> Carries {
        let found = self.receive.find(message);
        found.map_or(Carries::Nothing, |found| found.carries())
    }

    fn decides_by(&self, head: &[u8], message: &[u8]) -> bool {
        let index = self.rule_of(message);
        index.is_some_and(|index| self.receive.decides_by(head, index))
    }

    fn is_the_same(&self, message: &[u8], stamp: &Range<usize>) -> bool {
        self.framing.is_none() || self.receive.is_the_same(message, stamp)
    }

    fn says_number(&self) -> bool {
        let others = [&self.broadcast, &self.publish].into_iter().flatten();
        let mut templates = self.kinds.templates().chain(others);
        templates.any(Template::says_number)
    }

    fn answers_in_order(&self) -> bool {
        self.answers_in_order
    }

    fn answers_by_identifier(&self) -> bool {
        !self.by_sequence.is_empty()
    }

    fn says_sequence(&self) -> bool {
        let others = [&self.broadcast, &self.publish];
        let mut all = self.kinds.templates().chain(others.into_iter().flatten());
        all.any(Template::says_sequence)
    }

    fn expects(&self, workload: Workload) -> String {
        let meanings: &[Meaning] = match workload {
            Workload::Echo | Workload::Connect => &[Meaning::Echo],
            Workload::Broadcast => &[Meaning::Delivery, Meaning::Result],
            Workload::Rooms => &[Meaning::Message, Meaning::Published],
        };
        let wanted = self.examples.iter().filter(|(of, _)| meanings.contains(of));
        let examples: Vec<&str> = wanted.map(|(_, example)| example.as_str()).collect();
        examples.join(" or ")
    }

    fn parse(&self, message: &[u8]) -> Result<Incoming, Malformed> {
        let found = self.receive.find(message)?;
        if self.renews && found.rule.means != Meaning::KeepAlive {
            found.captures().map_err(|why| Malformed(why.to_string()))?;
        }
        self.counted(&found)
    }
}

/// Variables that are filled in later.
struct ByName;

impl Variables for ByName {
    fn write(&self, name: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("{{{name}}}").as_bytes());
    }
}

const fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Echo => "an echo",
        Kind::Broadcast => "a delivery",
        Kind::Result => "a result",
        Kind::Message => "a message of a topic",
        Kind::Published => "a publisher's result",
    }
}

fn refusal(found: &Match<'_, '_>) -> String {
    let words = match found.rule.words.as_str() {
        "" => "the server refused the client",
        words => words,
    };
    if found.rule.reason.is_none() {
        return words.to_owned();
    }
    match found.reason() {
        Some(reason) => format!("{words}: {}", printable(reason.as_bytes(), SHOWN)),
        None => format!("{words}: no reason given"),
    }
}
