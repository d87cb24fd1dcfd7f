//! A length of time: nanoseconds in memory and between workers, words where people read it.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A length of time in nanoseconds.
///
/// In text formats (TOML, JSON) it is a string like `500ms` or `1m 30s`, exact to the nanosecond;
/// in binary ones it is the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// So many milliseconds.
    pub const fn millis(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }

    /// So many seconds.
    pub const fn secs(seconds: u64) -> Self {
        Self(seconds * 1_000_000_000)
    }

    /// The number of nanoseconds.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// The same as the standard library has it.
    pub const fn duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl From<Duration> for Nanos {
    /// What is longer than 584 years becomes 584 years.
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(self.duration()).fmt(f)
    }
}

/// A text that is no time.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoTime {
    /// It has no number with a unit.
    #[error("{0}; expected a time like 250ms or 1m 30s")]
    Form(#[from] humantime::DurationError),
    /// It is longer than 584 years.
    #[error("expected a time of at most a day")]
    Long,
}

impl FromStr for Nanos {
    type Err = NoTime;

    fn from_str(text: &str) -> Result<Self, NoTime> {
        let parsed = humantime::parse_duration(text)?;
        let ns = u64::try_from(parsed.as_nanos());
        ns.map(Self).map_err(|_| NoTime::Long)
    }
}

impl Serialize for Nanos {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_u64(self.0)
        }
    }
}

struct Words;

impl Visitor<'_> for Words {
    type Value = Nanos;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time like \"250ms\" or \"1m 30s\"")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Nanos, E> {
        text.parse()
            .map_err(|words| E::custom(format!("`{}` is no time: {words}", text.escape_debug())))
    }
}

impl<'de> Deserialize<'de> for Nanos {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(Words)
        } else {
            u64::deserialize(deserializer)
                .map(Self)
                .map_err(D::Error::custom)
        }
    }
}

impl JsonSchema for Nanos {
    fn schema_name() -> Cow<'static, str> {
        "Nanos".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A time as people write it, exact to the nanosecond.",
            "examples": ["250ms", "1m 30s"],
            "minLength": 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_comes_back_from_its_words(ns: u64) {
            prop_assert_eq!(Nanos(ns).to_string().parse(), Ok(Nanos(ns)));
            let json = serde_json::to_string(&Nanos(ns)).unwrap();
            prop_assert!(json.starts_with('"'));
            prop_assert_eq!(serde_json::from_str::<Nanos>(&json).unwrap(), Nanos(ns));
        }
    }

    #[test]
    fn words_are_those_of_people_and_no_bare_number_is_a_time() {
        for (ns, words) in [
            (0, "0s"),
            (1, "1ns"),
            (500_000_000, "500ms"),
            (90_000_000_000, "1m 30s"),
        ] {
            assert_eq!(Nanos(ns).to_string(), words);
        }
        for text in ["5", "soon", "", "-1s", "99999999999years"] {
            assert!(text.parse::<Nanos>().is_err(), "{text}");
        }
        let words = serde_json::from_str::<Nanos>("5").unwrap_err();
        assert!(words.to_string().contains("250ms"), "{words}");
    }

    #[test]
    fn what_is_longer_than_can_be_said_is_the_longest() {
        assert_eq!(Nanos::from(Duration::from_micros(7)), Nanos(7_000));
        assert_eq!(Nanos::from(Duration::MAX), Nanos(u64::MAX));
    }
}
