//! Topics that clients subscribe to (docs/protocol.md, Rooms).

use super::errors::rejected_of;
use crate::check::{Check, Scope};
use crate::client::{Client, Incoming};
use crate::context::Context;
use crate::dialect::{Fault, Heard, Topics, Wish, Word};
use crate::failure::{Checked, Failure};
use crate::message::{Kind, Payload};
use crate::raw::{FIN, frame};
use crate::target::ProtocolRequest;
use serde_json::json;
use std::time::{Duration, Instant};
use ws_proto::Opcode;

const SECTION: &str = "protocol, Rooms";

/// How long clients listen for what must not come, where messages pass between processes.
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
        scope: Scope::Topics,
        needs: Some(ProtocolRequest::Rooms),
        run,
    }
}

pub(super) static CHECKS: &[Check] = &[
    check(
        "protocol-rooms-exactly-once",
        "Four of eight clients subscribe to a topic and two to another; two subscribers and, where \
         it may, a client without topics publish to the first.",
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
    Check {
        scope: Scope::OrderedTopics,
        ..check(
            "protocol-rooms-ack-rule",
            "A subscriber publishes twenty times; after each result another subscriber asks for an \
             echo.",
            "the publisher's own message comes before its result, and (in one process) the other's \
             before its echo",
            ack_rule,
        )
    },
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
        "each is answered (Action Cable: the first), each message comes once, and none after the \
         first unsubscription",
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
        "Sends requests without a topic, with one that is no name, a publication without a payload, \
         and in Phoenix and Action Cable one to a topic that the client is not subscribed to.",
        "an error answer, or a close with 1003, 1007 or 1008 (Phoenix: or 1011; Action Cable: or no \
         answer, and the connection goes on)",
        errors,
    ),
];

/// The topics of the dialect of a check, which has them.
fn topics_of(context: &Context<'_>) -> Result<&'static dyn Topics, Failure> {
    let topics = context.speech().topics();
    topics.ok_or_else(|| Failure::new("the dialect has no topics"))
}

/// A message of the server: about a topic, or an echo.
enum Said {
    Of(Heard),
    Echo(Payload),
}

fn said(context: &Context<'_>, incoming: Incoming) -> Result<Said, Failure> {
    let Incoming::Message { raw, reply } = incoming else {
        return Err(Failure(format!("got {incoming}")));
    };
    match (topics_of(context)?.read(&raw), reply) {
        (Ok(heard), _) => Ok(Said::Of(heard)),
        (Err(_), Ok(reply)) if reply.kind == Kind::Echo => Ok(Said::Echo(reply.payload)),
        (Err(what), _) => Err(Failure(format!("got {what}"))),
    }
}

fn heard(context: &Context<'_>, incoming: Incoming) -> Result<Heard, Failure> {
    match said(context, incoming)? {
        Said::Of(heard) => Ok(heard),
        Said::Echo(payload) => Err(Failure(format!("got an echo of {payload}"))),
    }
}

fn say(client: &mut Client, message: &str) -> Checked {
    client.send(Opcode::Text, message.as_bytes())
}

fn publish(context: &Context<'_>, client: &mut Client, topic: &str, payload: &Payload) -> Checked {
    let Payload::Json(payload) = payload else {
        return Err(Failure::new("rooms are text"));
    };
    say(client, &topics_of(context)?.publish(topic, payload))
}

/// The next message; nothing within the client's timeout is a failure.
fn next(context: &Context<'_>, client: &mut Client) -> Result<Heard, Failure> {
    let wait = client.timeout;
    let incoming = client
        .next_within(wait)
        .ok_or_else(|| Failure(format!("nothing came within {wait:?}")))?;
    heard(context, incoming)
}

/// Sends a wish and expects its answer next.
fn ask(context: &Context<'_>, client: &mut Client, wish: Wish, topic: &str) -> Checked {
    ask_when(context, client, (wish, false), &[topic])
}

/// The same of a client that has what it wishes already.
fn ask_again(context: &Context<'_>, client: &mut Client, wish: Wish, topic: &str) -> Checked {
    ask_when(context, client, (wish, true), &[topic])
}

/// Sends a wish about each topic, in one go, and expects the answers next, in any order.
fn ask_when(
    context: &Context<'_>,
    client: &mut Client,
    (wish, again): (Wish, bool),
    about: &[&str],
) -> Checked {
    let topics = topics_of(context)?;
    let texts = about.iter().map(|topic| topics.ask(wish, topic));
    let frames = texts.map(|text| frame(FIN | Opcode::Text as u8, text.as_bytes()));
    client.send_raw(&frames.collect::<Vec<_>>().concat())?;
    let words = topics.answers(wish, again);
    if words.is_empty() {
        // Without an answer an echo shows that the server has seen the wish.
        let payload = json!({"stamp": "0000000000000000", "padding": wish.to_string()});
        return context.echo(client, &Payload::Json(payload));
    }
    let answers_to = |topic| words.iter().map(move |word| (*word, topic));
    let mut due: Vec<_> = about.iter().copied().flat_map(answers_to).collect();
    while !due.is_empty() {
        let heard = next(context, client);
        let heard = heard.map_err(|failure| failure.at(format_args!("after {wish}")))?;
        take(&mut due, &heard, wish)?;
    }
    Ok(())
}

/// Takes a message from those that are due in answer to a wish.
fn take(due: &mut Vec<(Word, &str)>, heard: &Heard, wish: Wish) -> Checked {
    let is_it = |due: &(Word, &str)| *due == (heard.word, heard.topic.as_str());
    match (due.iter().position(is_it), due.first()) {
        (Some(place), _) => {
            due.remove(place);
            Ok(())
        }
        (None, Some((_, topic))) => Err(Failure(format!(
            "got {heard} in answer to {wish} {topic:?}"
        ))),
        (None, None) => Err(Failure(format!("got {heard}"))),
    }
}

/// Has a client subscribe that is to publish, where it must. Whether it did.
fn may_publish(context: &Context<'_>, client: &mut Client, topic: &str) -> Result<bool, Failure> {
    let must = !topics_of(context)?.serves_outsiders();
    if must {
        ask(context, client, Wish::Subscribe, topic)?;
    }
    Ok(must)
}

/// What comes to a client: as many messages as are due, or until none comes for the client's timeout, and
/// then all that the server had queued before it answers an echo.
fn gather(
    context: &mut Context<'_>,
    client: &mut Client,
    due: usize,
) -> Result<Vec<Heard>, Failure> {
    gather_each(context, [(client, due)]).swap_remove(0)
}

/// The same of several clients, each with what is due to it. Between processes they listen for [`SETTLE`]
/// after the last of it, all at the same time.
fn gather_each<'c>(
    context: &mut Context<'_>,
    clients: impl IntoIterator<Item = (&'c mut Client, usize)>,
) -> Vec<Result<Vec<Heard>, Failure>> {
    let mut is_late = false;
    let due = clients.into_iter().map(|(client, due)| {
        let heard = hear(context, client, due, &mut is_late);
        (client, heard)
    });
    let due: Vec<_> = due.collect();
    let until = Instant::now() + SETTLE;
    let whole = due.into_iter().map(|(client, heard)| {
        let mut heard = heard?;
        if context.hands_over() {
            let left = || until.saturating_duration_since(Instant::now());
            while let Some(incoming) = client.next_within(left()) {
                heard.push(self::heard(context, incoming)?);
            }
        }
        until_echo(context, client, &mut heard)?;
        Ok(heard)
    });
    whole.collect()
}

/// Reads messages until as many have come as are due to the client, or until none comes for its timeout. The
/// client then sets `is_late`, and the clients after it do not wait.
fn hear(
    context: &Context<'_>,
    client: &mut Client,
    due: usize,
    is_late: &mut bool,
) -> Result<Vec<Heard>, Failure> {
    let mut all = Vec::new();
    while all.len() < due && !(*is_late) {
        match client.next_within(client.timeout) {
            Some(incoming) => all.push(heard(context, incoming)?),
            None => *is_late = true,
        }
    }
    Ok(all)
}

fn until_echo(context: &mut Context<'_>, client: &mut Client, before: &mut Vec<Heard>) -> Checked {
    let fence = context.payload();
    context.request(client, Kind::Echo, &fence)?;
    loop {
        let wait = client.timeout;
        let incoming = client
            .next_within(wait)
            .ok_or_else(|| Failure(format!("no answer to an echo within {wait:?}")))?;
        match said(context, incoming)? {
            Said::Echo(payload) if fence.equals(&payload) => return Ok(()),
            Said::Echo(payload) => return Err(Failure(format!("got an echo of {payload}"))),
            Said::Of(heard) => before.push(heard),
        }
    }
}

/// Subscribes to all these topics, and then unsubscribes from all of them.
pub(super) fn subscribe_and_unsubscribe(
    context: &Context<'_>,
    client: &mut Client,
    topics: &[String],
) -> Checked {
    let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
    ask_when(context, client, (Wish::Subscribe, false), &topics)?;
    ask_when(context, client, (Wish::Unsubscribe, false), &topics)
}

/// A topic that no other check uses.
pub(super) fn fresh_topic(context: &mut Context<'_>) -> String {
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
    let due = |number: usize| {
        let messages = usize::from(members.contains(&number));
        (messages, usize::from(number == publisher))
    };
    let clients = clients.iter_mut().enumerate().map(|(number, client)| {
        let (messages, results) = due(number);
        (client, messages + results)
    });
    for (number, heard) in gather_each(context, clients).into_iter().enumerate() {
        let (messages, results) = due(number);
        let at = format!("client {number} of {total} (publisher {publisher})");
        let heard = heard.map_err(|failure| failure.at(&at))?;
        let count = |word| heard.iter().filter(|h| h.is(word, topic, payload)).count();
        let known = count(Word::Message) + count(Word::Published);
        for (word, wanted) in [(Word::Message, messages), (Word::Published, results)] {
            let got = count(word);
            if got != wanted {
                return Err(Failure(format!(
                    "{at} got {got} times {word} of {topic:?}, and {wanted} were for it"
                )));
            }
        }
        if known != heard.len() {
            let is_due = |h: &&Heard| {
                h.is(Word::Message, topic, payload) || h.is(Word::Published, topic, payload)
            };
            let other = heard.iter().find(|h| !is_due(h));
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
            0..4 => ask(context, client, Wish::Subscribe, &topic)?,
            4 | 5 => ask(context, client, Wish::Subscribe, &other)?,
            _ => {}
        }
    }
    let outsiders = topics_of(context)?.serves_outsiders();
    for publisher in [0, 3, 6]
        .into_iter()
        .filter(|at| outsiders || members.contains(at))
    {
        let payload = context.payload_padded(300);
        publish(context, &mut clients[publisher], &topic, &payload)?;
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
        ask(context, client, Wish::Subscribe, &topic)?;
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
        publish(context, &mut clients[1], &topic, payload)?;
        delivered(context, &mut clients, &[0, 1], (1, &topic, payload))?;
    }
    Ok(())
}

fn ack_rule(context: &mut Context<'_>) -> Checked {
    let topic = fresh_topic(context);
    let mut publisher = context.connect()?;
    let mut other = context.connect()?;
    ask(context, &mut publisher, Wish::Subscribe, &topic)?;
    ask(context, &mut other, Wish::Subscribe, &topic)?;
    for _ in 0..20 {
        let payload = context.payload();
        publish(context, &mut publisher, &topic, &payload)?;
        for word in [Word::Message, Word::Published] {
            let heard = next(context, &mut publisher)?;
            if !heard.is(word, &topic, &payload) {
                return Err(Failure(format!("the publisher got {heard} before {word}")));
            }
        }
        let mut heard = Vec::new();
        if context.hands_over() {
            heard.push(next(context, &mut other)?);
        } else {
            until_echo(context, &mut other, &mut heard)?;
        }
        if !matches!(&heard[..], [one] if one.is(Word::Message, &topic, &payload)) {
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
    let topics = topics_of(context)?;
    let mut publisher = context.connect()?;
    for _ in 0..5 {
        let topic = fresh_topic(context);
        let hears_itself = may_publish(context, &mut publisher, &topic)?;
        let mut client = context.connect()?;
        let payload = context.payload();
        for _ in 0..MESSAGES / 4 {
            publish(context, &mut publisher, &topic, &payload)?;
        }
        say(&mut client, &topics.ask(Wish::Subscribe, &topic))?;
        for _ in MESSAGES / 4..MESSAGES {
            publish(context, &mut publisher, &topic, &payload)?;
        }
        let (until, mut published) = (Instant::now() + client.timeout, MESSAGES);
        let first = loop {
            match client.next_within(PAUSE) {
                Some(incoming) => break heard(context, incoming)?,
                None if Instant::now() > until => {
                    let waited = client.timeout;
                    return Err(Failure(format!(
                        "nothing came within {waited:?} after subscribe"
                    )));
                }
                None => publish(context, &mut publisher, &topic, &payload)?,
            }
            published += 1;
        };
        take(
            &mut vec![(Word::Subscribed, topic.as_str())],
            &first,
            Wish::Subscribe,
        )?;
        let due = if hears_itself {
            2 * published
        } else {
            published
        };
        let heard = gather(context, &mut publisher, due)?;
        let results = heard.iter().filter(|heard| heard.word == Word::Published);
        if results.count() != published || heard.len() != due {
            return Err(Failure(format!(
                "the publisher got {} messages after {published} publications, and {due} were for it",
                heard.len()
            )));
        }
    }
    Ok(())
}

fn unsubscribe(context: &mut Context<'_>) -> Checked {
    let topic = fresh_topic(context);
    let mut clients = context.connect_many(2)?;
    for client in &mut clients {
        ask(context, client, Wish::Subscribe, &topic)?;
    }
    for (step, members) in [
        ("subscribed", &[0, 1][..]),
        ("unsubscribed", &[0]),
        ("subscribed again", &[0, 1]),
    ] {
        match step {
            "unsubscribed" => ask(context, &mut clients[1], Wish::Unsubscribe, &topic)?,
            "subscribed again" => ask(context, &mut clients[1], Wish::Subscribe, &topic)?,
            _ => {}
        }
        let payload = context.payload();
        publish(context, &mut clients[0], &topic, &payload)?;
        delivered(context, &mut clients, members, (0, &topic, &payload))
            .map_err(|failure| failure.at(format_args!("with client 1 {step}")))?;
    }
    Ok(())
}

fn again(context: &mut Context<'_>) -> Checked {
    let topic = fresh_topic(context);
    let mut clients = context.connect_many(2)?;
    let [publisher, other] = &mut clients[..] else {
        return Err(Failure::new("there are not two clients"));
    };
    let is_member = may_publish(context, publisher, &topic)?;
    ask(context, other, Wish::Subscribe, &topic)?;
    ask_again(context, other, Wish::Subscribe, &topic)?;
    let (members, without) = match is_member {
        true => (&[0, 1][..], &[0][..]),
        false => (&[1][..], &[][..]),
    };
    let payload = context.payload();
    publish(context, &mut clients[0], &topic, &payload)?;
    delivered(context, &mut clients, members, (0, &topic, &payload))?;
    for unsubscribe in [ask, ask_again] {
        unsubscribe(context, &mut clients[1], Wish::Unsubscribe, &topic)?;
        let payload = context.payload();
        publish(context, &mut clients[0], &topic, &payload)?;
        delivered(context, &mut clients, without, (0, &topic, &payload))?;
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
        ask(context, &mut all, Wish::Subscribe, name)?;
    }
    ask(context, &mut one, Wish::Subscribe, "a")?;
    for name in names {
        let hears_itself = may_publish(context, &mut publisher, name)?;
        let payload = context.payload();
        publish(context, &mut publisher, name, &payload)?;
        let due = usize::from(hears_itself);
        let clients = [
            (&mut publisher, due + 1),
            (&mut all, 1),
            (&mut one, usize::from(name == "a")),
        ];
        let [heard, by_all, by_one] = <[_; 3]>::try_from(gather_each(context, clients))
            .map_err(|_| Failure::new("there are not three clients"))?;
        let heard = heard?;
        let count = |word| heard.iter().filter(|h| h.is(word, name, &payload)).count();
        let as_due = count(Word::Published) == 1 && count(Word::Message) == due;
        if !as_due || heard.len() != due + 1 {
            let first = heard.first().map(ToString::to_string);
            return Err(Failure(format!(
                "the publisher to {name:?} got {} messages in place of {}: first {}",
                heard.len(),
                due + 1,
                first.as_deref().unwrap_or("none")
            )));
        }
        let heard = by_all?;
        if !matches!(&heard[..], [one] if one.is(Word::Message, name, &payload)) {
            return Err(Failure(format!(
                "a subscriber of {} names got {} messages of one publication to {name:?}",
                names.len(),
                heard.len()
            )));
        }
        let at = format!("a subscriber of \"a\" alone, after a publication to {name:?}");
        let heard = by_one.map_err(|failure| failure.at(&at))?;
        if heard.len() != usize::from(name == "a") {
            return Err(Failure(format!("{at}: got {} messages", heard.len())));
        }
    }
    Ok(())
}

fn errors(context: &mut Context<'_>) -> Checked {
    let owed = context.speech().owed(Fault::UnknownTopic);
    for (joined, message) in topics_of(context)?.faulty() {
        let mut client = context.connect()?;
        if let Some(topic) = joined {
            ask(context, &mut client, Wish::Subscribe, topic)?;
        }
        rejected_of(
            context,
            &mut client,
            (Opcode::Text, message.as_bytes()),
            owed,
        )?;
    }
    Ok(())
}
