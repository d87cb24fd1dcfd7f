//! The conformance checks: RFC 6455 and the protocol of docs/protocol.md, clause by clause.
//!
//! [`verify`] runs every check against a server that is already listening and says for each what
//! was seen. This crate starts no server and knows none; it measures nothing.

mod check;
mod checks;
mod client;
mod context;
mod dialect;
mod failure;
mod message;
mod nodes;
mod raw;
mod sockets;
mod stream;
mod target;
mod verify;

pub use check::{Check, CheckRun, Found};
pub use checks::{check_ids, checks};
pub use nodes::{NotFormed, formed};
pub use target::{Dialect, ProtocolRequest, ServerMemory, Target, Tls};
pub use verify::{ReadyError, ready, run_check, verify, verify_those};
