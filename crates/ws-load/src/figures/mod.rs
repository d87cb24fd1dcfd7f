//! What is recorded of a step: latencies, counts, and both second by second.

mod arrival;
mod latencies;
mod series;

pub(crate) use arrival::Arrival;
pub(crate) use latencies::{Completion, Latencies, SharedStamps};
pub use series::Interval;
pub(crate) use series::{Counts, Cutter, Rows};
