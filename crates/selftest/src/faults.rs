//! (c) Each class of faults is counted exactly, whatever its number and in whatever company.

use super::bench::{Bench, DIALECTS, Draws, Spoken, at_rate, recorder, started};
use super::ledger::SENT;
use super::{Chapter, Findings};
use crate::Part;
use crate::error::Unmade;
use plan::{Arrivals, Dialect, Load, Plan, Workload};
use record::{Check, Faults, StepRecord};
use std::time::Duration;
use test_servers::fault::{Done, Fault, FaultServer, Misdeeds, MixedServer};

pub(super) const CHAPTER: Chapter = Chapter {
    part: Part::C,
    id: "c",
    name: "faults",
    proves: "A server that loses, doubles, reorders, spoils or misdelivers messages is found out, \
             and each one is counted exactly once, in every dialect.",
    takes: (Duration::from_secs(17), Duration::from_secs(6)),
    measure,
};

const CLIENTS: u32 = 10;
const RATE: f64 = 500.0;
/// Broadcasts of a mixture, and the most of one class.
const BROADCASTS: u64 = 300;
const MOST: u64 = 280;
const MANY: u64 = 100;
/// What is lost is waited for so long, from the first that was.
pub(super) const TIMEOUT: Duration = Duration::from_millis(1500);
/// A swap needs two broadcasts of one sender under way, and takes about three of them.
const SWAPPING: u64 = 600;
const SWAPS: u64 = 80;
/// Connections that may be reset, one in a broadcast.
const RESETS: u64 = 30;
/// Requests of an echo, and how many of them may go to another client.
const ECHOES: u64 = 100;

fn measure(bench: &Bench<'_>) -> Result<Findings, Unmade> {
    let mut draws = Draws::new(bench.seed, "faults");
    let mut found = Findings::default();
    // Text gets many of each class, so that no class is left to chance.
    let dialects = if bench.short { 1 } else { DIALECTS.len() };
    for (place, spoken) in DIALECTS[..dialects].iter().enumerate() {
        let least = if place == 0 { MANY } else { 0 };
        let misdeeds = mixture(*spoken, BROADCASTS, least, &mut draws);
        found.checks.extend(mixed(bench, *spoken, misdeeds)?);
    }
    found.checks.extend(swapped(bench, &mut draws)?);
    found.checks.extend(reset(bench, &mut draws)?);
    found.checks.extend(misdelivered(bench, &mut draws)?);
    Ok(found)
}

/// Numbers of each class that an open loop can show, at least so many; some of them are none. A
/// spoilt payload is in every mixture, since dialects are read in code of their own.
pub(super) fn mixture(spoken: Spoken, broadcasts: u64, least: u64, draws: &mut Draws) -> Misdeeds {
    // Two dialects have no error answer to a request.
    let refuses = !matches!(spoken.dialect, Dialect::Binary | Dialect::ActionCable);
    let most = MOST.min(broadcasts);
    let mut some = || draws.some(most).max(least.min(most));
    let faults = Faults {
        lost: some(),
        duplicate: some(),
        corrupt: some().max(1),
        misdirected: some(),
        unanswered: some(),
        refused: some() * u64::from(refuses),
        malformed: some(),
        ..Faults::default()
    };
    Misdeeds { broadcasts, faults }
}

/// Faults of many classes in one run, in an open loop, which goes on whatever is lost.
fn mixed(bench: &Bench<'_>, spoken: Spoken, misdeeds: Misdeeds) -> Result<Vec<Check>, Unmade> {
    let server = started(MixedServer::start(misdeeds, spoken.framework))?;
    let mut plan = plan(bench, server.addr(), Workload::Broadcast, CLIENTS);
    spoken.speak(&mut plan);
    plan.generator.threads = 2;
    plan.load = at_rate(
        RATE,
        Arrivals::Constant,
        Duration::from_secs_f64(misdeeds.broadcasts as f64 / RATE),
    );
    let step = bench.run(&plan)?;
    let done = server.done();
    let name = format!("{}, many at once", spoken.name);
    Ok(judge_mixture(&name, misdeeds, &step, &done))
}

/// Holds the record of a mixture against what the server has done.
pub(super) fn judge_mixture(
    name: &str,
    misdeeds: Misdeeds,
    step: &StepRecord,
    done: &Done,
) -> Vec<Check> {
    let mut checks = judge(name, &done.faults, &step.faults);
    for (what, known, measured) in [
        ("broadcasts", misdeeds.broadcasts, step.samples_planned),
        ("samples that are whole", done.whole, step.samples),
        ("messages", done.messages, step.generator.messages),
        ("deliveries", done.deliveries, count(step.delivery.as_ref())),
        (
            "results",
            misdeeds.broadcasts - done.faults.unanswered,
            count(step.ack.as_ref()),
        ),
    ] {
        checks.push(Check::exactly(&format!("{name}: {what}"), known, measured));
    }
    let late = excuse(step, done, misdeeds.broadcasts);
    let checks = checks.into_iter();
    checks.map(|check| check.unless(late.clone())).collect()
}

fn count(latency: Option<&record::Latency>) -> u64 {
    latency.map_or(0, |latency| latency.count)
}

/// Swaps, with the other classes that let a closed loop go on.
fn swapped(bench: &Bench<'_>, draws: &mut Draws) -> Result<Vec<Check>, Unmade> {
    let misdeeds = Misdeeds {
        broadcasts: SWAPPING,
        faults: Faults {
            reordered: draws.some(SWAPS),
            duplicate: draws.some(MOST),
            corrupt: draws.some(MOST),
            misdirected: draws.some(MOST),
            ..Faults::default()
        },
    };
    let spoken = DIALECTS[0];
    let server = started(MixedServer::start(misdeeds, spoken.framework))?;
    let mut plan = plan(bench, server.addr(), Workload::Broadcast, 2);
    plan.load = Load::closed(16, SWAPPING as u32);
    let step = bench.run(&plan)?;
    Ok(judge_mixture(
        "swapped among others, closed loop",
        misdeeds,
        &step,
        &server.done(),
    ))
}

/// Connections that are reset while a broadcast is under way, which is lost to them.
fn reset(bench: &Bench<'_>, draws: &mut Draws) -> Result<Vec<Check>, Unmade> {
    let misdeeds = Misdeeds {
        broadcasts: 2 * RESETS,
        faults: Faults {
            disconnected: draws.some(RESETS),
            ..Faults::default()
        },
    };
    let server = started(MixedServer::start(misdeeds, DIALECTS[0].framework))?;
    let mut plan = plan(
        bench,
        server.addr(),
        Workload::Broadcast,
        RESETS as u32 + 10,
    );
    plan.load = Load::closed(1, misdeeds.broadcasts as u32);
    let step = bench.run(&plan)?;
    let done = server.done();
    let late = excuse(&step, &done, misdeeds.broadcasts);
    let checks = judge("connections reset", &done.faults, &step.faults).into_iter();
    Ok(checks.map(|check| check.unless(late.clone())).collect())
}

/// Echoes that go to another client; those who asked never get them.
fn misdelivered(bench: &Bench<'_>, draws: &mut Draws) -> Result<Vec<Check>, Unmade> {
    let strays = draws.some(ECHOES * 4 / 5);
    let server = started(FaultServer::start(Fault::Misdelivers, strays))?;
    let mut plan = plan(bench, server.addr(), Workload::Echo, CLIENTS);
    plan.load = at_rate(
        RATE,
        Arrivals::Constant,
        Duration::from_secs_f64(ECHOES as f64 / RATE),
    );
    let step = bench.run(&plan)?;
    let known = Faults {
        misdirected: strays,
        lost: strays,
        ..Faults::default()
    };
    let name = "echoes to another client";
    let mut checks = judge(name, &known, &step.faults);
    checks.push(Check::exactly(
        &format!("{name}: samples"),
        ECHOES - strays,
        step.samples,
    ));
    let unsent = step.sent.is_none_or(|sent| sent < ECHOES);
    let late = unsent.then(|| "too little CPU: not every echo was sent in time".to_owned());
    let checks = checks.into_iter();
    Ok(checks.map(|check| check.unless(late.clone())).collect())
}

pub(super) fn plan(
    bench: &Bench<'_>,
    server: std::net::SocketAddr,
    workload: Workload,
    clients: u32,
) -> Plan {
    let mut plan = bench.plan(server, workload, clients);
    plan.limits.sample_timeout = TIMEOUT.into();
    plan
}

/// Each class against what the server did; those without a fault are listed together.
fn judge(name: &str, known: &Faults, reported: &Faults) -> Vec<Check> {
    let classes = known.classes().into_iter().zip(reported.classes());
    let mut checks = Vec::new();
    let mut others = 0;
    for ((class, known), (_, counted)) in classes {
        if known > 0 {
            let what = format!("{name}: {class}");
            checks.push(Check::exactly(&what, known, counted));
        } else {
            others += counted;
        }
    }
    checks.push(Check::exactly(
        &format!("{name}: of any other class"),
        0,
        others,
    ));
    checks
}

/// Why messages may have been given up that did come: by the records of either side, one of them was
/// slow.
fn excuse(step: &StepRecord, done: &Done, planned: u64) -> Option<String> {
    let lag = recorder(step.generator.receive_lag.as_ref()).percentile(100.0);
    let took = done.lasting + Duration::from_nanos(lag) + Duration::from_millis(100);
    let in_time = step.sent.unwrap_or(planned);
    let given_up = (in_time as f64) < planned as f64 * SENT;
    (done.broadcasts < planned || took > TIMEOUT || given_up).then(|| {
        format!(
            "too little CPU: {} of {planned} broadcasts came to the server, {in_time} were sent in \
             time; it took {:.1} s, and the generator read up to {:.0} ms late",
            done.broadcasts,
            done.lasting.as_secs_f64(),
            lag as f64 / 1e6
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bench, failed, uninterrupted, worst};
    use super::*;
    use record::ProofVerdict;

    #[test]
    fn only_the_exact_count_of_the_right_class_passes() {
        let known = Faults {
            lost: 7,
            duplicate: 130,
            ..Faults::default()
        };
        assert_eq!(worst(&judge("x", &known, &known)), ProofVerdict::Pass);
        for wrong in [
            Faults { lost: 8, ..known },
            Faults {
                duplicate: 5,
                ..known
            },
            Faults {
                corrupt: 1,
                ..known
            },
            Faults::default(),
        ] {
            assert_eq!(worst(&judge("x", &known, &wrong)), ProofVerdict::Fail);
        }
    }

    /// A counter that stops at five is found out: the server makes more than five faults of each class.
    #[test]
    fn a_count_that_stops_at_five_fails() {
        for (what, change) in [
            (
                "duplicate",
                (|f| f.duplicate = f.duplicate.min(5)) as fn(&mut Faults),
            ),
            ("lost", |f| f.lost = f.lost.min(5)),
            ("corrupt", |f| f.corrupt = 0),
        ] {
            let capped = |plan: &Plan| {
                let mut step = uninterrupted(plan)?;
                change(&mut step.faults);
                Ok(step)
            };
            let misdeeds = Misdeeds {
                broadcasts: 100,
                faults: Faults {
                    lost: 9,
                    duplicate: 60,
                    corrupt: 17,
                    unanswered: 3,
                    ..Faults::default()
                },
            };
            let checks = mixed(&bench(&capped), DIALECTS[0], misdeeds).unwrap();
            let expected = format!("{}, many at once: {what}", DIALECTS[0].name);
            assert!(
                worst(&checks) == ProofVerdict::Inconclusive
                    || failed(&checks) == [expected.as_str()],
                "{checks:?}"
            );
        }
    }
}
