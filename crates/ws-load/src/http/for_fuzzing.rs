//! Access for the laws of the fuzz targets. Not part of the interface.

use super::capture::of_body;
use crate::dialect::for_fuzzing::FEED_NUMBER;
use plan::HttpCapture;

/// The pattern that [`http_values`] looks for.
pub const HTTP_PATTERN: (&str, &str) = ("name=\"csrf\" content=\"", "\"");

/// What a step over HTTP keeps of a body: of the pattern, and at the pointer [`FEED_NUMBER`].
pub fn http_values(body: &[u8]) -> [Option<String>; 2] {
    let (before, behind) = HTTP_PATTERN;
    let pattern = HttpCapture::Pattern(format!("{before}{{value}}{behind}"));
    let json = HttpCapture::Json(FEED_NUMBER.to_owned());
    let wanted = [("pattern".to_owned(), pattern), ("json".to_owned(), json)];
    let told = of_body(body, &wanted.into());
    ["pattern", "json"].map(|name| {
        let found = told.iter().find(|(of, _)| of == name);
        found.map(|(_, value)| value.clone())
    })
}
