//! What a plan may say: every bound is met from both sides.

use run_record::{Plan, PlanError};
use serde_json::{Value, json};

/// A plan of each kind, as JSON.
fn plans() -> [Value; 3] {
    let closed = json!({
        "url": "ws://127.0.0.1:1/", "workload": "echo", "dialect": "json", "origin": null,
        "local_addrs": [], "open_loop": null, "connect": null, "concurrent": 4, "sample_size": 20,
        "initial_clients": 10, "step_size": 10, "search": {"of": "clients", "tries": 3, "precision": 0.02},
        "total_steps": null, "payload_padding": 0,
        "limit": {"percentile": 95.0, "rtt_ns": 500_000_000, "measure": "completion"},
        "timeouts": {"connect_ns": 1_000_000_000, "sample_ns": 1_000_000_000},
        "timestamps": "user", "io": "epoll", "connect_concurrency": 50, "threads": 1, "seed": 1,
        "verify_certificate": true, "ca_file": null
    });
    let mut open = closed.clone();
    open["open_loop"] = json!({"rate": 100.0, "ramp": {"to": 200.0, "over_ns": 5}, "arrivals": "poisson",
        "duration_ns": 1_000_000_000, "warm_up_ns": 0});
    let mut connect = closed.clone();
    connect["workload"] = json!("connect");
    connect["search"] = Value::Null;
    connect["connect"] = json!({"rate": 100.0, "arrivals": "constant", "hold_ns": 0,
        "ping_interval_ns": 1000, "ping_timeout_ns": 1000});
    [closed, open, connect]
}

fn validated(plan: &Value) -> Result<(), PlanError> {
    let plan: Plan = serde_json::from_value(plan.clone()).unwrap();
    plan.validate()
}

#[test]
fn ordinary_plans_are_permitted() {
    for plan in plans() {
        assert_eq!(validated(&plan), Ok(()), "{plan}");
    }
}

#[test]
fn every_bound_is_met_from_both_sides() {
    const DAY: u64 = 86_400_000_000_000;
    let [closed, open, connect] = plans();
    let cases = [
        (
            &closed,
            "/threads",
            json!([1, 1024]),
            json!([0, 1025, u32::MAX]),
        ),
        (
            &closed,
            "/connect_concurrency",
            json!([1, 100_000]),
            json!([0, 100_001]),
        ),
        (
            &closed,
            "/concurrent",
            json!([1, 1_000_000]),
            json!([0, 1_000_001]),
        ),
        (
            &closed,
            "/sample_size",
            json!([1, 100_000_000]),
            json!([0, 100_000_001, u32::MAX]),
        ),
        (
            &closed,
            "/initial_clients",
            json!([1, 10_000_000]),
            json!([0, 10_000_001]),
        ),
        (
            &closed,
            "/step_size",
            json!([0, 10_000_000]),
            json!([10_000_001]),
        ),
        (
            &closed,
            "/total_steps",
            json!([null, 1, u32::MAX]),
            json!([0]),
        ),
        (
            &closed,
            "/payload_padding",
            json!([0, 16_776_192]),
            json!([16_776_193, 16 << 20]),
        ),
        (
            &closed,
            "/limit/percentile",
            json!([0.001, 100.0]),
            json!([0.0, -1.0, 100.1]),
        ),
        (
            &closed,
            "/limit/rtt_ns",
            json!([1, DAY]),
            json!([0, DAY + 1]),
        ),
        (
            &closed,
            "/timeouts/connect_ns",
            json!([1, DAY]),
            json!([0, u64::MAX]),
        ),
        (
            &closed,
            "/timeouts/sample_ns",
            json!([1, DAY]),
            json!([0, u64::MAX]),
        ),
        (&closed, "/search/tries", json!([1, 99]), json!([0, 100])),
        (
            &closed,
            "/search/precision",
            json!([0.001, 0.5]),
            json!([0.0, 0.6]),
        ),
        (
            &closed,
            "/url",
            json!(["ws://h/"]),
            json!(["", "ws://h/\nx", "\u{1b}[2J"]),
        ),
        (
            &closed,
            "/origin",
            json!(["http://h/"]),
            json!(["", "a\r\nEvil: 1", "\u{e4}"]),
        ),
        (
            &open,
            "/open_loop/rate",
            json!([0.001, 1e7]),
            json!([0.0, -1.0, 1.1e7, 1e300]),
        ),
        (
            &open,
            "/open_loop/ramp/to",
            json!([0.001, 1e7]),
            json!([0.0, 1e8]),
        ),
        (
            &open,
            "/open_loop/ramp/over_ns",
            json!([1, DAY]),
            json!([0, DAY + 1]),
        ),
        (
            &open,
            "/open_loop/duration_ns",
            json!([1, DAY]),
            json!([0, u64::MAX]),
        ),
        (
            &open,
            "/open_loop/warm_up_ns",
            json!([0, DAY]),
            json!([u64::MAX]),
        ),
        (
            &connect,
            "/connect/rate",
            json!([null, 0.001, 1e7]),
            json!([0.0, 2e7]),
        ),
        (
            &connect,
            "/connect/hold_ns",
            json!([0, DAY]),
            json!([u64::MAX]),
        ),
        (
            &connect,
            "/connect/ping_interval_ns",
            json!([1000, DAY]),
            json!([0, u64::MAX]),
        ),
        (
            &connect,
            "/connect/ping_timeout_ns",
            json!([1, 1000]),
            json!([0, 1001]),
        ),
    ];
    for (plan, place, permitted, forbidden) in cases {
        let with = |value: &Value| {
            let mut plan = plan.clone();
            *plan.pointer_mut(place).unwrap() = value.clone();
            plan
        };
        for value in permitted.as_array().unwrap() {
            assert_eq!(validated(&with(value)), Ok(()), "{place} = {value}");
        }
        for value in forbidden.as_array().unwrap() {
            let error = validated(&with(value)).expect_err(place);
            let field = place.trim_start_matches('/').replace('/', ".");
            let words = error.to_string();
            assert!(words.starts_with(&format!("`{field}` is ")), "{words}");
            assert!(words.contains("permitted: "), "{words}");
            assert!(!words.chars().any(char::is_control), "{words:?}");
        }
    }
}

#[test]
fn what_is_no_number_is_in_no_range() {
    let [_, open, connect] = plans();
    let read = |plan| serde_json::from_value::<Plan>(plan).unwrap();
    let (mut open, mut connect) = (read(open), read(connect));
    for rate in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        open.open_loop.as_mut().unwrap().rate = rate;
        connect.connect.as_mut().unwrap().rate = Some(rate);
        assert!(open.validate().is_err() && connect.validate().is_err());
    }
}

#[test]
fn keys_of_two_workloads_in_one_plan_are_refused() {
    let [closed, open, connect] = plans();
    let mut both = open.clone();
    both["connect"] = connect["connect"].clone();
    let mut searching = connect.clone();
    searching["search"] = closed["search"].clone();
    let mut missing = connect;
    missing["connect"] = Value::Null;
    for plan in [both, searching, missing] {
        let words = validated(&plan).unwrap_err().to_string();
        assert!(words.starts_with("`connect` "), "{words}");
    }
}
