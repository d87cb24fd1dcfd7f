//! (i) Clients that were cut off are back when the server lets them in, and not before.
//!
//! The gate knows each return between two clock readings around its answer. The moment of the cut is
//! that of the plan, and the plan's clock is read off the requests: the n-th cannot come before it is
//! due, and the promptest of them comes soon after.

use super::bench::{Bench, at_rate, nanos, recorder, started};
use super::{Chapter, Findings};
use crate::Part;
use crate::error::Unmade;
use plan::{Arrivals, Backoff, Cut, Life, Nanos, Population, Reconnect, Timestamps, Workload};
use record::{Check, CutRecord, StepRecord, Unit};
use std::time::{Duration, Instant};
use test_servers::{Gate, GateOptions, NullOptions, NullServer, Passages};

pub(super) const CHAPTER: Chapter = Chapter {
    part: Part::I,
    id: "i",
    name: "return after a cut",
    proves: "When clients are cut off and a server lets them in by a schedule, the times until half, \
             95 percent and all of them are back are those of the schedule.",
    takes: (Duration::from_secs(5), Duration::from_secs(3)),
    measure,
};

/// The two populations have equal shares: half of the clients stay and half are cut.
const CLIENTS: u32 = 40;
const CUT: u32 = 20;
const AT: Duration = Duration::from_millis(500);
/// Longer than any first delay, so that all of them wait at the gate.
const OPENS_AFTER: Duration = Duration::from_millis(400);
const FIRST: Nanos = Nanos::millis(200);
/// Requests per second of those that stay.
const RATE: u32 = 50;
/// From the due moment of the promptest of all requests until the gate has it, beyond the least
/// lateness that is reported: two threads that wake up.
const PROMPT: Duration = Duration::from_millis(2);
/// From the answer of the gate until the client counts as ready. It is also the time between two
/// requests, so that a generator that is put aside for longer is late with one of them.
const READY: Duration = Duration::from_millis(20);
/// A client that is let in so long before the end of the step is ready within it.
const MARGIN: Duration = Duration::from_millis(300);
/// The histogram's resolution: one in a thousand.
const RESOLUTION: f64 = 1e-3;

fn populations() -> Vec<Population> {
    vec![
        Population::default(),
        Population {
            life: Life::Cut(Cut { at: AT.into() }),
            reconnect: Reconnect::Backoff(Backoff {
                first: FIRST,
                ..Backoff::default()
            }),
            ..Population::default()
        },
    ]
}

fn measure(bench: &Bench<'_>) -> Result<Findings, Unmade> {
    let server = started(NullServer::start(NullOptions::default()))?;
    let gate = started(Gate::start(GateOptions {
        behind: server.addr(),
        free: CLIENTS,
        opens_after: OPENS_AFTER,
        interval: bench.time(Duration::from_millis(100), Duration::from_millis(40)),
    }))?;
    let time = bench.time(Duration::from_millis(4_000), Duration::from_millis(2_200));
    let mut plan = bench.plan(gate.addr(), Workload::Broadcast, CLIENTS);
    plan.load = at_rate(RATE.into(), Arrivals::Constant, time);
    // Without stamps of the kernel only a thread that sends shows that it was put aside.
    plan.generator.threads = match bench.timestamps {
        Timestamps::Kernel => 2,
        Timestamps::User => 1,
    };
    plan.populations = populations();
    let step = bench.run(&plan)?;
    let known = Known::new(&gate.passages(), &step).ok_or(Unmade::NothingPassed)?;
    Ok(Findings {
        checks: judge(&step, &known, time),
        ..Findings::default()
    })
}

/// What is known of the returns. Times are nanoseconds since the cut was due.
struct Known {
    /// Connections that came after the cut.
    came: u32,
    /// Of each return the clock before and after its answer; both series in order.
    before: Vec<f64>,
    after: Vec<f64>,
    /// By how much the cut may have been due earlier than is taken here.
    open_ns: f64,
    /// How late the generator was at most, by its own records.
    late_ns: u64,
}

impl Known {
    fn new(seen: &Passages, step: &StepRecord) -> Option<Self> {
        let lag = recorder(step.send_lag.as_ref());
        let (promptest, latest) = (lag.percentile(0.0), lag.percentile(100.0));
        let read = recorder(step.generator.receive_lag.as_ref()).percentile(100.0);
        let due_ns = |number: u64| Duration::from_nanos(number * 1_000_000_000 / u64::from(RATE));
        // Requests that came in one read make later ones seem to come still later.
        let requests = (0..)
            .zip(&seen.requests)
            .take(step.samples_planned as usize);
        let start = requests.filter_map(|(number, came)| came.checked_sub(due_ns(number)));
        let cut = start.min()? + AT;
        let since = |at: Instant| {
            let early = cut.saturating_duration_since(at);
            nanos(at.saturating_duration_since(cut)) as f64 - nanos(early) as f64
        };
        let mut before: Vec<f64> = seen.answers.iter().map(|(at, _)| since(*at)).collect();
        let mut after: Vec<f64> = seen.answers.iter().map(|(_, at)| since(*at)).collect();
        before.sort_unstable_by(f64::total_cmp);
        after.sort_unstable_by(f64::total_cmp);
        Some(Self {
            came: seen.came,
            before,
            after,
            open_ns: (nanos(PROMPT) + promptest.min(nanos(PROMPT))) as f64,
            late_ns: latest.max(read),
        })
    }

    /// Why clients may not have been back in time: the machine was slow.
    fn excuse(&self, time: Duration) -> Option<String> {
        let last = self.after.last().copied().unwrap_or_default() / 1e9;
        let end = (time - AT - MARGIN).as_secs_f64();
        let is_gate_late = self.came >= CUT && (self.after.len() < CUT as usize || last > end);
        (is_gate_late || self.late_ns > nanos(MARGIN)).then(|| {
            format!(
                "too little CPU: the last of {} was let in after {last:.2} s, and the generator was \
                 up to {} ms late",
                self.after.len(),
                self.late_ns / 1_000_000
            )
        })
    }

    /// Holds the time until so many percent were back against the bounds of that return.
    fn held(&self, what: &str, percent: u32, measured: Option<u64>) -> Check {
        let rank = (CUT * percent).div_ceil(100) as usize - 1;
        let at = |of: &[f64]| of.get(rank).copied().unwrap_or(f64::NAN);
        let (before, after) = (at(&self.before), at(&self.after));
        let ready_ns = nanos(READY) as f64;
        let most = (after + self.open_ns + ready_ns) * (1.0 + RESOLUTION);
        let measured = measured.map_or(f64::NAN, |ns| ns as f64);
        let late_ns = self.late_ns as f64;
        let put_aside = (measured > most && measured <= most + late_ns).then(|| {
            format!(
                "too little CPU: the generator was up to {:.0} ms late",
                late_ns / 1e6
            )
        });
        let wide = (after - before > ready_ns).then(|| {
            format!(
                "too little CPU: the gate knows this only to {:.0} ms",
                (after - before) / 1e6
            )
        });
        Check {
            known: before.is_finite().then_some(before),
            ..Check::between(
                what,
                Unit::Nanoseconds,
                measured,
                Some(before * (1.0 - RESOLUTION)),
                Some(most),
            )
        }
        .unless(put_aside)
        .shows_nothing(wide)
    }
}

/// Holds a step of that length against what the gate knows.
fn judge(step: &StepRecord, known: &Known, time: Duration) -> Vec<Check> {
    let churn = step.churn.clone().unwrap_or_default();
    let cut: CutRecord = churn.cut.clone().unwrap_or_default();
    let all = u64::from(CUT);
    let mut checks = vec![
        Check::exactly("clients that were cut", all, cut.clients),
        Check::exactly("clients that were back", all, cut.back),
        Check::exactly("returns", all, churn.reconnected),
        Check::exactly("attempts", all, churn.attempts),
        Check::exactly("faults", 0, step.faults.total()),
    ];
    let figures = [
        ("half back", 50, cut.back_50_ns),
        ("95 percent back", 95, cut.back_95_ns),
        ("all back", 100, cut.back_100_ns),
    ];
    checks.extend(figures.map(|(what, percent, measured)| known.held(what, percent, measured)));
    let excuse = known.excuse(time);
    let checks = checks.into_iter();
    checks.map(|check| check.unless(excuse.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bench, failed, recorded, step, uninterrupted, worst};
    use super::*;
    use plan::Plan;
    use record::{Churn, ProofVerdict, Recorder, time_until};

    const MS: u64 = 1_000_000;
    const TIME: Duration = Duration::from_secs(4);

    /// Let in every 100 ms from 400 ms after the cut on. Requests come half a millisecond after they
    /// are due, and once in a while much later.
    // timed: an origin for times that are made up; nothing is measured.
    fn passages() -> Passages {
        let start = Instant::now();
        let at = |us: u64| start + Duration::from_micros(us);
        let requests = (0..200).map(|n| {
            let late = if n % 7 == 0 { 30_000 } else { 500 };
            at(n * 20_000 + late)
        });
        let answers = (0..u64::from(CUT)).map(|n| {
            let us = 900_000 + n * 100_000;
            (at(us), at(us + 100))
        });
        let mut requests: Vec<Instant> = requests.collect();
        requests.sort_unstable();
        Passages {
            came: CUT,
            requests,
            answers: answers.collect(),
        }
    }

    /// What a right instrument makes of it: 3 ms later.
    fn right() -> Vec<u64> {
        (0..u64::from(CUT)).map(|n| (403 + n * 100) * MS).collect()
    }

    fn churn(times: &[u64]) -> Churn {
        let mut back = Recorder::default();
        times.iter().for_each(|ns| back.record(*ns));
        let all = u64::from(CUT);
        let until = |percent| time_until(percent, all, &back);
        Churn {
            attempts: times.len() as u64,
            reconnected: times.len() as u64,
            cut: Some(CutRecord {
                clients: all,
                back: times.len() as u64,
                back_50_ns: until(50),
                back_95_ns: until(95),
                back_100_ns: until(100),
                ..CutRecord::default()
            }),
            ..Churn::default()
        }
    }

    fn judged(seen: &Passages, churn: Churn, late_ns: u64) -> Vec<Check> {
        let step = StepRecord {
            churn: Some(Box::new(churn)),
            samples_planned: 200,
            send_lag: recorded(&[100_000, late_ns]),
            ..step()
        };
        judge(&step, &Known::new(seen, &step).unwrap(), TIME)
    }

    #[test]
    fn the_times_of_the_schedule_pass() {
        let checks = judged(&passages(), churn(&right()), MS);
        assert_eq!(worst(&checks), ProofVerdict::Pass, "{checks:?}");
    }

    #[test]
    fn what_counts_otherwise_fails() {
        let moved = |ms: i64| -> Vec<u64> {
            let by = |ns: &u64| ns.checked_add_signed(ms * MS as i64).unwrap();
            right().iter().map(by).collect()
        };
        // A client that is counted twice has the next one come earlier.
        let mut twice = right();
        twice.insert(3, right()[3]);
        let mut one_missing = right();
        one_missing.pop();
        let of_those_back = {
            let mut of = churn(&one_missing);
            if let Some(cut) = &mut of.cut {
                cut.back_100_ns = Some(right()[18]);
            }
            of
        };
        for (churn, what) in [
            // From the attempt in place of the cut: a delay of 100 to 200 ms less.
            (churn(&moved(-100)), "half back"),
            (churn(&moved(-5)), "half back"),
            (churn(&moved(30)), "95 percent back"),
            (churn(&twice), "clients that were back"),
            (churn(&one_missing), "all back"),
            (of_those_back, "all back"),
            (Churn::default(), "clients that were cut"),
        ] {
            let checks = judged(&passages(), churn, MS);
            assert!(failed(&checks).contains(&what), "{what}: {checks:?}");
        }
    }

    #[test]
    fn a_busy_machine_excuses_what_it_explains_and_no_more() {
        let later = |ms: u64| -> Vec<u64> { right().iter().map(|ns| ns + ms * MS).collect() };
        let verdict =
            |seen: &Passages, times: &[u64], late| worst(&judged(seen, churn(times), late));
        // The generator says that it was late by 50 ms.
        let seen = passages();
        assert_eq!(
            verdict(&seen, &later(50), 50 * MS),
            ProofVerdict::Inconclusive
        );
        assert_eq!(verdict(&seen, &later(120), 50 * MS), ProofVerdict::Fail);
        // No lateness makes a client come back early.
        let early: Vec<u64> = right().iter().map(|ns| ns - 50 * MS).collect();
        assert_eq!(verdict(&seen, &early, 200 * MS), ProofVerdict::Fail);
        // The gate was put aside around an answer.
        let mut aside = passages();
        aside.answers[9].1 += Duration::from_millis(60);
        assert_eq!(verdict(&aside, &right(), MS), ProofVerdict::Inconclusive);
        // The gate let the last one in when the step was all but over, or never.
        let mut one_missing = right();
        one_missing.pop();
        let mut late = passages();
        let (asked, answered) = late.answers.last_mut().unwrap();
        *asked += Duration::from_millis(1_000);
        *answered += Duration::from_millis(1_000);
        assert_eq!(verdict(&late, &one_missing, MS), ProofVerdict::Inconclusive);
        late.answers.pop();
        assert_eq!(verdict(&late, &one_missing, MS), ProofVerdict::Inconclusive);
        // One that never came is the generator's.
        late.came -= 1;
        assert_eq!(verdict(&late, &one_missing, MS), ProofVerdict::Fail);
    }

    #[test]
    fn so_many_clients_of_the_plan_are_cut() {
        let mut plan = Plan::new("ws://127.0.0.1:1/");
        plan.populations = populations();
        let clients = (0..u64::from(CLIENTS)).map(|client| ws_load::population_of(&plan, client));
        let cut = clients.filter(|of| matches!(of.life, Life::Cut(_))).count();
        assert_eq!(cut, CUT as usize);
    }

    /// A generator that cuts 150 ms after the planned moment, and says the planned one, is found out.
    #[test]
    fn a_cut_at_another_moment_fails() {
        let later = |plan: &Plan| {
            let mut plan = plan.clone();
            for population in &mut plan.populations {
                if let Life::Cut(cut) = &mut population.life {
                    cut.at = (AT + Duration::from_millis(150)).into();
                }
            }
            uninterrupted(&plan)
        };
        let found = measure(&bench(&later)).unwrap();
        let is_busy = found.verdict() == ProofVerdict::Inconclusive;
        assert!(
            is_busy || failed(&found.checks).contains(&"half back"),
            "{found:?}"
        );
    }
}
