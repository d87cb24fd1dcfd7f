//! Filters of the templates.

use super::super::markdown;
use record::Status;

/// A place in a chart, to a tenth of a unit.
pub(in super::super) fn px(place: &f64, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(format!("{place:.1}"))
}

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
