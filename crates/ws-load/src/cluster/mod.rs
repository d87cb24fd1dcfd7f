//! One run over several processes, on one machine or on many.
//!
//! A site is a process with worker threads, connections and a ledger of its own ([`serve`]). One
//! coordinator controls the steps of all sites and opens no connection itself ([`run_on`]). They
//! exchange the same [`Command`]s and [`Report`]s as threads do. A [`NodeTransport`] carries them and
//! keeps their order in each direction. This module knows no network.

mod check;
mod coordinator;
mod node;
mod reporter;

pub use crate::figures::Interval;
pub use crate::message::{
    Command, CompleteSample, Done, OpenTerms, RawTerms, Report, Samples, SentSample, Share,
    StartByClock, StepPart, StepTerms, Unable,
};
pub use check::{CommandError, Permits, check_sites};
pub use coordinator::{ClockRelation, NodeTransport, Site, run_on};
pub use node::{NodeError, serve, serve_at, serve_from_here};

/// Nanoseconds of the clock that sites and coordinator compare: `CLOCK_MONOTONIC`.
pub fn clock_now_ns() -> u64 {
    crate::clock::now_ns()
}
