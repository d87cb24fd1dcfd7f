//! How much is taken of a capture, and of what a plan may have.

/// Longest capture that is read, in bytes, after it is inflated.
pub(super) const MOST_BYTES: u64 = 256 << 20;
/// Most connections with messages.
pub(super) const MOST_CONNECTIONS: usize = 10_000;
/// Most messages of a client.
pub(super) const MOST_SENDS: usize = 10_000;
/// Most different messages of a client, which are the kinds of a dialect's script.
pub(super) const MOST_KINDS: usize = 1000;
/// Longest file of a plan, in bytes.
pub(super) const LONGEST_PLAN: usize = 4 << 20;
/// Most variables of a plan.
pub(super) const MOST_VARIABLES: usize = 64;
