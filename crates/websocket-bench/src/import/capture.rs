//! A capture of either kind, a HAR file or a list of frames. Its content says which it is, not its name.

use super::error::ImportError;
use super::har::{self, Connection};
use super::list;
use super::source;
use crate::args::ImportArgs;

/// Reads the connections of a capture that have messages.
///
/// # Errors
/// With the file and a remedy.
pub(super) fn read(args: &ImportArgs) -> Result<Vec<Connection>, ImportError> {
    let path = &args.capture;
    let (head, from) = source::open(path)?;
    match list::Form::new(&head) {
        Some(form) => {
            let read = list::read(form, from, args.url.as_deref());
            read.map_err(|error| ImportError::List {
                path: path.clone(),
                why: error.to_string(),
            })
        }
        None if args.url.is_some() => Err(ImportError::UrlOfHar { path: path.clone() }),
        None => har::read(path, from),
    }
}
