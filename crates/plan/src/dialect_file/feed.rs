//! Messages that a server sends by itself, one after the other.

use crate::dialect_file::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most sequences of numbers that are followed on one connection: what a server can make a client
/// remember.
pub const MOST_FEED_KEYS: usize = 256;

/// The names in the pattern of a feed that take the place of its keys.
pub const FEED_NAMES: [&str; 2] = ["key", "sent_at"];

/// How the time of sending is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SentUnit {
    /// Seconds since 1970, with or without a fraction.
    S,
    /// Milliseconds since 1970.
    #[default]
    Ms,
    /// Microseconds since 1970.
    Us,
    /// Nanoseconds since 1970.
    Ns,
    /// A date and time in UTC, as RFC 3339 has it: `2026-11-01T12:00:00.125Z`.
    Iso,
}

impl SentUnit {
    /// Nanoseconds of a unit; `None` of a date.
    pub const fn ns(self) -> Option<u64> {
        match self {
            Self::S => Some(1_000_000_000),
            Self::Ms => Some(1_000_000),
            Self::Us => Some(1_000),
            Self::Ns => Some(1),
            Self::Iso => None,
        }
    }
}

impl Rule {
    /// True where a message says when it was sent.
    pub fn has_sent_at(&self) -> bool {
        self.sent_at.is_some() || self.names("sent_at")
    }

    /// True where a message says which of several sequences its number is of.
    pub fn has_key(&self) -> bool {
        self.key.is_some() || self.names("key")
    }

    /// True of a pattern with this name in braces.
    pub(super) fn names(&self, name: &str) -> bool {
        let pattern = self.pattern.as_deref();
        pattern.is_some_and(|of| of.contains(&format!("{{{name}}}")))
    }
}
