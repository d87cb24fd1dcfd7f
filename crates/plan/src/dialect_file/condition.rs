//! What must hold of a message for a rule to match it.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// What must hold of the value at a JSON pointer; several tests must all hold. In a file a value
/// alone stands for one that is equal to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Condition {
    /// The value is one of these. Without any, every value will do.
    #[serde(default)]
    pub one_of: Vec<Scalar>,
    /// The value is none of these, or there is none.
    #[serde(default)]
    pub none_of: Vec<Scalar>,
    /// The value is of one of these types.
    #[serde(default)]
    pub is: Vec<JsonType>,
    /// An array has so many elements, an object so many names.
    #[serde(default)]
    pub length: Option<u32>,
}

impl Condition {
    /// The condition that the value is equal to `value`.
    pub fn equals(value: Scalar) -> Self {
        Self {
            one_of: vec![value],
            ..Self::default()
        }
    }
}

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JsonType {
    /// There is no value.
    Absent,
    /// There is a value, of any type.
    Present,
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// A value that a message may hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub enum Scalar {
    /// A string.
    Text(String),
    /// An integer.
    Integer(i64),
    /// `true` or `false`.
    Boolean(bool),
}

// Files and records have the value alone; the wire between coordinator and workers has no type in
// its bytes, so that it is told which of the three comes.
impl Serialize for Scalar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return Self::serialize(self, serializer);
        }
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Integer(integer) => serializer.serialize_i64(*integer),
            Self::Boolean(boolean) => serializer.serialize_bool(*boolean),
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(ScalarVisitor)
        } else {
            Self::deserialize(deserializer)
        }
    }
}

struct ScalarVisitor;

impl Visitor<'_> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, an integer, true or false")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(text.to_owned()))
    }

    fn visit_i64<E: Error>(self, integer: i64) -> Result<Scalar, E> {
        Ok(Scalar::Integer(integer))
    }

    fn visit_u64<E: Error>(self, integer: u64) -> Result<Scalar, E> {
        i64::try_from(integer)
            .map(Scalar::Integer)
            .map_err(|_| E::custom("an integer above 2^63 - 1"))
    }

    fn visit_bool<E: Error>(self, boolean: bool) -> Result<Scalar, E> {
        Ok(Scalar::Boolean(boolean))
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(ConditionVisitor)
        } else {
            Self::deserialize(deserializer)
        }
    }
}

struct ConditionVisitor;

impl<'de> Visitor<'de> for ConditionVisitor {
    type Value = Condition;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, an integer, true, false, or a table of tests")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Condition, E> {
        ScalarVisitor.visit_str(text).map(Condition::equals)
    }

    fn visit_i64<E: Error>(self, integer: i64) -> Result<Condition, E> {
        ScalarVisitor.visit_i64(integer).map(Condition::equals)
    }

    fn visit_u64<E: Error>(self, integer: u64) -> Result<Condition, E> {
        ScalarVisitor.visit_u64(integer).map(Condition::equals)
    }

    fn visit_bool<E: Error>(self, boolean: bool) -> Result<Condition, E> {
        ScalarVisitor.visit_bool(boolean).map(Condition::equals)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Condition, A::Error> {
        Condition::deserialize(MapAccessDeserializer::new(map))
    }
}

impl JsonSchema for Scalar {
    fn schema_name() -> Cow<'static, str> {
        "Scalar".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A value that a message may hold.",
            "type": ["string", "integer", "boolean"],
        })
    }
}

impl JsonSchema for Condition {
    fn schema_name() -> Cow<'static, str> {
        "Condition".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let values = generator.subschema_for::<Vec<Scalar>>();
        let types = generator.subschema_for::<Vec<JsonType>>();
        json_schema!({
            "description": "What must hold of the value at a JSON pointer: a value that is equal to \
                            it, or tests that must all hold.",
            "anyOf": [
                generator.subschema_for::<Scalar>(),
                {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                        "one_of": values,
                        "none_of": values,
                        "is": types,
                        "length": { "type": ["integer", "null"], "minimum": 0 },
                    },
                },
            ],
        })
    }
}
