//! Every number of a record that a table shows, or that orders rows, is falsified, one at a time.

use super::{figures, row};
use crate::records;
use crate::report::fixture_under::{plans, under};
use crate::report::markdown;
use crate::report::ranking;
use crate::report::subject::Subject;
use plan::{Clients, SearchOf};
use record::{Edge, End, Json, Measurement, ProxyUse, Recorder, ServerRow, ServerSeries};
use serde_json::{Value, json};
use std::path::Path;

mod beside;
mod watched;

/// What is written of a record.
fn value(of: &impl Json) -> Value {
    serde_json::from_str(&of.to_json().unwrap()).unwrap()
}

/// What a check says of a record.
fn found(record: &Value) -> Vec<String> {
    let of = match Measurement::from_json(&record.to_string()) {
        Ok(of) => of,
        Err(error) => return vec![error.to_string()],
    };
    let (_, mut wrong) = figures::recomputed(record);
    wrong.extend(row::check(&file(&of), &of));
    wrong
}

fn file(of: &Measurement) -> String {
    let (server, variant) = (&of.server.name, &of.server.variant);
    let (workload, dialect) = (of.workload_name(), of.dialect.name());
    format!(
        "{server}.{variant}.{workload}.{dialect}.{}.json",
        of.repetition
    )
}

/// What a reader sees of a record, and what orders its row; `None` where it cannot be read.
fn shown(record: &Value) -> Option<String> {
    let of = Measurement::from_json(&record.to_string()).ok()?;
    let all = [of];
    let rows = ranking::rank(&all);
    let subject = Subject::new(&rows);
    let figure = rows[0].figure(subject.score, subject.common);
    // A byte of ten thousand connections orders nothing.
    let figure = figure.map(|figure| format!("{figure:.3e}"));
    let place = (rows[0].place, rows[0].is_lower_bound(), rows[0].carried);
    Some(format!("{}{figure:?}{place:?}", markdown::table(&all)))
}

/// The first published record of a workload that has a result.
fn published(workload: &str) -> Value {
    let round = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/2026-11");
    let of_workload = |path: &Path| {
        let name = records::name(path);
        name.split('.').any(|part| part == workload)
    };
    records::runs(&round)
        .unwrap()
        .iter()
        .flat_map(|run| records::files(run).unwrap())
        .filter(|path| of_workload(path))
        .map(|path| serde_json::from_str(&records::text(&path).unwrap()).unwrap())
        .find(|record: &Value| record["status"] == "ok")
        .unwrap_or_else(|| panic!("no record of {workload}"))
}

/// The places of the numbers and switches in a record. Of a long list the first two and the last stand
/// for all.
fn numbers(value: &Value, place: &str, all: &mut Vec<String>) {
    // The facts of a machine and the plan are held against those of the other rows.
    const OF_ALL_ROWS: [&str; 3] = ["/run/plan", "/run/environment", "/version"];
    if OF_ALL_ROWS.contains(&place) {
        return;
    }
    match value {
        Value::Number(_) | Value::Bool(_) => all.push(place.to_owned()),
        Value::Object(keys) => keys
            .iter()
            .for_each(|(key, value)| numbers(value, &format!("{place}/{key}"), all)),
        Value::Array(items) => {
            let last = items.len().saturating_sub(1);
            for (index, value) in items.iter().enumerate() {
                if index < 2 || index == last {
                    numbers(value, &format!("{place}/{index}"), all);
                }
            }
        }
        Value::Null | Value::String(_) => {}
    }
}

/// What stands in place of a number.
fn falsified(value: &Value) -> Vec<Value> {
    match (value.as_bool(), value.as_u64(), value.as_f64()) {
        (Some(switch), ..) => vec![json!(!switch)],
        (_, Some(number), _) => vec![json!(number * 10 + 7), json!(number / 10), Value::Null],
        (.., Some(number)) => vec![json!(number.mul_add(10.0, 1.0)), json!(number / 10.0)],
        _ => Vec::new(),
    }
}

/// The places of numbers that make a difference for the reader when they are falsified, and that a
/// check does not find, with what stands there; and how many it finds.
fn unnoticed(record: &Value) -> (Vec<(String, Value)>, usize) {
    assert_eq!(found(record), [""; 0]);
    let original = shown(record);
    let mut places = Vec::new();
    numbers(record, "", &mut places);
    let (mut missed, mut noticed) = (Vec::new(), 0);
    for place in places {
        for other in falsified(record.pointer(&place).unwrap()) {
            let mut changed = record.clone();
            *changed.pointer_mut(&place).unwrap() = other.clone();
            let is_seen = shown(&changed).is_some_and(|shown| Some(shown) != original);
            match (is_seen, is_seen && found(&changed).is_empty()) {
                (true, true) => missed.push((place.clone(), other)),
                (true, false) => noticed += 1,
                (false, _) => {}
            }
        }
    }
    (missed, noticed)
}

/// What published records, which do not say when a step was, bound loosely: memory of the idle server, by
/// that of the first interval; the least that a step used; and the most that was in sockets. In
/// `connect` runs, which memory ranks, the generator has read it too, and the step is most of the series.
fn is_loosely_bounded(record: &Value, workload: &str, place: &str, other: &Value) -> bool {
    let Some(other) = other.as_f64() else {
        return false;
    };
    let is_ranked = workload == "connect";
    let is_less = Some(other) < record.pointer(place).and_then(Value::as_f64);
    match place.starts_with("/server_steps/") {
        true if is_less => !is_ranked,
        true => place.ends_with("sockets_bytes"),
        false => !is_ranked && place.starts_with("/idle/"),
    }
}

#[test]
fn no_number_that_a_published_table_shows_can_be_changed_unnoticed() {
    let mut all_missed = Vec::new();
    for workload in [
        "broadcast",
        "echo",
        "ticker",
        "rooms",
        "reconnect-storm",
        "tls",
        "compressed",
        "connect",
        "slow-readers",
        "churn",
    ] {
        let record = published(workload);
        let (missed, noticed) = unnoticed(&record);
        for (place, other) in missed {
            if !is_loosely_bounded(&record, workload, &place, &other) {
                all_missed.push(format!("{workload}: {place} as {other}"));
            }
        }
        assert!(noticed >= 20, "{workload}: {noticed}");
    }
    assert!(all_missed.is_empty(), "{all_missed:#?}");
}

/// A record under a plan that no published round has, with everything that a check wants.
fn whole(name: &str) -> Measurement {
    let plan = plans()
        .into_iter()
        .find(|plan| plan.name.as_deref() == Some(name));
    let plan = plan.unwrap();
    let mut of = under(&plan, "alpha", 6_000);
    (of.busy_before, of.busy_during) = (Some(0.01), Some(0.01));
    let run = of.run.as_mut().unwrap();
    for step in &mut run.steps {
        step.samples_planned = step.completion.as_ref().unwrap().count;
        step.samples = step.samples_planned;
        let Some(churn) = step.churn.as_deref_mut() else {
            continue;
        };
        let of_count = |count| {
            let mut all = Recorder::default();
            all.record_n(2_000_000, count);
            all.latency()
        };
        churn.handshake = of_count(churn.reconnected);
        churn.attempt_lag = of_count(churn.attempts);
    }
    let largest = of.server_steps.iter().map(|step| step.memory);
    let largest = largest.max_by_key(|memory| memory.resident_bytes).unwrap();
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

#[test]
fn what_a_step_used_is_held_against_its_part_of_the_series() {
    let mut of = whole("ticker");
    let idle = of.idle.unwrap();
    let row = |memory: record::Memory, cpu_ns| ServerRow {
        cpu_ns,
        resident_bytes: memory.resident_bytes,
        proportional_bytes: memory.proportional_bytes,
        sockets_bytes: memory.sockets_bytes,
    };
    let step = &mut of.server_steps[0];
    (step.from_ns, step.elapsed_ns) = (Some(1_000_000_000), 1_000_000_000);
    step.cpu_ns = 800_000_000;
    let quiet = std::iter::repeat_n(row(idle, 0), 4);
    let busy = std::iter::repeat_n(row(step.memory, 200_000_000), 4);
    of.server_series = Some(ServerSeries {
        interval_ns: 250_000_000,
        rows: quiet.clone().chain(busy).chain(quiet).collect(),
    });
    of.proxy = Some(ProxyUse {
        name: "front".into(),
        homepage: "https://example.org".into(),
        version: Some("1".into()),
        ends_tls: false,
        idle: of.idle,
        steps: of.server_steps.clone(),
        series: of.server_series.clone(),
    });
    let record = value(&of);
    assert_eq!(found(&record), [""; 0]);
    for of in ["/server_steps", "/proxy/steps"] {
        let mut places = Vec::new();
        numbers(record.pointer(of).unwrap(), of, &mut places);
        for name in [
            "cpu_ns",
            "resident_bytes",
            "proportional_bytes",
            "sockets_bytes",
        ] {
            let place = places.iter().find(|place| place.ends_with(name)).unwrap();
            for other in falsified(record.pointer(place).unwrap()) {
                let mut changed = record.clone();
                *changed.pointer_mut(place).unwrap() = other.clone();
                assert_ne!(found(&changed), [""; 0], "{place} as {other}");
            }
        }
    }
    let mut changed = record.clone();
    changed["proxy"]["ends_tls"] = json!(true);
    assert_eq!(found(&changed).len(), 1);
}

#[test]
fn a_reading_of_the_idle_server_that_came_late_is_in_a_later_interval() {
    let mut of = whole("ticker");
    let series = of.server_series.as_mut().unwrap();
    let mut first = series.rows[0];
    (first.proportional_bytes, first.sockets_bytes) = (None, None);
    series.rows.insert(0, first);
    let record = value(&of);
    assert_eq!(found(&record), [""; 0]);
    for kind in ["proportional_bytes", "sockets_bytes"] {
        let mut changed = record.clone();
        changed["idle"][kind] = json!(u64::MAX);
        assert_ne!(found(&changed), [""; 0], "{kind}");
    }
}

#[test]
fn the_parts_of_the_processor_time_are_held_against_the_whole() {
    let mut of = whole("ticker");
    let step = &mut of.server_steps[0];
    (step.elapsed_ns, step.cpu_ns) = (4_000_000_000, 2_000_000_000);
    (step.user_ns, step.kernel_ns) = (Some(600_000_000), Some(1_390_000_000));
    let record = value(&of);
    assert_eq!(found(&record), [""; 0]);
    for (part, other, words) in [
        ("user_ns", json!(900_000_000), "2290000000, and by cpu_ns"),
        ("kernel_ns", json!(0), "by cpu_ns 2000000000 at least"),
        ("kernel_ns", json!(u64::MAX), "by cpu_ns"),
        ("cpu_ns", json!(u64::MAX), "by its cores"),
        (
            "kernel_ns",
            json!(null),
            "kernel_ns is false, and by user_ns true",
        ),
    ] {
        let mut changed = record.clone();
        changed["server_steps"][0][part] = other.clone();
        let found = found(&changed);
        assert!(
            found.iter().any(|found| found.contains(words)),
            "{part} {other}: {found:?}"
        );
    }
}

#[test]
fn clients_that_change_rooms_are_counted_by_their_confirmations() {
    let record = value(&whole("room-changes"));
    assert_eq!(found(&record), [""; 0]);
    for (place, words) in [
        ("joined", "churn.rooms.joined is 7, and by join"),
        ("asked", "and by asked 7 at most"),
    ] {
        let mut changed = record.clone();
        changed["run"]["steps"][0]["churn"]["rooms"][place] = json!(7);
        let found = found(&changed);
        assert!(found.iter().any(|found| found.contains(words)), "{found:?}");
    }
}

/// A search for clients that doubles up to 400, where the server breaks the limit, and one for a rate.
fn searched(of: SearchOf) -> Measurement {
    let mut record = whole("capacity");
    let run = record.run.as_mut().unwrap();
    let Clients::Search(search) = &mut run.plan.clients else {
        panic!("capacity is no search");
    };
    search.of = of;
    let base = run.steps[0].clone();
    let server = record.server_steps[0].clone();
    let tries = [(100, true), (200, true), (400, false)];
    let limit_ns = run.plan.limits.time.ns();
    run.steps = tries
        .into_iter()
        .map(|(load, is_kept)| {
            let mut step = base.clone();
            match of {
                SearchOf::Clients => step.clients = load,
                SearchOf::Rate => (step.clients, step.rate) = (100, Some(load as f64)),
            }
            if !is_kept {
                let mut slow = Recorder::default();
                slow.record_n(limit_ns * 2, step.samples);
                step.completion = slow.latency();
                step.limited_ns = Some(slow.percentile(95.0));
                step.over_limit = true;
                step.verdict = record::Verdict::Fail;
            }
            step
        })
        .collect();
    record.server_steps = run
        .steps
        .iter()
        .map(|step| record::ServerStep {
            clients: step.clients,
            ..server.clone()
        })
        .collect();
    run.outcome.end = End::EdgeFound;
    run.outcome.carried_clients = Some(if of == SearchOf::Clients { 200 } else { 100 });
    run.outcome.edge = Some(Edge {
        of,
        passed: Some(200.0),
        failed: Some(400.0),
    });
    record
}

#[test]
fn the_edge_of_a_search_is_that_of_its_tries() {
    for of in [SearchOf::Clients, SearchOf::Rate] {
        let record = value(&searched(of));
        assert_eq!(found(&record), [""; 0]);
        let outcome = |name: &str, value: Value| {
            let mut changed = record.clone();
            *changed
                .pointer_mut(&format!("/run/outcome/{name}"))
                .unwrap() = value;
            found(&changed)
        };
        assert_eq!(
            outcome("edge/passed", json!(390.0)),
            ["run.outcome: edge.passed is 390, and by its steps 200"]
        );
        assert_eq!(
            outcome("edge/failed", json!(8_000.0)),
            ["run.outcome: edge.failed is 8000, and by its steps 400"]
        );
        let carried = outcome("carried_clients", json!(390));
        assert_eq!(carried.len(), 1, "{carried:?}");
        assert!(carried[0].contains("carried_clients is 390, and by its steps"));
        assert_eq!(outcome("edge", Value::Null).len(), 2);
        // A try that could not be measured has failed.
        let mut unmeasured = searched(of);
        let outcome = &mut unmeasured.run.as_mut().unwrap().outcome;
        outcome.unmeasured = vec![150.0];
        let found = found(&value(&unmeasured));
        assert!(
            found[0].contains("edge.passed is 200, and by its steps 100"),
            "{found:?}"
        );
    }
}

#[test]
fn what_a_run_says_of_its_end_and_its_status_follows_from_its_steps() {
    let record = published("broadcast");
    assert_eq!(record["run"]["outcome"]["end"], "over-limit");
    let with = |place: &str, value: Value| {
        let mut changed = record.clone();
        *changed.pointer_mut(place).unwrap() = value;
        found(&changed)
    };
    for end in [
        "steps-done",
        "machine-limit",
        "generator-limited",
        "edge-found",
    ] {
        let found = with("/run/outcome/end", json!(end));
        assert!(
            found
                .iter()
                .any(|words| words.contains("end is not the one that its steps have")),
            "{end}: {found:?}"
        );
    }
    let last = record["run"]["steps"].as_array().unwrap().len() - 1;
    for verdict in ["pass", "noisy", "interrupted", "generator-limited"] {
        let found = with(&format!("/run/steps/{last}/verdict"), json!(verdict));
        assert_ne!(found, [""; 0], "{verdict}");
    }
    // A row that crashed, or whose run had faults, is called measured.
    let mut crashed = record.clone();
    crashed["reason"] = json!("the server was ended by signal 11");
    assert_eq!(
        found(&crashed),
        ["status is ok, and its reason: the server was ended by signal 11"]
    );
    let ends = with("/run/outcome/end", json!("server-lost"));
    assert!(
        ends.contains(&"status is ok, and by its run faulty".to_owned()),
        "{ends:?}"
    );
}

/// How far a row may be before others that carried more follows from the step that the generator ended.
#[test]
fn the_most_that_a_row_may_have_carried_is_that_of_its_histogram() {
    let round = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/2026-11");
    let is_bounded = |record: &Value| {
        let steps = record["run"]["steps"].as_array();
        let last = steps.and_then(|steps| steps.last());
        last.is_some_and(|step| {
            step["verdict"] == "generator-limited" && step["limited_at_least_ns"].is_u64()
        })
    };
    let record: Value = records::runs(&round)
        .unwrap()
        .iter()
        .flat_map(|run| records::files(run).unwrap())
        .filter(|path| records::name(path).contains(".broadcast."))
        .map(|path| serde_json::from_str(&records::text(&path).unwrap()).unwrap())
        .find(is_bounded)
        .unwrap();
    assert_eq!(found(&record), [""; 0]);
    let last = record["run"]["steps"].as_array().unwrap().len() - 1;
    for other in [json!(1), Value::Null] {
        let mut changed = record.clone();
        changed["run"]["steps"][last]["limited_at_least_ns"] = other;
        let found = found(&changed);
        let words = "limited_at_least_ns is";
        assert!(found.iter().any(|found| found.contains(words)), "{found:?}");
    }
}
