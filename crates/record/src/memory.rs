//! Memory of a server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Memory of a server's process tree and of its sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Resident size in bytes. Shared pages count in each process.
    pub resident_bytes: u64,
    /// Proportional size in bytes. Shared pages count once. Absent where the kernel does not tell.
    pub proportional_bytes: Option<u64>,
    /// Kernel memory of the server's TCP sockets, in bytes. Absent where the kernel does not tell.
    pub sockets_bytes: Option<u64>,
    /// Processes in the tree.
    pub processes: u32,
}
