//! One word for one thing (docs/glossary.md): no two public types of the crates that make the programs
//! have the same name, but for those that are listed here with a reason.

use crate::sources::files;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use syn::visit::Visit;

/// Names of more than one type, each with the reason.
const SAME: &[(&str, &str)] = &[
    (
        "Check",
        "of the certificate, whose records are published; and one of conformance",
    ),
    (
        "Command",
        "each is the inner word of its own program: of a worker, and of the command line",
    ),
    (
        "Dialect",
        "as a plan names it, as a manifest names it, and as the checks write it (Phoenix in two forms)",
    ),
    (
        "Event",
        "what comes out of a stream of frames, and what happens in a run: the field calls both so",
    ),
    (
        "Interval",
        "of time, in a series; and of confidence, of a figure",
    ),
    ("Part", "of a text with variables, and of the certificate"),
    (
        "Side",
        "of a connection, and of a comparison: the field calls both so",
    ),
    (
        "Target",
        "what a plan loads, and what the checks are made of: addresses of the same kind",
    ),
    (
        "Throughput",
        "as it is measured by raw echoes, and as a record holds it",
    ),
    ("Tls", "what a plan says of it, and what a check trusts"),
    (
        "Unit",
        "of a figure of the certificate, and of one that is compared",
    ),
];

#[derive(Default)]
struct Types(Vec<String>);

impl<'ast> Visit<'ast> for Types {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.note(&item.vis, &item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.note(&item.vis, &item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.note(&item.vis, &item.ident);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.note(&item.vis, &item.ident);
    }

    // Other files cannot name a type that a function declares for itself.
    fn visit_block(&mut self, _: &'ast syn::Block) {}
}

impl Types {
    fn note(&mut self, visible: &syn::Visibility, name: &syn::Ident) {
        if matches!(visible, syn::Visibility::Public(_)) {
            self.0.push(name.to_string());
        }
    }
}

#[test]
fn no_two_public_types_have_the_same_name() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("");
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in fs::read_dir(&crates).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let src = crates.join(&name).join("src");
        // What only tests are made with has the words of what it imitates.
        if name.starts_with("test-") || !src.is_dir() {
            continue;
        }
        for path in files(&src) {
            let mut types = Types::default();
            types.visit_file(&syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap());
            for found in types.0 {
                let place = path.strip_prefix(&crates).unwrap().display().to_string();
                places.entry(found).or_default().push(place);
            }
        }
    }
    assert!(places.len() > 300, "{}", places.len());
    places.retain(|_, of| of.len() > 1);
    let known = |name: &str| SAME.iter().any(|(same, _)| *same == name);
    let new: Vec<_> = places.iter().filter(|(name, _)| !known(name)).collect();
    assert!(
        new.is_empty(),
        "give each its own word (docs/glossary.md): {new:?}"
    );
    let gone = SAME.iter().find(|(name, _)| !places.contains_key(*name));
    assert!(gone.is_none(), "only one type has this name: {gone:?}");
}
