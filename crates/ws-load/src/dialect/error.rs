//! A dialect file that cannot be used: where, why, and what to write instead.

/// What is wrong with a dialect file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DialectError {
    /// It has too much of something.
    #[error("`{key}` has {count}; permitted: at most {most}")]
    TooMuch {
        /// The key, with its parents; rules are counted from 1.
        key: String,
        /// How much there is, with its unit.
        count: String,
        /// How much there may be.
        most: usize,
    },
    /// A key whose value makes no sense.
    #[error("`{key}` {problem}; {remedy}")]
    Unfit {
        /// The key, with its parents; rules are counted from 1.
        key: String,
        /// What is wrong with its value.
        problem: String,
        /// What to write instead.
        remedy: String,
    },
}

impl DialectError {
    pub(super) fn unfit(
        key: impl Into<String>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Unfit {
            key: key.into(),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    pub(super) fn too_long(key: &str, bytes: usize, most: usize) -> Self {
        Self::TooMuch {
            key: key.to_owned(),
            count: format!("{bytes} bytes"),
            most,
        }
    }
}

/// Refuses a list that is too long.
pub(super) fn at_most(
    key: &str,
    count: usize,
    unit: &str,
    most: usize,
) -> Result<(), DialectError> {
    match count > most {
        false => Ok(()),
        true => Err(DialectError::TooMuch {
            key: key.to_owned(),
            count: format!("{count} {unit}"),
            most,
        }),
    }
}
