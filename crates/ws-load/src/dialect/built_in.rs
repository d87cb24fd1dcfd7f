//! The dialects that are compiled in: the files of `dialects/`.

use super::interpreter::read_dialect;
use run_record::{Dialect, DialectFile};
use std::sync::OnceLock;

const TEXT: &str = include_str!("../../../../dialects/text.toml");
const PHOENIX: &str = include_str!("../../../../dialects/phoenix.toml");
const PHOENIX_2: &str = include_str!("../../../../dialects/phoenix-2.toml");
const ACTION_CABLE: &str = include_str!("../../../../dialects/actioncable.toml");

/// All of them.
pub(super) fn all() -> &'static [DialectFile] {
    static FILES: OnceLock<Vec<DialectFile>> = OnceLock::new();
    FILES.get_or_init(|| {
        [TEXT, PHOENIX, PHOENIX_2, ACTION_CABLE]
            .map(|text| read_dialect(text).expect("the files of dialects/ can be read"))
            .to_vec()
    })
}

/// The file of a dialect at a URL; binary has none, and that of a plan is no built-in one.
pub(super) fn file(dialect: Dialect, url: &str) -> Option<&'static DialectFile> {
    let index = match dialect {
        Dialect::Text => 0,
        Dialect::Phoenix if has_serializer_2(url) => 2,
        Dialect::Phoenix => 1,
        Dialect::ActionCable => 3,
        Dialect::Binary | Dialect::File => return None,
    };
    all().get(index)
}

/// The serializer follows from the parameter `vsn` of the URL's query, as in Phoenix itself.
fn has_serializer_2(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| {
        url.query_pairs()
            .any(|(key, value)| key == "vsn" && value.starts_with("2."))
    })
}
