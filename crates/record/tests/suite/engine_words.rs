//! The engine, plans and records name facts and keys of a plan. Flags are of the program above them,
//! which puts them beside the keys.

use crate::sources::files;
use std::fs;
use std::path::Path;
use syn::visit::{self, Visit};

/// What a file says: its texts, and what its macros and attributes are given.
#[derive(Default)]
struct Words(Vec<String>);

impl<'ast> Visit<'ast> for Words {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !item.attrs.iter().any(is_for_tests) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_lit_str(&mut self, text: &'ast syn::LitStr) {
        self.0.push(text.value());
    }

    fn visit_macro(&mut self, of: &'ast syn::Macro) {
        self.0.push(of.tokens.to_string());
    }

    // Documentation is a name with a value.
    fn visit_attribute(&mut self, of: &'ast syn::Attribute) {
        if let syn::Meta::List(list) = &of.meta {
            self.0.push(list.tokens.to_string());
        }
    }
}

fn is_for_tests(of: &syn::Attribute) -> bool {
    matches!(&of.meta, syn::Meta::List(list) if list.path.is_ident("cfg") && list.tokens.to_string() == "test")
}

/// The flag in a text, if there is one.
fn flag(text: &str) -> Option<&str> {
    text.match_indices("--").find_map(|(at, _)| {
        let before = text[..at].chars().next_back();
        let named = text[at + 2..].starts_with(|first: char| first.is_ascii_lowercase());
        let begins = before.is_none_or(|before| !before.is_alphanumeric() && before != '-');
        (named && begins).then(|| text[at..].split(' ').next().unwrap_or_default())
    })
}

#[test]
fn what_is_below_the_command_line_names_no_flag() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("");
    let mut found = Vec::new();
    for name in ["plan", "record", "ws-load"] {
        found.extend(files(&crates.join(name).join("src")));
    }
    assert!(found.len() > 100, "{}", found.len());
    let mut named = Vec::new();
    for path in found {
        let mut words = Words::default();
        words.visit_file(&syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap());
        let flags = words.0.iter().filter_map(|text| flag(text));
        named.extend(flags.map(|flag| format!("{}: {flag}", path.display())));
    }
    assert_eq!(named, Vec::<String>::new());
}

#[test]
fn a_flag_is_seen_where_a_program_would_say_it() {
    let source = r#"
        /// Not in documentation: --quiet.
        #[error("raise {0} (--threads)")]
        fn one() { two(format!("lower --rate or {}", "3")); three("take --io uring"); }
        #[cfg(test)]
        mod tests { const HERE: &str = "--json"; }
    "#;
    let mut words = Words::default();
    words.visit_file(&syn::parse_file(source).unwrap());
    let flags: Vec<&str> = words.0.iter().filter_map(|text| flag(text)).collect();
    assert_eq!(flags, ["--threads)\"", "--rate", "--io"]);
    assert_eq!(flag("a--b, <!-- -- ---- and --"), None);
}
