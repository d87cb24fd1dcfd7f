//! The record of one run as a page: what it has shown, over time and by percentile, and what the
//! generator itself did. The page holds everything that it needs, and has no script.

pub mod axes;
mod chart;
mod drops;
mod feed;
pub mod figures;
mod heat;
mod http;
mod lines;
mod page;
pub mod scale;
mod streams;
mod timeline;
mod watched;

pub use page::{Expected, page};
pub use watched::{FaultMark, WatchedChart};
