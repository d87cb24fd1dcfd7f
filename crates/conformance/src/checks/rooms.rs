//! Topics that clients subscribe to (docs/protocol.md, Rooms).

use super::errors::rejected;
use crate::check::{Check, Scope};
use crate::client::{Client, Incoming};
use crate::context::Context;
use crate::dialect::Fault;
use crate::failure::{Checked, Failure};
use crate::message::{Kind, Payload, abbreviated};
use crate::target::{Dialect, Workload};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use ws_proto::Opcode;

const SECTION: &str = "protocol, Rooms";

/// How long to listen for what must not come, where messages pass between processes.
const SETTLE: Duration = Duration::from_millis(100);

const fn check(
    id: &'static str,
    description: &'static str,
    expectation: &'static str,
    run: fn(&mut Context<'_>) -> Checked,
) -> Check {
    Check {
        id,
        section: SECTION,
        description,
        expectation,
        scope: Scope::Only(Dialect::Text),
        needs: Some(Workload::Rooms),
        run,
    }
}

pub(super) static CHECKS: &[Check] = &[
    check(
        "protocol-rooms-exactly-once",
        "Four of eight clients subscribe to a topic and two to another; a subscriber and a client \
         without topics publish to the first.",
        "each subscriber of it gets each message exactly once, no other client gets anything, and \
         the publisher gets one result",
        exactly_once,
    ),
    check(
        "protocol-rooms-payload",
        "Publishes payloads of 1,000 bytes and of each JSON type to two subscribers.",
        "each gets the topic and the payload that were sent, and so does the publisher in the result",
        payloads,
    ),
    check(
        "protocol-rooms-ack-rule",
        "A subscriber publishes twenty times; after each result another subscriber asks for an echo.",
        "the publisher's own message comes before its result, and (in one process) the other's \
         before its echo",
        ack_rule,
    ),
    check(
        "protocol-rooms-subscribed-first",
        "A client subscribes while another publishes to the topic.",
        "nothing of the topic comes before the answer to the subscription",
        subscribed_first,
    ),
    check(
        "protocol-rooms-unsubscribe",
        "One of two subscribers unsubscribes, and later subscribes again.",
        "nothing of the topic comes to it in between, and each message once before and after",
        unsubscribe,
    ),
    check(
        "protocol-rooms-again",
        "Subscribes twice to one topic, and unsubscribes twice.",
        "each is answered, each message comes once, and none after the first unsubscription",
        again,
    ),
    check(
        "protocol-rooms-topics",
        "Subscribes to names of 1 to 64 characters that are alike, and publishes to each.",
        "each message comes under the name it was published to, and to its subscribers alone",
        topics,
    ),
    check(
        "protocol-rooms-errors",
        "Sends requests without a topic, with one that is no name, and a publication without a \
         payload.",
        "an error answer, or a close with 1003, 1007 or 1008",
        errors,
    ),
];

/// A message of the server about topics.
#[derive(Debug, PartialEq)]
struct Heard {
    /// `subscribed`, `unsubscribed`, `message` or `publishResult`.
    word: String,
    topic: String,
    payload: Option<Value>,
}

impl Heard {
    fn read(incoming: Incoming) -> Result<Value, Failure> {
        match incoming {
            Incoming::Message { raw, .. } => serde_json::from_slice(&raw).map_err(|error| {
                let shown = abbreviated(&String::from_utf8_lossy(&raw));
                Failure(format!("got a message that is not JSON ({error}): {shown}"))
            }),
            other => Err(Failure(format!("got {other}"))),
        }
    }

    fn of(mut value: Value) -> Result<Self, Failure> {
        const WORDS: [&str; 4] = ["subscribed", "unsubscribed", "message", "publishResult"];
        let word = value["type"].as_str().filter(|word| WORDS.contains(word));
        let topic = value["topic"].as_str();
        let (Some(word), Some(topic)) = (word, topic) else {
            return Err(Failure(format!("got {}", abbreviated(&value.to_string()))));
        };
        Ok(Self {
            word: word.to_owned(),
            topic: topic.to_owned(),
            payload: value.get_mut("payload").map(Value::take),
        })
    }

    fn is(&self, word: &str, topic: &str, payload: &Payload) -> bool {
        let own = self.payload.clone().map(Payload::Json);
        self.word == word && self.topic == topic && own.is_some_and(|own| own.equals(payload))
    }
}

impl std::fmt::Display for Heard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let payload = self.payload.as_ref().map(Value::to_string);
        let payload = abbreviated(&payload.unwrap_or_else(|| "no payload".into()));
        write!(f, "{} of {:?} with {payload}", self.word, self.topic)
    }
}

fn say(client: &mut Client, message: &Value) -> Checked {
    client.send(Opcode::Text, message.to_string().as_bytes())
}

fn publish(client: &mut Client, topic: &str, payload: &Payload) -> Checked {
    let Payload::Json(payload) = payload else {
        return Err(Failure::new("rooms are text"));
    };
    say(
        client,
        &json!({"type": "publish", "topic": topic, "payload": payload}),
    )
}

/// The next message; nothing within the client's timeout is a failure.
fn next(client: &mut Client) -> Result<Heard, Failure> {
    let wait = client.timeout;
    let incoming = client
        .next_within(wait)
        .ok_or_else(|| Failure(format!("nothing came within {wait:?}")))?;
    Heard::of(Heard::read(incoming)?)
}

/// Sends `subscribe` or `unsubscribe` and expects its answer next.
fn ask(client: &mut Client, what: &str, topic: &str) -> Checked {
    say(client, &json!({"type": what, "topic": topic}))?;
    answered(client, what, topic)
}

fn answered(client: &mut Client, what: &str, topic: &str) -> Checked {
    let heard = next(client).map_err(|failure| failure.at(format_args!("after {what}")))?;
    is_answer(&heard, what, topic)
}

fn is_answer(heard: &Heard, what: &str, topic: &str) -> Checked {
    if heard.word == format!("{what}d") && heard.topic == topic {
        return Ok(());
    }
    Err(Failure(format!(
        "got {heard} in answer to {what} {topic:?}"
    )))
}

/// All that comes until so many messages have come, or nothing for the client's timeout, and then
/// all that the server had queued before it answers an echo.
fn gather(
    context: &mut Context<'_>,
    client: &mut Client,
    count: usize,
) -> Result<Vec<Heard>, Failure> {
    let mut heard = Vec::new();
    while heard.len() < count {
        let Some(incoming) = client.next_within(client.timeout) else {
            break;
        };
        heard.push(Heard::of(Heard::read(incoming)?)?);
    }
    if context.hands_over() {
        let until = Instant::now() + SETTLE;
        while let Some(incoming) =
            client.next_within(until.saturating_duration_since(Instant::now()))
        {
            heard.push(Heard::of(Heard::read(incoming)?)?);
        }
    }
    until_echo(context, client, &mut heard)?;
    Ok(heard)
}

fn until_echo(context: &mut Context<'_>, client: &mut Client, heard: &mut Vec<Heard>) -> Checked {
    let fence = context.payload();
    context.request(client, Kind::Echo, &fence)?;
    loop {
        let wait = client.timeout;
        let incoming = client
            .next_within(wait)
            .ok_or_else(|| Failure(format!("no answer to an echo within {wait:?}")))?;
        let value = Heard::read(incoming)?;
        if value["type"] == Kind::Echo.word()
            && fence.equals(&Payload::Json(value["payload"].clone()))
        {
            return Ok(());
        }
        heard.push(Heard::of(value)?);
    }
}

fn silent(context: &mut Context<'_>, client: &mut Client) -> Checked {
    match gather(context, client, 0)?.first() {
        None => Ok(()),
        Some(heard) => Err(Failure(format!("got {heard}, which was not for it"))),
    }
}

/// A topic that no other check uses.
fn fresh_topic(context: &mut Context<'_>) -> String {
    format!("room-{}", context.payload().tag().unwrap_or_default())
}

/// What each of `clients` must have heard when `publisher` has published to the topic that
/// `members` are subscribed to: each member the message once, the publisher one result, and no
/// client anything else.
fn delivered(
    context: &mut Context<'_>,
    clients: &mut [Client],
    members: &[usize],
    (publisher, topic, payload): (usize, &str, &Payload),
) -> Checked {
    let total = clients.len();
    for (number, client) in clients.iter_mut().enumerate() {
        let messages = usize::from(members.contains(&number));
        let results = usize::from(number == publisher);
        let at = format!("client {number} of {total} (publisher {publisher})");
        let heard = gather(context, client, messages + results);
        let heard = heard.map_err(|failure| failure.at(&at))?;
        let count = |word| heard.iter().filter(|h| h.is(word, topic, payload)).count();
        let known = count("message") + count("publishResult");
        for (word, wanted) in [("message", messages), ("publishResult", results)] {
            let got = count(word);
            if got != wanted {
                return Err(Failure(format!(
                    "{at} got {got} times {word} of {topic:?}, and {wanted} were for it"
                )));
            }
        }
        if known != heard.len() {
            let other = heard.iter().find(|h| {
                !h.is("message", topic, payload) && !h.is("publishResult", topic, payload)
            });
            return Err(Failure(format!(
                "{at} got {}",
                other.map_or_else(String::new, ToString::to_string)
            )));
        }
    }
    Ok(())
}

fn exactly_once(context: &mut Context<'_>) -> Checked {
    let (topic, other) = (fresh_topic(context), fresh_topic(context));
    let mut clients = context.connect_many(8)?;
    let members = [0, 1, 2, 3];
    for (number, client) in clients.iter_mut().enumerate() {
        match number {
            0..4 => ask(client, "subscribe", &topic)?,
            4 | 5 => ask(client, "subscribe", &other)?,
            _ => {}
        }
    }
    for publisher in [0, 3, 6] {
        let payload = context.payload_padded(300);
        publish(&mut clients[publisher], &topic, &payload)?;
        delivered(
            context,
            &mut clients,
            &members,
            (publisher, &topic, &payload),
        )?;
    }
    Ok(())
}

fn payloads(context: &mut Context<'_>) -> Checked {
    let topic = fresh_topic(context);
    let mut clients = context.connect_many(2)?;
    for client in &mut clients {
        ask(client, "subscribe", &topic)?;
    }
    let mut all = vec![context.payload_padded(1000)];
    let plain = [
        json!(null),
        json!(true),
        json!("\u{e4}\u{1f600}\"\\\n"),
        json!(-1.5e-3),
        json!(9_007_199_254_740_991u64),
        json!([1, [2, {"a": []}]]),
        json!({"topic": "other", "type": "publish"}),
    ];
    all.extend(plain.map(Payload::Json));
    for payload in &all {
        publish(&mut clients[1], &topic, payload)?;
        delivered(context, &mut clients, &[0, 1], (1, &topic, payload))?;
    }
    Ok(())
}

fn ack_rule(context: &mut Context<'_>) -> Checked {
    let topic = fresh_topic(context);
    let mut publisher = context.connect()?;
    let mut other = context.connect()?;
    ask(&mut publisher, "subscribe", &topic)?;
    ask(&mut other, "subscribe", &topic)?;
    for _ in 0..20 {
        let payload = context.payload();
        publish(&mut publisher, &topic, &payload)?;
        for word in ["message", "publishResult"] {
            let heard = next(&mut publisher)?;
            if !heard.is(word, &topic, &payload) {
                return Err(Failure(format!("the publisher got {heard} before {word}")));
            }
        }
        let mut heard = Vec::new();
        if context.hands_over() {
            heard.push(next(&mut other)?);
        } else {
            until_echo(context, &mut other, &mut heard)?;
        }
        if !matches!(&heard[..], [one] if one.is("message", &topic, &payload)) {
            return Err(Failure(format!(
                "the other subscriber got {} messages before its echo, which it sent after the \
                 result",
                heard.len()
            )));
        }
    }
    Ok(())
}

fn subscribed_first(context: &mut Context<'_>) -> Checked {
    const MESSAGES: usize = 100;
    /// Between further publications, made until the answer comes.
    const PAUSE: Duration = Duration::from_millis(2);
    let mut publisher = context.connect()?;
    for _ in 0..5 {
        let topic = fresh_topic(context);
        let mut client = context.connect()?;
        let payload = context.payload();
        for _ in 0..MESSAGES / 4 {
            publish(&mut publisher, &topic, &payload)?;
        }
        say(&mut client, &json!({"type": "subscribe", "topic": topic}))?;
        for _ in MESSAGES / 4..MESSAGES {
            publish(&mut publisher, &topic, &payload)?;
        }
        let (until, mut published) = (Instant::now() + client.timeout, MESSAGES);
        let first = loop {
            match client.next_within(PAUSE) {
                Some(incoming) => break Heard::of(Heard::read(incoming)?)?,
                None if Instant::now() > until => {
                    let waited = client.timeout;
                    return Err(Failure(format!(
                        "nothing came within {waited:?} after subscribe"
                    )));
                }
                None => publish(&mut publisher, &topic, &payload)?,
            }
            published += 1;
        };
        is_answer(&first, "subscribe", &topic)?;
        let results = gather(context, &mut publisher, published)?;
        if results.len() != published {
            return Err(Failure(format!(
                "the publisher got {} answers to {published} publications",
                results.len()
            )));
        }
    }
    Ok(())
}

fn unsubscribe(context: &mut Context<'_>) -> Checked {
    let topic = fresh_topic(context);
    let mut clients = context.connect_many(2)?;
    for client in &mut clients {
        ask(client, "subscribe", &topic)?;
    }
    for (step, members) in [
        ("subscribed", &[0, 1][..]),
        ("unsubscribed", &[0]),
        ("subscribed again", &[0, 1]),
    ] {
        match step {
            "unsubscribed" => ask(&mut clients[1], "unsubscribe", &topic)?,
            "subscribed again" => ask(&mut clients[1], "subscribe", &topic)?,
            _ => {}
        }
        let payload = context.payload();
        publish(&mut clients[0], &topic, &payload)?;
        delivered(context, &mut clients, members, (0, &topic, &payload))
            .map_err(|failure| failure.at(format_args!("with client 1 {step}")))?;
    }
    Ok(())
}

fn again(context: &mut Context<'_>) -> Checked {
    let topic = fresh_topic(context);
    let mut clients = context.connect_many(2)?;
    ask(&mut clients[1], "subscribe", &topic)?;
    ask(&mut clients[1], "subscribe", &topic)?;
    let payload = context.payload();
    publish(&mut clients[0], &topic, &payload)?;
    delivered(context, &mut clients, &[1], (0, &topic, &payload))?;
    for _ in 0..2 {
        ask(&mut clients[1], "unsubscribe", &topic)?;
        let payload = context.payload();
        publish(&mut clients[0], &topic, &payload)?;
        delivered(context, &mut clients, &[], (0, &topic, &payload))?;
    }
    Ok(())
}

fn topics(context: &mut Context<'_>) -> Checked {
    let long = "x".repeat(64);
    let shorter = "x".repeat(63);
    let names = [
        "a", "A", "a.b", "a:b", "a-b", "a_b", "a.", ".a", "0", &long, &shorter,
    ];
    let mut all = context.connect()?;
    let mut one = context.connect()?;
    let mut publisher = context.connect()?;
    for name in names {
        ask(&mut all, "subscribe", name)?;
    }
    ask(&mut one, "subscribe", "a")?;
    for name in names {
        let payload = context.payload();
        publish(&mut publisher, name, &payload)?;
        let heard = next(&mut publisher)?;
        if !heard.is("publishResult", name, &payload) {
            return Err(Failure(format!(
                "the publisher to {name:?} got {heard} in place of its result"
            )));
        }
        let heard = gather(context, &mut all, 1)?;
        if !matches!(&heard[..], [one] if one.is("message", name, &payload)) {
            return Err(Failure(format!(
                "a subscriber of {} names got {} messages of one publication to {name:?}",
                names.len(),
                heard.len()
            )));
        }
        let at = format!("a subscriber of \"a\" alone, after a publication to {name:?}");
        if name == "a" {
            let heard = gather(context, &mut one, 1).map_err(|failure| failure.at(&at))?;
            if heard.len() != 1 {
                return Err(Failure(format!("{at}: got {} messages", heard.len())));
            }
        } else {
            silent(context, &mut one).map_err(|failure| failure.at(&at))?;
        }
    }
    Ok(())
}

fn errors(context: &mut Context<'_>) -> Checked {
    let long = "x".repeat(65);
    let mut bad = vec![
        json!({"type": "subscribe"}),
        json!({"type": "unsubscribe"}),
        json!({"type": "publish", "payload": 1}),
        json!({"type": "publish", "topic": "a"}),
    ];
    for topic in [
        json!(""),
        json!(long),
        json!("a b"),
        json!("a/b"),
        json!("\u{e4}"),
        json!(7),
        json!(null),
        json!(["a"]),
    ] {
        bad.push(json!({"type": "subscribe", "topic": topic}));
        bad.push(json!({"type": "publish", "topic": topic, "payload": 1}));
    }
    let owed = context.speech().owed(Fault::UnknownTopic);
    for message in bad {
        rejected(context, Opcode::Text, message.to_string().as_bytes(), owed)?;
    }
    Ok(())
}
