//! Compression of messages (permessage-deflate, RFC 7692).

use super::bounds::{LEVELS, WINDOWS};
use super::error::{PlanError, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is offered of permessage-deflate. A server that does not turn it on fails the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Compression {
    /// The server is to compress each message by itself.
    pub server_no_context_takeover: bool,
    /// The generator compresses each message by itself. Its compressors are then shared by all
    /// connections of a thread; else each connection that sends has one of 310 KiB.
    pub client_no_context_takeover: bool,
    /// Largest window of the server, as an exponent of 2 from 8 to 15; not offered without it.
    pub server_max_window_bits: Option<u8>,
    /// Largest window of the generator, as an exponent of 2 from 8 to 15; at 15 the parameter is
    /// offered without a value. Without it the server may not choose one.
    pub client_max_window_bits: Option<u8>,
    /// How hard the generator compresses what it sends: from 1, fast, to 9, small.
    pub level: u8,
}

impl Default for Compression {
    fn default() -> Self {
        Self {
            server_no_context_takeover: false,
            client_no_context_takeover: false,
            server_max_window_bits: None,
            client_max_window_bits: None,
            level: 6,
        }
    }
}

impl Compression {
    pub(super) fn validate(&self) -> Result<(), PlanError> {
        for (field, bits) in [
            (
                "connection.compression.server_max_window_bits",
                self.server_max_window_bits,
            ),
            (
                "connection.compression.client_max_window_bits",
                self.client_max_window_bits,
            ),
        ] {
            bits.map_or(Ok(()), |bits| within(field, bits, WINDOWS))?;
        }
        within("connection.compression.level", self.level, LEVELS)
    }
}
