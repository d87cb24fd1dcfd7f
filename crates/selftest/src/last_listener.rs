//! (d) Completion waits for the last listener; the sender's result does not.

use super::bench::{Bench, SEED, at_rate, nanos, recorder, started};
use super::bounds::brief;
use super::fit::above;
use super::ledger::{Ledger, Sends, own_clock};
use super::{Chapter, Findings};
use crate::Part;
use crate::error::Unmade;
use plan::{Arrivals, Workload};
use record::{Check, StepRecord, Unit};
use std::time::Duration;
use test_servers::{DelayOptions, DelayServer, Truth};

pub(super) const CHAPTER: Chapter = Chapter {
    part: Part::D,
    id: "d",
    name: "last listener",
    proves: "A broadcast counts as complete when the last listener has it; \
             the sender's result alone would not show that one is kept waiting.",
    takes: (Duration::from_secs(4), Duration::from_secs(2)),
    measure,
};

const LATE: Duration = Duration::from_millis(50);
const CLIENTS: u32 = 10;
const RATE: f64 = 40.0;

fn measure(bench: &Bench<'_>) -> Result<Findings, Unmade> {
    let server = started(DelayServer::start(DelayOptions {
        last_listener: LATE,
        ..DelayOptions::default()
    }))?;
    let time = bench.time(Duration::from_secs(3), Duration::from_secs(1));
    let mut plan = bench.plan(server.addr(), Workload::Broadcast, CLIENTS);
    plan.load = at_rate(RATE, Arrivals::Constant, time);
    let step = bench.run(&plan)?;
    let checks = judge(&step, &server.truth(), time);
    Ok(Findings {
        checks: own_clock(bench.timestamps, checks),
        ..Findings::default()
    })
}

/// Holds the three latencies against a server that delays one listener of ten.
fn judge(step: &StepRecord, truth: &Truth, time: Duration) -> Vec<Check> {
    let ledger = Ledger::new(truth, step, SEED, Sends::Evenly(RATE));
    let late_ns = nanos(LATE) as f64;
    let late = above(&recorder(step.delivery.as_ref()), late_ns / 2.0).count();
    let (least, most) = ledger.delivery.above(late_ns / 2.0);
    let planned = (RATE * time.as_secs_f64()) as u64;
    let mut checks = vec![
        Check::between(
            "one late listener: completion, shortest",
            Unit::Nanoseconds,
            step.completion
                .as_ref()
                .map_or(f64::NAN, |l| l.min_ns as f64),
            Some(late_ns * 0.999),
            None,
        ),
        Check {
            known: Some(planned as f64),
            ..Check::between(
                "one late listener: late deliveries, one per broadcast",
                Unit::Count,
                late as f64,
                Some(least as f64),
                Some(most as f64),
            )
        },
    ];
    let mut held = ledger.hold("one late listener", step, planned);
    held.extend(ledger.hold_open("one late listener", step, time));
    checks.extend(brief("one late listener", &["p95"], held));
    ledger.unless_given_up(checks, step, planned, time)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bench, failed, uninterrupted};
    use super::*;
    use plan::Plan;
    use record::ProofVerdict;

    fn planted(change: impl Fn(&mut StepRecord)) -> Findings {
        let generate = |plan: &Plan| {
            let mut step = uninterrupted(plan)?;
            change(&mut step);
            Ok(step)
        };
        measure(&bench(&generate)).unwrap()
    }

    #[test]
    fn a_generator_that_waits_does_not_fail() {
        let found = planted(|_| {});
        assert_ne!(
            found.verdict(),
            ProofVerdict::Fail,
            "{:?}",
            failed(&found.checks)
        );
    }

    #[test]
    fn a_clock_that_stops_at_the_result_fails() {
        let found = planted(|step| step.completion = step.ack.clone());
        let failed = failed(&found.checks);
        assert!(
            failed.contains(&"one late listener: completion, shortest"),
            "{failed:?}"
        );
        assert!(
            failed.contains(&"one late listener: completion, p50"),
            "{failed:?}"
        );
    }

    #[test]
    fn what_was_not_timed_fails() {
        let found = planted(|step| {
            step.ack = None;
            step.delivery = step.completion.clone();
        });
        let failed = failed(&found.checks);
        for what in ["ack, p95", "delivery, count"] {
            let what = format!("one late listener: {what}");
            assert!(failed.contains(&what.as_str()), "{failed:?}");
        }
    }
}
