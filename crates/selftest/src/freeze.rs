//! (b) Every request that was due while the server was stopped is late.

use super::bench::{Bench, SEED, at_rate, recorder, started};
use super::bounds::brief;
use super::fit::above;
use super::ledger::{Ledger, Sends, own_clock};
use super::{Chapter, Findings};
use crate::Part;
use crate::error::Unmade;
use plan::{Arrivals, Workload};
use record::{Check, Recorder, StepRecord, Unit};
use std::time::Duration;
use test_servers::{Delay, DelayOptions, DelayServer, Freeze, Truth};

pub(super) const CHAPTER: Chapter = Chapter {
    part: Part::B,
    id: "b",
    name: "frozen server",
    proves: "When the server stops, every request that was due meanwhile counts as late, \
             and by how much.",
    takes: (Duration::from_secs(8), Duration::from_secs(3)),
    measure,
};

const RATE: f64 = 500.0;
/// Enough connections that few of the answers after a freeze share one.
const CLIENTS: u32 = 500;
const USUAL: Duration = Duration::from_millis(2);
/// Requests of the closed loop beside it, and how many of them at a time.
const CONCURRENT: u32 = 4;

/// How a server is frozen, and the length of the run.
#[derive(Clone, Copy)]
struct Terms {
    duration: Duration,
    freeze: Freeze,
}

impl Terms {
    /// One second in four, or the same in half the time.
    fn new(bench: &Bench<'_>) -> Self {
        let second = bench.time(Duration::from_secs(1), Duration::from_millis(500));
        Self {
            duration: 4 * second,
            freeze: Freeze {
                after: second,
                length: second,
            },
        }
    }

    fn server(&self) -> Result<DelayServer, Unmade> {
        started(DelayServer::start(DelayOptions {
            delay: Delay::Constant(USUAL),
            freeze: Some(self.freeze),
            ..DelayOptions::default()
        }))
    }
}

fn measure(bench: &Bench<'_>) -> Result<Findings, Unmade> {
    let terms = Terms::new(bench);
    let server = terms.server()?;
    let mut plan = bench.plan(server.addr(), Workload::Echo, CLIENTS);
    plan.load = at_rate(RATE, Arrivals::Constant, terms.duration);
    let step = bench.run(&plan)?;
    let truth = server.truth();
    let frozen_ns = truth.frozen_ns.ok_or(Unmade::NotFrozen)?;
    let mut notes = Vec::new();
    if !bench.short {
        notes.push(beside(&step, &closed_loop(bench, terms)?, frozen_ns));
    }
    let checks = judge(&step, &truth, terms.duration, frozen_ns);
    Ok(Findings {
        checks: own_clock(bench.timestamps, checks),
        notes,
        ceilings: Vec::new(),
    })
}

fn closed_loop(bench: &Bench<'_>, terms: Terms) -> Result<StepRecord, Unmade> {
    let server = terms.server()?;
    let mut plan = bench.plan(server.addr(), Workload::Echo, CLIENTS);
    // As many as take the time that is not frozen, if each takes the usual delay and half of it.
    let working = terms.duration - terms.freeze.length;
    let each = USUAL.mul_f64(1.5).div_f64(f64::from(CONCURRENT));
    plan.load = plan::Load::closed(CONCURRENT, working.div_duration_f64(each) as u32);
    bench.run(&plan)
}

/// The latency above which a sample counts as late: a twentieth of the freeze.
const fn threshold(frozen_ns: u64) -> f64 {
    frozen_ns as f64 / 20.0
}

/// Holds an open loop's latencies against a freeze.
fn judge(step: &StepRecord, truth: &Truth, duration: Duration, frozen_ns: u64) -> Vec<Check> {
    let ledger = Ledger::new(truth, step, SEED, Sends::Evenly(RATE));
    let threshold = threshold(frozen_ns);
    let planned = (RATE * duration.as_secs_f64()) as u64;
    // Requests that were due while it was frozen, without the last twentieth of that time.
    let due = ((frozen_ns as f64 - threshold) * RATE / 1e9).floor();
    let late = above(&recorder(step.completion.as_ref()), threshold).count() as f64;
    let (least, most) = ledger.completion.above(threshold);
    let mut checks = vec![Check {
        known: Some(due),
        ..Check::between(
            "late samples, at least rate times freeze",
            Unit::Count,
            late,
            // The first and the last of the freeze lie on its edges.
            Some((due - 2.0).max(least as f64)),
            Some(most as f64),
        )
    }];
    let mut held = ledger.hold("freeze", step, planned);
    // Requests that came during the freeze share reads of the server, which then knows the arrival of
    // the last only.
    held.extend(ledger.hold_sums("freeze", step, duration));
    checks.extend(brief("freeze", &["p95"], held));
    ledger.unless_given_up(checks, step, planned, duration)
}

/// What the two loops say of the same server, in a sentence.
fn beside(open: &StepRecord, closed: &StepRecord, frozen_ns: u64) -> String {
    let late = |all: &Recorder| above(all, threshold(frozen_ns)).count();
    let [open, closed] = [open, closed].map(|step| recorder(step.completion.as_ref()));
    let p95 = |all: &Recorder| record::latency_text(all.percentile(95.0)).trim().to_owned();
    format!(
        "the same server, frozen for {:.1} s in four times that: p95 {} by this open loop ({} of \
         {} late), p95 {} by a closed loop of {CONCURRENT} ({} of {} late)",
        frozen_ns as f64 / 1e9,
        p95(&open),
        late(&open),
        open.count(),
        p95(&closed),
        late(&closed),
        closed.count(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Served, bench, failed, planted, worst};
    use super::*;
    use record::ProofVerdict;

    const SECOND: u64 = 1_000_000_000;

    /// 2,000 samples in 4 s. Those that were due from 1 s to 2 s are answered at 2 s.
    fn frozen() -> Served {
        Served::new(2000, RATE, |n| {
            let waited = if (500..1000).contains(&n) {
                (1000 - n) * 2_000_000
            } else {
                0
            };
            2_100_000 + waited
        })
    }

    fn judged(served: &Served) -> Vec<Check> {
        judge(
            &served.step(),
            &served.truth,
            Duration::from_secs(4),
            SECOND,
        )
    }

    #[test]
    fn a_freeze_that_made_every_due_request_late_passes() {
        let checks = judged(&frozen());
        assert_eq!(worst(&checks), ProofVerdict::Pass, "{:?}", failed(&checks));
    }

    #[test]
    fn a_freeze_that_only_some_saw_fails() {
        // What a closed loop with four in flight reports: few are late, since the others are not sent.
        let mut closed = frozen();
        closed.report(|ns| {
            if (100_000_000..990_000_000).contains(&ns) {
                2_100_000
            } else {
                ns
            }
        });
        // All late ones have the same latency, as if all had been due when the freeze began.
        let mut bunched = frozen();
        bunched.report(|ns| if ns > 100_000_000 { SECOND } else { ns });
        // One in ten of the late ones is reported as if it had been on time.
        let mut dropped = frozen();
        dropped.report(|ns| {
            if ns / 1_000_000 % 10 == 0 {
                2_100_000
            } else {
                ns
            }
        });
        for (served, what) in [
            (closed, "late samples"),
            (bunched, "completion, p95"),
            (dropped, "completion, mean"),
        ] {
            let checks = judged(&served);
            assert!(
                failed(&checks).iter().any(|failed| failed.contains(what)),
                "{checks:?}"
            );
        }
    }

    #[test]
    fn a_closed_loop_in_place_of_the_schedule_fails() {
        let generate = planted(|plan| {
            plan.load = plan::Load::closed(4, plan.samples().max(1000));
        });
        let found = measure(&bench(&generate)).unwrap();
        assert_eq!(found.verdict(), ProofVerdict::Fail);
        let failed = failed(&found.checks);
        assert!(
            failed.iter().any(|what| what.contains("rate times freeze")),
            "{failed:?}"
        );
    }
}
