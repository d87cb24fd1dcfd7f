//! Servers for tests alone: the yardstick, the odd ones and the liars.
//!
//! [`NullServer`] answers as fast as can be and is what the load generator is measured against.
//! [`DelayServer`] answers after a known delay and keeps the truth of it.
//! [`TlsServer`] is the plain protocol over TLS. [`odd`] holds peers that misbehave a known number
//! of times, [`faulty`] those that break, flood, stall or lie, with the end that a run against each
//! must come to, [`liar`] a correct server that breaks one rule of choice, so that the conformance
//! checks can be proved to bite. [`skipped`] is for tests that cannot be made here.
//!
//! Nothing here is a contestant, and nothing here is fit for a network other than loopback.

pub mod faulty;
pub mod liar;
pub mod odd;

mod delay;
mod framework;
mod listen;
mod null;
mod poll;
mod skipped;
mod threaded;
mod tls;
mod upgrade;

pub use delay::{Answer, Delay, DelayOptions, DelayServer, Freeze, Pace, Truth, Write};
pub use framework::Framework;
pub use null::{NullOptions, NullServer, NullServers};
pub use skipped::{SKIPPED_VARIABLE, skipped};
pub use tls::TlsServer;
