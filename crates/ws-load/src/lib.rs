//! The load engine: plans, connections, worker loops, the books of who received what.
//!
//! Purpose: carry out a [`run_record::Plan`] against a server and give back step records. It
//! prints nothing, parses no arguments and writes no files: whoever runs it listens to
//! [`run_record::Event`]s.

mod clock;
mod connection;
mod dialect;
mod engine;
mod envelope;
mod error;
mod first_answers;
mod frames;
mod io;
mod judge;
mod ledger;
mod plain;
mod plan;
mod reach;
mod series;
pub mod site;
mod sources;
mod stamp;
mod target;
mod tls;
mod transport;
mod worker;

#[doc(hidden)]
pub use dialect::for_fuzzing;
pub use dialect::{DialectError, check_dialect, check_message, read_dialect};
pub use engine::{Measured, Packs, Throughput, run, run_with_ceiling, throughput};
pub use error::{ConnectError, RunError, Stage};
pub use plain::plan_for_port;
pub use sources::spread_over_loopback;
pub use target::{TargetError, check_url, target_addrs};

/// Which sample of a run under `seed`, counted from 0, the stamp in a payload belongs to; `None` for
/// that of another run.
pub const fn sample_of_stamp(seed: u64, stamp: u64) -> Option<u64> {
    stamp::Stamps::of_run(seed).sample(stamp)
}

/// The stamp that [`sample_of_stamp`] finds that sample by.
pub const fn stamp_of_sample(seed: u64, sample: u64) -> u64 {
    stamp::Stamps::of_run(seed).of(sample)
}

/// Whether the kernel's receive stamps can be had here, tried on a loopback connection.
///
/// # Errors
/// What stands in the way, in words.
pub fn probe_kernel_timestamps() -> Result<(), String> {
    io::probe_kernel_stamps()
}

/// Whether the io_uring backend can run here with such stamps, tried on a loopback connection.
///
/// # Errors
/// What stands in the way, in words.
pub fn probe_io_uring(timestamps: run_record::Timestamps) -> Result<(), String> {
    io::probe_uring(timestamps)
}

#[cfg(test)]
fn test_plan(url: &str) -> run_record::Plan {
    run_record::Plan::new(url).with(|plan| {
        plan.load = run_record::Load::closed(4, 20);
        plan.clients = run_record::Clients::steps(10, 10, Some(2));
        plan.message.padding = 200;
        plan.connection.timeout = run_record::Nanos::secs(5);
        plan.limits.sample_timeout = run_record::Nanos::secs(5);
    })
}
