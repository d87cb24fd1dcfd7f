//! Reads from a JSON message the values at the pointers that rules name.
//!
//! It takes one pass over the message. Values that no pointer leads to are checked for their syntax and
//! dropped, so that a message costs one parse, and memory only for the values that rules name.

use super::Malformed;
use super::error::DialectError;
use plan::JsonType;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Most names and indices in a pointer. The parser goes 128 values deep (serde_json).
const MOST_DEPTH: usize = 32;
/// Most characters of a pointer that are shown.
const SHOWN: usize = 40;

/// The pointers of a dialect.
#[derive(Debug, Default)]
pub(super) struct Pointers {
    root: Node,
    count: usize,
}

/// The number of a pointer among those of its dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PointerId(usize);

#[derive(Debug, Default)]
struct Node {
    id: Option<usize>,
    /// The value is wanted with all that is in it.
    whole: bool,
    children: Vec<(String, Self)>,
}

/// A value that a pointer leads to.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) kind: JsonType,
    /// Elements of an array, names of an object.
    pub(super) length: usize,
    /// The value; of an array or object only where all of it is wanted.
    pub(super) value: Value,
    /// An object in it has a name twice.
    pub(super) repeats: bool,
}

/// What the pointers lead to in one message.
#[derive(Debug)]
pub(super) struct Values(Vec<Option<Seen>>);

impl Values {
    pub(super) fn get(&self, id: PointerId) -> Option<&Seen> {
        self.0.get(id.0)?.as_ref()
    }

    /// The string that a pointer leads to.
    pub(super) fn text(&self, id: PointerId) -> Option<&str> {
        self.get(id)?.value.as_str()
    }
}

impl Pointers {
    /// Has what a pointer leads to kept; with all that is in it when it is wanted `whole`.
    ///
    /// # Errors
    /// What is wrong with the pointer.
    pub(super) fn add(&mut self, pointer: &str, whole: bool) -> Result<PointerId, NoPointer> {
        let mut node = &mut self.root;
        for name in names(pointer)? {
            let at = node.children.iter().position(|(known, _)| *known == name);
            let at = at.unwrap_or_else(|| {
                node.children.push((name, Node::default()));
                node.children.len() - 1
            });
            node = &mut node.children[at].1;
        }
        node.whole |= whole;
        let id = *node.id.get_or_insert(self.count);
        self.count = self.count.max(id + 1);
        Ok(PointerId(id))
    }

    /// Parses a message.
    ///
    /// # Errors
    /// A message that is not JSON, or that has a name of a pointer twice.
    pub(super) fn find(&self, message: &str) -> Result<Values, Malformed> {
        let mut values = Values((0..self.count).map(|_| None).collect());
        let mut parser = serde_json::Deserializer::from_str(message);
        let seed = Find {
            node: &self.root,
            values: &mut values,
        };
        seed.deserialize(&mut parser)
            .and_then(|()| parser.end())
            .map_err(malformed)?;
        Ok(values)
    }
}

/// Parses a value whole; the second is true when an object in it has a name twice.
///
/// # Errors
/// A text that is not JSON.
pub(super) fn parse_whole(text: &str) -> Result<(Value, bool), Malformed> {
    let mut repeats = false;
    let mut parser = serde_json::Deserializer::from_str(text);
    let value = Whole(&mut repeats)
        .deserialize(&mut parser)
        .and_then(|value| parser.end().map(|()| value))
        .map_err(malformed)?;
    Ok((value, repeats))
}

fn malformed(error: serde_json::Error) -> Malformed {
    Malformed(if error.is_data() {
        error.to_string()
    } else {
        "not JSON".to_owned()
    })
}

/// A text that is no pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoPointer {
    #[error("is no JSON pointer, which begins with `/`")]
    NoSlash,
    #[error("has a `~` that is not `~0` for itself or `~1` for `/`")]
    Tilde,
    #[error("is deeper than {MOST_DEPTH} names")]
    Deep,
}

/// The names of a pointer, unescaped (RFC 6901, 4).
fn names(pointer: &str) -> Result<Vec<String>, NoPointer> {
    if pointer.is_empty() {
        return Ok(Vec::new());
    }
    let Some(names) = pointer.strip_prefix('/') else {
        return Err(NoPointer::NoSlash);
    };
    let names: Vec<String> = names
        .split('/')
        .map(|name| {
            let rest = name.replace("~0", "").replace("~1", "");
            match rest.contains('~') {
                true => Err(NoPointer::Tilde),
                false => Ok(name.replace("~1", "/").replace("~0", "~")),
            }
        })
        .collect::<Result<_, _>>()?;
    match names.len() > MOST_DEPTH {
        true => Err(NoPointer::Deep),
        false => Ok(names),
    }
}

impl Node {
    fn keep(&self, values: &mut Values, seen: impl FnOnce() -> Seen) {
        if let Some(id) = self.id {
            values.0[id] = Some(seen());
        }
    }

    /// Keeps what is wanted of a value that was parsed whole.
    fn keep_within(&self, value: &Value, repeats: bool, values: &mut Values) {
        for (name, node) in &self.children {
            let found = match value {
                Value::Object(map) => map.get(name),
                Value::Array(elements) => index(name).and_then(|index| elements.get(index)),
                _ => None,
            };
            if let Some(found) = found {
                node.keep(values, || Seen::new(found.clone(), repeats));
                node.keep_within(found, repeats, values);
            }
        }
    }
}

/// The index that a name is (RFC 6901, 4): without leading zeros.
fn index(name: &str) -> Option<usize> {
    let is_canonical = name == "0" || !name.starts_with(['0', '+']);
    name.parse().ok().filter(|_| is_canonical)
}

impl Seen {
    fn new(value: Value, repeats: bool) -> Self {
        let (kind, length) = match &value {
            Value::Null => (JsonType::Null, 0),
            Value::Bool(_) => (JsonType::Boolean, 0),
            Value::Number(_) => (JsonType::Number, 0),
            Value::String(_) => (JsonType::String, 0),
            Value::Array(elements) => (JsonType::Array, elements.len()),
            Value::Object(map) => (JsonType::Object, map.len()),
        };
        Self {
            kind,
            length,
            value,
            repeats,
        }
    }

    const fn container(kind: JsonType, length: usize) -> Self {
        Self {
            kind,
            length,
            value: Value::Null,
            repeats: false,
        }
    }
}

struct Find<'a> {
    node: &'a Node,
    values: &'a mut Values,
}

impl Find<'_> {
    fn scalar<E>(self, value: Value) -> Result<(), E> {
        self.node.keep(self.values, || Seen::new(value, false));
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Find<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if !self.node.whole {
            return deserializer.deserialize_any(self);
        }
        let mut repeats = false;
        let value = Whole(&mut repeats).deserialize(deserializer)?;
        self.node.keep_within(&value, repeats, self.values);
        self.node.keep(self.values, || Seen::new(value, repeats));
        Ok(())
    }
}

impl<'de> Visitor<'de> for Find<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.scalar(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.scalar(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.scalar(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.scalar(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.scalar(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.scalar(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let children = self.node.children.iter();
        let mut wanted: Vec<_> = children
            .filter_map(|(name, node)| Some((index(name)?, node)))
            .collect();
        wanted.sort_unstable_by_key(|(index, _)| *index);
        let mut wanted = wanted.into_iter().peekable();
        let mut length = 0;
        loop {
            let more = match wanted.next_if(|(index, _)| *index == length) {
                Some((_, node)) => {
                    let values = &mut *self.values;
                    elements.next_element_seed(Find { node, values })?.is_some()
                }
                None => elements.next_element::<IgnoredAny>()?.is_some(),
            };
            if !more {
                break;
            }
            length += 1;
        }
        self.node
            .keep(self.values, || Seen::container(JsonType::Array, length));
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut length = 0;
        let mut met = vec![false; self.node.children.len()];
        while let Some(name) = map.next_key::<String>()? {
            length += 1;
            let mut children = self.node.children.iter();
            let Some(at) = children.position(|(known, _)| *known == name) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if std::mem::replace(&mut met[at], true) {
                return Err(A::Error::custom(format_args!(
                    "the name `{name}` stands twice"
                )));
            }
            let (node, values) = (&self.node.children[at].1, &mut *self.values);
            map.next_value_seed(Find { node, values })?;
        }
        self.node
            .keep(self.values, || Seen::container(JsonType::Object, length));
        Ok(())
    }
}

/// Parses a value whole and notes whether an object in it has a name twice.
struct Whole<'a>(&'a mut bool);

impl<'de> DeserializeSeed<'de> for Whole<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Whole<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(element) = elements.next_element_seed(Whole(&mut *self.0))? {
            array.push(element);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let value = map.next_value_seed(Whole(&mut *self.0))?;
            *self.0 |= object.insert(name, value).is_some();
        }
        Ok(object.into())
    }
}

/// The number of a pointer of a file.
pub(super) fn pointer(
    key: &str,
    pointer: &str,
    whole: bool,
    pointers: &mut Pointers,
) -> Result<PointerId, DialectError> {
    pointers.add(pointer, whole).map_err(|problem| {
        let shown: String = pointer.chars().take(SHOWN).collect();
        DialectError::unfit(
            key,
            format!("has `{shown}`, which {problem}"),
            "write one like `/payload/body` or `/3` (RFC 6901)",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn json() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a0/~\"]{0,3}".prop_map(Value::from),
        ];
        scalar.prop_recursive(4, 30, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a01/~]{0,2}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Law: a pointer leads to what RFC 6901 says, as serde_json implements it.
        #[test]
        fn pointers_lead_to_the_same_value_as_in_a_whole_parse(
            value in json(),
            pointers in prop::collection::vec(("(/([a01]|~0|~1){0,2}){0,3}", any::<bool>()), 1..5),
        ) {
            let mut wanted = Pointers::default();
            let ids: Vec<_> = pointers
                .iter()
                .map(|(pointer, whole)| wanted.add(pointer, *whole).unwrap())
                .collect();
            let values = wanted.find(&value.to_string()).unwrap();
            for ((pointer, whole), id) in pointers.iter().zip(ids) {
                let (Some(expected), Some(seen)) = (value.pointer(pointer), values.get(id)) else {
                    prop_assert!(value.pointer(pointer).is_none());
                    prop_assert!(values.get(id).is_none());
                    continue;
                };
                let full = Seen::new(expected.clone(), false);
                prop_assert_eq!((seen.kind, seen.length), (full.kind, full.length));
                if *whole || !(expected.is_array() || expected.is_object()) {
                    prop_assert_eq!(&seen.value, expected);
                }
            }
        }
    }

    #[test]
    fn names_that_stand_twice_are_noticed() {
        let mut wanted = Pointers::default();
        let payload = wanted.add("/payload", true).unwrap();
        let twice = wanted.find(r#"{"payload":1,"payload":2}"#).unwrap_err();
        assert!(
            twice.0.starts_with("the name `payload` stands twice"),
            "{}",
            twice.0
        );
        let within = wanted
            .find(r#"{"payload":[{"a":1,"a":1}],"b":1,"b":2}"#)
            .unwrap();
        assert!(within.get(payload).unwrap().repeats);
        let once = wanted.find(r#"{"payload":[{"a":1},{"a":1}]}"#).unwrap();
        assert!(!once.get(payload).unwrap().repeats);
    }

    #[test]
    fn what_is_not_json_says_so() {
        let wanted = Pointers::default();
        for text in ["", "{", "[1,]", "1 2", "{\"a\":}", &"[".repeat(10_000)] {
            assert_eq!(wanted.find(text).unwrap_err().0, "not JSON", "{text}");
        }
    }

    #[test]
    fn bad_pointers_are_refused() {
        let refused = |pointer: &str| Pointers::default().add(pointer, false).unwrap_err();
        assert_eq!(refused("payload"), NoPointer::NoSlash);
        assert_eq!(refused("/a~2"), NoPointer::Tilde);
        assert_eq!(refused("/a~"), NoPointer::Tilde);
        assert_eq!(refused(&"/a".repeat(33)), NoPointer::Deep);
    }
}
