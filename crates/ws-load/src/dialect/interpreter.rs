//! A dialect that is a file.

use super::Stamps;
use super::error::DialectError;
use super::payload::Body;
use super::place::{OPEN, is_answer};
use super::rules::{Match, Rules};
use super::template::{Template, room_of, shown, with_variables};
use super::{Codec, Incoming, Kind, Malformed, Opening};
use run_record::{DialectFile, Meaning, MessageType, OriginRule, Rule, Workload};
use ws_proto::{Opcode, printable};

/// The key of the rules for a ready client.
const READY: &str = "receive";
/// Most bytes of a server's text that are shown.
const SHOWN: usize = 100;
/// Longest file in bytes.
const MOST_BYTES: usize = 64 * 1024;
/// Longest summary in bytes.
const MOST_SUMMARY: usize = 200;

/// A dialect file that was compiled for one plan.
#[derive(Debug)]
pub(super) struct Interpreter {
    name: String,
    opcode: Opcode,
    subprotocol: Option<String>,
    origin: Option<String>,
    keeps_order: bool,
    first: Option<String>,
    opening: Rules,
    receive: Rules,
    echo: Option<Template>,
    broadcast: Option<Template>,
    publish: Option<Template>,
    subscribe: Option<Template>,
    unsubscribe: Option<Template>,
    topic_prefix: String,
    /// There is an exchange before a client is ready, besides its subscription to a topic.
    exchanges: bool,
    /// Examples of answers, with their meaning.
    examples: Vec<(Meaning, String)>,
    body: Body,
    stamps: Stamps,
}

/// Reads a dialect file, which is TOML.
///
/// # Errors
/// When the text is too long, is not TOML, or has a key that no dialect has.
pub fn read_dialect(text: &str) -> Result<DialectFile, DialectError> {
    if text.len() > MOST_BYTES {
        return Err(too_long("the dialect file", text.len(), MOST_BYTES));
    }
    toml::from_str(text).map_err(|error| DialectError::Unreadable(error.to_string()))
}

/// Checks that requests can be written as a dialect file says, and their answers understood: each
/// rule for an answer has to understand its own example.
///
/// # Errors
/// The first thing that makes no sense, with its key and a remedy.
pub fn check_dialect(file: &DialectFile) -> Result<(), DialectError> {
    let stamps = Stamps::of_run(1);
    for padding in ["", "1234567890"] {
        let body = Body::new(padding.to_owned());
        let interpreter = Interpreter::compile(file, body, "ws://127.0.0.1/", stamps)?;
        let rules = file.receive.iter().enumerate();
        for (index, rule) in rules.filter(|(_, rule)| is_answer(rule.means)) {
            interpreter.prove(index, rule)?;
        }
    }
    Ok(())
}

impl Interpreter {
    /// Compiles a file for the requests that carry `body`, to the server at `url`.
    ///
    /// # Errors
    /// As [`check_dialect`], but for examples that are not understood.
    pub(super) fn compile(
        file: &DialectFile,
        body: Body,
        url: &str,
        stamps: Stamps,
    ) -> Result<Self, DialectError> {
        check_header(file)?;
        check_requests(file)?;
        check_meanings(OPEN, &file.open.receive)?;
        check_meanings(READY, &file.receive)?;
        check_opening(file)?;
        let request = |key: &str, text: &Option<String>| {
            let text = text.as_deref();
            text.map(|text| Template::compile(key, text, &body))
                .transpose()
        };
        let of_topic = |key: &str, text: &Option<String>| {
            let (text, prefix) = (text.as_deref(), file.topic_prefix.as_str());
            text.map(|text| Template::of_topic(key, text, prefix, &body))
                .transpose()
        };
        let first = file.open.send.as_deref();
        Ok(Self {
            name: file.name.clone(),
            opcode: match file.opcode {
                MessageType::Text => Opcode::Text,
                MessageType::Binary => Opcode::Binary,
            },
            subprotocol: file.subprotocol.clone(),
            origin: match file.origin {
                OriginRule::None => None,
                OriginRule::Server => origin_of(url),
            },
            keeps_order: file.keeps_order,
            first: first
                .map(|first| with_variables("open.send", first))
                .transpose()?,
            opening: Rules::compile(OPEN, &file.open.receive, &file.shape)?,
            receive: Rules::compile(READY, &file.receive, &file.shape)?,
            echo: request("send.echo", &file.send.echo)?,
            broadcast: request("send.broadcast", &file.send.broadcast)?,
            publish: of_topic("send.publish", &file.send.publish)?,
            subscribe: of_topic("send.subscribe", &file.send.subscribe)?,
            unsubscribe: of_topic("send.unsubscribe", &file.send.unsubscribe)?,
            topic_prefix: file.topic_prefix.clone(),
            exchanges: has_exchange(file),
            examples: file.receive.iter().filter_map(example).collect(),
            body,
            stamps,
        })
    }

    /// Checks that a rule understands its own example.
    fn prove(&self, index: usize, rule: &Rule) -> Result<(), DialectError> {
        let key = format!("{READY}[{}].example", index + 1);
        let example = rule.example.as_deref().unwrap_or_default();
        const ROOM: u32 = 17;
        let stamp = self.stamps.of(41);
        let mut message = Vec::new();
        let example = match rule.topic {
            None => Template::compile(&key, example, &self.body),
            Some(_) => Template::of_topic(&key, example, &self.topic_prefix, &self.body),
        }?;
        example.write(ROOM, stamp, &mut message);
        let problem = match text_of(&message).and_then(|text| self.receive.find(text)) {
            Err(why) => why.of(&message),
            Ok(found) if found.index != index => {
                format!("rule {} matches it first", found.index + 1)
            }
            Ok(found) => match found.carried(&self.body, self.stamps) {
                Some((carried, true)) if carried == stamp => match self.topic(&found) {
                    Ok(topic) if topic.is_none_or(|room| room == ROOM) => return Ok(()),
                    _ => "the topic is not found in it".to_owned(),
                },
                _ => "what was sent is not found in it".to_owned(),
            },
        };
        Err(DialectError::unfit(
            key,
            format!("is not understood by its own rule: {problem}"),
            "write an answer as the server sends it, with {payload} or {stamp} in its place",
        ))
    }

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

    /// What makes a client ready that has got through the exchange.
    fn first_subscription(&self, room: Option<u32>) -> Opening {
        match room.and_then(|room| self.subscription(room, true)) {
            None => Opening::Ready,
            Some(message) => Opening::Subscribe(String::from_utf8_lossy(&message).into_owned()),
        }
    }

    /// The number of the rule that a message matches, from 0 on.
    pub(super) fn rule_of(&self, message: &[u8]) -> Option<usize> {
        let found = text_of(message).and_then(|text| self.receive.find(text));
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
                return Ok(Incoming::KeepAlive(found.rule.send.as_bytes().into()));
            }
            Meaning::Subscribed | Meaning::Unsubscribed => {
                let is_subscribed = found.rule.means == Meaning::Subscribed;
                return match self.topic(found)? {
                    Some(room) if is_subscribed => Ok(Incoming::Subscribed(room)),
                    Some(room) => Ok(Incoming::Unsubscribed(room)),
                    None => Err(Malformed("an answer without a topic".to_owned())),
                };
            }
            Meaning::Ignored | Meaning::Ready | Meaning::Send | Meaning::Wait => {
                return Ok(Incoming::Ignored);
            }
        };
        let topic = self.topic(found)?;
        match found.carried(&self.body, self.stamps) {
            Some((stamp, intact)) => Ok(Incoming::Message {
                kind,
                stamp,
                intact,
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

    fn keeps_order(&self) -> bool {
        self.keeps_order
    }

    fn open(&self, room: Option<u32>) -> Opening {
        match &self.first {
            Some(first) => Opening::Send(first.clone()),
            None if self.exchanges => Opening::Await,
            None => self.first_subscription(room),
        }
    }

    fn opened(&self, message: &[u8], room: Option<u32>) -> Opening {
        let found = match text_of(message).and_then(|text| self.opening.find(text)) {
            Ok(found) => found,
            Err(why) => {
                let (name, why) = (&self.name, why.of(message));
                return Opening::Refused(format!("not a message of the dialect {name}: {why}"));
            }
        };
        match found.rule.means {
            Meaning::Ready => self.first_subscription(room),
            Meaning::Subscribed => match self.topic(&found) {
                Ok(topic) if topic == room => Opening::Ready,
                _ => Opening::Refused(
                    "the server confirms a subscription that was not asked for".to_owned(),
                ),
            },
            Meaning::Send => Opening::Send(found.rule.send.clone()),
            Meaning::Refused => Opening::Refused(refusal(&found)),
            _ => Opening::Await,
        }
    }

    fn subscription(&self, room: u32, wanted: bool) -> Option<Vec<u8>> {
        let template = match wanted {
            true => self.subscribe.as_ref(),
            false => self.unsubscribe.as_ref(),
        }?;
        let mut message = Vec::new();
        template.write(room, 0, &mut message);
        Some(message)
    }

    fn request(&self, workload: Workload, room: u32, stamp: u64, out: &mut Vec<u8>) {
        let template = match workload {
            Workload::Echo | Workload::Connect => &self.echo,
            Workload::Broadcast => &self.broadcast,
            Workload::Rooms => &self.publish,
        };
        if let Some(template) = template {
            template.write(room, stamp, out);
        }
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
        let found = text_of(message).and_then(|text| self.receive.find(text))?;
        self.understand(&found)
    }
}

fn text_of(message: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(message).map_err(|_| Malformed("not UTF-8".to_owned()))
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

fn example(rule: &Rule) -> Option<(Meaning, String)> {
    let example = rule.example.as_deref()?;
    Some((rule.means, shown(example)))
}

/// The `Origin` of a page of that server: http for ws, https for wss.
fn origin_of(url: &str) -> Option<String> {
    let own = url::Url::parse(url).ok()?.origin().ascii_serialization();
    Some(own.replacen("ws", "http", 1))
}

fn check_header(file: &DialectFile) -> Result<(), DialectError> {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !(1..=40).contains(&file.name.len()) || !file.name.chars().all(is_name) {
        return Err(DialectError::unfit(
            "name",
            "is no name of a dialect",
            "write 1 to 40 lower-case letters, digits and hyphens",
        ));
    }
    if file.summary.len() > MOST_SUMMARY {
        return Err(too_long("summary", file.summary.len(), MOST_SUMMARY));
    }
    // RFC 6455, 4.1: a token of RFC 9110, 5.6.2.
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let subprotocol = file.subprotocol.as_deref().unwrap_or("-");
    if !(1..=100).contains(&subprotocol.len()) || !subprotocol.chars().all(is_token) {
        return Err(DialectError::unfit(
            "subprotocol",
            "cannot stand in a header",
            "write one name without spaces and commas, at most 100 characters",
        ));
    }
    Ok(())
}

fn too_long(key: &str, bytes: usize, most: usize) -> DialectError {
    DialectError::TooMuch {
        key: key.to_owned(),
        count: format!("{bytes} bytes"),
        most,
    }
}

/// Each request carries what is verified, and each of its answers has a rule.
fn check_requests(file: &DialectFile) -> Result<(), DialectError> {
    let echo = (&file.send.echo, "send.echo", &[Meaning::Echo][..]);
    let both = &[Meaning::Delivery, Meaning::Result][..];
    let broadcast = (&file.send.broadcast, "send.broadcast", both);
    let of_topic = &[Meaning::Message, Meaning::Published][..];
    let publish = (&file.send.publish, "send.publish", of_topic);
    if publish.0.is_some() != file.send.subscribe.is_some()
        || publish
            .0
            .as_ref()
            .is_some_and(|text| !text.contains("{topic}"))
    {
        return Err(DialectError::unfit(
            "send.publish",
            "does not go with `subscribe`",
            "write both, each with {topic}, or neither",
        ));
    }
    if echo.0.is_none() && broadcast.0.is_none() {
        return Err(DialectError::unfit(
            "send",
            "has no request",
            "write `echo` or `broadcast`",
        ));
    }
    for (text, key, answers) in [echo, broadcast, publish] {
        let Some(text) = text else { continue };
        if !Template::is_complete(text) {
            return Err(DialectError::unfit(
                key,
                "carries no stamp, or not the padding that a plan asks for",
                "write {payload}, {escaped_payload}, or {stamp} and {padding}",
            ));
        }
        for means in answers {
            if !file.receive.iter().any(|rule| rule.means == *means) {
                let name = meaning_name(*means);
                return Err(DialectError::unfit(
                    key,
                    format!("has no rule for its answer `{name}`"),
                    format!("write [[receive]] with `means = \"{name}\"`"),
                ));
            }
        }
    }
    Ok(())
}

fn check_meanings(list: &str, rules: &[Rule]) -> Result<(), DialectError> {
    let of_opening = [
        Meaning::Ready,
        Meaning::Subscribed,
        Meaning::Send,
        Meaning::Refused,
        Meaning::Wait,
    ];
    let of_ready = [
        Meaning::Echo,
        Meaning::Delivery,
        Meaning::Result,
        Meaning::Message,
        Meaning::Published,
        Meaning::Subscribed,
        Meaning::Unsubscribed,
        Meaning::Refused,
        Meaning::Ignored,
        Meaning::KeepAlive,
    ];
    let permitted = if list == OPEN {
        &of_opening[..]
    } else {
        &of_ready
    };
    let mut numbered = rules.iter().enumerate();
    match numbered.find(|(_, rule)| !permitted.contains(&rule.means)) {
        None => Ok(()),
        Some((index, rule)) => {
            let names: Vec<&str> = permitted.iter().map(|of| meaning_name(*of)).collect();
            Err(DialectError::unfit(
                format!("{list}[{}].means", index + 1),
                format!(
                    "is `{}`, which has no sense there",
                    meaning_name(rule.means)
                ),
                format!("permitted there: {}", names.join(", ")),
            ))
        }
    }
}

fn check_opening(file: &DialectFile) -> Result<(), DialectError> {
    let has = |means| file.open.receive.iter().any(|rule| rule.means == means);
    if has_exchange(file) && !has(Meaning::Ready) {
        return Err(DialectError::unfit(
            "open",
            "has no rule that makes a client ready",
            "write [[open.receive]] with `means = \"ready\"`, or leave [open] out",
        ));
    }
    let subscribe = file.send.subscribe.as_deref();
    if subscribe.is_some() != has(Meaning::Subscribed)
        || subscribe.is_some_and(|text| !text.contains("{topic}"))
    {
        return Err(DialectError::unfit(
            "send.subscribe",
            "does not go with a rule for its answer",
            "write `subscribe` with {topic}, and [[open.receive]] with `means = \"subscribed\"`; \
             or neither",
        ));
    }
    check_unsubscribing(file)
}

/// A ready client that leaves a topic has to hear that it has, and that it subscribes to the next.
fn check_unsubscribing(file: &DialectFile) -> Result<(), DialectError> {
    let has = |means| file.receive.iter().any(|rule| rule.means == means);
    let answers = [Meaning::Subscribed, Meaning::Unsubscribed];
    let unsubscribe = file.send.unsubscribe.as_deref();
    let fits = match unsubscribe {
        Some(text) => {
            text.contains("{topic}")
                && file.send.subscribe.is_some()
                && answers.into_iter().all(has)
        }
        None => !answers.into_iter().any(has),
    };
    match fits {
        true => Ok(()),
        false => Err(DialectError::unfit(
            "send.unsubscribe",
            "does not go with rules for the answers of a ready client",
            "write `unsubscribe` with {topic}, `subscribe`, and [[receive]] with \
             `means = \"subscribed\"` and with `means = \"unsubscribed\"`; or none of them",
        )),
    }
}

/// A client without a room has to wait for something before it is ready.
fn has_exchange(file: &DialectFile) -> bool {
    let of_topics = |rule: &Rule| rule.means == Meaning::Subscribed;
    let receive = &file.open.receive;
    let others = receive
        .iter()
        .any(|rule| !of_topics(rule) && rule.means != Meaning::Refused);
    let refuses_alone = !receive.is_empty() && !receive.iter().any(of_topics);
    file.open.send.is_some() || others || refuses_alone
}

const fn meaning_name(means: Meaning) -> &'static str {
    match means {
        Meaning::Echo => "echo",
        Meaning::Delivery => "delivery",
        Meaning::Result => "result",
        Meaning::Message => "message",
        Meaning::Published => "published",
        Meaning::Refused => "refused",
        Meaning::Ignored => "ignored",
        Meaning::KeepAlive => "keep-alive",
        Meaning::Ready => "ready",
        Meaning::Subscribed => "subscribed",
        Meaning::Unsubscribed => "unsubscribed",
        Meaning::Send => "send",
        Meaning::Wait => "wait",
    }
}
