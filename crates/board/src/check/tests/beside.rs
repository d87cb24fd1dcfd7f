//! Records with requests over HTTP, answers in parts and dialogues.

use super::{falsified, numbers, value};
use crate::check::claim::Claims;
use crate::check::{beside, figures};
use crate::report::fixture_watched::{Fails, failing, plan};
use record::{
    Dialogues, HttpRequests, HttpUse, Json, KindTimes, Latency, PartCounts, PartNumbers, PartRates,
    Recorder, RunRecord, StepRecord, Streams,
};
use serde_json::{Value, json};

fn times(count: u64) -> Option<Latency> {
    let mut recorder = Recorder::default();
    (1..=count).for_each(|at| recorder.record(at * 1_000_000));
    recorder.latency()
}

fn requests(all: u64, failed: u64, statuses: &[(&str, u64)]) -> HttpRequests {
    let statuses = statuses.iter();
    HttpRequests {
        requests: all,
        failed,
        statuses: statuses
            .map(|(of, count)| ((*of).to_owned(), *count))
            .collect(),
        first_failure: (failed > 0).then(|| "the server said no".to_owned().into()),
        took: times(all - failed),
    }
}

/// A run whose dialect has two steps over HTTP, and a step of it with everything.
fn whole() -> (RunRecord, StepRecord) {
    let mut run = failing(&plan(), "alpha", Fails::Silently, 6_000)
        .run
        .unwrap();
    let dialect = r#"
name = "n"
summary = "s"
open = { http = [{ url = "/a" }, { url = "/b" }] }
send = {}
receive = []
"#;
    run.plan.message.definition = Some(Box::new(toml::from_str(dialect).unwrap()));
    let mut step = run.steps[0].clone();
    step.ack = times(7);
    step.faults.lost = 2;
    step.faults.malformed = 1;
    step.faults.duplicate = 3;
    step.faults.reordered = 1;
    step.http = Some(Box::new(HttpUse {
        steps: vec![
            requests(40, 10, &[("200", 30), ("503", 9)]),
            requests(30, 0, &[("201", 30)]),
        ],
        publications: Some(requests(9, 1, &[("200", 9)])),
    }));
    step.streams = Some(Box::new(Streams {
        answers: 10,
        parts: 50,
        unfinished: 0,
        cut: 0,
        per_answer: Some(PartCounts {
            min: 5,
            median: 5,
            max: 5,
        }),
        first: times(10),
        between: times(40),
        per_second: Some(PartRates {
            p5: 3.0,
            median: 4.0,
        }),
        numbers: PartNumbers {
            missing: 2,
            repeats: 3,
            steps_back: 1,
            unreadable: 1,
            unawaited: 0,
        },
    }));
    step.dialogues = Some(Box::new(Dialogues {
        begun: 6,
        finished: 4,
        unfinished: 2,
        time: times(4),
        kinds: vec![KindTimes {
            kind: "login".to_owned(),
            answers: 6,
            time: times(6),
        }],
    }));
    (run, step)
}

/// What is found of a step that may have been changed.
fn found(run: &RunRecord, step: &Value) -> Vec<String> {
    let (_, mut wrong) = figures::recomputed(step);
    match StepRecord::from_json(&step.to_string()) {
        Ok(step) => {
            let mut claims = Claims::new("");
            beside::check(&mut claims, &step, run);
            wrong.extend(claims.wrong());
        }
        Err(error) => wrong.push(error.to_string()),
    }
    wrong
}

/// Figures that others bound from one side alone: lower ones could be true.
fn is_bounded(place: &str, was: &Value, is: &Value) -> bool {
    let is_lower = is.as_f64() < was.as_f64();
    let names = ["/statuses/503", "/numbers/", "/per_second/p5"];
    let from_above = names.iter().any(|name| place.contains(name));
    let names = ["/per_second/median", "/streams/unfinished", "/streams/cut"];
    let from_below = names.iter().any(|name| place.ends_with(name));
    (is_lower && from_above) || (!is_lower && from_below)
}

#[test]
fn no_number_of_http_parts_and_dialogues_can_be_changed_unnoticed() {
    let (run, step) = whole();
    let step = value(&step);
    assert_eq!(found(&run, &step), [""; 0]);
    let mut noticed = 0;
    for part in ["/http", "/streams", "/dialogues"] {
        let mut places = Vec::new();
        numbers(step.pointer(part).unwrap(), part, &mut places);
        assert!(!places.is_empty());
        for place in places.iter().filter(|place| !place.contains("/histogram")) {
            let was = step.pointer(place).unwrap();
            for is in falsified(was) {
                let is_same = is.as_f64() == was.as_f64();
                if is_same || is_bounded(place, was, &is) {
                    continue;
                }
                let mut changed = step.clone();
                *changed.pointer_mut(place).unwrap() = is.clone();
                assert!(!found(&run, &changed).is_empty(), "{place} is {is}");
                noticed += 1;
            }
        }
    }
    assert!(noticed >= 100, "{noticed}");
}

#[test]
fn what_contradicts_is_told_with_what_it_contradicts() {
    let (run, step) = whole();
    let step = value(&step);
    for (place, value, words) in [
        (
            "/http/steps/1/requests",
            json!(31),
            "http.steps.1.requests is 31, and by the step before 30",
        ),
        (
            "/http/steps/0/first_failure",
            Value::Null,
            "http.steps.0.first_failure is false, and by its failed true",
        ),
        (
            "/ack",
            serde_json::to_value(times(9)).unwrap(),
            "ack.count is 9, and by http.publications.took 8 at most",
        ),
        (
            "/streams/per_answer",
            Value::Null,
            "streams.per_answer is false, and by its answers true",
        ),
        (
            "/faults/lost",
            json!(1),
            "streams.numbers.missing is 2, and by the faults of the step 1 at most",
        ),
        (
            "/dialogues/begun",
            json!(7),
            "dialogues.begun is 7, and by finished and unfinished 6",
        ),
    ] {
        let mut changed = step.clone();
        *changed.pointer_mut(place).unwrap() = value;
        let found = found(&run, &changed);
        assert!(found.iter().any(|of| of == words), "{words}: {found:#?}");
    }
    let mut steps = step;
    steps
        .pointer_mut("/http/steps")
        .unwrap()
        .as_array_mut()
        .unwrap()
        .pop();
    let found = found(&run, &steps);
    assert_eq!(found, ["http.steps is 1, and by its plan 2"]);
}
