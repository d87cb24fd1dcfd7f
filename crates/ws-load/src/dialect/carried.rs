//! What a plan has its requests carry, and whether its dialect file has a place for that.

use super::error::DialectError;
use super::kinds;
use super::template::Template;
use plan::{DialectFile, Message};

/// Padding that a plan asks for has a place in each request. Where there are lines, one of several
/// kinds may carry none.
pub(super) fn check_padding(message: &Message, file: &DialectFile) -> Result<(), DialectError> {
    let without = |kind: &kinds::Written<'_>| !Template::has_padding(kind.message);
    let kinds = kinds::written(file);
    let padding = message.longest_padding();
    match kinds.iter().find(|kind| without(kind)) {
        Some(kind) if padding > 0 => Err(DialectError::unfit(
            "message.padding",
            format!("is {padding}, and `{}` has no place for it", kind.key),
            "write {payload} or {padding} there, or leave the padding out",
        )),
        Some(kind) if message.lines.is_some() && kinds.iter().all(without) => {
            Err(DialectError::unfit(
                "message.lines",
                format!("is given, and `{}` has no place for a line", kind.key),
                "write {line}, {payload} or {padding} there, or leave the lines out",
            ))
        }
        _ => Ok(()),
    }
}

/// A line within quotes is escaped.
pub(super) fn check_quotes(request: &str) -> Result<(), DialectError> {
    match Template::is_quoted(request, "{padding}") {
        false => Ok(()),
        true => Err(DialectError::unfit(
            "message.lines",
            "is given, and a request has {padding} between quotes, where a line may need escapes",
            "write {line} there, and `line` in the rules for its answers",
        )),
    }
}
