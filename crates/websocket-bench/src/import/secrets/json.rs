//! The secrets of JSON: by the names around them, by what the message is for, and within its strings.

use super::super::leaves::{Packet, string_at};
use super::super::purposes::says_purpose;
use super::commands;
use super::escaped::Decoded;
use super::names::{
    is_entrance, is_entrance_key, is_identifier, is_of_client, is_of_session, is_open,
    is_secret_name, is_user, is_verb, may_be_secret,
};
use super::places;
use super::secret::Secret;
use super::values;
use serde::de::IgnoredAny;
use std::ops::Range;

/// Most texts behind a brace or a bracket that are no JSON.
const MOST_MISSES: usize = 16;
/// Fields that hold the name of another.
const LABELS: [&str; 10] = [
    "field", "header", "id", "k", "key", "label", "n", "name", "param", "property",
];
/// Fields that hold a command and what stands behind it.
const COMMANDS: [&str; 6] = ["cmd", "command", "exec", "input", "line", "stdin"];
/// Fields that hold the names of columns.
const COLUMNS: [&str; 7] = [
    "columns", "cols", "fields", "header", "headers", "keys", "names",
];
/// Keys of keyboards (UI Events, 3.5) of more than one letter begin so.
const OF_KEYBOARD: [&str; 14] = [
    "Alt",
    "Arrow",
    "Backspace",
    "Control",
    "Delete",
    "Digit",
    "End",
    "Enter",
    "Escape",
    "Home",
    "Meta",
    "Page",
    "Shift",
    "Tab",
];
/// Common names. Their values are secrets only if the object has another field with a secret.
const BESIDE: [&str; 3] = ["code", "key", "static"];
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
    while let Some(begin) = text[at..].find(['{', '[', '"']).map(|found| at + found) {
        // Of strings only one that holds JSON is looked for.
        let behind = text[begin..].strip_prefix('"');
        if behind.is_some_and(|behind| !behind.trim_start().starts_with(['{', '['])) {
            at = begin + 1;
            continue;
        }
        let mut values =
            serde_json::Deserializer::from_str(&text[begin..]).into_iter::<IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => {
                at = begin + values.byte_offset();
                // `a[1]` is a part of a text.
                if text[begin..at].contains('"') {
                    found.push(begin..at);
                }
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
    // Engine.IO 3 writes the length before a packet.
    let numbered = before.split_once(':');
    let numbered = numbered.filter(|(length, _)| length.bytes().all(|byte| byte.is_ascii_digit()));
    let own = numbered.map_or(before, |(_, own)| own);
    let packet = Packet::new(own);
    let is_connect = packet.length() == own.len()
        && packet.digits == "40"
        && (packet.middle.is_empty() || packet.middle.starts_with('/'));
    let word = before.trim_end().rsplit([' ', '\n', '/']).next();
    let around = match () {
        () if is_connect => Around::Placed,
        () if is_named(before) => Around::Named,
        () if before.ends_with([' ', ':', '\n']) && word.is_some_and(is_verb) => Around::Verb,
        () => Around::Nothing,
    };
    let mut end = at.start;
    let node = node(text, &mut end);
    let mut search = Search { text, into, out };
    // Nothing else says what it is.
    if let Node::Object(members) = &node
        && let [(name, Node::String(value))] = &members[..]
        && &text[name.clone()] == "key"
        && !is_of_keyboard(&text[value.clone()])
    {
        search.hide(value, "key");
    }
    search.visit(&node, "value", around);
}

/// True of a text that ends with the name of a secret and a sign behind it: `tokens: `, `"token":`.
fn is_named(before: &str) -> bool {
    let name = before.trim_end().strip_suffix([':', '=']);
    let name = name.map_or("", |name| name.trim_end().trim_end_matches(['"', '\'']));
    let is_of_name = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    is_secret_name(&name[name.trim_end_matches(is_of_name).len()..])
}

fn is_of_keyboard(text: &str) -> bool {
    text.chars().count() < 2
        || text.starts_with('F') && text[1..].bytes().all(|byte| byte.is_ascii_digit())
        || OF_KEYBOARD.iter().any(|key| text.starts_with(key))
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

impl<'a> Search<'a> {
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
            Node::Array(items) => {
                let items: Vec<&Node> = items.iter().collect();
                self.visit_array(&items, name, around);
            }
            Node::Object(members) => self.visit_object(members, around),
        }
    }

    fn visit_array(&mut self, items: &[&Node], name: &str, around: Around) {
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
        for (at, name) in self.hidden_items(items) {
            self.visit(items[at], name, Around::Named);
        }
        // First, or behind numbers with the parameters behind it.
        let verb = items.iter().enumerate().find_map(|(at, item)| match item {
            Node::String(range) => {
                let says = &text[range.clone()];
                let next = items.get(at + 1);
                let has_parameters = matches!(next, Some(Node::Object(_) | Node::Array(_)));
                (is_verb(says) && (at == 0 || has_parameters)).then_some((at, says))
            }
            _ => None,
        });
        let Some((place, verb)) = verb.filter(|_| around == Around::Nothing) else {
            for item in items {
                self.visit(item, name, around);
            }
            return;
        };
        for (at, item) in items.iter().enumerate() {
            let around = match item {
                _ if at <= place => Around::Nothing,
                Node::Object(_) => Around::Verb,
                _ => Around::Placed,
            };
            self.visit(item, verb, around);
        }
    }

    /// Items behind the name of a secret, in a list of names and values or of a program's arguments.
    fn hidden_items(&self, items: &[&Node]) -> Vec<(usize, &'a str)> {
        let text = self.text;
        let strings = items.iter().map(|item| match item {
            Node::String(range) => &text[range.clone()],
            _ => "",
        });
        let strings: Vec<&str> = strings.collect();
        let pairs = strings.windows(2).enumerate();
        let pairs = pairs.filter(|(_, pair)| {
            strings.len() > 3 && is_secret_name(pair[0]) && !values::is_word(pair[1])
        });
        let pairs = pairs.map(|(at, pair)| (at + 1, pair[0]));
        let arguments = commands::of_arguments(&strings).into_iter();
        let arguments = arguments.map(|at| (at, "argument"));
        let placed = places::of_words(&strings).into_iter();
        let placed = placed.map(|at| (at, "value"));
        pairs.chain(arguments).chain(placed).collect()
    }

    /// Hides the values that stand where a list beside them has the name of a secret.
    fn visit_columns(&mut self, members: &[(Range<usize>, Node)]) {
        let text = self.text;
        let columns = members.iter().find_map(|(name, value)| match value {
            Node::Array(items) if COLUMNS.contains(&&text[name.clone()]) => Some((name, items)),
            _ => None,
        });
        let Some((own, columns)) = columns else {
            return;
        };
        for (at, column) in columns.iter().enumerate() {
            let Node::String(column) = column else {
                continue;
            };
            let column = &text[column.clone()];
            let others = members.iter().filter(|(name, _)| name != own);
            for (_, value) in others.filter(|_| is_secret_name(column)) {
                let Node::Array(rows) = value else {
                    continue;
                };
                if rows.len() == columns.len() {
                    self.visit(&rows[at], column, Around::Named);
                }
                for row in rows {
                    match row {
                        Node::Array(row) if row.len() == columns.len() => {
                            self.visit(&row[at], column, Around::Named);
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    fn visit_object(&mut self, members: &[(Range<usize>, Node)], around: Around) {
        let text = self.text;
        let is_number =
            |name: &Range<usize>| text[name.clone()].bytes().all(|b| b.is_ascii_digit());
        if !members.is_empty() && members.iter().all(|(name, _)| is_number(name)) {
            let items: Vec<&Node> = members.iter().map(|(_, value)| value).collect();
            let around = if around == Around::Verb {
                Around::Placed
            } else {
                around
            };
            return self.visit_array(&items, "value", around);
        }
        self.visit_columns(members);
        let says = |is: &dyn Fn(&str) -> bool| {
            members.iter().any(|(name, value)| match value {
                Node::String(value) => {
                    says_purpose(&text[name.clone()]) && is(&text[value.clone()])
                }
                _ => false,
            })
        };
        let is_labelled = members.iter().any(|(name, value)| match value {
            Node::String(value) => {
                let (name, value) = (&text[name.clone()], &text[value.clone()]);
                let field = value.rsplit('/').next().unwrap_or(value);
                LABELS.contains(&name) && is_secret_name(value)
                    || name == "path" && is_secret_name(field)
            }
            _ => false,
        });
        let has_secret = members.iter().any(|(name, value)| {
            matches!(value, Node::String(_)) && is_secret_name(&text[name.clone()])
        });
        let has_user = members
            .iter()
            .any(|(name, value)| matches!(value, Node::String(_)) && is_user(&text[name.clone()]));
        let is_init = says(&|value| value == "connection_init");
        let calls = |range: &Range<usize>| {
            let words = text[range.clone()].split('(').rev().skip(1);
            let last = |part: &'a str| part.rsplit(|c: char| !c.is_alphanumeric()).next();
            words.filter_map(last).any(is_verb)
        };
        let is_query = members.iter().any(|(name, value)| match value {
            Node::String(value) => &text[name.clone()] == "query" && calls(value),
            _ => false,
        });
        let says_verb = says(&is_verb);
        let says_who = around == Around::Verb || is_query || says_verb;
        let comes_in = says(&is_entrance);
        for (range, value) in members {
            let decoded = Decoded::of_json(&text[range.clone()]);
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
                (_, Node::Object(_)) if says_who || is_verb(name) => Around::Verb,
                (_, Node::Array(_)) if is_verb(name) => Around::Placed,
                _ if says_who && is_carrier => Around::Placed,
                (_, Node::String(value)) => {
                    let value = &text[value.clone()];
                    let is_word = || values::is_word(value);
                    match name {
                        "p" if has_user && !is_word() => Around::Named,
                        "key" | "Key" | "KEY" if values::is_mixed(value) => Around::Named,
                        _ if members.len() == 1 && is_verb(name) && !is_word() => Around::Placed,
                        _ if comes_in && is_entrance_key(name) => Around::Named,
                        _ if may_be_secret(name) && !is_word() => Around::Named,
                        // Where the purpose is said outside of it, a field of that name says none.
                        _ if says_who
                            && !(says_verb && says_purpose(name) || is_open(name) || is_word()) =>
                        {
                            Around::Placed
                        }
                        _ => Around::Nothing,
                    }
                }
                _ => Around::Nothing,
            };
            if let Node::String(value) = value
                && COMMANDS.contains(&name)
                && let Some((verb, rest)) = text[value.clone()].split_once(' ')
                && is_verb(verb)
            {
                self.hide(&(value.end - rest.len()..value.end), verb);
            }
            self.visit(value, name, around);
        }
    }

    /// Looks into a string as into a text of its own.
    fn visit_string(&mut self, range: &Range<usize>, name: &str) {
        let decoded = Decoded::of_json(&self.text[range.clone()]);
        if is_identifier(name) {
            let is_random = is_of_client(name) && !values::tokens(&decoded.text).is_empty();
            if is_random || !values::keys(&decoded.text).is_empty() {
                self.hide(range, name);
            }
            return;
        }
        for secret in (self.into)(&decoded.text) {
            let is_bare = secret.name == "value";
            let place = decoded.place(&secret.range);
            let place = range.start + place.start..range.start + place.end;
            self.hide(&place, if is_bare { name } else { &secret.name });
        }
    }
}
