//! What a plan may say of messages that are watched, of nodes, and of faults.

use plan::{Load, Plan, PlanError, plan_schema};
use serde_json::{Value, json};

/// A plan of everything that they may have, with a value in another place.
fn with(pointer: &str, value: Value) -> Result<(), PlanError> {
    let mut plan = json!({
        "target": {"url": "ws://127.0.0.1:1/", "nodes": ["127.0.0.1:1", "[::1]:2"],
            "unix_socket": null, "proxy": null, "resolve": []},
        "populations": [{"reads": "full", "life": "stays", "reconnect": "never"}],
        "clients": {"steps": {"first": 100, "add": 0, "count": 1}},
        "load": {"watch": {"rate": 50.0, "duration": "60s", "patience": "5s"}},
        "audience": "everyone", "warm_up": "0s", "nodes": false, "via": [], "dialects": [],
        "fault": [{"at": "10s", "jitter": "1s", "do": "kill", "what": "node:2"}],
    });
    *plan.pointer_mut(pointer).expect("the example has it") = value;
    serde_json::from_value::<Plan>(plan).unwrap().validate()
}

fn fault(at: &str, deed: &str, what: &str) -> Value {
    json!([{"at": at, "do": deed, "what": what}])
}

#[test]
fn what_can_be_watched_is_permitted() {
    for (pointer, value) in [
        ("/warm_up", json!("0s")),
        ("/populations/0/reconnect", json!({"first": "100ms"})),
        ("/load/watch/patience", json!("1ns")),
        ("/load/watch/duration", json!("1h")),
        ("/target/nodes", json!([])),
        ("/fault", json!([])),
        ("/fault", fault("59s", "terminate", "broker")),
        ("/fault", fault("0s", "freeze", "node:16")),
        ("/fault", fault("1s", "heal", "link:1")),
        ("/fault", fault("1s", "reload", "proxy")),
        ("/fault", fault("1s", "freeze", "proxy")),
        ("/nodes", json!(true)),
        ("/via", json!(["none", "nginx"])),
        ("/clients/steps/first", json!(16_666)),
    ] {
        assert_eq!(with(pointer, value.clone()), Ok(()), "{pointer} {value}");
    }
}

#[test]
fn what_cannot_be_watched_is_named() {
    let leaves = json!({"cut": {"at": "1s"}});
    let closed = json!({"closed": {"in_flight": 1, "samples": 1}});
    let unix = json!("/run/a.sock");
    for (pointer, value, field) in [
        ("/clients/steps/count", json!(2), "clients.steps.count"),
        ("/clients/steps/count", json!(null), "clients.steps.count"),
        ("/clients", json!({"search": {}}), "clients.search"),
        ("/audience", json!("sender"), "audience"),
        ("/audience", json!({"room": {"equal": 2}}), "audience"),
        (
            "/populations/0/reads",
            json!("stopped"),
            "populations.reads",
        ),
        ("/populations/0/life", leaves, "populations.life"),
        ("/populations", json!([{}, {}]), "populations"),
        ("/warm_up", json!("1s"), "warm_up"),
        ("/load/watch/rate", json!(0.0), "load.watch.rate"),
        ("/load/watch/rate", json!(0.01), "load.watch.rate"),
        ("/load/watch/duration", json!("61m"), "load.watch.duration"),
        ("/load/watch/patience", json!("0s"), "load.watch.patience"),
        ("/clients/steps/first", json!(16_667), "load.watch.rate"),
        ("/load", closed, "fault"),
        ("/fault", fault("60s", "kill", "node:1"), "fault.at"),
        ("/fault/0/jitter", json!("50s"), "fault.at"),
        ("/fault", fault("1s", "kill", "link:1"), "fault.do"),
        ("/fault", fault("1s", "cut", "node:1"), "fault.do"),
        ("/fault", fault("1s", "cut", "broker"), "fault.do"),
        ("/fault", fault("1s", "cut", "proxy"), "fault.do"),
        ("/fault", fault("1s", "reload", "node:1"), "fault.do"),
        ("/via", json!(["nginx", "none", "nginx"]), "via"),
        ("/via", json!(vec!["a"; 17]), "via"),
        ("/dialects", json!(["text", "text"]), "dialects"),
        ("/dialects", json!(["text", "mqtt"]), "dialects"),
        ("/target/unix_socket", unix, "target.nodes"),
        ("/target/proxy", json!("http://a:1"), "target.nodes"),
        ("/target/resolve", json!(["a:1:127.0.0.1"]), "target.nodes"),
    ] {
        let error = with(pointer, value.clone()).expect_err(field);
        assert_eq!(error.field(), field, "{pointer} {value}: {error}");
    }
}

#[test]
fn every_kind_of_load_has_its_word_among_those_that_set_knows() {
    let schema = plan_schema();
    let kinds = schema
        .pointer("/$defs/Load/oneOf")
        .and_then(Value::as_array);
    let words = kinds.unwrap().iter().map(|kind| &kind["required"][0]);
    assert_eq!(words.collect::<Vec<_>>(), Load::NAMES);
}
