//! A text that a peer, a URL or a plan may have filled.

use plan::redacted;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

/// A text that a peer, a URL or a plan may have filled. It is without secrets from the moment on in
/// which it is made, so that whatever shows or writes it has none to leave out.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Told(String);

impl Told {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Told {
    fn from(text: &str) -> Self {
        Self(redacted(text).into_owned())
    }
}

impl From<String> for Told {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Told> for String {
    fn from(told: Told) -> Self {
        told.0
    }
}

impl From<&Told> for String {
    fn from(told: &Told) -> Self {
        told.0.clone()
    }
}

impl<'de> Deserialize<'de> for Told {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

impl Deref for Told {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Told {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl PartialEq<str> for Told {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Told {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}
