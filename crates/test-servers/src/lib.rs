//! Servers for tests alone: the reference, the faulty and the liars.
//!
//! [`NullServer`] answers as fast as can be and is what the load generator is measured against.
//! [`DelayServer`] answers after a known delay and keeps the truth of it.
//! [`oracle`] has one that notes each message that it takes and sends, and its own faults.
//! [`cluster`] has a server of several nodes, with the broker between them.
//! [`CountedServer`] has the kernel count its bytes, with compression or without.
//! [`Gate`] stands before a server and lets connections through by a schedule.
//! [`Resuming`] gives clients that come back what they missed.
//! [`TlsServer`] is the plain protocol over TLS. [`fault`] has servers that make one fault a
//! known number of times. [`faulty`] is a table of peers that break, flood, stall or lie, with the
//! end that a run against each must come to. [`liar`] is a correct server that breaks one rule of
//! choice and shows that the conformance checks find it. [`skipped`] is for tests that cannot run
//! on this machine.
//!
//! These servers are not contestants, and are safe on loopback only.

pub mod cluster;
pub mod fault;
pub mod faulty;
pub mod liar;
pub mod oracle;

mod counted;
mod delay;
mod framework;
mod gate;
mod listen;
mod null;
mod poll;
mod resuming;
mod serving;
mod skipped;
mod threaded;
mod tls;
mod upgrade;

pub use counted::{Counted, CountedServer};
pub use delay::{Answer, Delay, DelayOptions, DelayServer, Freeze, Pace, Truth, Write};
pub use framework::Framework;
pub use gate::{Gate, GateOptions, Passages};
pub use null::{NullOptions, NullServer, NullServers};
pub use resuming::{Resumed, Resuming, ResumingOptions};
pub use skipped::{SKIPPED_VARIABLE, skipped};
pub use tls::TlsServer;
