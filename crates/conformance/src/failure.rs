//! What a check says of a server that did not do as expected.

/// What a server did instead of the expected, in words.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) String);

impl Failure {
    pub(crate) fn new(observed: impl Into<String>) -> Self {
        Self(observed.into())
    }

    /// Says at which part of a check it was.
    pub(crate) fn at(self, part: impl std::fmt::Display) -> Self {
        Self(format!("{part}: {}", self.0))
    }
}

/// What a check returns.
pub(crate) type Checked = Result<(), Failure>;
