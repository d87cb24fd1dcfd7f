//! What is told of a server beside its figures: how it reads JSON, and how old its library is.

use super::super::problem::Problems;
use super::super::{Dialect, JsonReading, Variant};
use std::ops::Range;
use toml::Spanned;

/// The first year that a version can be of: RFC 6455 is younger.
const FIRST_YEAR: u32 = 2000;
const LAST_YEAR: u32 = 2100;

/// Reports a server that reads text messages and does not say how, and one that says so and reads none.
pub(super) fn json(
    given: Option<&Spanned<JsonReading>>,
    variants: &[Variant],
    supports: Range<usize>,
    p: &mut Problems<'_>,
) {
    let is_text = |dialect: &Dialect| *dialect != Dialect::Binary;
    let reads_text = variants.iter().any(|v| v.dialects.iter().any(is_text));
    match given {
        None if reads_text => p.at(
            Some(supports),
            "missing key \"json\": say how the server reads a text message, \"tree\", \"raw\" or \"sax\"; \
             see docs/adding-a-server.md, JSON",
        ),
        Some(given) if !reads_text => p.at(
            Some(given.span()),
            "no variant has a dialect of text messages: leave \"json\" out",
        ),
        _ => {}
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
