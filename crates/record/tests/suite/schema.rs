//! The schemas in docs/schema/ are those of the types, and they bite.

use crate::support::{record, step, value};
use ::record::{
    Json, MEASUREMENT_FORMAT, Measurement, Memory, ServerIdentity, ServerRow, ServerSeries,
    ServerStep, Status, Switches, VERSION, autobahn_schema, measurement_schema, run_schema,
    selftest_schema,
};
use plan::{Dialect, Workload, plan_schema};
use serde_json::{Value, json};
use std::path::Path;
use std::{env, fs};

const REGENERATE: &str =
    "UPDATE_SCHEMA=1 cargo test -p plan -p record -p board --test suite schema";

fn assert_in_step(name: &str, schema: impl serde::Serialize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let path = folder.join(name);
    let generated = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
    if env::var_os("UPDATE_SCHEMA").is_some() {
        fs::create_dir_all(&folder).unwrap();
        fs::write(&path, &generated).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == generated,
        "docs/schema/{name} is not the schema of the types; regenerate it with `{REGENERATE}`, \
         and raise ::record::VERSION when a reader must change"
    );
}

#[test]
fn docs_hold_the_schema_of_a_run() {
    assert_in_step("run.v2.schema.json", run_schema());
}

#[test]
fn docs_hold_the_schema_of_a_plan() {
    assert_in_step("plan.v1.schema.json", plan_schema());
}

#[test]
fn docs_hold_the_schema_of_a_measurement() {
    assert_in_step("measurement.v2.schema.json", measurement_schema());
}

#[test]
fn docs_hold_the_schema_of_an_autobahn_summary() {
    assert_in_step("autobahn.v1.schema.json", autobahn_schema());
}

#[test]
fn docs_hold_the_schema_of_a_certificate() {
    assert_in_step("selftest.v2.schema.json", selftest_schema());
}

fn run() -> Value {
    value(&record(vec![step(10_000), step(11_000)]))
}

fn measurement() -> Value {
    value(&Measurement {
        format: MEASUREMENT_FORMAT.into(),
        version: VERSION,
        server: ServerIdentity {
            name: "some-server".into(),
            variant: "default".into(),
            variant_summary: None,
            language: "Some".into(),
            library: "some".into(),
            homepage: "https://example.org/".into(),
            class: "idiomatic".into(),
            library_version: None,
            runtime: None,
            json: None,
            released: None,
            old_because: None,
        },
        workload: Workload::Broadcast,
        workload_name: Some("broadcast".into()),
        dialect: Dialect::Text,
        repetition: 1,
        started: "2026-01-02T03:04:05Z".into(),
        status: Status::Ok,
        reason: None,
        log_tail: None,
        conformance: None,
        pinning: None,
        network: None,
        proxy: None,
        nodes: None,
        claim: None,
        faults: Vec::new(),
        busy_before: None,
        busy_during: None,
        idle: Some(Memory::default()),
        server_steps: vec![ServerStep {
            clients: 10_000,
            cpu_ns: 1,
            elapsed_ns: 2,
            from_ns: Some(1),
            user_ns: Some(1),
            kernel_ns: Some(0),
            switches: Some(Switches::default()),
            memory: Memory::default(),
        }],
        server_series: Some(ServerSeries {
            interval_ns: 250_000_000,
            rows: vec![ServerRow::default()],
        }),
        run: Some(record(vec![step(10_000)])),
    })
}

#[test]
fn records_as_written_are_valid() {
    let schema = serde_json::to_value(run_schema()).unwrap();
    jsonschema::validate(&schema, &run()).unwrap();
    let schema = serde_json::to_value(measurement_schema()).unwrap();
    jsonschema::validate(&schema, &measurement()).unwrap();
}

/// Asserts that each change makes a valid record invalid.
fn assert_each_is_refused(schema: impl serde::Serialize, good: &Value, changes: &[(&str, Value)]) {
    let schema = serde_json::to_value(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (pointer, value) in changes {
        let mut bad = good.clone();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = bad.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        if value == REMOVED {
            parent.remove(key).expect("the key is there");
        } else {
            parent.insert(key.to_owned(), value.clone());
        }
        assert!(!validator.is_valid(&bad), "{pointer} = {value} is valid");
    }
}

const REMOVED: &str = "(removed)";

#[test]
fn broken_run_records_are_refused() {
    let changes = [
        ("/format", json!("websocket-shootout/measurement")),
        ("/version", json!(1)),
        ("/stepz", json!([])),
        ("/steps", json!(REMOVED)),
        ("/plan/concurent", json!(4)),
        ("/plan/load/closed/in_flite", json!(4)),
        ("/plan/clients/steps/count", json!(REMOVED)),
        ("/plan/message/dialect", json!("xml")),
        ("/plan/limits/percentile", json!("95")),
        ("/plan/limits/time", json!(500_000_000)),
        ("/steps/1/clients", json!(-1)),
        ("/steps/1/clients", json!(1.5)),
        ("/steps/0/completion/p95_ns", json!(null)),
        ("/steps/0/completion/p96_ns", json!(1)),
        ("/steps/0/faults/lost", json!(REMOVED)),
        ("/environment/cores", json!("two")),
        ("/outcome/end", json!("finished")),
        ("/outcome/carried", json!(7)),
    ];
    assert_each_is_refused(run_schema(), &run(), &changes);
}

#[test]
fn broken_measurements_are_refused() {
    let changes = [
        ("/format", json!("websocket-shootout/run")),
        ("/status", json!("fine")),
        ("/reasn", json!("none")),
        ("/server/language", json!(REMOVED)),
        ("/server/json", json!("xml")),
        ("/server/released", json!("2022")),
        ("/server_steps/0/memory/resident_bytes", json!(-4096)),
        ("/server_steps/0/kernel_ns", json!(-1)),
        ("/server_steps/0/switches/voluntary", json!(REMOVED)),
        ("/run/plan/target/url", json!(null)),
        ("/run/steps/0/generator/lag", json!(0)),
    ];
    assert_each_is_refused(measurement_schema(), &measurement(), &changes);
}

/// As those of published rounds are.
#[test]
fn a_measurement_that_says_nothing_of_runtime_json_and_age_is_read() {
    let mut old = measurement();
    let server = old["server"].as_object_mut().unwrap();
    for key in ["runtime", "json", "released", "old_because"] {
        assert_eq!(server.remove(key), Some(json!(null)), "{key}");
    }
    let read = Measurement::from_json(&old.to_string()).unwrap().server;
    assert_eq!((read.runtime, read.json, read.released), (None, None, None));
}

#[test]
fn a_version_is_old_where_a_measurement_is_of_a_year_more_than_two_years_later() {
    let mut server = Measurement::from_json(&measurement().to_string())
        .unwrap()
        .server;
    assert_eq!(server.old_in("2026-01-02T03:04:05Z"), None);
    server.released = Some(2023);
    assert_eq!(server.old_in("2026-01-02T03:04:05Z"), Some(2023));
    assert_eq!(server.old_in("2025-12-31T23:59:59Z"), None);
    assert_eq!(server.old_in("1999-01-02T03:04:05Z"), None);
    assert_eq!(server.old_in("soon"), None);
}
