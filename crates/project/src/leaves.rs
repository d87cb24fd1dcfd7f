//! The values of plans and options by their whole keys.

use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Every value that has no keys, by its key as `--set` names it: `load.open.rate`.
pub fn leaves<T: Serialize>(of: &T) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    if let Ok(Value::Object(parts)) = serde_json::to_value(of) {
        for (key, value) in parts {
            collect(key, value, &mut found);
        }
    }
    found
}

fn collect(key: String, value: Value, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(parts) => {
            for (name, part) in parts {
                collect(format!("{key}.{name}"), part, found);
            }
        }
        value => {
            found.insert(key, value);
        }
    }
}
