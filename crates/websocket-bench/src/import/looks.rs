//! What a message looks like: the part of it that is the same in each session.

use super::conversation::{Conversation, Said};
use super::leaves::{Packet, json_at};
use super::purposes::says_kind;
use super::secrets::{is_like_token, secrets};
use super::variables::Known;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hasher as _};

/// Largest integer that says what a message is: a number of a kind, and no time or amount.
const LARGEST_TAG: i64 = 99_999;
/// Longest such value, and longest text that is recognised as a whole, in bytes.
const LONGEST_TAG: usize = 64;
/// Bytes of a longer text by which it is recognised at most.
const LONGEST_HEAD: usize = 256;
/// Most conditions of a rule, of the 16 that a rule may have.
const MOST_CONDITIONS: usize = 12;
/// More different values than that say which message it is, and not of which kind.
const MOST_NUMBERS: usize = 32;
const MOST_NUMBERED: usize = 8;
/// Shortest beginning that two texts of different connections have in common, in bytes.
const SHORTEST_HEAD: usize = 3;

/// What a message looks like.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Look {
    /// This text.
    Text(String),
    /// It begins with this text.
    Head(String),
    /// It ends with this text.
    Tail(String),
    /// JSON behind a prefix, by pointer.
    Json(String, Vec<(String, Held)>),
    /// It is not told from others.
    Other,
}

/// What holds at a pointer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Held {
    Text(String),
    Integer(i64),
    OfType(&'static str),
}

impl Look {
    /// The place of its rule among those of others: what asks for more comes first, since the first rule
    /// that matches decides.
    pub(super) fn rank(&self) -> (u8, std::cmp::Reverse<usize>) {
        let (kind, most) = match self {
            Self::Text(text) => (0, text.len()),
            Self::Json(_, held) => (1, held.len()),
            Self::Head(text) => (2, text.len()),
            Self::Tail(text) => (3, text.len()),
            Self::Other => (4, 0),
        };
        (kind, std::cmp::Reverse(most))
    }

    /// True where a message of the other look, which is this one's text, is one of this look too.
    pub(super) fn covers(&self, other: &Self, text: &str) -> bool {
        match (self, other) {
            (Self::Text(own), _) => own == text,
            (Self::Head(head), _) => text.starts_with(head.as_str()),
            (Self::Tail(tail), _) => text.ends_with(tail.as_str()),
            (Self::Json(prefix, held), Self::Json(theirs, all)) => {
                prefix == theirs && held.iter().all(|one| all.contains(one))
            }
            (Self::Json(..) | Self::Other, _) => false,
        }
    }
}

/// A message of which all of that holds. It repeats nothing of the server's but tags.
pub(super) fn example(held: &[(String, Held)]) -> serde_json::Value {
    use serde_json::{Map, Value};
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

/// How the messages of a conversation are looked at: what differs among them is left out of a look.
#[derive(Default)]
pub(super) struct Sight<'c> {
    is_engine_io: bool,
    /// Hashes of texts without the words that have digits, of which there are several.
    numbered: HashSet<u64>,
    /// Hashes of what stands before a tag, its pointer, and its value without digits, where it tells one
    /// message from the next.
    varied: HashSet<u64>,
    /// What the server says on other connections to the same place.
    elsewhere: Vec<&'c str>,
    known: Option<&'c Known>,
}

impl<'c> Sight<'c> {
    pub(super) fn new(
        conversation: &Conversation<'_>,
        others: &[Conversation<'c>],
        known: &'c Known,
    ) -> Self {
        let mut sight = Self {
            is_engine_io: conversation.is_engine_io,
            known: Some(known),
            ..Self::default()
        };
        let elsewhere = others.iter().flat_map(Conversation::heard);
        let texts = elsewhere
            .map(|said| said.text)
            .filter(|text| text.len() <= LONGEST_TAG && json_at(text).is_none());
        sight.elsewhere = texts.collect();
        sight.elsewhere.sort_unstable();
        sight.elsewhere.dedup();
        sight.find_numbers(conversation);
        sight.find_numbered_tags(conversation);
        sight
    }

    fn find_numbers(&mut self, conversation: &Conversation<'_>) {
        let mut first: HashMap<u64, u64> = HashMap::new();
        for said in &conversation.said {
            if let Some(shape) = numbered_shape(said.text) {
                let text = hash(&said.text);
                if *first.entry(shape).or_insert(text) != text {
                    self.numbered.insert(shape);
                }
            }
        }
    }

    fn find_numbered_tags(&mut self, conversation: &Conversation<'_>) {
        let mut known = HashSet::new();
        let mut counts: HashMap<u64, usize> = HashMap::new();
        for said in &conversation.said {
            let Some(at) = json_at(said.text) else {
                continue;
            };
            let prefix = self.prefix(said.text);
            for (pointer, tag) in top_level(&said.text[at..]).tags() {
                let key = tag_key(&prefix, &pointer, &tag);
                if known.insert(hash(&(key, &tag))) {
                    *counts.entry(key).or_default() += 1;
                }
            }
        }
        counts.retain(|key, count| {
            let most = if key % 2 == 0 {
                MOST_NUMBERED
            } else {
                MOST_NUMBERS
            };
            *count > most
        });
        self.varied = counts.into_keys().collect();
    }

    /// What a message looks like.
    pub(super) fn look(&self, said: &Said<'_>) -> Look {
        match json_at(said.text) {
            Some(at) => self.look_of_json(said, at),
            None => self.look_of_text(said.text),
        }
    }

    /// What stands before the JSON of a message, without the number of an acknowledgement.
    fn prefix(&self, text: &str) -> String {
        let packet = Packet::new(text);
        // Of a packet with attachments the digits behind the type are their count.
        let digits = match self.is_engine_io && !packet.middle.starts_with('-') {
            true => &packet.digits[..packet.digits.len().min(2)],
            false => packet.digits,
        };
        format!("{digits}{}", packet.middle)
    }

    fn look_of_json(&self, said: &Said<'_>, at: usize) -> Look {
        let prefix = self.prefix(said.text);
        // The number of an acknowledgement is another each time. Where the client asks for one, the event
        // says what it asks for.
        if self.is_engine_io && prefix.len() < at && !said.is_sent {
            return Look::Head(prefix);
        }
        let mut held = top_level(&said.text[at..]).held();
        for (pointer, held) in &mut held {
            let is_varied = || self.varied.contains(&tag_key(&prefix, pointer, held));
            let name = type_of(held);
            if !matches!(held, Held::OfType(_)) && (is_varied() || self.hides(held)) {
                *held = Held::OfType(name);
            }
        }
        held.retain(|(pointer, _)| !is_like_token(pointer) && !self.is_known(pointer));
        // What says most comes first, so that the rest may be cut off.
        held.sort_by_key(|(pointer, held)| !pointer.is_empty() && matches!(held, Held::OfType(_)));
        held.truncate(MOST_CONDITIONS);
        Look::Json(prefix, held)
    }

    fn hides(&self, tag: &Held) -> bool {
        match tag {
            Held::Text(text) => {
                is_like_token(text) || self.is_known(text) || !secrets(text).is_empty()
            }
            Held::Integer(_) | Held::OfType(_) => false,
        }
    }

    fn is_known(&self, text: &str) -> bool {
        self.known
            .is_some_and(|known| known.first_in(text).is_some())
    }

    fn look_of_text(&self, text: &str) -> Look {
        let head = &text[..boundary(text, LONGEST_HEAD)];
        let lines = head.find('\n').map(|at| (at + 1, head.len()));
        let long = (text.len() > LONGEST_TAG).then(|| {
            let at = boundary(text, LONGEST_TAG);
            (at, head.len())
        });
        let hidden = secrets(head);
        let hidden = hidden.first().zip(hidden.last());
        let hidden = hidden.map(|(first, last)| (first.range.start, last.range.end));
        let known = self.known.and_then(|known| known.first_in(head));
        let numbered = numbered_shape(text).filter(|shape| self.numbered.contains(shape));
        let numbers = numbered.and_then(|_| numbers_in(text));
        let holes = [
            lines,
            long,
            hidden,
            known,
            numbers,
            self.differs_elsewhere(text),
        ];
        let holes = holes.into_iter().flatten();
        let (Some(begin), Some(end)) = (
            holes.clone().map(|(begin, _)| begin).min(),
            holes.map(|(_, end)| end).max(),
        ) else {
            return match text.is_empty() {
                true => Look::Other,
                false => Look::Text(text.to_owned()),
            };
        };
        let says = |part: &str| part.chars().any(char::is_alphanumeric);
        match (&text[..begin], &text[end..]) {
            (before, _) if says(before) => Look::Head(before.to_owned()),
            (_, after) if says(after) && after.len() <= LONGEST_TAG => Look::Tail(after.to_owned()),
            _ if hidden.is_none() && known.is_none() && text.len() <= LONGEST_TAG => {
                Look::Text(text.to_owned())
            }
            _ => Look::Other,
        }
    }

    /// Where a text differs from the nearest that is said on other connections, if none says it.
    fn differs_elsewhere(&self, text: &str) -> Option<(usize, usize)> {
        let at = self.elsewhere.binary_search(&text).err()?;
        let near = [at.checked_sub(1), Some(at)];
        let near = near
            .into_iter()
            .flatten()
            .filter_map(|at| self.elsewhere.get(at));
        let common = |other: &&str| {
            let pairs = text.char_indices().zip(other.chars());
            let mut differ = pairs.filter(|((_, one), other)| one != other);
            differ.next().map_or(text.len(), |((at, _), _)| at)
        };
        let common = near.map(common).max()?;
        // The word that differs does so as a whole.
        let word = text[..common]
            .char_indices()
            .rfind(|(_, c)| !c.is_alphanumeric())
            .map_or(0, |(at, c)| at + c.len_utf8());
        (word >= SHORTEST_HEAD).then_some((word, text.len()))
    }
}

fn hash(of: &impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// The key of a tag among those that look alike; even of texts, odd of numbers.
fn tag_key(prefix: &str, pointer: &str, tag: &Held) -> u64 {
    match tag {
        Held::Text(text) => {
            let bare: String = text.chars().filter(|c| !c.is_ascii_digit()).collect();
            hash(&(prefix, pointer, bare)) & !1
        }
        _ => hash(&(prefix, pointer)) | 1,
    }
}

/// The last place within so many bytes at which a text may be cut.
fn boundary(text: &str, most: usize) -> usize {
    let places = (0..=most.min(text.len())).rev();
    places
        .into_iter()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

/// The hash of a text without its words that have digits; `None` where it has none or nothing else.
fn numbered_shape(text: &str) -> Option<u64> {
    if text.len() > LONGEST_TAG {
        return None;
    }
    let (begin, end) = numbers_in(text)?;
    let (before, after) = (&text[..begin], &text[end..]);
    let says = |part: &str| part.chars().any(char::is_alphanumeric);
    (says(before) || says(after)).then(|| hash(&(before, after)))
}

/// From the first word with a digit to the end of the last.
fn numbers_in(text: &str) -> Option<(usize, usize)> {
    let is_of_word = |c: char| c.is_alphanumeric() || "_-".contains(c);
    let first = text.find(|c: char| c.is_ascii_digit())?;
    let last = text.rfind(|c: char| c.is_ascii_digit())?;
    let begin = text[..first].trim_end_matches(is_of_word).len();
    let rest = &text[last..];
    let end = last + rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
    Some((begin, end))
}

/// What stands at the top of a JSON text, as far as a look needs it.
enum Top {
    Object {
        tags: BTreeMap<String, Held>,
        others: BTreeMap<String, &'static str>,
    },
    Array(Held),
    Neither,
}

impl Top {
    fn held(self) -> Vec<(String, Held)> {
        match self {
            Self::Object { tags, others } => {
                let others = others.into_iter();
                let others = others.map(|(name, of)| (pointer(&name), Held::OfType(of)));
                let tags = tags.into_iter().map(|(name, of)| (pointer(&name), of));
                tags.chain(others).collect()
            }
            // Of an array, as Socket.IO has it, the first item says what it is.
            Self::Array(first) => vec![
                (String::new(), Held::OfType("array")),
                ("/0".to_owned(), first),
            ],
            Self::Neither => Vec::new(),
        }
    }

    fn tags(self) -> impl Iterator<Item = (String, Held)> {
        let held = self.held().into_iter();
        held.filter(|(_, held)| !matches!(held, Held::OfType(_)))
    }
}

fn pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn top_level(text: &str) -> Top {
    serde_json::from_str(text).unwrap_or(Top::Neither)
}

impl<'de> Deserialize<'de> for Top {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(OfTop)
    }
}

struct OfTop;

impl<'de> Visitor<'de> for OfTop {
    type Value = Top;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Top, A::Error> {
        let first = items.next_element::<Item>()?;
        while items.next_element::<IgnoredAny>()?.is_some() {}
        let first = first.map_or(Held::OfType("absent"), |item| item.0);
        Ok(Top::Array(first))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Top, A::Error> {
        let (mut tags, mut others) = (BTreeMap::new(), BTreeMap::new());
        while let Some(name) = fields.next_key::<String>()? {
            let Item(held) = fields.next_value()?;
            let is_tag = says_kind(&name);
            match held {
                Held::Text(_) | Held::Integer(_) if is_tag => {
                    tags.insert(name, held);
                }
                held => {
                    others.insert(name, type_of(&held));
                }
            }
            // The first by name are kept, so that what is kept does not depend on their order.
            if others.len() > MOST_CONDITIONS {
                others.pop_last();
            }
        }
        Ok(Top::Object { tags, others })
    }
}

fn type_of(held: &Held) -> &'static str {
    match held {
        Held::Text(_) => "string",
        Held::Integer(_) => "number",
        Held::OfType(name) => name,
    }
}

/// A value: itself where it may say what a message is, else its type.
struct Item(Held);

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(OfItem)
    }
}

struct OfItem;

impl<'de> Visitor<'de> for OfItem {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Item, E> {
        Ok(Item(Held::OfType("null")))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Item, E> {
        Ok(Item(Held::OfType("boolean")))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Item, E> {
        let integer = i64::try_from(number).ok().filter(|of| *of <= LARGEST_TAG);
        Ok(Item(integer.map_or(Held::OfType("number"), Held::Integer)))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Item, E> {
        Ok(Item(Held::OfType("number")))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Item, E> {
        Ok(Item(Held::OfType("number")))
    }

    fn visit_str<E>(self, text: &str) -> Result<Item, E> {
        let is_of_word = |c: char| c.is_ascii_alphanumeric() || "_.:/-".contains(c);
        let is_word = (1..=LONGEST_TAG).contains(&text.len()) && text.chars().all(is_of_word);
        Ok(Item(match is_word {
            true => Held::Text(text.to_owned()),
            false => Held::OfType("string"),
        }))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Item, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Item(Held::OfType("array")))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Item, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Item(Held::OfType("object")))
    }
}
