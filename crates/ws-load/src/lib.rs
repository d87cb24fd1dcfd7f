//! The load generator: plans, connections, worker loops, the ledger of who received what.
//!
//! Purpose: carry out a [`::plan::Plan`] against a server and give back step records. It
//! prints nothing, parses no arguments and writes no files: its caller receives
//! [`record::Event`]s.

mod clock;
pub mod cluster;
mod control;
mod dialect;
mod figures;
mod http;
mod io;
mod lines;
mod message;
mod net;
mod plain;
mod plan;
mod scenario;
mod verify;
mod worker;

pub use control::{Measured, Packs, RunError, Throughput, run, run_with_ceiling, throughput};
#[doc(hidden)]
pub use dialect::for_fuzzing;
pub use dialect::{DialectError, check_dialect, check_message, payload_lines};
#[doc(hidden)]
pub use http::for_fuzzing as for_fuzzing_http;
pub use io::{NoStamps, NoUring};
pub use lines::LinesError;
pub use net::{
    ConnectError, DataError, Endpoint, HttpFailure, Stage, TargetError, asks_other_servers,
    check_url, spread_over_loopback, target_addrs,
};
pub use plain::plan_for_port;
pub use verify::for_benches;

/// Which sample of a run under `seed`, counted from 0, the stamp in a payload belongs to; `None` for
/// that of another run.
pub const fn sample_of_stamp(seed: u64, stamp: u64) -> Option<u64> {
    dialect::Stamps::of_run(seed).sample(stamp)
}

/// The stamp that [`sample_of_stamp`] finds that sample by.
pub const fn stamp_of_sample(seed: u64, sample: u64) -> u64 {
    dialect::Stamps::of_run(seed).stamp(sample)
}

/// Which of a plan's populations client number `client` of the run belongs to, counted from 0.
pub fn population_of(plan: &::plan::Plan, client: u64) -> &::plan::Population {
    plan::population_of(&plan.populations, client)
}

/// Tries on a loopback connection whether this kernel gives receive timestamps.
///
/// # Errors
/// The reason, when it cannot.
pub fn probe_kernel_timestamps() -> Result<(), NoStamps> {
    io::probe_kernel_stamps()
}

/// Whether the io_uring backend can run here with such stamps, tried on a loopback connection.
///
/// # Errors
/// The reason, when it cannot.
pub fn probe_io_uring(timestamps: ::plan::Timestamps) -> Result<(), NoUring> {
    io::probe_uring(timestamps)
}

#[cfg(test)]
fn test_plan(url: &str) -> ::plan::Plan {
    ::plan::Plan::new(url).with(|plan| {
        plan.load = ::plan::Load::closed(4, 20);
        plan.clients = ::plan::Clients::steps(10, 10, Some(2));
        plan.message.padding = 200;
        plan.connection.timeout = ::plan::Nanos::secs(20);
        plan.limits.time = ::plan::Nanos::secs(20);
        plan.limits.sample_timeout = ::plan::Nanos::secs(30);
    })
}
