//! Values of a file that many programs write: what is of another type than expected is no error.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// Longest text that is kept, in bytes: the longest message of a server that a plan permits.
pub(super) const LONGEST_TEXT: usize = 8 << 20;

/// A value.
#[derive(Debug, Default)]
pub(super) enum Loose {
    #[default]
    Null,
    Number(f64),
    Text(String),
    /// A text of more than [`LONGEST_TEXT`], and its length in bytes.
    Long(usize),
    Other,
}

impl Loose {
    /// The length of the text in bytes; 0 where it is none.
    pub(super) fn length(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Long(length) => *length,
            _ => 0,
        }
    }

    /// The text; empty where it is none.
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            _ => String::new(),
        }
    }
}

struct OfLoose;

impl<'de> Visitor<'de> for OfLoose {
    type Value = Loose;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Loose, E> {
        Ok(Loose::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Loose, E> {
        Ok(Loose::Other)
    }

    fn visit_i64<E>(self, number: i64) -> Result<Loose, E> {
        Ok(Loose::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Loose, E> {
        Ok(Loose::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Loose, E> {
        Ok(Loose::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Loose, E> {
        Ok(match text.len() > LONGEST_TEXT {
            true => Loose::Long(text.len()),
            false => Loose::Text(text.to_owned()),
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Loose, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Loose::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Loose, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Loose::Other)
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(OfLoose)
    }
}

/// What an object holds; `None` in the place of another value.
#[derive(Debug)]
pub(super) struct Object<T>(pub(super) Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// What takes the items of a list one by one, so that only it knows what is kept.
pub(super) trait Collect: Default {
    type Item;

    fn take(&mut self, item: Self::Item);

    fn end(&mut self) {}
}

/// What was collected of a list; `None` in the place of another value.
#[derive(Debug)]
pub(super) struct List<T>(pub(super) Option<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// Passes over values of other types.
macro_rules! others_are_none {
    ($of:ident) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a value")
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($of(None))
        }

        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($of(None))
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($of(None))
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($of(None))
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($of(None))
        }

        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok($of(None))
        }
    };
}

struct OfObject<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OfObject<T> {
    type Value = Object<T>;

    others_are_none!(Object);

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Object(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        let read = T::deserialize(MapAccessDeserializer::new(fields))?;
        Ok(Object(Some(read)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(OfObject(PhantomData))
    }
}

struct OfList<T>(PhantomData<T>);

impl<'de, T: Collect> Visitor<'de> for OfList<T>
where
    T::Item: Deserialize<'de>,
{
    type Value = List<T>;

    others_are_none!(List);

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut collected = T::default();
        while let Some(item) = items.next_element()? {
            collected.take(item);
        }
        collected.end();
        Ok(List(Some(collected)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(List(None))
    }
}

impl<'de, T: Collect> Deserialize<'de> for List<T>
where
    T::Item: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(OfList(PhantomData))
    }
}
