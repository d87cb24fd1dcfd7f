//! `--json`: the record is valid, agrees with what was printed, and adds up.

use crate::support::{assert_valid, bench, finish, honest, run, url};
use record::{End, Latency, RunRecord};

/// Reads a figure of the line back, within its last digit.
#[track_caller]
fn assert_printed(line: &str, name: &str, ns: u64) {
    let (_, after) = line
        .split_once(name)
        .unwrap_or_else(|| panic!("{name} in {line}"));
    let word = after.split_whitespace().next().unwrap();
    let (number, unit) = word.split_at(word.len() - 2);
    let unit = if unit == "us" { 1e3 } else { 1e6 };
    let digit = if number.contains('.') { 0.1 } else { 1.0 };
    let difference = number.parse::<f64>().unwrap() * unit - ns as f64;
    assert!(
        difference.abs() <= digit * unit * 0.51,
        "{name} {ns} ns in {line}"
    );
}

#[track_caller]
fn assert_decodes(latency: Option<&Latency>, count: u64) {
    let latency = latency.expect("the latency was measured");
    assert_eq!(latency.count, count);
    let decoded = latency.recorder().unwrap().latency().unwrap();
    assert_eq!(&decoded, latency);
}

#[test]
fn the_record_of_a_broadcast_agrees_with_the_lines_and_adds_up() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let ran = run(&format!(
        "broadcast {} -c 4 -s 40 --initial-clients 30 --step-size 20 --total-steps 3 --seed 5 \
         --limit-rtt 20s --json {}",
        url(server.addr()),
        path.display()
    ))
    .exits(0);
    let record = assert_valid(&path);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), record.steps.len());
    for (number, (line, step)) in lines.iter().zip(&record.steps).enumerate() {
        assert_eq!(step.clients, 30 + 20 * number as u64);
        let completion = step.completion.as_ref().unwrap();
        assert_eq!(step.limited_ns, Some(completion.p95_ns));
        assert_printed(line, "95per-rtt:", completion.p95_ns);
        assert_printed(line, "min-rtt:", completion.min_ns);
        assert_printed(line, "median-rtt:", completion.p50_ns);
        assert_printed(line, "max-rtt:", completion.max_ns);
        assert_decodes(Some(completion), 40);
        assert_decodes(step.ack.as_ref(), 40);
        assert_decodes(step.delivery.as_ref(), 40 * step.clients);
        assert!(step.generator.cpu_ns > 0 && step.generator.resident_bytes > 1 << 20);
        // The server writes what is there for a client at once, and no client came or went.
        let received = step.throughput.unwrap().received;
        let segments = step.received_segments.unwrap();
        assert!(
            (1..=received * 2).contains(&segments),
            "{segments} of {received}"
        );
    }
    assert_eq!(record.outcome.end, End::StepsDone);
    assert_eq!(record.outcome.carried_clients, Some(70));
    assert_eq!(record.plan.generator.seed, 5);
    assert_eq!(record.command[1], "broadcast");
    assert!(record.started <= record.ended);
}

#[test]
fn the_record_of_an_echo_has_one_latency() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let url = url(server.addr());
    run(&format!(
        "echo {url} -s 200 --step-size 7 --total-steps 1 --limit-rtt 20s --json {}",
        path.display()
    ))
    .exits(0);
    let step = &assert_valid(&path).steps[0];
    assert_decodes(step.completion.as_ref(), 200);
    assert!(step.delivery.is_none() && step.ack.is_none());
}

#[test]
fn the_step_over_the_limit_is_in_the_record() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let url = url(server.addr());
    run(&format!(
        "broadcast {url} --step-size 10 --limit-rtt 1us --measure ack --json {}",
        path.display()
    ))
    .exits(0);
    let record = assert_valid(&path);
    let [step] = &record.steps[..] else {
        panic!("one step: {record:?}");
    };
    assert!(step.over_limit);
    assert_eq!(step.limited_ns, step.ack.as_ref().map(|ack| ack.p95_ns));
    assert_eq!(record.outcome.end, End::OverLimit);
    assert_eq!(record.outcome.carried_clients, None);
}

#[test]
fn a_link_stays_a_link_and_no_draft_is_left() {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (
        folder.path().join("real.json"),
        folder.path().join("link.json"),
    );
    std::fs::write(&real, "an earlier record").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let url = url(server.addr());
    run(&format!(
        "broadcast {url} --step-size 5 --total-steps 1 --limit-rtt 20s --json {}",
        link.display()
    ))
    .exits(0);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(assert_valid(&real).steps.len(), 1);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn stdout_gets_the_record_as_its_only_line() {
    let server = honest();
    let arguments = format!(
        "broadcast {} --step-size 5 --total-steps 2 --limit-rtt 20s --json -",
        url(server.addr())
    );
    let ran = finish(bench().args(arguments.split_whitespace())).exits(0);
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
    let record: RunRecord = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(record.steps.len(), 2);
    assert_eq!(ran.stderr, "");
    let both = format!("{arguments} --events -");
    let ran = finish(bench().args(both.split_whitespace())).exits(1);
    assert!(
        ran.stderr.contains("both write to stdout"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_pipe_gets_one_whole_record() {
    let server = honest();
    let url = url(server.addr());
    // Without other words on it, stdout is a pipe that holds nothing but the record.
    let mut command = bench();
    let arguments = format!(
        "broadcast {url} --step-size 5 --total-steps 3 --limit-rtt 20s --events /dev/null --json /dev/stdout"
    );
    let ran = finish(command.args(arguments.split_whitespace())).exits(0);
    let (_, from_record) = ran.stdout.split_at(ran.stdout.find('{').unwrap());
    let record: RunRecord = serde_json::from_str(from_record).unwrap();
    assert_eq!(record.steps.len(), 3);
    let null = std::fs::metadata("/dev/null").unwrap();
    assert!(!null.is_file(), "a device was replaced by a file");
}
