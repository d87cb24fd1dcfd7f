//! What is said of made-up records.

use super::*;
use crate::report::fixture::{measured, repeated, unmeasured, variant};
use record::{End, Json, Measurement, Status, Switches, Throughput};
use std::fs;

/// What a message costs a server in a step of 1,000 clients: nanoseconds, those of them in the kernel,
/// switches, and segments.
#[derive(Clone, Copy)]
struct Cost(u64, u64, f64, f64);

/// One repetition of a server whose every message costs that.
fn costing(name: &str, Cost(cpu_ns, kernel_ns, switches, segments): Cost) -> Measurement {
    let mut of = measured(name, 1, 9_000, End::StepsDone);
    let step = &mut of.run.as_mut().unwrap().steps[0];
    step.throughput = Some(Throughput {
        sent: step.samples_planned,
        received: 1_000,
        received_bytes: 227_000,
        ..Throughput::default()
    });
    step.received_segments = Some((segments * 1_000.0) as u64);
    let server = &mut of.server_steps[0];
    server.cpu_ns = cpu_ns * 1_000;
    server.kernel_ns = Some(kernel_ns * 1_000);
    server.user_ns = Some((cpu_ns - kernel_ns) * 1_000);
    server.switches = Some(Switches {
        voluntary: (switches * 1_000.0) as u64,
        involuntary: 3,
        threads: 4,
        ended_threads: 0,
    });
    of
}

fn explained(measurements: &[Measurement], wanted: &str) -> Result<Explanation, String> {
    let dir = tempfile::tempdir().unwrap();
    for (number, measurement) in measurements.iter().enumerate() {
        let text = measurement.to_json().unwrap();
        fs::write(dir.path().join(format!("{number}.json")), text).unwrap();
    }
    explain(dir.path(), wanted).map_err(|refusal| refusal.to_string())
}

fn field() -> Vec<Measurement> {
    vec![
        costing("dear", Cost(5_200, 4_100, 2.1, 1.0)),
        costing("usual", Cost(3_000, 2_130, 0.2, 0.4)),
        costing("cheap", Cost(1_000, 600, 0.05, 0.31)),
        costing("other", Cost(4_000, 3_000, 0.3, 1.0)),
    ]
}

#[test]
fn what_differs_from_the_median_row_is_told_in_words() {
    let found = explained(&field(), "dear").unwrap();
    assert!(found.is_whole());
    let text = text::explanation(&found);
    for line in [
        "dear: broadcast over JSON at 1,000 clients, 1 repetition\n",
        "  A delivered message takes 5.20 µs of CPU time (the median row: 3.00 µs; 1.00 µs in cheap).\n",
        "  4.10 µs of 5.20 µs are the kernel's (79 %; the median row: 71 %).\n",
        "  2.10 context switches a message, where a thread waited (the median row: 0.20; 0.050 in cheap).\n",
        "  It sends each message by itself: 1.00 a message (the median row: 0.40; 0.31 in cheap).\n",
        "  Much as the median row: 0.003 context switches a message, where the kernel took the core, \
         227 B a message on the wire, 0.90 reads of the clients a message.\n",
        "  The median is that of 3 other rows with a place.\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let json = serde_json::to_value(&found).unwrap();
    let load = &json["loads"][0];
    assert_eq!(load["others"], 3);
    let share = load["figures"].as_array().unwrap().iter();
    let share = share
        .clone()
        .find(|of| of["part"] == "kernel-share")
        .unwrap();
    assert!(
        (share["value"].as_f64().unwrap() - 4.1 / 5.2).abs() < 1e-9,
        "{share}"
    );
    assert!(
        (share["median"].as_f64().unwrap() - 0.71).abs() < 1e-9,
        "{share}"
    );
    assert_eq!(share["differs"], true);
}

#[test]
fn a_row_like_the_others_has_one_line_for_what_is_alike() {
    let mut field = field();
    field.push(costing("same", Cost(3_100, 2_200, 0.22, 0.6)));
    let text = text::explanation(&explained(&field, "same").unwrap());
    assert!(
        text.contains("Much as the median row: 900 ns in its own programs"),
        "{text}"
    );
}

#[test]
fn repetitions_are_put_together_and_threads_that_ended_are_told() {
    let mut field = field();
    let mut second = repeated(costing("dear", Cost(1_200, 100, 0.1, 2.4)), 2);
    second.server_steps[0]
        .switches
        .as_mut()
        .unwrap()
        .ended_threads = 7;
    field.push(second);
    let found = explained(&field, "dear:default").unwrap();
    let text = text::explanation(&found);
    assert!(text.contains("2 repetitions\n"), "{text}");
    assert!(text.contains("takes 3.20 µs of"), "{text}");
    assert!(text.contains("1.10 context switches a message"), "{text}");
    assert!(
        text.contains("7 threads ended meanwhile: there were more"),
        "{text}"
    );
}

#[test]
fn what_records_of_before_do_not_hold_is_said_in_one_line() {
    let old = |name, ns| {
        let mut of = costing(name, Cost(ns, 0, 0.0, 1.0));
        let step = &mut of.server_steps[0];
        (step.user_ns, step.kernel_ns, step.switches) = (None, None, None);
        of.run.as_mut().unwrap().steps[0].received_segments = None;
        of
    };
    let found = explained(&[old("a", 5_000), old("b", 4_500)], "a").unwrap();
    assert!(!found.is_whole());
    let text = text::explanation(&found);
    assert!(
        text.contains("takes 5.00 µs of CPU time (the median row: 4.50 µs"),
        "{text}"
    );
    let line = "These records do not hold user and kernel time, context switches, TCP segments: \
                an earlier version";
    assert_eq!(text.matches(line).count(), 1, "{text}");
    assert!(!text.contains("kernel's"), "{text}");
    // What one other row holds is no reason to be silent about it.
    let mixed = explained(
        &[costing("a", Cost(5_000, 2_000, 1.0, 1.0)), old("b", 4_500)],
        "a",
    )
    .unwrap();
    let text = text::explanation(&mixed);
    assert!(
        text.contains("2.00 µs of 5.00 µs are the kernel's (40 %)."),
        "{text}"
    );
}

#[test]
fn a_row_without_messages_a_missing_one_and_several_variants_are_told() {
    let mut field = field();
    field.push(unmeasured("broken", Status::BuildFailed, "no compiler"));
    field.push(variant(
        costing("cheap", Cost(900, 600, 0.1, 1.0)),
        "clustered",
    ));
    let found = explained(&field, "broken").unwrap();
    assert!(!found.is_whole());
    let text = text::explanation(&found);
    assert!(
        text.contains("mind: its status is build-failed: no compiler"),
        "{text}"
    );
    assert!(text.contains("No step delivered messages"), "{text}");
    let error = explained(&field, "cheap").unwrap_err();
    assert!(
        error.contains("name one, cheap:clustered or cheap:default"),
        "{error}"
    );
    assert!(explained(&field, "cheap:clustered").unwrap().is_whole());
    let error = explained(&field, "nobody").unwrap_err();
    assert!(
        error.contains("no row of nobody in") && error.contains("usual:default"),
        "{error}"
    );
    let error = explained(&[], "a").unwrap_err();
    assert!(
        error.contains("no measurement in this directory"),
        "{error}"
    );
}
