//! `--events`: one JSON object a line, and nothing else.

use crate::support::{honest, run, undisturbed, url};
use record::{Buckets, End, Event, TimeRow};

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
        "broadcast {url} --step-size 20 --total-steps 2 --limit-rtt 20s --verbose --events -"
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
        "broadcast {} --step-size 20 --total-steps 2 --limit-rtt 20s --events {}",
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
        "echo {url} --step-size 20 --total-steps 2 --limit-rtt 20s --events -"
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

#[test]
fn the_seconds_of_a_step_are_told_while_it_lasts() {
    let server = honest();
    for more in ["", "--processes 2", "--io epoll"] {
        let arguments = format!(
            "broadcast {} --step-size 20 --total-steps 1 --limit-rtt 20s --rate 200 --duration 5s --events - {more}",
            url(server.addr())
        );
        let ran = undisturbed(|| run(&arguments)).exits(0);
        let events = parse(&ran.stdout);
        let told: Vec<&TimeRow> = events
            .iter()
            .filter_map(|event| match event {
                Event::Interval { row, clients, .. } => {
                    assert_eq!(*clients, 20);
                    Some(&**row)
                }
                _ => None,
            })
            .collect();
        let step = events.iter().find_map(|event| match event {
            Event::Step { record, .. } => Some(record),
            _ => None,
        });
        let seconds = step.unwrap().elapsed_ns / 1_000_000_000;
        let all = step.unwrap().throughput.unwrap();
        assert!(
            told.len() >= 2 && told.len() as u64 <= seconds + 1,
            "{more}: {told:?}"
        );
        assert!(told.is_sorted_by_key(|row| row.from_ns), "{told:?}");
        let sum = |of: fn(&TimeRow) -> u64| told.iter().map(|row| of(row)).sum::<u64>();
        // What the last second brought is in the record of the step alone.
        for (sum, all) in [
            (sum(|row| row.sent), all.sent),
            (sum(|row| row.received), all.received),
            (sum(|row| row.received_bytes), all.received_bytes),
        ] {
            assert!(
                sum <= all && sum * 2 > all,
                "{more}: {sum} of {all}: {told:?}"
            );
        }
        assert!(sum(|row| row.completed) > 0, "{more}: {told:?}");
        for row in told {
            assert_eq!(row.buckets.count(), row.completed, "{more}");
            let Some(p50_ns) = row.p50_ns else {
                // On a busy machine the part of one worker may be told alone.
                assert_eq!(row.completed, 0, "{more}: {row:?}");
                continue;
            };
            let bucket = Buckets::from_iter([(p50_ns, 1)]);
            let (end_ns, _) = bucket.iter().next().unwrap();
            assert!(row.buckets.iter().any(|(ns, _)| ns == end_ns), "{row:?}");
        }
    }
}
