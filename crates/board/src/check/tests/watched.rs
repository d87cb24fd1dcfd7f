//! Records of messages that were watched while a node failed.

use super::{found, unnoticed, value};
use crate::report::fixture_watched::{Fails, failing, plan};
use record::{Measurement, ServerRow, ServerSeries};
use serde_json::{Value, json};

/// A record with everything that a check wants.
fn whole(fails: Fails) -> Measurement {
    let mut of = failing(&plan(), "alpha", fails, 6_000);
    (of.busy_before, of.busy_during) = (Some(0.01), Some(0.01));
    let largest = of.server_steps[0].memory;
    of.server_series = Some(ServerSeries {
        interval_ns: 3_600_000_000_000,
        rows: vec![ServerRow {
            cpu_ns: 100_000_000_000,
            resident_bytes: largest.resident_bytes,
            proportional_bytes: largest.proportional_bytes,
            sockets_bytes: largest.sockets_bytes,
        }],
    });
    of
}

fn record(fails: Fails) -> Value {
    value(&whole(fails))
}

/// Nothing else in a record counts what came twice or out of order.
const BOUNDED: [&str; 3] = ["duplicate", "repeated", "reordered"];

#[test]
fn no_number_of_a_watched_record_can_be_changed_unnoticed() {
    for fails in [Fails::Silently, Fails::Cutting, Fails::Resuming] {
        let (missed, noticed) = unnoticed(&record(fails));
        let is_bounded = |place: &str| {
            BOUNDED
                .iter()
                .any(|name| place.ends_with(&format!("/watched/{name}")))
        };
        let missed: Vec<_> = missed
            .iter()
            .filter(|(place, _)| !is_bounded(place))
            .collect();
        assert!(missed.is_empty(), "{fails:?}: {missed:#?}");
        assert!(noticed >= 40, "{fails:?}: {noticed}");
    }
}

/// What is found of a record in which one value is another.
fn with(fails: Fails, place: &str, value: Value) -> Vec<String> {
    let mut changed = record(fails);
    *changed
        .pointer_mut(place)
        .unwrap_or_else(|| panic!("{place}")) = value;
    found(&changed)
}

#[test]
fn losses_may_be_counted_without_cores_of_their_own() {
    assert_eq!(with(Fails::Silently, "/pinning", Value::Null), [""; 0]);
}

#[test]
fn what_no_table_shows_is_found_too() {
    let step = "/run/steps/0/watched";
    for (place, value, words) in [
        (
            "planned",
            json!(7),
            "watched.planned is 7, and by its plan 2000",
        ),
        (
            "bystanders",
            json!(201),
            "watched.bystanders is 201, and by clients 200 at most",
        ),
        (
            "bystanders",
            json!(99),
            "the clients without watched.bystanders is 101, and by drops 100",
        ),
        (
            "silent_clients",
            json!(1),
            "watched.silent_clients is true, and by what was lost false",
        ),
        (
            "has_no_results",
            json!(true),
            "watched.confirmed is 1995, and by has_no_results 0",
        ),
        ("duplicate", json!(400_000), "generator.messages is"),
        (
            "reordered",
            json!(1e6 as u64),
            "watched.reordered is 1000000, and by what came",
        ),
        ("timeline/tick_ns", json!(1), "the end of watched.timeline"),
        (
            "timeline/ready/7",
            json!(201),
            "watched.timeline.ready.7 is 201",
        ),
        (
            "timeline/ready",
            json!([200]),
            "the number of parts of watched.timeline.ready is 1",
        ),
        (
            "timeline/slowest_ns/3",
            json!(90_000_000),
            "the largest of watched.timeline.slowest_ns",
        ),
        (
            "bystander_latency/count",
            json!(399_999_999),
            "bystander_latency",
        ),
    ] {
        let found = with(Fails::Cutting, &format!("{step}/{place}"), value);
        assert!(
            found.iter().any(|found| found.contains(words)),
            "{place}: {found:?}"
        );
    }
    let without = with(Fails::Cutting, step, Value::Null);
    let words = "watched is false, and by its plan true";
    assert!(
        without.iter().any(|found| found.contains(words)),
        "{without:?}"
    );
}

#[test]
fn a_dialect_that_does_not_reach_its_sender_has_a_listener_less() {
    let mut of = whole(Fails::Silently);
    let run = of.run.as_mut().unwrap();
    let mut file = plan::built_in_dialects().next().unwrap().clone();
    file.send.reaches_sender = false;
    file.send.acknowledged = Some(true);
    run.plan.message.definition = Some(Box::new(file));
    let found = found(&value(&of));
    let words = "watched.of_confirmed is 400000, and by its messages and clients 398000";
    assert!(found.iter().any(|found| found.contains(words)), "{found:?}");
}

#[test]
fn faults_are_those_of_the_plan_in_their_time() {
    let missing = with(Fails::Resuming, "/faults", json!([]));
    let words = "the number of faults is 0, and by its plan 2";
    assert!(missing.iter().any(|found| found == words), "{missing:?}");
    for (place, value, words) in [
        (
            "planned/what",
            json!("node:1"),
            "faults.0: is none of its plan",
        ),
        (
            "due_ns",
            json!(9_999_999_999_u64),
            "due_ns is 9999999999, and by its plan 10000000000 at least",
        ),
        (
            "began_ns",
            json!(9_999_999_999_u64),
            "began_ns is 9999999999, and by due_ns 10000000000 at least",
        ),
        (
            "began_ns",
            json!(10_250_000_001_u64),
            "ended_ns is 10060000000, and by began_ns 10250000001 at least",
        ),
        (
            "began_ns",
            Value::Null,
            "did not happen as planned: it was not done",
        ),
        (
            "ended_ns",
            json!(10_000_000_000_u64),
            "ended_ns is 10000000000, and by began_ns",
        ),
        (
            "failure",
            json!("it did not die"),
            "did not happen as planned: it did not die",
        ),
    ] {
        let found = with(Fails::Resuming, &format!("/faults/0/{place}"), value);
        assert!(
            found.iter().any(|found| found.contains(words)),
            "{place}: {found:?}"
        );
    }
}

#[test]
fn a_late_fault_is_no_contradiction_where_the_status_says_so() {
    let mut of = whole(Fails::Cutting);
    of.faults[0].began_ns = Some(12_000_000_000);
    of.faults[0].ended_ns = Some(12_000_000_000);
    of.faults[0].failure = Some("began 2 s late".into());
    of.status = record::Status::GeneratorLimited;
    let found = found(&value(&of));
    assert!(
        !found.iter().any(|found| found.contains("faults.0")),
        "{found:?}"
    );
}

#[test]
fn drops_that_were_changed_are_found() {
    let drops = "/run/steps/0/drops";
    for (place, value, words) in [
        (
            "causes/0/count",
            json!(99),
            "drops.causes.0.count is 99, and by its intervals 100",
        ),
        (
            "causes/0/intervals/0",
            json!(7),
            "drops.causes.0.count is 100, and by its intervals 7",
        ),
        (
            "causes/0/intervals",
            json!({"500": 100}),
            "the last of drops is 500000000000, and by elapsed_ns",
        ),
        (
            "interval_ns",
            json!(2_000_000_000_u64),
            "drops.interval_ns is 2000000000, and by the last 1000000000",
        ),
        ("causes", json!([]), "drops have no interval"),
    ] {
        let found = with(Fails::Cutting, &format!("{drops}/{place}"), value);
        assert!(
            found.iter().any(|found| found.contains(words)),
            "{place}: {found:?}"
        );
    }
}
