//! The laws of the fuzz target `manifest` over its committed corpus, without a fuzzer.

#[path = "../../../../fuzz/laws/corpus.rs"]
mod corpus;
#[path = "../../../../fuzz/laws/manifest.rs"]
mod manifest;

use project::manifest::{Manifest, Proxy};
use std::path::Path;

#[test]
fn any_text_is_a_manifest_or_has_problems_with_a_place() {
    corpus::check_all("manifest", manifest::check);
}

#[test]
fn the_corpus_has_manifests_that_parse() {
    for name in [
        "two-variants",
        "service-and-raw-echo",
        "nodes",
        "waiver",
        "crlf",
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/manifest");
        let text = std::fs::read_to_string(folder.join(name).with_extension("toml")).unwrap();
        let parsed = Manifest::parse(&text, Path::new("server.toml"), "go-example");
        assert!(parsed.is_ok(), "{name}: {parsed:?}");
    }
}

#[test]
fn the_corpus_has_a_proxy_that_parses() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/manifest");
    let text = std::fs::read_to_string(folder.join("proxy.toml")).unwrap();
    let parsed = Proxy::parse(&text, Path::new("proxy.toml"), "go-example");
    assert!(parsed.is_ok(), "{parsed:?}");
}
