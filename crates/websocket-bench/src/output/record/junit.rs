//! A record as JUnit XML: what the run has shown, as a CI displays tests.

use crate::exit::Exit;
use crate::expect::Expectation;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use record::{RunRecord, latency_text};
use std::io::{self, Write};
use std::time::Duration;

const CLASS: &str = "websocket-bench";

/// Writes a suite with a test case for the run, and one for each expectation.
///
/// # Errors
/// When `out` takes no more.
pub(super) fn write(
    out: &mut dyn Write,
    record: &RunRecord,
    expectations: &[Expectation],
) -> io::Result<()> {
    let name = record.plan.name.as_deref();
    let name = name.unwrap_or_else(|| record.plan.workload().name());
    let mut suite = TestSuite::new(format!("{name} {}", record.plan.target.url));
    suite.set_time(length(record));
    suite.add_property(("started", record.started.as_str()));
    if let Some(clients) = record.outcome.carried_clients {
        suite.add_property(("carried_clients", clients.to_string().as_str()));
    }
    suite.add_test_case(measured(record));
    for expectation in expectations {
        let status = match expectation.unmet(record) {
            None => TestCaseStatus::success(),
            Some(words) => failed(NonSuccessKind::Failure, "expectation", words),
        };
        suite.add_test_case(case(format!("expect {expectation}"), status));
    }
    let mut report = Report::new(CLASS);
    report.add_test_suite(suite);
    report.serialize(&mut *out).map_err(io::Error::other)
}

/// Whether the run says anything, and what it has shown.
fn measured(record: &RunRecord) -> TestCase {
    let detail = record.outcome.detail.to_string();
    let status = match Exit::new(record) {
        Exit::Measured | Exit::Expectation | Exit::Closed => TestCaseStatus::success(),
        Exit::Invalid => {
            let faults = record.faults();
            let words = match faults.is_empty() {
                true => detail,
                false => format!("{detail}; faults: {faults}"),
            };
            failed(NonSuccessKind::Failure, "invalid", words)
        }
        Exit::Usage => failed(NonSuccessKind::Error, "nothing-measured", detail),
        Exit::Interrupted => failed(NonSuccessKind::Error, "interrupted", detail),
    };
    let mut case = case("the run was measured".to_owned(), status);
    case.set_time(length(record));
    let lines = record.steps.iter().map(|step| {
        let latency = step
            .limited_ns
            .map_or_else(|| "-".to_owned(), |ns| latency_text(ns).trim().to_owned());
        format!(
            "{} clients: p{} {latency}, {} of {} samples, {}, faults: {}",
            step.clients,
            record.plan.limits.percentile,
            step.samples,
            step.samples_planned,
            step.verdict.name(),
            step.faults
        )
    });
    case.set_system_out(lines.collect::<Vec<_>>().join("\n"));
    case
}

fn case(name: String, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(CLASS);
    case
}

fn failed(kind: NonSuccessKind, of: &str, words: String) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(of).set_message(words);
    status
}

/// The time of all steps, connecting included.
fn length(record: &RunRecord) -> Duration {
    let steps = record.steps.iter();
    Duration::from_nanos(
        steps
            .map(|step| step.elapsed_ns.saturating_add(step.connecting_ns))
            .fold(0, u64::saturating_add),
    )
}
