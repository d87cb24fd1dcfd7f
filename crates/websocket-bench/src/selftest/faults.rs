//! (c) Each class of faults is counted exactly.

use super::bench::{Bench, at_rate, nanos, started};
use super::{Chapter, Findings};
use crate::args::Part;
use run_record::{Arrivals, Check, Faults, Plan, Workload};
use std::time::Duration;
use test_servers::odd::{Behaviour, OddServer};

pub(super) const CHAPTER: Chapter = Chapter {
    part: Part::C,
    id: "c",
    name: "faults",
    proves: "A server that loses, doubles, reorders, spoils or misdelivers messages is found out, \
             and each one is counted exactly once.",
    takes: (Duration::from_secs(5), Duration::from_secs(5)),
    measure,
};

/// What a server does wrong, how often, and what is to be reported for it.
struct Misdeed {
    behaviour: Behaviour,
    words: &'static str,
    count: u64,
    known: Faults,
}

const NONE: Faults = Faults {
    lost: 0,
    duplicate: 0,
    reordered: 0,
    corrupt: 0,
    misdirected: 0,
    unanswered: 0,
    refused: 0,
    malformed: 0,
    disconnected: 0,
};

const MISDEEDS: [Misdeed; 5] = [
    Misdeed {
        behaviour: Behaviour::Drops,
        words: "drops 7 deliveries",
        count: 7,
        known: Faults { lost: 7, ..NONE },
    },
    Misdeed {
        behaviour: Behaviour::Duplicates,
        words: "makes 5 deliveries twice",
        count: 5,
        known: Faults {
            duplicate: 5,
            ..NONE
        },
    },
    Misdeed {
        behaviour: Behaviour::Reorders,
        words: "swaps 3 pairs of broadcasts",
        count: 3,
        known: Faults {
            reordered: 3,
            ..NONE
        },
    },
    Misdeed {
        behaviour: Behaviour::Corrupts,
        words: "spoils one bit in 9 deliveries",
        count: 9,
        known: Faults { corrupt: 9, ..NONE },
    },
    Misdeed {
        behaviour: Behaviour::Misdelivers,
        words: "sends 4 echoes to another client",
        count: 4,
        known: Faults {
            misdirected: 4,
            // The one who asked never gets it.
            lost: 4,
            ..NONE
        },
    },
];

fn measure(bench: &Bench<'_>) -> Result<Findings, String> {
    let mut found = Findings::default();
    for misdeed in &MISDEEDS {
        let server = started(OddServer::start(misdeed.behaviour, misdeed.count))?;
        let step = bench.run(&plan(bench, misdeed.behaviour, &server))?;
        found.checks.extend(judge(misdeed, &step.faults));
    }
    Ok(found)
}

fn plan(bench: &Bench<'_>, behaviour: Behaviour, server: &OddServer) -> Plan {
    let workload = match behaviour {
        Behaviour::Misdelivers => Workload::Echo,
        _ => Workload::Broadcast,
    };
    let clients = if behaviour == Behaviour::Reorders {
        2
    } else {
        10
    };
    let mut plan = bench.plan(server.addr(), workload, clients);
    // What is lost is waited for so long after the last send.
    plan.timeouts.sample_ns = nanos(Duration::from_millis(1500));
    if behaviour == Behaviour::Reorders {
        // A swap needs two broadcasts of one sender under way.
        plan.concurrent = 16;
        plan.sample_size = 200;
    } else {
        plan.open_loop = at_rate(250.0, Arrivals::Constant, Duration::from_millis(400));
    }
    plan
}

/// Each class against what the server did; only those with something in them are listed apart.
fn judge(misdeed: &Misdeed, reported: &Faults) -> Vec<Check> {
    let classes = misdeed.known.classes().into_iter().zip(reported.classes());
    let mut checks = Vec::new();
    let mut others = (0, 0);
    for ((class, known), (_, counted)) in classes {
        if known > 0 {
            let what = format!("a server that {}: {class}", misdeed.words);
            checks.push(Check::exactly(&what, known, counted));
        } else {
            others = (others.0 + known, others.1 + counted);
        }
    }
    let what = format!("a server that {}: anything else", misdeed.words);
    checks.push(Check::exactly(&what, others.0, others.1));
    checks
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bench, failed, uninterrupted, worst};
    use super::*;
    use run_record::ProofVerdict;

    #[test]
    fn only_the_exact_count_of_the_right_class_passes() {
        for misdeed in &MISDEEDS {
            let known = misdeed.known;
            assert_eq!(worst(&judge(misdeed, &known)), ProofVerdict::Pass);
            for wrong in [
                Faults {
                    lost: known.lost + 1,
                    ..known
                },
                Faults {
                    duplicate: known.duplicate + 1,
                    ..known
                },
                Faults::default(),
            ] {
                assert_eq!(worst(&judge(misdeed, &wrong)), ProofVerdict::Fail);
            }
        }
    }

    #[test]
    fn a_dropped_count_fails() {
        let forgetful = |plan: &Plan| {
            let mut step = uninterrupted(plan)?;
            step.faults.lost = step.faults.lost.saturating_sub(1);
            Ok(step)
        };
        let found = measure(&bench(&forgetful)).unwrap();
        assert_eq!(
            failed(&found.checks),
            [
                "a server that drops 7 deliveries: lost",
                "a server that sends 4 echoes to another client: lost"
            ]
        );
    }
}
