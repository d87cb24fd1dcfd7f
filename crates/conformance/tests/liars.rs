//! The checks are checked: an honest server passes all of them, and each server that lies in one
//! way fails the check of the rule that it breaks, and no other.

use conformance::{Outcome, Target, Verdict, checks, verify};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;
use test_servers::liar::{LiarServer, Lie};

/// Lies that cannot help tripping a second check.
const COMPANIONS: &[(Lie, &str)] = &[];

/// Servers checked at once: the waits of one are the work of another.
const AT_ONCE: usize = 4;

fn target(server: &LiarServer) -> Target {
    Target {
        timeout: Duration::from_millis(1000),
        ..Target::new(server.addr())
    }
}

fn outcomes(lie: Lie) -> Vec<Outcome> {
    let server = LiarServer::start(lie).expect("a port");
    verify(&target(&server), &mut |_| {})
}

fn failures(outcomes: &[Outcome]) -> Vec<String> {
    let failed = outcomes.iter().filter(|outcome| outcome.failed());
    failed.map(ToString::to_string).collect()
}

#[test]
fn the_honest_server_passes_every_check() {
    let outcomes = outcomes(Lie::None);
    let others: Vec<String> = outcomes
        .iter()
        .filter(|outcome| outcome.verdict != Verdict::Pass)
        .map(ToString::to_string)
        .collect();
    assert!(others.is_empty(), "{others:#?}");
    let run: BTreeSet<_> = outcomes.iter().map(|outcome| outcome.check.id).collect();
    assert_eq!(run.len(), checks().count());
}

#[test]
fn each_lie_trips_the_check_of_its_rule_and_no_other() {
    let lies = Mutex::new(Lie::all());
    let complaints = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(lie) = lies.lock().unwrap().next() else {
                        return;
                    };
                    let outcomes = outcomes(lie);
                    let failed: BTreeSet<_> = outcomes
                        .iter()
                        .filter(|outcome| outcome.failed())
                        .map(|outcome| outcome.check.id)
                        .collect();
                    let companions = COMPANIONS.iter().filter(|(of, _)| *of == lie);
                    let mut expected: BTreeSet<_> = companions.map(|(_, id)| *id).collect();
                    expected.extend(lie.trips());
                    if failed != expected {
                        complaints.lock().unwrap().push(format!(
                            "{} should trip {expected:?}: {:#?}",
                            lie.id(),
                            failures(&outcomes)
                        ));
                    }
                }
            });
        }
    });
    let complaints = complaints.into_inner().unwrap();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn ids_are_unique_and_every_check_has_its_liar() {
    let ids: Vec<_> = checks().map(|check| check.id).collect();
    let unique: BTreeSet<_> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len());
    let tripped: BTreeSet<_> = Lie::all().filter_map(Lie::trips).collect();
    assert_eq!(tripped, unique);
    for check in checks() {
        let rfc = check.id.starts_with("rfc6455-") && check.section.starts_with("RFC 6455, ");
        let rule = check.id.starts_with("protocol-") && check.section.starts_with("protocol, ");
        assert!(rfc || rule, "{}: {}", check.id, check.section);
        if let Some(rest) = check.id.strip_prefix("rfc6455-") {
            let number = check.section.trim_start_matches("RFC 6455, ");
            assert!(rest.starts_with(number), "{}: {}", check.id, check.section);
        }
    }
}

#[test]
fn a_failure_names_rule_expectation_and_observation() {
    let outcomes = outcomes(Lie::CutsPongs);
    let failed: Vec<_> = outcomes.iter().filter(|outcome| outcome.failed()).collect();
    let [outcome] = failed[..] else {
        panic!("{:#?}", failures(&outcomes));
    };
    let shown = outcome.to_string();
    for part in [
        "rfc6455-5.5.2-ping",
        "RFC 6455, 5.5.2",
        "same payload",
        "ping of 125 bytes",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let data = serde_json::to_value(outcome).unwrap();
    assert_eq!(data["verdict"], "fail");
    assert_eq!(data["section"], "RFC 6455, 5.5.2");
    assert!(data["observed"].as_str().unwrap().contains("125 bytes"));
}
