//! The schemas of a comparison and of an explanation in docs/ are those that the types make.

use board::compare::comparison_schema;
use board::explain::explanation_schema;
use std::fs;
use std::path::Path;

#[test]
fn docs_hold_the_schema_of_a_comparison() {
    holds("comparison.v2.schema.json", &comparison_schema());
}

#[test]
fn docs_hold_the_schema_of_an_explanation() {
    holds("explanation.v2.schema.json", &explanation_schema());
}

fn holds(name: &str, schema: &impl serde::Serialize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/schema")
        .join(name);
    let schema = serde_json::to_value(schema).unwrap();
    let generated = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(&path, &generated).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == generated,
        "docs/schema/{name} is not the schema of the types; regenerate it with `UPDATE_SCHEMA=1 \
         cargo test -p board --test suite schema`"
    );
}
