//! (j) In rooms, what a member misses or gets twice, and what a client of another room gets, is counted
//! exactly.

use super::bench::{Bench, DIALECTS, Draws, at_rate, started};
use super::faults::{judge_mixture, plan};
use super::{Chapter, Findings};
use crate::Part;
use crate::error::Unmade;
use ::plan::{Arrivals, Audience, Rooms, Workload, Zipf};
use record::{Check, Faults};
use std::time::Duration;
use test_servers::fault::{Misdeeds, MixedServer};

pub(super) const CHAPTER: Chapter = Chapter {
    part: Part::J,
    id: "j",
    name: "rooms",
    proves: "A server that loses, doubles, spoils or misdirects messages of rooms is found out, and \
             each one is counted exactly once, whatever the sizes of the rooms.",
    takes: (Duration::from_secs(8), Duration::from_secs(3)),
    measure,
};

/// So that the last of the rooms of five has three.
const CLIENTS: u32 = 23;
const RATE: f64 = 500.0;
const SIZES: [(&str, Rooms); 3] = [
    ("rooms of five", Rooms::Members(5)),
    (
        "few large rooms and many small ones",
        Rooms::Zipf(Zipf {
            rooms: 7,
            exponent: 1.2,
        }),
    ),
    ("four equal rooms", Rooms::Equal(4)),
];

fn measure(bench: &Bench<'_>) -> Result<Findings, Unmade> {
    let mut draws = Draws::new(bench.seed, "rooms");
    let mut found = Findings::default();
    let (sizes, publications) = match bench.short {
        true => (&SIZES[..1], 100),
        false => (&SIZES[..], 300),
    };
    for (place, (name, rooms)) in sizes.iter().enumerate() {
        // The first ones get some of each class, so that none is left to chance.
        let least = if place == 0 { publications / 5 } else { 0 };
        let misdeeds = mixture(publications, least, &mut draws);
        found.checks.extend(mixed(bench, name, *rooms, misdeeds)?);
    }
    Ok(found)
}

/// Numbers of each class, at least so many.
fn mixture(publications: u64, least: u64, draws: &mut Draws) -> Misdeeds {
    let mut some = || draws.some(publications).max(least);
    let faults = Faults {
        lost: some(),
        duplicate: some(),
        corrupt: some(),
        misdirected: some(),
        unanswered: some(),
        ..Faults::default()
    };
    Misdeeds {
        broadcasts: publications,
        faults,
    }
}

fn mixed(
    bench: &Bench<'_>,
    name: &str,
    rooms: Rooms,
    misdeeds: Misdeeds,
) -> Result<Vec<Check>, Unmade> {
    let server = started(MixedServer::start(misdeeds, DIALECTS[0].framework))?;
    let mut plan = plan(bench, server.addr(), Workload::Rooms, CLIENTS);
    plan.audience = Audience::Room(rooms);
    plan.generator.threads = 2;
    plan.load = at_rate(
        RATE,
        Arrivals::Constant,
        Duration::from_secs_f64(misdeeds.broadcasts as f64 / RATE),
    );
    let step = bench.run(&plan)?;
    Ok(judge_mixture(name, misdeeds, &step, &server.done()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Misreport, bench, failed, uninterrupted, worst};
    use super::*;
    use ::plan::Plan;
    use record::{ProofVerdict, StepRecord};

    const MISDEEDS: Misdeeds = Misdeeds {
        broadcasts: 100,
        faults: Faults {
            lost: 9,
            duplicate: 60,
            corrupt: 17,
            misdirected: 33,
            unanswered: 3,
            reordered: 0,
            refused: 0,
            malformed: 0,
            disconnected: 0,
        },
    };

    /// What fails when this generator measures rooms of five; `None` when the machine was too busy.
    fn found_by(generate: &dyn Fn(&Plan) -> Result<StepRecord, Unmade>) -> Option<Vec<String>> {
        let (name, rooms) = SIZES[0];
        let checks = mixed(&bench(generate), name, rooms, MISDEEDS).unwrap();
        let failed = failed(&checks).into_iter().map(str::to_owned).collect();
        (worst(&checks) != ProofVerdict::Inconclusive).then_some(failed)
    }

    #[test]
    fn what_the_server_did_is_what_is_counted() {
        assert!(found_by(&uninterrupted).is_none_or(|failed| failed.is_empty()));
    }

    #[test]
    fn each_way_to_miscount_fails() {
        let changes: [Misreport; 4] = [
            ("lost", |step| {
                // A run that the machine cut short may have lost none.
                step.faults.lost = step.faults.lost.wrapping_sub(1);
            }),
            ("misdirected", |step| {
                step.faults.misdirected = step.faults.misdirected.min(5);
            }),
            ("duplicate", |step| {
                // A message to a stranger taken for a second copy.
                step.faults.duplicate += step.faults.misdirected;
            }),
            ("deliveries", |step| {
                step.delivery = step.completion.clone();
            }),
        ];
        for (what, change) in changes {
            let wrong = |plan: &Plan| {
                let mut step = uninterrupted(plan)?;
                change(&mut step);
                Ok(step)
            };
            let expected = format!("{}: {what}", SIZES[0].0);
            assert!(
                found_by(&wrong).is_none_or(|failed| failed == [expected.as_str()]),
                "{what}"
            );
        }
    }
}
