//! JSON Schemas of the records, from the same types that write them.
//!
//! The schemas are closed: a key that no record has is an error, and so is a missing one. The
//! readers in this crate are not; they pass over what a later writer may add.

use super::{AutobahnRecord, Certificate, Measurement, RunRecord};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};

/// Schema of [`RunRecord`].
pub fn run_schema() -> Schema {
    closed_schema::<RunRecord>()
}

/// Schema of [`Measurement`].
pub fn measurement_schema() -> Schema {
    closed_schema::<Measurement>()
}

/// Schema of [`AutobahnRecord`].
pub fn autobahn_schema() -> Schema {
    closed_schema::<AutobahnRecord>()
}

/// Schema of [`Certificate`].
pub fn selftest_schema() -> Schema {
    closed_schema::<Certificate>()
}

/// Schema of a record that another crate defines, closed like the ones here.
pub fn closed_schema<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(RecursiveTransform(close))
        .into_generator()
        .into_root_schema_for::<T>()
}

fn close(schema: &mut Schema) {
    if schema.get("properties").is_some() {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
}
