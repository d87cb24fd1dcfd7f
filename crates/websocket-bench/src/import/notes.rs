//! What the user of a plan has to know, in lines for stderr.

use super::answers::{Answer, MOST_RULES};
use super::conversation::Conversation;
use super::handshake::{Handshake, place_of};
use super::har::Connection;
use super::leaves::leaves;
use super::secrets::is_like_token;
use super::variables::{Known, Templates};
use plan::Nanos;
use std::collections::{HashMap, HashSet};

/// Most names of a list.
pub(super) const SHOWN: usize = 8;
/// Most names of what is copied.
const MOST_COPIED: usize = 40;
/// Shortest text of a server that is looked for in what the client says later, in bytes.
const SHORTEST_REPEATED: usize = 8;
/// Most texts of a client that are looked for in what the server said before.
const MOST_REPEATED: usize = 10_000;

/// Which connection is taken, and the others.
pub(super) fn note_choice(connections: &[Connection], entry: usize, notes: &mut Vec<String>) {
    if connections.len() > 1 {
        let shown = connections.iter().take(SHOWN).map(|of| {
            let mut place = place_of(of).unwrap_or_else(|_| "an unreadable URL".to_owned());
            if !place.is_empty() {
                place.push(' ');
            }
            format!("{} {place}({} messages)", of.number, of.frames.total)
        });
        let shown: Vec<String> = shown.collect();
        notes.push(format!(
            "connection {entry} of {} is taken; --entry N takes another: {}",
            connections.len(),
            shown.join(", ")
        ));
    }
}

/// What of a conversation is not replayed.
pub(super) fn note_conversation(
    chosen: &Connection,
    conversation: &Conversation<'_>,
    notes: &mut Vec<String>,
) {
    let place = chosen.number;
    if conversation.heartbeats > 0 {
        notes.push(format!(
            "connection {place} has {} heartbeats of Engine.IO (`2`): each client answers those of \
             its own connection with `3`, and the recorded answers are left out",
            conversation.heartbeats
        ));
    }
    let frames = &chosen.frames;
    if frames.left_out > 0 {
        notes.push(format!(
            "connection {place} has {} entries that are no messages (close, ping, pong, errors): \
             they are left out",
            frames.left_out
        ));
    }
    if chosen.url.is_none() {
        notes.push(
            "a list of frames has no URL: give that of the server to `run`, or --url to `import`"
                .to_owned(),
        );
    }
    if frames.binary_heard > 0 {
        notes.push(format!(
            "connection {place} has {} binary messages of the server (opcode 2): they are left out, and \
             the run counts them and does not look at them",
            frames.binary_heard
        ));
    }
    if frames.untimed > 0 {
        notes.push(format!(
            "connection {place} has {} messages without a time that can be read: each has that of the \
             message before it",
            frames.untimed
        ));
    }
    if frames.untimed == frames.all.len() {
        notes.push(format!(
            "connection {place} has no time at all: each client sends all its messages at once; --rate R \
             sends R messages per second instead"
        ));
    }
}

/// What of a handshake must be given, and what is left out.
pub(super) fn note_handshake(handshake: &Handshake, notes: &mut Vec<String>) {
    for (variable, what) in &handshake.wanted {
        notes.push(format!(
            "{what} is not copied: set the environment variable {variable} for the run, or write \
             another reference in the plan (docs/plan.md, Secrets)"
        ));
    }
    let mut left_out = handshake.left_out.clone();
    left_out.sort_unstable();
    left_out.dedup();
    if !left_out.is_empty() {
        let shown = left_out.len().min(SHOWN);
        let more = match left_out.len() - shown {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        notes.push(format!(
            "left out of the handshake: {}{more}; connection.headers takes header lines",
            left_out[..shown].join(", ")
        ));
    }
}

/// Names what is copied and might be a secret that nothing tells from a word.
pub(super) fn note_copied(
    handshake: &Handshake,
    templates: &Templates,
    known: &Known,
    notes: &mut Vec<String>,
) {
    let is_shown = |name: &&String| known.first_in(name).is_none();
    let of_url = handshake.copied.iter().map(|name| format!("{name} (URL)"));
    let mut all: Vec<String> = of_url.collect();
    let fields = &templates.copied.fields;
    for is_strange in [true, false] {
        let own = fields.iter().filter(|(_, of)| **of == is_strange);
        all.extend(own.map(|(name, _)| name.clone()));
    }
    let texts = &templates.copied.texts;
    all.extend(texts.iter().map(|number| format!("message {number}")));
    all.retain(|name| is_shown(&name));
    if all.is_empty() {
        return;
    }
    let shown = all.len().min(MOST_COPIED);
    let more = match all.len() - shown {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    notes.push(format!(
        "copied as recorded: {}{more}. A secret that looks like a word is not recognised: read them in \
         the plan before you pass it on",
        all[..shown].join(", ")
    ));
}

/// Names what the client had from the server: each replayed client is told something else.
pub(super) fn note_repeated(conversation: &Conversation<'_>, notes: &mut Vec<String>) {
    // By what the client says: whether the server was the first to say it.
    let mut told: HashMap<&str, bool> = HashMap::new();
    for said in conversation.sends() {
        for leaf in leaves(said.text).filter(|leaf| leaf.is_string) {
            let value = &said.text[leaf.range];
            if value.len() >= SHORTEST_REPEATED && told.len() < MOST_REPEATED {
                told.entry(value).or_default();
            }
        }
    }
    let (mut said_first, mut named) = (HashSet::new(), HashSet::new());
    for said in &conversation.said {
        for leaf in leaves(said.text).filter(|leaf| leaf.is_string) {
            let value = &said.text[leaf.range];
            let Some((value, is_told)) = told.get_key_value(value) else {
                continue;
            };
            if !said.is_sent {
                if !said_first.contains(value) {
                    told.insert(value, true);
                }
                continue;
            }
            if !is_told {
                said_first.insert(*value);
            } else if named.len() < SHOWN && !is_like_token(leaf.key) && named.insert(leaf.key) {
                notes.push(format!(
                    "message {} repeats `{}`, which the server had told: where each client is told its \
                     own, keep it with `capture` (docs/dialects.md) and write it as a variable",
                    said.number, leaf.key
                ));
            }
        }
    }
}

/// How many messages have an answer that is awaited, and why the others have none.
pub(super) fn note_answers(answers: &[Answer], last_ns: u64, notes: &mut Vec<String>) {
    let count = |is: &dyn Fn(&Answer) -> bool| answers.iter().filter(|answer| is(answer)).count();
    let awaited = count(&|answer| answer.look().is_some());
    notes.push(format!(
        "{} messages of the client in {}; {awaited} of them have an answer that is awaited, the rest is \
         sent and no more. Contents are not checked",
        answers.len(),
        Nanos(last_ns)
    ));
    for (number, why) in [
        (
            count(&|answer| *answer == Answer::Nothing),
            "the server said nothing before the client's next message".to_owned(),
        ),
        (
            count(&|answer| *answer == Answer::Unclear),
            "what the server said then does not follow each such message, or comes at other times too"
                .to_owned(),
        ),
        (
            count(&|answer| *answer == Answer::Beyond),
            format!(
                "the answers look different from each other, and a dialect has {MOST_RULES} rules for \
                 them: write rules that match several, or record a shorter session"
            ),
        ),
    ] {
        if number > 0 {
            notes.push(format!("{number} messages are sent without an answer that is awaited: {why}"));
        }
    }
}
