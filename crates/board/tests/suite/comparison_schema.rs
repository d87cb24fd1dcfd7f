//! The schema of a comparison in docs/ is the one that the types make.

use board::compare::comparison_schema;
use std::fs;
use std::path::Path;

#[test]
fn docs_hold_the_schema_of_a_comparison() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/comparison.v2.schema.json");
    let schema = serde_json::to_value(comparison_schema()).unwrap();
    let generated = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(&path, &generated).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == generated,
        "docs/schema/comparison.v2.schema.json is not the schema of the types; regenerate it with \
         `UPDATE_SCHEMA=1 cargo test -p board --test suite schema`"
    );
}
