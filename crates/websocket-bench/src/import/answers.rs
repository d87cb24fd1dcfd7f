//! Which messages of a server answer which of the client.
//!
//! What comes before the client's next message may be an answer. It is taken for one when it follows
//! all messages of the client that look alike, and when the server says such a message at no other
//! time. All else is taken for what the server says by itself.

use super::conversation::Conversation;
use super::leaves::json_at;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashSet};

/// Names whose values say what a message is.
const TAGS: [&str; 13] = [
    "type",
    "event",
    "op",
    "method",
    "action",
    "kind",
    "cmd",
    "command",
    "status",
    "t",
    "e",
    "opcode",
    "messageType",
];
/// Largest integer that says what a message is: a number of a kind, and no time or amount.
const LARGEST_TAG: i64 = 99_999;
/// Longest such value, and longest text that is recognised as a whole, in bytes.
const LONGEST_TAG: usize = 64;
/// Most conditions of a rule, of the 16 that a rule may have.
const MOST_CONDITIONS: usize = 12;
/// Most rules for answers, of the 64 that a dialect may have.
const MOST_RULES: usize = 60;

/// What a message looks like.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Look {
    /// This text.
    Text(String),
    /// JSON behind a prefix, by pointer.
    Json(String, Vec<(String, Held)>),
    /// It is not told from others.
    Other,
}

/// What holds at a pointer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Held {
    Text(String),
    Integer(i64),
    OfType(&'static str),
}

impl Look {
    pub(super) fn of(text: &str) -> Self {
        let Some(at) = json_at(text) else {
            return match text.len() <= LONGEST_TAG && !text.is_empty() {
                true => Self::Text(text.to_owned()),
                false => Self::Other,
            };
        };
        let held = match serde_json::from_str(&text[at..]) {
            Ok(Value::Object(fields)) => of_object(&fields),
            Ok(Value::Array(items)) => of_array(&items),
            _ => Vec::new(),
        };
        Self::Json(text[..at].to_owned(), held)
    }
}

fn of_object(fields: &Map<String, Value>) -> Vec<(String, Held)> {
    let pointer = |name: &str| format!("/{}", name.replace('~', "~0").replace('/', "~1"));
    let mut held: Vec<(String, Held)> = fields
        .iter()
        .map(|(name, value)| {
            let tag = TAGS.contains(&name.as_str()).then(|| tag_of(value));
            let is = tag
                .flatten()
                .unwrap_or_else(|| Held::OfType(type_of(value)));
            (pointer(name), is)
        })
        .collect();
    // What says most comes first, so that the rest may be cut off.
    held.sort_by_key(|(_, held)| matches!(held, Held::OfType(_)));
    held.truncate(MOST_CONDITIONS);
    held
}

/// Of an array, as Socket.IO has it, the first item says what it is.
fn of_array(items: &[Value]) -> Vec<(String, Held)> {
    let first = items.first().and_then(tag_of);
    let first = first.unwrap_or_else(|| Held::OfType(items.first().map_or("absent", type_of)));
    vec![
        ("".to_owned(), Held::OfType("array")),
        ("/0".to_owned(), first),
    ]
}

fn tag_of(value: &Value) -> Option<Held> {
    match value {
        Value::String(text) if is_word(text) => Some(Held::Text(text.clone())),
        Value::Number(number) => {
            let integer = number.as_i64()?;
            (0..=LARGEST_TAG)
                .contains(&integer)
                .then_some(Held::Integer(integer))
        }
        _ => None,
    }
}

fn is_word(text: &str) -> bool {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || "_.:/-".contains(c);
    (1..=LONGEST_TAG).contains(&text.len()) && text.chars().all(is_of_word)
}

const fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A message of which all of that holds. It repeats nothing of the server's but tags.
pub(super) fn example(held: &[(String, Held)]) -> Value {
    let value = |held: &Held| match held {
        Held::Text(text) => Value::from(text.as_str()),
        Held::Integer(integer) => Value::from(*integer),
        Held::OfType("null" | "absent") => Value::Null,
        Held::OfType("boolean") => Value::Bool(true),
        Held::OfType("number") => Value::from(1),
        Held::OfType("string") => Value::from("..."),
        Held::OfType("array") => Value::Array(Vec::new()),
        Held::OfType(_) => Value::Object(Map::new()),
    };
    if held.first().is_some_and(|(pointer, _)| pointer.is_empty()) {
        let items = held[1..]
            .iter()
            .filter(|(_, of)| *of != Held::OfType("absent"));
        return Value::Array(items.map(|(_, of)| value(of)).collect());
    }
    let name = |pointer: &str| pointer[1..].replace("~1", "/").replace("~0", "~");
    let fields = held.iter().map(|(pointer, of)| (name(pointer), value(of)));
    Value::Object(fields.collect())
}

/// Messages of the client that look alike.
#[derive(Default)]
struct Class {
    count: usize,
    /// Looks, by number, that each of them was followed by before the client's next message. The
    /// first in the capture comes first.
    candidates: Vec<usize>,
}

/// How the answer to each message of the client looks, in their order; `None` where no answer is told.
pub(super) fn answers(conversation: &Conversation<'_>) -> Vec<Option<Look>> {
    let mut numbers: BTreeMap<Look, usize> = BTreeMap::new();
    let mut number = |look: Look| {
        let next = numbers.len();
        *numbers.entry(look).or_insert(next)
    };
    let mut classes: BTreeMap<usize, Class> = BTreeMap::new();
    let (mut sends, mut heard) = (Vec::new(), BTreeMap::<usize, usize>::new());
    let mut said = conversation.said.iter().peekable();
    while let Some(message) = said.next() {
        let look = number(Look::of(message.text));
        if !message.is_sent {
            *heard.entry(look).or_default() += 1;
            continue;
        }
        let mut followed = Vec::new();
        while let Some(next) = said.next_if(|next| !next.is_sent) {
            let look = number(Look::of(next.text));
            *heard.entry(look).or_default() += 1;
            followed.push(look);
        }
        sends.push(look);
        let class = classes.entry(look).or_default();
        class.count += 1;
        match class.count {
            1 => {
                let mut known = HashSet::new();
                followed.retain(|look| known.insert(*look));
                class.candidates = followed;
            }
            _ => {
                let followed: HashSet<usize> = followed.into_iter().collect();
                class.candidates.retain(|look| followed.contains(look));
            }
        }
    }
    settle(&mut classes, &heard, numbers.get(&Look::Other).copied());
    let looks: BTreeMap<usize, Look> = numbers.into_iter().map(|(look, at)| (at, look)).collect();
    let mut kept = HashSet::new();
    let answers = sends.iter().map(|look| {
        let answer = *classes[look].candidates.first()?;
        let has_rule = kept.contains(&answer) || kept.len() < MOST_RULES && kept.insert(answer);
        has_rule.then(|| looks[&answer].clone())
    });
    answers.collect()
}

/// Leaves out the looks that the server's messages have at other times too, until none is left.
fn settle(
    classes: &mut BTreeMap<usize, Class>,
    heard: &BTreeMap<usize, usize>,
    other: Option<usize>,
) {
    loop {
        let mut claims: BTreeMap<usize, usize> = BTreeMap::new();
        for class in classes.values() {
            if let Some(first) = class.candidates.first() {
                *claims.entry(*first).or_default() += class.count;
            }
        }
        claims.retain(|look, count| Some(*look) == other || heard.get(look) != Some(count));
        if claims.is_empty() {
            return;
        }
        for class in classes.values_mut() {
            class.candidates.retain(|look| !claims.contains_key(look));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::conversation::Said;
    use super::*;

    /// Messages, those of the client behind `>`.
    fn told(lines: &[&str]) -> Vec<Option<String>> {
        let said = lines.iter().map(|line| Said {
            number: 1,
            at_ns: 0,
            is_sent: line.starts_with('>'),
            text: line.trim_start_matches('>'),
        });
        let conversation = Conversation {
            said: said.collect(),
            heartbeats: 0,
            left_out: 0,
        };
        let looks = answers(&conversation).into_iter();
        looks
            .map(|look| match look? {
                Look::Text(text) => Some(text),
                Look::Json(prefix, held) => Some(format!("{prefix}{}", example(&held))),
                Look::Other => None,
            })
            .collect()
    }

    #[test]
    fn an_answer_follows_each_message_that_looks_alike_and_nothing_else() {
        let news = r#"{"type":"news","n":1}"#;
        let said = r#"{"type":"said","n":5}"#;
        // News come of themselves too.
        let lines = [
            news,
            r#">{"type":"say","text":"a"}"#,
            news,
            said,
            r#">{"type":"say","text":"b"}"#,
            said,
            news,
            r#">{"type":"typing"}"#,
            news,
            ">ping",
            "pong",
        ];
        let answer = Some(r#"{"n":1,"type":"said"}"#.to_owned());
        assert_eq!(
            told(&lines),
            [answer.clone(), answer, None, Some("pong".to_owned())]
        );
    }

    #[test]
    fn requests_under_way_at_once_have_no_answer_that_is_told() {
        let lines = [r#">{"id":1}"#, r#">{"id":2}"#, r#"{"ok":1}"#, r#"{"ok":2}"#];
        assert_eq!(told(&lines), [None, None]);
    }

    #[test]
    fn socket_io_is_told_by_prefix_and_event() {
        let lines = [
            r#">42["join",7]"#,
            r#"42["joined",{"n":7}]"#,
            r#"42["news"]"#,
        ];
        assert_eq!(told(&lines), [Some(r#"42["joined"]"#.to_owned())]);
    }

    #[test]
    fn many_looks_take_no_time_that_grows_with_their_square() {
        let texts: Vec<String> = (0..10_000)
            .flat_map(|n| [format!(">ask {n}"), format!("is {n}")])
            .collect();
        let lines: Vec<&str> = texts.iter().map(String::as_str).collect();
        let answers = told(&lines);
        assert_eq!(answers.iter().flatten().count(), MOST_RULES);
    }
}
