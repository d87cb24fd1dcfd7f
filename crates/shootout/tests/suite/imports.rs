//! Imports of this crate run down; and the reader of imports sees what it is to see.

use crate::import_graph::check;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Of this crate, from the highest to the lowest.
const LAYERS: [&[&str]; 9] = [
    &["commands"],
    &["cli", "measure", "quick"],
    &["passed"],
    &["conform", "generator", "session"],
    &["autobahn", "build", "machine", "rows", "supervise"],
    &["toolchain"],
    &["network", "process", "quiet"],
    &["interrupt", "stdout"],
    &["exit", "options", "progress", "sample", "target"],
];

#[test]
fn no_import_of_this_crate_runs_back_up() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert_eq!(check(&src, &LAYERS), Ok(()));
}

/// The sources of a crate, from the names of its files and their texts.
fn sources(files: &[(&str, &str)]) -> TempDir {
    let dir = TempDir::new().unwrap();
    for (name, text) in files {
        let file = dir.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    dir
}

/// What is wrong with a crate of the modules `a`, `b` and `c`, in which `a` imports `b`, and the
/// other two are these.
fn problems(b: &str, c: &str, layers: &[&[&str]]) -> String {
    let dir = sources(&[
        (
            "lib.rs",
            "mod a; mod b; mod c; pub use c::Renamed; pub struct Own;",
        ),
        ("a.rs", "use crate::b::X; pub struct A;"),
        ("b/mod.rs", b),
        ("b/inner.rs", "pub fn f() { super::super::c::f() }"),
        ("c.rs", c),
    ]);
    let found = check(dir.path(), layers).err().unwrap_or_default();
    found.replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn a_cycle_is_found_around_a_corner_and_printed_with_its_places() {
    assert_eq!(
        problems("mod inner;", "use crate::{Own, a::{self, A}};", &[]),
        "modules import each other: a -> b -> c -> a\n  \
         a -> b: a.rs: crate::b::X\n  \
         b -> c: b/inner.rs: super::super::c::f\n  \
         c -> a: c.rs: crate::a::self"
    );
}

#[test]
fn an_import_is_seen_in_every_form() {
    for back in [
        "use crate::a;",
        "use super::a::A as Other;",
        "fn f() -> Vec<crate::a::A> { vec![] }",
        "mod within { mod deeper { use super::super::super::a::A; } }",
        "fn f() { println!(\"{:?}\", (1, crate::a::A)); }",
        "#[cfg(not(test))] use crate::a;",
        "#[cfg(any(test, unix))] use crate::a;",
    ] {
        let found = problems(back, "", &[]);
        assert!(found.contains("a -> b -> a"), "{back}: {found}");
    }
    let by_name = problems("use crate::Renamed;", "use crate::b;", &[]);
    assert!(by_name.contains("b -> c -> b"), "{by_name}");
    let glob = problems("use super::*;", "", &[]);
    assert!(
        glob.contains("b/mod.rs: a glob of the crate's root"),
        "{glob}"
    );
}

#[test]
fn tests_and_imports_of_the_own_module_are_no_cycle() {
    for harmless in [
        "#[cfg(test)] mod tests { use crate::a; }",
        "#[cfg(all(test, unix))] use crate::a;",
        "#[test] fn f() { crate::a::f(); }",
        "use crate::b::Y; mod within { use super::super::b::Y; }",
        "use a::A; use std::fmt; use crate::Own;",
        "pub(crate) struct Y; impl Y { #[cfg(test)] fn f(_: crate::a::A) {} }",
    ] {
        assert_eq!(problems(harmless, "", &[]), "", "{harmless}");
    }
}

#[test]
fn a_module_that_cannot_be_read_is_no_pass() {
    assert!(problems("mod absent;", "", &[]).contains("b/absent.rs"));
    assert!(problems("fn (", "", &[]).contains("b/mod.rs"));
}

#[test]
fn layers_are_imported_downwards_only() {
    let down = problems("mod inner;", "", &[&["a"], &["b"], &["c"]]);
    assert_eq!(down, "");
    let up = problems("mod inner;", "", &[&["a"], &["c"], &["b"]]);
    assert_eq!(up, "not down:  b -> c: b/inner.rs: super::super::c::f");
    let beside = problems("", "", &[&["a", "b"], &["c"]]);
    assert_eq!(beside, "not down:  a -> b: a.rs: crate::b::X");
    let other = problems("", "", &[&["a"], &["b"], &["d"]]);
    assert_eq!(
        other,
        "a layer names d, which is no module\nc is in no layer"
    );
}
