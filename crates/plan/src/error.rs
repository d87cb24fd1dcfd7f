//! Why nothing can be measured with a value of a plan.

/// A value that nothing can be measured with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A number, a time or a text that is too small, too large or not one at all.
    #[error("`{field}` is {value}; permitted: {permitted}")]
    OutOfRange {
        /// The plan's key, with its parents, like `load.connect.ping_interval`.
        field: &'static str,
        /// What it was, escaped and cut.
        value: String,
        /// What it may be, in words.
        permitted: String,
    },
    /// Two keys that cannot be in one plan.
    #[error("`{field}` {reason}")]
    Contradiction {
        /// The plan's key.
        field: &'static str,
        /// Why it cannot stand beside another one.
        reason: &'static str,
    },
}

/// Whether a rule is kept.
pub(super) type Checked = Result<(), PlanError>;

/// Checks that a number is in a range.
///
/// # Errors
/// [`PlanError::OutOfRange`] when it is not; one that is not a number never is.
pub fn within<N: PartialOrd + std::fmt::Display>(
    field: &'static str,
    value: N,
    (least, most): (N, N),
) -> Checked {
    if value >= least && value <= most {
        return Ok(());
    }
    Err(PlanError::OutOfRange {
        field,
        value: value.to_string(),
        permitted: format!("{least} to {most}"),
    })
}

impl PlanError {
    /// The key of the value, with its parents, like `load.open.rate`.
    pub const fn field(&self) -> &'static str {
        match self {
            Self::OutOfRange { field, .. } | Self::Contradiction { field, .. } => field,
        }
    }
}

/// A key that cannot stand beside another one.
pub(super) const fn contradiction(field: &'static str, reason: &'static str) -> PlanError {
    PlanError::Contradiction { field, reason }
}
