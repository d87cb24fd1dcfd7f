//! Laws of records as JSON: any bytes as a run, a measurement, a certificate or an event.

use record::{Certificate, Event, Latency, Measurement, RunRecord, StepRecord};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// The bytes of a record, or of a line of the event stream.
pub(crate) fn check(data: &[u8]) {
    if let Some(record) = read::<RunRecord>(data) {
        check_run(&record);
    }
    if let Some(Measurement { run: Some(run), .. }) = read::<Measurement>(data) {
        check_run(&run);
    }
    read::<Certificate>(data);
    if let Some(Event::Step { record, .. }) = read::<Event>(data) {
        check_step(&record);
    }
}

/// A record that can be read is the same when it is written and read again.
fn read<T: DeserializeOwned + Serialize + PartialEq + Debug>(data: &[u8]) -> Option<T> {
    let record: T = serde_json::from_slice(data).ok()?;
    let written = serde_json::to_vec(&record).expect("a record can be written");
    let again: T = serde_json::from_slice(&written).expect("what was written can be read");
    assert_eq!(again, record);
    Some(record)
}

fn check_run(record: &RunRecord) {
    record.steps.iter().for_each(check_step);
    let plan = record.plan.redacted();
    assert_eq!(plan.redacted(), plan, "redacted twice");
    // Readers ask these of every record; they answer, whatever it holds.
    let _ = (record.plan.validate(), record.faults().is_empty());
    if let Some(carried) = RunRecord::carried(&record.steps) {
        assert!(record.steps.iter().any(|step| step.clients == carried));
    }
}

fn check_step(step: &StepRecord) {
    let latencies = [
        &step.completion,
        &step.delivery,
        &step.ack,
        &step.uncorrected,
        &step.send_lag,
        &step.generator.receive_lag,
        &step.generator.shared_stamps,
    ];
    latencies.into_iter().flatten().for_each(check_latency);
}

/// A histogram that can be read has the figures of its samples.
fn check_latency(latency: &Latency) {
    let Ok(recorder) = latency.recorder() else {
        return;
    };
    let count: u128 = recorder.samples().map(|(_, count)| u128::from(count)).sum();
    assert_eq!(count, u128::from(recorder.count()));
    let Some(figures) = recorder.latency() else {
        assert_eq!(count, 0);
        return;
    };
    let percentiles = [
        figures.p50_ns,
        figures.p90_ns,
        figures.p95_ns,
        figures.p99_ns,
    ];
    assert!(percentiles.is_sorted(), "{figures:?}");
    assert!(figures.p99_ns <= figures.max_ns, "{figures:?}");
    let again = figures.recorder().expect("what was written can be read");
    assert_eq!(again.latency(), Some(figures));
}
