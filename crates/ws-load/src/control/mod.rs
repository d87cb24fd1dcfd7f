//! Steps: more clients, a measurement, its verdict, and again until something ends it.

mod afford;
mod churn;
mod connect;
mod contradicted;
mod controller;
mod end;
mod error;
mod local;
mod measure;
mod memory;
mod merge;
mod search;
#[cfg(test)]
mod tests;
mod throughput;
mod untold;
mod warm_up;
mod watch;
mod watched;
mod workers;

pub(crate) use afford::available_bytes;
pub(crate) use controller::{ANSWER, Controller};
pub use controller::{Measured, run, run_with_ceiling};
pub(crate) use end::Ended;
pub use error::RunError;
pub(crate) use measure::unanswered;
pub(crate) use merge::resident_bytes;
pub use throughput::{Packs, Throughput, throughput};
pub(crate) use workers::{Kept, Workers};
