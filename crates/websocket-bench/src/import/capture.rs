//! A capture of either kind, a HAR file or a list of frames. Its content says which it is, not its name.

use super::har::{self, Connection};
use super::list;
use super::source;
use crate::args::ImportArgs;

/// Reads the connections of a capture that have messages.
///
/// # Errors
/// In words, with the file and a remedy.
pub(super) fn read(args: &ImportArgs) -> Result<Vec<Connection>, String> {
    let path = &args.capture;
    let (head, from) = source::open(path)?;
    let name = path.display();
    match list::Form::of(&head) {
        Some(form) => {
            list::read(form, from, args.url.as_deref()).map_err(|error| format!("{name}, {error}"))
        }
        None if args.url.is_some() => Err(format!(
            "{name} is no list of frames, and --url is for such a list: a HAR file has the URL of each \
             connection; leave --url out, and give another URL to `run`"
        )),
        None => har::read(path, from),
    }
}
