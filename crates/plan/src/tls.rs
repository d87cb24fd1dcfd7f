//! TLS to the server.

use schemars::JsonSchema;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// How TLS is spoken. It is for `wss://`, and for `https://` URLs of a dialect file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// The lowest version that is offered.
    #[serde(deserialize_with = "word_or_number")]
    pub min: TlsVersion,
    /// The highest version that is offered.
    #[serde(deserialize_with = "word_or_number")]
    pub max: TlsVersion,
    /// Whether a client that comes back resumes its own session, as a browser does. No client
    /// resumes that of another.
    pub resumption: bool,
    /// The clients' certificate, a PEM file with the chain; relative to the file of the plan.
    pub client_cert: Option<PathBuf>,
    /// Its key, a PEM file; relative to the file of the plan.
    pub client_key: Option<PathBuf>,
    /// The name that is asked for (SNI, RFC 6066, 3) and that the certificate must have, in the
    /// place of the URL's host.
    pub server_name: Option<String>,
}

impl Default for Tls {
    fn default() -> Self {
        Self {
            min: TlsVersion::V1_2,
            max: TlsVersion::V1_3,
            resumption: true,
            client_cert: None,
            client_key: None,
            server_name: None,
        }
    }
}

/// A version of TLS.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum TlsVersion {
    /// RFC 5246.
    #[serde(rename = "1.2")]
    V1_2,
    /// RFC 8446.
    #[serde(rename = "1.3")]
    V1_3,
}

impl TlsVersion {
    /// The word of plans and command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1_2 => "1.2",
            Self::V1_3 => "1.3",
        }
    }
}

/// A text that is no version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 1.2 or 1.3")]
pub struct NoTlsVersion;

impl FromStr for TlsVersion {
    type Err = NoTlsVersion;

    fn from_str(text: &str) -> Result<Self, NoTlsVersion> {
        [Self::V1_2, Self::V1_3]
            .into_iter()
            .find(|version| version.name() == text)
            .ok_or(NoTlsVersion)
    }
}

/// In a file a version may stand without quotes.
struct WordOrNumber;

impl Visitor<'_> for WordOrNumber {
    type Value = TlsVersion;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a version of TLS, \"1.2\" or \"1.3\"")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<TlsVersion, E> {
        text.parse().map_err(|words| {
            let text = text.escape_debug();
            E::custom(format!("`{text}` is no version of TLS: {words}"))
        })
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<TlsVersion, E> {
        self.visit_str(&number.to_string())
    }
}

fn word_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TlsVersion, D::Error> {
    if deserializer.is_human_readable() {
        deserializer.deserialize_any(WordOrNumber)
    } else {
        TlsVersion::deserialize(deserializer)
    }
}
