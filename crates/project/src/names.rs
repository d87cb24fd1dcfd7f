//! The names of servers and their variants in results and for people.

use crate::manifest::DEFAULT_VARIANT;

/// What the second row of a server has behind the server's name. No folder may be named so.
const AGAIN: &str = "~again";

/// The word for the way to a server without a proxy. No folder of a proxy may be named so.
pub const NO_PROXY: &str = "none";

/// The folder of a server by its name in results.
pub fn folder_of(name: &str) -> &str {
    name.strip_suffix(AGAIN).unwrap_or(name)
}

/// The name in results of a server by its folder; another for its second row.
pub fn in_results(folder: &str, again: bool) -> String {
    let again = if again { AGAIN } else { "" };
    format!("{folder}{again}")
}

/// The name in results of a variant that is measured through a proxy.
pub fn through(variant: &str, proxy: &str) -> String {
    match variant {
        DEFAULT_VARIANT => format!("via-{proxy}"),
        variant => format!("{variant}-via-{proxy}"),
    }
}

/// The variant that such a name is of.
pub fn variant_behind<'n>(name: &'n str, proxy: &str) -> &'n str {
    match name.strip_suffix(&format!("via-{proxy}")) {
        None => name,
        Some("") => DEFAULT_VARIANT,
        Some(variant) => variant.strip_suffix('-').unwrap_or(name),
    }
}

/// A server and its variant, for people; without the variant when it is the only one.
pub fn contestant(server: &str, variant: &str) -> String {
    if variant == DEFAULT_VARIANT {
        server.to_owned()
    } else {
        format!("{server} ({variant})")
    }
}

/// The same for some of a server's `of` variants; without names when they are all.
pub fn contestants(server: &str, variants: &[&str], of: usize) -> String {
    if variants.len() == of {
        server.to_owned()
    } else {
        format!("{server} ({})", variants.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_known_again_behind_its_proxy() {
        for variant in [DEFAULT_VARIANT, "single", "a-via-b"] {
            assert_eq!(variant_behind(&through(variant, "nginx"), "nginx"), variant);
        }
        assert_eq!(variant_behind("single", "nginx"), "single");
    }
}
