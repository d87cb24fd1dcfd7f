//! What is wrong with a message, in words.

use ws_proto::printable;

/// A message that is not of the dialect, in words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) String);

/// Most bytes of a message that are shown.
const MAX_SHOWN: usize = 100;

impl Malformed {
    /// The message and what is wrong with it, to be printed.
    pub(crate) fn words(&self, message: &[u8]) -> String {
        let why = printable(self.0.as_bytes(), MAX_SHOWN);
        format!("{} ({why})", shown(message))
    }
}

/// A message, to be printed.
pub(crate) fn shown(message: &[u8]) -> String {
    format!("`{}`", printable(message, MAX_SHOWN))
}
