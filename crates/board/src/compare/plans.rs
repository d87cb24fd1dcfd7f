//! Whether two runs were made in the same way.

use plan::Plan;
use project::leaves;
use record::Environment;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Parts of a plan that decide nothing of what a step measures: where a server listens, random
/// choices, what a workload is called and which rows it has, and how finely clients are told.
const NO_MATTER: [&str; 9] = [
    "target",
    "generator.seed",
    "name",
    "reason",
    "ranked_by",
    "nodes",
    "via",
    "dialects",
    "clients.steps",
];

/// In what two plans differ, in words; empty when they are the same.
pub(crate) fn differences(a: &Plan, b: &Plan) -> Vec<String> {
    let (a, b) = (leaves(a), leaves(b));
    let all: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let matters = |key: &str| {
        let is_part = |part: &&str| key.strip_prefix(*part).is_some_and(is_end_of_a_name);
        !NO_MATTER.iter().any(is_part)
    };
    all.into_iter()
        .filter(|key| matters(key) && a.get(*key) != b.get(*key))
        .map(|key| format!("{key} {} / {}", shown(a.get(key)), shown(b.get(key))))
        .collect()
}

fn is_end_of_a_name(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('.')
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "none".to_owned(), Value::to_string)
}

/// In what two machines differ, in words.
pub(crate) fn machines(a: &Environment, b: &Environment) -> Vec<String> {
    let (a, b) = (keys(a), keys(b));
    a.iter()
        .filter(|(key, value)| b.get(*key) != Some(value))
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
