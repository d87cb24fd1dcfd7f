//! Messages and bytes of a step, and of each of its seconds.

use crate::support::{assert_valid, honest, run, undisturbed, url};
use record::{StepRecord, Throughput};

/// The step of a run with these flags, and its line.
fn measure(arguments: &str) -> (StepRecord, String) {
    let server = honest();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let arguments = format!(
        "{} --total-steps 1 --limit-rtt 20s --json {}",
        arguments.replace("URL", &url(server.addr())),
        path.display()
    );
    let ran = undisturbed(|| run(&arguments)).exits(0);
    (assert_valid(&path).steps.remove(0), ran.stdout)
}

/// The seconds of a step add up to the whole, and there are as many as it lasted.
#[track_caller]
fn assert_adds_up(step: &StepRecord) -> Throughput {
    let whole = step.throughput.unwrap();
    let series = step.series.as_ref().unwrap();
    let sum = |of: fn(&record::TimeRow) -> u64| series.rows.iter().map(of).sum::<u64>();
    assert_eq!(sum(|row| row.sent), whole.sent);
    assert_eq!(sum(|row| row.received), whole.received);
    assert_eq!(sum(|row| row.sent_bytes), whole.sent_bytes);
    assert_eq!(sum(|row| row.received_bytes), whole.received_bytes);
    assert_eq!(sum(|row| row.completed), step.samples);
    assert_eq!(sum(|row| row.faults), 0);
    assert_eq!(series.interval_ns, 1_000_000_000);
    assert!(series.rows.len() as u64 >= step.elapsed_ns / 1_000_000_000);
    for (number, row) in series.rows.iter().enumerate() {
        assert_eq!(row.from_ns, number as u64 * 1_000_000_000);
        assert_eq!(row.p50_ns.is_some(), row.completed > 0);
        assert!(row.p50_ns <= row.p99_ns);
    }
    let seconds = step.elapsed_ns as f64 / 1e9;
    assert!((whole.sent_per_second * seconds - whole.sent as f64).abs() < 1e-3);
    whole
}

#[test]
fn an_echo_counts_what_it_sends_and_receives_in_each_second() {
    let (step, line) = measure(
        "echo URL --initial-clients 10 --rate 200 --arrivals constant --duration 2500ms --threads 2",
    );
    let whole = assert_adds_up(&step);
    assert_eq!((whole.sent, whole.received), (500, 500));
    // A request is masked: four bytes more than its echo.
    assert_eq!(whole.sent_bytes, whole.received_bytes + 4 * 500);
    assert!(line.contains("    sent: "), "{line}");
    let second = &step.series.as_ref().unwrap().rows[1];
    assert!(second.sent > 0 && second.received > 0, "{second:?}");
}

#[test]
fn a_broadcast_over_sites_is_one_series_of_all_of_them() {
    let (step, _) = measure(
        "broadcast URL --initial-clients 12 --rate 50 --arrivals constant --duration 2500ms \
         --processes 2 --threads 1",
    );
    let whole = assert_adds_up(&step);
    assert_eq!(whole.sent, 125);
    // Each listener's copy, and the sender's result.
    assert_eq!(whole.received, 125 * 13);
}
