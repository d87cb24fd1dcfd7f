//! Whether two runs were made in the same way.

use run_record::{Environment, Plan};
use serde::Serialize;
use serde_json::{Map, Value};

/// Address, random choices and the grid of clients: none of them decides what a step measures.
const NO_MATTER: [&str; 8] = [
    "url",
    "seed",
    "verify_certificate",
    "ca_file",
    "local_addrs",
    "initial_clients",
    "step_size",
    "total_steps",
];

/// In what two plans differ, in words; empty when they are the same.
pub(super) fn differences(a: &Plan, b: &Plan) -> Vec<String> {
    unequal(a, b, &NO_MATTER)
}

/// In what two machines differ, in words.
pub(super) fn machines(a: &Environment, b: &Environment) -> Vec<String> {
    unequal(a, b, &[])
}

fn unequal<T: Serialize>(a: &T, b: &T, but: &[&str]) -> Vec<String> {
    let (a, b) = (keys(a), keys(b));
    a.iter()
        .filter(|(key, value)| !but.contains(&key.as_str()) && b.get(*key) != Some(value))
        .map(|(key, value)| {
            let name = key.replace('_', " ");
            format!("{name} {value} / {}", b.get(key).unwrap_or(&Value::Null))
        })
        .collect()
}

fn keys<T: Serialize>(of: &T) -> Map<String, Value> {
    match serde_json::to_value(of) {
        Ok(Value::Object(keys)) => keys,
        _ => Map::new(),
    }
}
