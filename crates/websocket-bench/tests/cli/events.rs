//! `--events`: one JSON object a line, and nothing else.

use crate::support::{honest, run, url};
use run_record::{End, Event};

fn parse(text: &str) -> Vec<Event> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

#[track_caller]
fn assert_story(events: &[Event]) {
    let steps: Vec<u64> = events
        .iter()
        .filter_map(|event| match event {
            Event::Step { record, .. } => Some(record.clients),
            _ => None,
        })
        .collect();
    assert_eq!(steps, [20, 40]);
    let Some(Event::End { outcome }) = events.last() else {
        panic!("the last event is the end: {events:?}");
    };
    assert_eq!(outcome.end, End::StepsDone);
    let connected = events.iter().any(|event| {
        matches!(
            event,
            Event::Connecting {
                connected: 40,
                wanted: 40,
                ..
            }
        )
    });
    assert!(connected, "{events:?}");
}

#[test]
fn stdout_holds_events_alone() {
    let server = honest();
    let url = url(server.addr());
    let ran = run(&format!(
        "broadcast {url} --step-size 20 --total-steps 2 --verbose --events -"
    ))
    .exits(0);
    assert_story(&parse(&ran.stdout));
}

#[test]
fn a_file_holds_the_events_and_stdout_the_lines() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let ran = run(&format!(
        "broadcast {} --step-size 20 --total-steps 2 --events {}",
        url(server.addr()),
        path.display()
    ))
    .exits(0);
    assert_story(&parse(&std::fs::read_to_string(path).unwrap()));
    assert_eq!(ran.stdout.lines().count(), 2);
}

#[test]
fn each_event_has_a_time_since_the_start_and_one_of_the_day() {
    let server = honest();
    let url = url(server.addr());
    let ran = run(&format!(
        "echo {url} --step-size 20 --total-steps 2 --events -"
    ))
    .exits(0);
    let lines = ran.stdout.lines();
    let times: Vec<(u64, String)> = lines
        .map(|line| {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            let time = event["time"].as_str().unwrap().to_owned();
            (event["at_ns"].as_u64().unwrap(), time)
        })
        .collect();
    assert!(times.len() > 2);
    assert!(times.is_sorted(), "{times:?}");
    let form = regex::Regex::new(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$").unwrap();
    assert!(
        times.iter().all(|(_, time)| form.is_match(time)),
        "{times:?}"
    );
}
