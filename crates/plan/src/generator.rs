//! How the generator works. None of it changes what a server is asked to do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the end of a latency is taken from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Timestamps {
    /// The kernel's receive timestamp: when the bytes reached this machine.
    Kernel,
    /// The generator's own clock: when it had read them.
    #[default]
    User,
}

/// How the generator waits for its sockets and reads them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Io {
    /// epoll, and a receive for each report.
    #[default]
    Epoll,
    /// io_uring, with multishot receives.
    Uring,
}

/// How the generator works. A plan in a file may leave out each of these: what is left out is chosen
/// for the machine that it runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Generator {
    /// Worker threads; as many as `connection.at_once` at most, where that bounds the handshakes.
    pub threads: u32,
    /// How sockets are read.
    pub io: Io,
    /// What the end of a latency is taken from.
    pub timestamps: Timestamps,
    /// Seed of every random choice: senders, masks, nonces.
    pub seed: u64,
}

impl Default for Generator {
    fn default() -> Self {
        Self {
            threads: 1,
            io: Io::default(),
            timestamps: Timestamps::default(),
            seed: 1,
        }
    }
}
