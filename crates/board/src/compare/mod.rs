//! Whether one server, or one version of it, is slower than another, and how sure that is.
//!
//! The rules:
//! - The unit is the repetition, that is one start of a server: its percentile is taken from its
//!   whole histogram, and so many repetitions a side are so many figures. Samples of one
//!   repetition are not independent of one another, and are never counted as if they were.
//! - Latencies are compared at the largest number of clients that every repetition of both sides
//!   was measured with, completely and not at the generator's limit. Clients carried are a figure
//!   of their own.
//! - A difference is *shown* when the rank test, corrected for the number of comparisons, gives at
//!   most five percent, and the interval of the ratio of the medians excludes 1. Otherwise no
//!   difference is shown, which is not the same as there being none.
//! - What cannot be compared is said and never passes for equal.
//!
//! This module reads records and returns findings; it measures nothing and prints nothing.

pub mod agreement;
mod figure;
mod finding;
mod judge;
mod pair;
mod plans;

pub(crate) use plans::{differences as differing_plans, machines as differing_machines};
pub mod read;
mod side;
pub mod text;

pub use figure::{Figure, UnknownFigure};
pub use finding::{
    COMPARISON_FORMAT, Comparison, FigureFinding, Finding, Overall, RowFinding, SideName, Unit,
    comparison_schema,
};
pub use judge::{Question, compare};
pub use side::{Contestant, Invocation, Side};

#[cfg(test)]
mod tests;
