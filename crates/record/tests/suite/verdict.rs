//! Which steps pass, and how many clients were carried.

use crate::support::{plan, record, step, value};
use ::plan::Workload;
use ::record::{
    Churn, DropCause, DropHow, DropTimes, Event, Faults, Json, RunRecord, SlowReaders, Status,
    StepRecord, Verdict,
};

#[test]
fn steps_grow_by_the_step_size_from_the_first() {
    let plan = plan();
    assert_eq!(plan.clients_at(0), 10_000);
    assert_eq!(plan.clients_at(3), 13_000);
}

#[test]
fn carried_is_the_last_step_of_the_unbroken_row_that_passed() {
    let failures = [
        StepRecord {
            over_limit: true,
            ..step(3)
        },
        StepRecord {
            timed_out: true,
            ..step(3)
        },
        StepRecord {
            samples: 99,
            ..step(3)
        },
        StepRecord {
            faults: Faults {
                lost: 1,
                ..Faults::default()
            },
            ..step(3)
        },
        StepRecord {
            verdict: Verdict::GeneratorLimited,
            ..step(3)
        },
    ];
    for failed in failures {
        let carried = |steps: &[StepRecord]| RunRecord::carried(steps);
        assert_eq!(
            carried(&[step(1), step(2), failed.clone(), step(4)]),
            Some(2),
            "{failed:?}"
        );
        assert_eq!(carried(&[failed]), None);
    }
    assert_eq!(RunRecord::carried(&[]), None);
}

#[test]
fn a_step_that_says_nothing_is_not_carried_and_breaks_no_row() {
    for verdict in [Verdict::Noisy, Verdict::Interrupted] {
        assert_carries_over(verdict);
    }
}

fn assert_carries_over(verdict: Verdict) {
    let noisy = |clients| StepRecord {
        verdict,
        ..step(clients)
    };
    let carried = |steps: &[StepRecord]| RunRecord::carried(steps);
    assert_eq!(carried(&[step(1), noisy(2), step(3)]), Some(3));
    assert_eq!(carried(&[step(1), noisy(2)]), Some(1));
    assert_eq!(carried(&[noisy(1)]), None);
}

#[test]
fn what_is_missing_from_a_step_that_the_generator_spoilt_is_no_fault_of_the_server() {
    let faults = Faults {
        lost: 3,
        ..Faults::default()
    };
    let spoilt = StepRecord {
        faults,
        verdict: Verdict::GeneratorLimited,
        ..step(2)
    };
    let failed = StepRecord {
        faults,
        verdict: Verdict::Fail,
        ..step(3)
    };
    assert_eq!(record(vec![spoilt, failed]).faults(), faults);
}

#[test]
fn verdicts_are_called_what_they_are_written_as() {
    for verdict in [
        Verdict::Pass,
        Verdict::Fail,
        Verdict::GeneratorLimited,
        Verdict::Noisy,
    ] {
        assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.name());
    }
}

#[test]
fn workloads_are_called_what_they_are_written_as() {
    for workload in [Workload::Broadcast, Workload::Echo, Workload::Connect] {
        assert_eq!(serde_json::to_value(workload).unwrap(), workload.name());
    }
}

#[test]
fn a_record_without_verdicts_is_read() {
    let mut value = value(&record(vec![step(1)]));
    let first = value["steps"][0].as_object_mut().unwrap();
    for key in ["verdict", "verdict_reasons", "in_flight", "sent"] {
        first.remove(key).unwrap();
    }
    let read = RunRecord::from_json(&value.to_string()).unwrap();
    assert!(read.steps[0].passed());
}

#[test]
fn a_record_survives_the_file() {
    let record = record(vec![step(1), step(2)]);
    let text = record.to_json().unwrap();
    assert_eq!(RunRecord::from_json(&text).unwrap(), record);
}

#[test]
fn a_status_is_called_what_it_is_written_as() {
    for status in [
        Status::Ok,
        Status::MissingToolchain,
        Status::BuildFailed,
        Status::StartFailed,
        Status::Nonconforming,
        Status::Crashed,
        Status::Timeout,
        Status::Leaked,
        Status::GeneratorLimited,
        Status::Noisy,
        Status::Faulty,
        Status::Interrupted,
    ] {
        assert_eq!(serde_json::to_value(status).unwrap(), status.name());
    }
}

#[test]
fn a_secret_in_what_a_peer_said_is_in_no_event() {
    let said = || "answered 302 with `Location: ws://h/ws?token=Kx82nvQ0`".to_owned();
    let record = Box::new(StepRecord {
        verdict_reasons: vec![said().into()],
        slow_readers: Some(SlowReaders {
            first_cut_off: Some(said().into()),
            ..SlowReaders::default()
        }),
        churn: Some(Box::new(Churn {
            first_failure: Some(said().into()),
            ..Churn::default()
        })),
        ..step(10)
    });
    let written = Event::Step { step: 1, record }.to_json().unwrap();
    assert_eq!(written.matches("token=REDACTED").count(), 3, "{written}");
    assert!(!written.contains("Kx82nvQ0"), "{written}");
}

#[test]
fn an_event_with_drops_is_read_as_it_was_written() {
    let drops = DropTimes {
        interval_ns: 1_000_000_000,
        causes: vec![DropCause {
            how: DropHow::Closed,
            code: Some(1001),
            count: 50,
            first: "closed by the server".to_owned().into(),
            intervals: [(0, 20), (10, 30)].into(),
        }],
    };
    let record = Box::new(StepRecord {
        drops: Some(Box::new(drops)),
        ..step(10)
    });
    let event = Event::Step { step: 0, record };
    let written = event.to_json().unwrap();
    assert_eq!(Event::from_json(&written).unwrap(), event);
    let wrong = written.replace("\"10\":30", "\"ten\":30");
    let error = Event::from_json(&wrong).unwrap_err().to_string();
    assert!(
        error.contains("\"ten\" is no number of an interval"),
        "{error}"
    );
}
