//! Which steps pass, and how many clients were carried.

mod support;

use run_record::{Faults, RunRecord, Status, StepRecord};
use support::{plan, record, step};

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
fn a_record_survives_the_file() {
    let record = record(vec![step(1), step(2)]);
    let text = serde_json::to_string(&record).unwrap();
    assert_eq!(serde_json::from_str::<RunRecord>(&text).unwrap(), record);
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
