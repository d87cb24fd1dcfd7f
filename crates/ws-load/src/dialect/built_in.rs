//! Which of the files of `dialects/` a plan means.

use plan::{Dialect, DialectFile, built_in_dialect};

/// The file of a dialect at a URL; binary and MQTT have none, and that of a plan is no built-in one.
pub(super) fn file(dialect: Dialect, url: &str) -> Option<&'static DialectFile> {
    let name = match dialect {
        Dialect::Phoenix if has_serializer_2(url) => "phoenix-2",
        Dialect::Binary | Dialect::Mqtt | Dialect::Mqtt5 | Dialect::File => return None,
        dialect => dialect.name(),
    };
    built_in_dialect(name)
}

/// The serializer follows from the parameter `vsn` of the URL's query, as in Phoenix itself.
fn has_serializer_2(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| {
        url.query_pairs()
            .any(|(key, value)| key == "vsn" && value.starts_with("2."))
    })
}
