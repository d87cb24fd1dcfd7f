//! Filters of the templates.

use super::super::markdown;
use record::Status;
pub(in super::super) use run_page::axes::px;

/// The word for a status.
pub(in super::super) fn status(
    status: &Status,
    _: &dyn askama::Values,
) -> askama::Result<&'static str> {
    Ok(status.name())
}

/// Whether a link may be offered for a click.
pub(in super::super) fn web(link: &str, _: &dyn askama::Values) -> askama::Result<bool> {
    Ok(markdown::is_web_address(link))
}
