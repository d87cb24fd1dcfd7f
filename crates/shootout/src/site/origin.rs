//! The run that the figures of a ranking are from.

use std::fmt;

/// A run of a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// Name of its directory.
    pub(super) run: String,
    /// The day on which it began.
    pub(super) day: String,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, begun on {}", self.run, self.day)
    }
}
