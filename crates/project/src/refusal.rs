//! Why something cannot be done, in words for the user.

/// Why a command could not do its work: thing, place and remedy in one message.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

impl Refusal {
    /// A refusal with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// A refusal with the words of an error.
    pub fn from_error(error: impl std::error::Error) -> Self {
        Self(error.to_string())
    }
}
