//! (g) Every figure of a broadcast, with many listeners of different delays, in every dialect, in an
//! open and in a closed loop.

use super::bench::{Bench, DIALECTS, Draws, SEED, Spoken, at_rate, started};
use super::bounds::brief;
use super::ledger::{Ledger, Sends, own_clock};
use super::{Chapter, Findings};
use crate::Part;
use crate::error::Unmade;
use plan::{Arrivals, Plan, Workload};
use record::Check;
use std::time::Duration;
use test_servers::{Delay, DelayOptions, DelayServer};

pub(super) const CHAPTER: Chapter = Chapter {
    part: Part::G,
    id: "g",
    name: "deliveries",
    proves: "Each listener's delivery, the sender's result and the whole broadcast are timed as they \
             were, in every dialect.",
    takes: (Duration::from_secs(14), Duration::from_secs(5)),
    measure,
};

/// A server and who listens to it.
struct Terms {
    name: String,
    spoken: Spoken,
    clients: u32,
    threads: u32,
    server: DelayOptions,
    load: Load,
}

#[derive(Clone, Copy)]
enum Load {
    Open {
        rate: f64,
        lasting: Duration,
    },
    /// One broadcast after the other.
    InTurn(u32),
}

/// So many that no percentile people read lies between two listeners, where a single sample of
/// which the server knows little would move it from one to the next.
const FEW: u32 = 23;

/// Copies leave over 60 ms, the first after 60 ms and the result 10 ms before the last: long enough
/// for an error of one percent to be more than what the ledger leaves open.
fn many(bench: &Bench<'_>) -> Terms {
    Terms {
        name: "200 listeners, each with a delay of its own".to_owned(),
        spoken: DIALECTS[0],
        clients: 200,
        threads: 2,
        server: DelayOptions {
            delay: Delay::Constant(Duration::from_millis(60)),
            spread: Duration::from_millis(60),
            result: Duration::from_millis(50),
            ..DelayOptions::default()
        },
        load: Load::Open {
            rate: 20.0,
            lasting: bench.time(Duration::from_secs(3), Duration::from_secs(1)),
        },
    }
}

fn few(name: &str, spoken: Spoken, load: Load) -> Terms {
    Terms {
        name: format!("{}{name}", spoken.name),
        spoken,
        clients: FEW,
        threads: 1,
        server: DelayOptions {
            delay: Delay::Constant(Duration::from_millis(50)),
            spread: Duration::from_millis(30),
            result: Duration::from_millis(20),
            framework: spoken.framework,
            ..DelayOptions::default()
        },
        load,
    }
}

fn measure(bench: &Bench<'_>) -> Result<Findings, Unmade> {
    let mut all = vec![many(bench)];
    let lasting = bench.time(Duration::from_millis(1000), Duration::from_millis(300));
    let open = Load::Open {
        rate: 50.0,
        lasting,
    };
    let drawn = Draws::new(bench.seed, "deliveries").up_to(DIALECTS.len() as u64 - 1);
    let dialects = (0..).zip(DIALECTS);
    let dialects = dialects.filter(|(place, _)| !bench.short || *place == drawn);
    all.extend(dialects.map(|(_, spoken)| few("", spoken, open)));
    let in_turn = Load::InTurn(if bench.short { 6 } else { 20 });
    all.push(few(", one after the other", DIALECTS[0], in_turn));
    let mut found = Findings::default();
    for terms in all {
        let checks = hold(bench, &terms)?;
        found.checks.extend(own_clock(bench.timestamps, checks));
    }
    Ok(found)
}

fn hold(bench: &Bench<'_>, terms: &Terms) -> Result<Vec<Check>, Unmade> {
    let server = started(DelayServer::start(terms.server.clone()))?;
    let plan = plan(bench, terms, &server);
    let step = bench.run(&plan)?;
    let truth = server.truth();
    let name = terms.name.as_str();
    let checks = match terms.load {
        Load::Open { rate, lasting } => {
            let ledger = Ledger::new(&truth, &step, SEED, Sends::Evenly(rate));
            let planned = (rate * lasting.as_secs_f64()) as u64;
            let mut checks = ledger.hold(name, &step, planned);
            checks.extend(ledger.hold_open(name, &step, lasting));
            ledger.unless_given_up(checks, &step, planned, lasting)
        }
        Load::InTurn(samples) => {
            let ledger = Ledger::new(&truth, &step, SEED, Sends::InTurn);
            ledger.hold(name, &step, samples.into())
        }
    };
    Ok(brief(name, &["p95"], checks))
}

fn plan(bench: &Bench<'_>, terms: &Terms, server: &DelayServer) -> Plan {
    let mut plan = bench.plan(server.addr(), Workload::Broadcast, terms.clients);
    terms.spoken.speak(&mut plan);
    plan.generator.threads = terms.threads;
    match terms.load {
        Load::Open { rate, lasting } => {
            plan.load = at_rate(rate, Arrivals::Constant, lasting);
        }
        Load::InTurn(samples) => plan.load = plan::Load::closed(1, samples),
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bench, failed, scaled, uninterrupted};
    use super::*;
    use record::{ProofVerdict, StepRecord};

    /// What is found when the records of broadcasts to many listeners are changed.
    fn planted(change: impl Fn(&mut StepRecord)) -> Vec<Check> {
        let generate = |plan: &Plan| {
            let mut step = uninterrupted(plan)?;
            change(&mut step);
            Ok(step)
        };
        let bench = bench(&generate);
        hold(&bench, &many(&bench)).unwrap()
    }

    #[test]
    fn one_percent_in_a_delivery_or_a_result_fails() {
        for (what, change) in [
            (
                "delivery",
                (|step| scaled(&mut step.delivery, 1.01)) as fn(&mut StepRecord),
            ),
            ("ack", |step| scaled(&mut step.ack, 1.01)),
            ("completion", |step| scaled(&mut step.completion, 0.99)),
        ] {
            // On a busy machine the result may be inconclusive. It is never a pass.
            let found = (0..10).any(|_| {
                let checks = planted(change);
                let named = |check: &&Check| check.what.contains(what);
                let worst = checks.iter().filter(named).map(|check| check.verdict).max();
                assert_ne!(worst, Some(ProofVerdict::Pass), "{what}: {checks:?}");
                failed(&checks).iter().any(|failed| failed.contains(what))
            });
            assert!(found, "{what}");
        }
    }

    #[test]
    fn a_sample_that_is_not_counted_fails() {
        let checks = planted(|step| step.samples -= 1);
        assert!(
            failed(&checks)
                .iter()
                .any(|what| what.ends_with(": samples")),
            "{checks:?}"
        );
    }
}
