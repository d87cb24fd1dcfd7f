//! Clients that leave during a step, and how they come back.

use super::Nanos;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// Whether clients leave during a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Life {
    /// They do not.
    #[default]
    Stays,
    /// Each by itself, again and again, with a close handshake (code 1001).
    ComesAndGoes(ComesAndGoes),
    /// All of them at one moment, by a reset.
    Cut(Cut),
    /// Their connections stay. Each by itself, again and again, unsubscribes from its room and
    /// subscribes to one that is drawn anew.
    ChangesRoom(ChangesRoom),
}

/// Clients that change their rooms, each independently of the others. Both times are exponentially
/// distributed, a function of the client's number, the cycle and the seed; so is the next room, which
/// is that of a client drawn at random, so that large rooms stay large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangesRoom {
    /// Mean time from the confirmed subscription, of the first stay from the start of the schedule,
    /// to the request to end it.
    pub stays: Nanos,
    /// Mean time from that request to the next subscription.
    pub away: Nanos,
}

/// Clients that come and go, each independently of the others. Both times are exponentially
/// distributed, a function of the client's number, the cycle and the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComesAndGoes {
    /// Mean time from being ready, of the first stay from the start of the schedule, to the close
    /// frame.
    pub stays: Nanos,
    /// Mean time from the close frame to the first attempt to come back.
    pub away: Nanos,
}

/// Clients whose connections end at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// When, since the start of the step's schedule, a warm-up included.
    pub at: Nanos,
}

/// Whether clients that are gone come back within the step. Each step begins with all clients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reconnect {
    /// They do not.
    Never,
    /// After these delays.
    Backoff(Backoff),
}

/// Delays that grow with each failed attempt. After `n` failures it is `first` times `factor` to the
/// power of `n`, at most `most`, of which the share `jitter` is random. With a jitter of 1 that is
/// "full jitter", with one of 0.5 "equal jitter" (Brooker, "Exponential Backoff And Jitter", AWS
/// Architecture Blog, 2015).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Backoff {
    /// The first delay. It comes before the first attempt after a cut, and before the second of a
    /// client that comes and goes.
    pub first: Nanos,
    /// By how much each delay is longer than the one before.
    pub factor: f64,
    /// The longest delay.
    pub most: Nanos,
    /// Share of a delay that is random, evenly distributed.
    pub jitter: f64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            first: Nanos::millis(500),
            factor: 2.0,
            most: Nanos::secs(10),
            jitter: 0.5,
        }
    }
}

impl Default for Reconnect {
    fn default() -> Self {
        Self::Backoff(Backoff::default())
    }
}

impl Reconnect {
    /// The word for clients that do not come back.
    const NEVER: &str = "never";
}

/// The form that travels between processes.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Reconnect")]
enum Tagged {
    Never,
    Backoff(Backoff),
}

impl Serialize for Reconnect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (*self, serializer.is_human_readable()) {
            (Self::Never, true) => serializer.serialize_str(Self::NEVER),
            (Self::Backoff(backoff), true) => backoff.serialize(serializer),
            (Self::Never, false) => Tagged::Never.serialize(serializer),
            (Self::Backoff(backoff), false) => Tagged::Backoff(backoff).serialize(serializer),
        }
    }
}

struct WordOrDelays;

impl<'de> Visitor<'de> for WordOrDelays {
    type Value = Reconnect;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"never\", or delays like { first = \"500ms\", most = \"10s\" }")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Reconnect, E> {
        match text {
            Reconnect::NEVER => Ok(Reconnect::Never),
            other => Err(E::unknown_variant(other, &[Reconnect::NEVER])),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Reconnect, A::Error> {
        Backoff::deserialize(MapAccessDeserializer::new(map)).map(Reconnect::Backoff)
    }
}

impl<'de> Deserialize<'de> for Reconnect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return deserializer.deserialize_any(WordOrDelays);
        }
        Tagged::deserialize(deserializer)
            .map(|tagged| match tagged {
                Tagged::Never => Self::Never,
                Tagged::Backoff(backoff) => Self::Backoff(backoff),
            })
            .map_err(D::Error::custom)
    }
}

impl JsonSchema for Reconnect {
    fn schema_name() -> Cow<'static, str> {
        "Reconnect".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let backoff = generator.subschema_for::<Backoff>();
        json_schema!({
            "description": "Whether clients that are gone come back within the step: never, or \
                            after these delays.",
            "oneOf": [{"type": "string", "const": Self::NEVER}, backoff]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_and_delays_are_read_and_written_as_people_write_them() {
        for (text, reconnect) in [
            ("\"never\"", Reconnect::Never),
            (
                r#"{"first":"500ms","factor":2.0,"most":"10s","jitter":0.5}"#,
                Reconnect::default(),
            ),
        ] {
            assert_eq!(serde_json::to_string(&reconnect).unwrap(), text);
            assert_eq!(serde_json::from_str::<Reconnect>(text).unwrap(), reconnect);
        }
        let number = serde_json::from_str::<Reconnect>("5").unwrap_err();
        assert!(
            number.to_string().contains("\"never\", or delays"),
            "{number}"
        );
        let short = serde_json::from_str::<Reconnect>(r#"{"first":"1s"}"#).unwrap();
        let first = Nanos::secs(1);
        let expected = Backoff {
            first,
            ..Backoff::default()
        };
        assert_eq!(short, Reconnect::Backoff(expected));
        for wrong in ["\"always\"", "5", r#"{"fist":"1s"}"#, r#"{"first":1}"#] {
            assert!(serde_json::from_str::<Reconnect>(wrong).is_err(), "{wrong}");
        }
    }
}
