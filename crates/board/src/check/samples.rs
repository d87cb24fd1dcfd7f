//! What a distribution holds, and several of them together.

use record::{Latency, Recorder};

/// The number of samples of a distribution.
pub(super) fn count(of: Option<&Latency>) -> u64 {
    of.map_or(0, |latency| latency.count)
}

/// All samples of several distributions.
pub(super) fn together(parts: [&Option<Latency>; 3]) -> Option<Recorder> {
    let mut all = Recorder::default();
    for part in parts.into_iter().flatten() {
        all.merge(&part.recorder().ok()?);
    }
    Some(all)
}
