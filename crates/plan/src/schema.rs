//! JSON Schema of a plan, from the types that read it.

use super::Plan;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// Schema of a [`Plan`] as a file has it: what has a default may be left out. What is left out of
/// the generator is chosen for the machine, so that it has none.
pub fn plan_schema() -> Schema {
    let mut schema = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<Plan>();
    for part in ["/properties/generator", "/$defs/Generator/properties"] {
        if let Some(part) = schema.pointer_mut(part) {
            without_defaults(part);
        }
    }
    schema
}

fn without_defaults(value: &mut Value) {
    if let Value::Object(keys) = value {
        keys.remove("default");
        keys.values_mut().for_each(without_defaults);
    }
}
