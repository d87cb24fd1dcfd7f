//! What TLS did during a step.

use super::Latency;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// TLS handshakes that were completed since the step before: those of the clients that this step
/// added, and of clients that came back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TlsUse {
    /// All of them.
    pub handshakes: u64,
    /// Those that resumed a session of the same client.
    pub resumed: u64,
    /// From the established TCP connection to the end of the TLS handshake.
    pub handshake: Option<Latency>,
    /// The same counts by what was agreed on, the most frequent first.
    pub agreed: Vec<TlsAgreed>,
}

/// What client and server agreed on, and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TlsAgreed {
    /// The version of TLS, like `1.3`.
    pub version: String,
    /// The cipher suite by its name in the register of IANA.
    pub cipher_suite: String,
    /// Handshakes that ended so.
    pub handshakes: u64,
    /// Those of them that resumed a session.
    pub resumed: u64,
}
