//! The secrets of JSON: by the names around them, by what the message is for, and within its strings.

use super::super::leaves::{Packet, string_at};
use super::names::{is_identifier, is_of_session, is_secret_name, is_verb};
use super::secret::Secret;
use super::values;
use serde::de::IgnoredAny;
use std::ops::Range;

/// Most texts behind a brace or a bracket that are no JSON.
const MOST_MISSES: usize = 16;
/// Fields that say what a message is for.
const PURPOSES: [&str; 27] = [
    "type",
    "event",
    "op",
    "method",
    "action",
    "kind",
    "cmd",
    "command",
    "t",
    "e",
    "msg",
    "ch",
    "name",
    "request",
    "service",
    "func",
    "target",
    "procedure",
    "topic",
    "channel",
    "subject",
    "route",
    "path",
    "url",
    "uri",
    "grant_type",
    "function",
];
/// Fields that hold the name of another.
const LABELS: [&str; 9] = [
    "field", "header", "id", "k", "key", "label", "name", "param", "property",
];
/// Common names. Their values are secrets only if the object has another field with a secret.
const BESIDE: [&str; 2] = ["code", "key"];
/// Fields of a message that says who the client is, whose names tell nothing of what they hold.
const CARRIERS: [&str; 26] = [
    "a",
    "arg",
    "args",
    "arguments",
    "body",
    "code",
    "content",
    "d",
    "data",
    "key",
    "p",
    "param",
    "params",
    "payload",
    "proof",
    "response",
    "resume",
    "string",
    "text",
    "ticket",
    "v",
    "value",
    "values",
    "x",
    "raw",
    "val",
];

/// Where JSON objects and arrays stand in a text.
pub(super) fn fragments(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut at, mut misses) = (Vec::new(), 0, 0);
    while let Some(begin) = text[at..].find(['{', '[']).map(|found| at + found) {
        let mut values =
            serde_json::Deserializer::from_str(&text[begin..]).into_iter::<IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => {
                at = begin + values.byte_offset();
                found.push(begin..at);
            }
            _ if misses == MOST_MISSES => break,
            _ => {
                misses += 1;
                at = begin + 1;
            }
        }
    }
    found
}

/// A value, and where it stands.
enum Node {
    String(Range<usize>),
    Number(Range<usize>),
    Object(Vec<(Range<usize>, Node)>),
    Array(Vec<Node>),
    Other,
}

/// What is known of a value by what is around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    /// It has the name of a secret.
    Named,
    /// It stands where secrets stand.
    Placed,
    /// It belongs to a message that says who the client is.
    Verb,
    Nothing,
}

/// Finds the secrets of the JSON at a place of a text; `into` finds those of a string of it.
pub(super) fn look(
    text: &str,
    at: Range<usize>,
    into: &dyn Fn(&str) -> Vec<Secret>,
    out: &mut Vec<Secret>,
) {
    let before = &text[..at.start];
    let packet = Packet::of(before);
    let is_connect = packet.length() == before.len()
        && packet.digits == "40"
        && (packet.middle.is_empty() || packet.middle.starts_with('/'));
    let word = before.trim_end().rsplit([' ', '\n', '/']).next();
    let around = match () {
        () if is_connect => Around::Placed,
        () if before.ends_with([' ', ':', '\n']) && word.is_some_and(is_verb) => Around::Verb,
        () => Around::Nothing,
    };
    let mut end = at.start;
    let node = node(text, &mut end);
    let mut search = Search { text, into, out };
    search.visit(&node, "value", around);
}

/// Reads the value at `at`, of a text in which it is valid, and leaves `at` behind it.
fn node(text: &str, at: &mut usize) -> Node {
    let bytes = text.as_bytes();
    let skip = |at: &mut usize| {
        while bytes
            .get(*at)
            .is_some_and(|byte| b" \t\r\n,:".contains(byte))
        {
            *at += 1;
        }
    };
    let string = |at: &mut usize| {
        let range = string_at(bytes, *at);
        *at = range.end + 1;
        range
    };
    skip(at);
    match bytes.get(*at) {
        Some(b'"') => Node::String(string(at)),
        Some(b'{') => {
            *at += 1;
            let mut members = Vec::new();
            loop {
                skip(at);
                if bytes.get(*at) != Some(&b'"') {
                    *at += 1;
                    return Node::Object(members);
                }
                let name = string(at);
                members.push((name, node(text, at)));
            }
        }
        Some(b'[') => {
            *at += 1;
            let mut items = Vec::new();
            loop {
                skip(at);
                if matches!(bytes.get(*at), None | Some(b']')) {
                    *at += 1;
                    return Node::Array(items);
                }
                items.push(node(text, at));
            }
        }
        Some(b'-' | b'0'..=b'9') => {
            let begin = *at;
            let is_of_number = |byte: &&u8| b"+-.eE0123456789".contains(byte);
            *at += bytes[begin..].iter().take_while(is_of_number).count();
            Node::Number(begin..*at)
        }
        _ => {
            *at += bytes[(*at).min(bytes.len())..]
                .iter()
                .take_while(|byte| byte.is_ascii_alphabetic())
                .count()
                .max(1);
            Node::Other
        }
    }
}

struct Search<'a> {
    text: &'a str,
    into: &'a dyn Fn(&str) -> Vec<Secret>,
    out: &'a mut Vec<Secret>,
}

impl Search<'_> {
    fn hide(&mut self, range: &Range<usize>, name: &str) {
        self.out.push(Secret {
            range: range.clone(),
            name: name.to_owned(),
        });
    }

    fn visit(&mut self, node: &Node, name: &str, around: Around) {
        match node {
            Node::Other => {}
            Node::Number(range) => {
                if around == Around::Named {
                    self.hide(range, name);
                }
            }
            Node::String(range) if matches!(around, Around::Named | Around::Placed) => {
                self.hide(range, name);
            }
            Node::String(range) => self.visit_string(range, name),
            Node::Array(items) => self.visit_array(items, name, around),
            Node::Object(members) => self.visit_object(members, around),
        }
    }

    fn visit_array(&mut self, items: &[Node], name: &str, around: Around) {
        let text = self.text;
        match items {
            // A name and its value.
            [Node::String(name), value] if is_secret_name(&text[name.clone()]) => {
                return self.visit(value, &text[name.clone()], Around::Named);
            }
            // AUTHENTICATE of WAMP.
            [Node::Number(kind), Node::String(signature), Node::Object(_)]
                if &text[kind.clone()] == "5" =>
            {
                self.hide(signature, "signature");
            }
            _ => {}
        }
        let verb = match items.first() {
            Some(Node::String(range)) => Some(&self.text[range.clone()]).filter(|of| is_verb(of)),
            _ => None,
        };
        let Some(verb) = verb.filter(|_| around == Around::Nothing) else {
            for item in items {
                self.visit(item, name, around);
            }
            return;
        };
        for (at, item) in items.iter().enumerate() {
            let around = match item {
                _ if at == 0 => Around::Nothing,
                Node::Object(_) => Around::Verb,
                _ => Around::Placed,
            };
            self.visit(item, verb, around);
        }
    }

    fn visit_object(&mut self, members: &[(Range<usize>, Node)], around: Around) {
        let text = self.text;
        let says = |is: &dyn Fn(&str) -> bool| {
            members.iter().any(|(name, value)| match value {
                Node::String(value) => {
                    PURPOSES.contains(&&text[name.clone()]) && is(&text[value.clone()])
                }
                _ => false,
            })
        };
        let is_labelled = members.iter().any(|(name, value)| match value {
            Node::String(value) => {
                LABELS.contains(&&text[name.clone()]) && is_secret_name(&text[value.clone()])
            }
            _ => false,
        });
        let has_secret = members.iter().any(|(name, value)| {
            matches!(value, Node::String(_)) && is_secret_name(&text[name.clone()])
        });
        let is_init = says(&|value| value == "connection_init");
        let is_verb = around == Around::Verb || says(&is_verb);
        for (range, value) in members {
            let decoded = Decoded::of(&text[range.clone()]);
            let name = match values::tokens(&decoded.text).is_empty() {
                true => decoded.text.as_str(),
                false => {
                    self.hide(range, "name");
                    "value"
                }
            };
            let is_carrier = CARRIERS.contains(&name);
            let around = match (around, value) {
                (Around::Named | Around::Placed, _) => around,
                _ if is_init && name == "payload" => Around::Placed,
                (_, Node::Object(_)) if is_secret_name(name) && is_of_session(name) => {
                    Around::Nothing
                }
                _ if is_secret_name(name) => Around::Named,
                _ if has_secret && BESIDE.contains(&name) => Around::Named,
                _ if is_labelled && is_carrier && !LABELS.contains(&name) => Around::Named,
                (_, Node::Object(_)) if is_verb => Around::Verb,
                _ if is_verb && is_carrier => Around::Placed,
                _ => Around::Nothing,
            };
            self.visit(value, name, around);
        }
    }

    /// Looks into a string as into a text of its own.
    fn visit_string(&mut self, range: &Range<usize>, name: &str) {
        let decoded = Decoded::of(&self.text[range.clone()]);
        if is_identifier(name) {
            if !values::keys(&decoded.text).is_empty() {
                self.hide(range, name);
            }
            return;
        }
        for secret in (self.into)(&decoded.text) {
            let is_bare = secret.name == "value";
            let begin = range.start + decoded.at[secret.range.start];
            let end = range.start + decoded.at[secret.range.end];
            self.hide(&(begin..end), if is_bare { name } else { &secret.name });
        }
    }
}

/// A string without its escapes, and where each of its bytes stood.
struct Decoded {
    text: String,
    at: Vec<usize>,
}

impl Decoded {
    fn of(raw: &str) -> Self {
        let (mut text, mut at) = (String::new(), Vec::new());
        let mut rest = raw;
        while let Some(letter) = rest.chars().next() {
            let begin = raw.len() - rest.len();
            let length = match letter {
                '\\' => escape(rest, &mut text),
                letter => {
                    text.push(letter);
                    letter.len_utf8()
                }
            };
            at.resize(text.len(), begin);
            rest = rest.get(length..).unwrap_or_default();
        }
        at.push(raw.len());
        Self { text, at }
    }
}

/// Writes what an escape stands for, and gives the length of the escape.
fn escape(rest: &str, out: &mut String) -> usize {
    let length = match rest.as_bytes().get(1) {
        Some(b'u') => {
            let unit = |at: usize| u16::from_str_radix(rest.get(at..at + 4)?, 16).ok();
            let is_pair = unit(2).is_some_and(|unit| (0xD800..0xDC00).contains(&unit))
                && rest.get(6..8) == Some("\\u");
            if is_pair { 12 } else { 6 }
        }
        _ => 2,
    };
    let quoted = format!("\"{}\"", rest.get(..length).unwrap_or(rest));
    let read: String = serde_json::from_str(&quoted).unwrap_or_else(|_| "\u{fffd}".to_owned());
    out.push_str(&read);
    length
}
