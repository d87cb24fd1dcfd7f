//! Percentiles, means and counts, made again from the histograms that stand beside them.

use record::Latency;
use serde_json::Value;

/// Counts the distributions anywhere in a record, and names each figure that its histogram does not
/// have.
pub(super) fn recomputed(record: &Value) -> (usize, Vec<String>) {
    let mut count = 0;
    let mut broken = Vec::new();
    walk(record, &mut String::new(), &mut |place, value| {
        count += 1;
        broken.extend(wrong(place, value));
    });
    (count, broken)
}

fn walk(value: &Value, place: &mut String, on_latency: &mut dyn FnMut(&str, &Value)) {
    let mut into = |name: String, value: &Value| {
        let length = place.len();
        if !place.is_empty() {
            place.push('.');
        }
        place.push_str(&name);
        walk(value, place, on_latency);
        place.truncate(length);
    };
    match value {
        Value::Object(keys) if keys.contains_key("histogram") && keys.contains_key("p50_ns") => {
            on_latency(place, value);
        }
        Value::Object(keys) => keys
            .iter()
            .for_each(|(key, value)| into(key.clone(), value)),
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                into(index.to_string(), value);
            }
        }
        _ => {}
    }
}

fn wrong(place: &str, stored: &Value) -> Vec<String> {
    let latency: Latency = match serde_json::from_value(stored.clone()) {
        Ok(latency) => latency,
        Err(error) => return vec![format!("{place}: {error}")],
    };
    let made = match latency.recorder() {
        Ok(recorder) => recorder.latency(),
        Err(error) => return vec![format!("{place}: {error}")],
    };
    let Some(made) = made else {
        return vec![format!("{place}: the histogram is empty")];
    };
    let (stored, made) = (keys(&latency), keys(&made));
    let differs = |name: &&String| stored[*name] != made[*name];
    let names = stored.keys().filter(|name| *name != "histogram");
    names
        .filter(differs)
        .map(|name| {
            let (stored, made) = (&stored[name], &made[name]);
            format!("{place}.{name} is {stored}, and by its histogram {made}")
        })
        .collect()
}

fn keys(latency: &Latency) -> serde_json::Map<String, Value> {
    match serde_json::to_value(latency) {
        Ok(Value::Object(keys)) => keys,
        _ => serde_json::Map::new(),
    }
}
