//! Neither this crate nor one that it stands on starts a process: of `std::process` none names more
//! than its own number, and of crates from elsewhere none is for that.

use crate::import_graph::{is_test, paths};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// Crates with which processes are started; the runtime has a module for it.
const STARTERS: [&str; 5] = ["tokio", "async-process", "duct", "nix", "rustix"];

#[derive(Default)]
struct Reader {
    found: Vec<String>,
}

impl Reader {
    fn path(&mut self, path: &[String]) {
        let mut behind = path.iter().skip_while(|part| *part != "std").skip(1);
        if behind.next().is_some_and(|part| part == "process")
            && behind.next().is_none_or(|part| part != "id")
        {
            self.found.push(path.join("::"));
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        if !is_test(&node.attrs) {
            visit::visit_item_mod(self, node);
        }
    }

    fn visit_item_use(&mut self, node: &'ast syn::ItemUse) {
        if !is_test(&node.attrs) {
            paths(&node.tree).iter().for_each(|path| self.path(path));
        }
    }

    fn visit_path(&mut self, node: &'ast syn::Path) {
        let path: Vec<String> = node.segments.iter().map(|s| s.ident.to_string()).collect();
        self.path(&path);
        visit::visit_path(self, node);
    }

    fn visit_macro(&mut self, node: &'ast syn::Macro) {
        let tokens = node.tokens.to_string().replace("std :: process :: id", "");
        if tokens.contains("std :: process") {
            self.found.push(tokens);
        }
    }
}

/// The places in a source that name `std::process`.
fn named_in(text: &str) -> Vec<String> {
    let mut reader = Reader::default();
    reader.visit_file(&syn::parse_file(text).unwrap());
    reader.found
}

/// The sources below a folder but those of tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name == "tests" || name.ends_with("_tests") {
            continue;
        }
        match path.is_dir() {
            true => found.extend(sources(&path)),
            false => found.push(path),
        }
    }
    found
}

/// What a crate of the workspace depends on, tests apart.
fn dependencies(crates: &Path, name: &str) -> Vec<String> {
    let text = fs::read_to_string(crates.join(name).join("Cargo.toml")).unwrap();
    let manifest: toml::Table = text.parse().unwrap();
    let all = manifest.get("dependencies").and_then(toml::Value::as_table);
    all.into_iter()
        .flat_map(|all| all.keys().cloned())
        .collect()
}

#[test]
fn no_crate_below_the_board_starts_a_process() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut waiting = vec!["board".to_owned()];
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    while let Some(name) = waiting.pop() {
        if STARTERS.contains(&name.as_str()) {
            found.push(format!("{name} is depended on"));
        }
        if !crates.join(&name).is_dir() || !seen.insert(name.clone()) {
            continue;
        }
        for source in sources(&crates.join(&name).join("src")) {
            let named = named_in(&fs::read_to_string(&source).unwrap()).into_iter();
            found.extend(named.map(|path| format!("{}: {path}", source.display())));
        }
        waiting.extend(dependencies(&crates, &name));
    }
    assert!(
        seen.contains("project") && !seen.contains("shootout"),
        "{seen:?}"
    );
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_start_is_seen_in_every_form() {
    for text in [
        "use std::process::Command;",
        "use std::{fs, process as p};",
        "fn f() { std::process::Command::new(\"ls\"); }",
        "fn f() { println!(\"{:?}\", std::process::Command::new(\"ls\")); }",
    ] {
        assert_eq!(named_in(text).len(), 1, "{text}");
    }
    let harmless = "use std::fs; fn own() -> u32 { std::process::id() } #[cfg(test)] mod tests { use std::process::Command; } fn process() {}";
    assert!(named_in(harmless).is_empty());
}
