//! What is told of a server beside its figures: how it reads JSON, and how old its library is.

use super::super::problem::Problems;
use super::super::{Dialect, JsonReading, Variant};
use toml::Spanned;

/// The first year that a version can be of: RFC 6455 is younger.
const FIRST_YEAR: u32 = 2000;
const LAST_YEAR: u32 = 2100;

/// Reports a server that says how it reads text messages, and reads none.
pub(super) fn json(
    given: Option<&Spanned<JsonReading>>,
    variants: &[Variant],
    p: &mut Problems<'_>,
) {
    let is_text = |dialect: &Dialect| *dialect != Dialect::Binary;
    let reads_text = variants.iter().any(|v| v.dialects.iter().any(is_text));
    if let Some(given) = given.filter(|_| !reads_text) {
        p.at(
            Some(given.span()),
            "no variant has a dialect of text messages: leave \"json\" out",
        );
    }
}

/// Reports a year that can be none, and a reason that is empty or of no year.
pub(super) fn age(
    released: Option<&Spanned<u32>>,
    old_because: Option<&Spanned<String>>,
    p: &mut Problems<'_>,
) {
    if let Some(year) = released
        && !(FIRST_YEAR..=LAST_YEAR).contains(year.get_ref())
    {
        p.at(
            Some(year.span()),
            format!("released is a year, from {FIRST_YEAR} to {LAST_YEAR}"),
        );
    }
    let Some(reason) = old_because else { return };
    if reason.get_ref().trim().is_empty() {
        p.at(Some(reason.span()), "\"old-because\" needs a reason");
    }
    if released.is_none() {
        p.at(
            Some(reason.span()),
            "\"old-because\" explains a year: give \"released\", too",
        );
    }
}
