//! Where this user's programs keep things.

use std::path::PathBuf;

/// The folder for what can be made again (XDG Base Directory Specification); `None` for a user without a
/// home.
pub fn user_cache() -> Option<PathBuf> {
    let absolute = |name| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}
