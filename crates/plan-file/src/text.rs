//! The text of a file, however long that is.

use std::io::{self, Read};

/// A text of at most `longest` bytes.
///
/// # Errors
/// When it cannot be read, is longer, or is no UTF-8.
pub(crate) fn bounded(mut from: impl Read, longest: u64) -> io::Result<String> {
    let mut text = String::new();
    from.by_ref().take(longest + 1).read_to_string(&mut text)?;
    if text.len() as u64 > longest {
        return Err(io::Error::other(format!(
            "it is longer than {} MiB",
            longest >> 20
        )));
    }
    Ok(text)
}
