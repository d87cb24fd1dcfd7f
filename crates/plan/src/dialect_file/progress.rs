//! Answers that come in parts.

use super::Rule;

/// The name in the pattern of a part that takes the place of its key `part`.
pub const PART: &str = "part";
/// The name in the pattern of a last message that takes the place of its key `parts`.
pub const PARTS: &str = "parts";

impl Rule {
    /// True where a part says its number.
    pub fn has_part(&self) -> bool {
        self.part.is_some() || self.names(PART)
    }

    /// True where a last message says how many parts there were.
    pub fn has_parts(&self) -> bool {
        self.parts.is_some() || self.names(PARTS)
    }
}
