//! The library around the checks: readiness by stage, dialects left out, several processes, and
//! servers that are gone.

use conformance::{
    Dialect, Outcome, ReadyError, Target, Verdict, checks, ready, run_check, verify,
};
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};
use test_servers::liar::{LiarServer, Lie};
use test_servers::odd::{Behaviour, OddServer};

fn target(addr: SocketAddr) -> Target {
    Target {
        timeout: Duration::from_millis(300),
        ..Target::new(addr)
    }
}

fn readiness(behaviour: Behaviour) -> Result<(), ReadyError> {
    let server = OddServer::start(behaviour, 0).unwrap();
    ready(&target(server.addr()))
}

fn failed(outcomes: &[Outcome]) -> Vec<&'static str> {
    let failed = outcomes.iter().filter(|outcome| outcome.failed());
    failed.map(|outcome| outcome.check.id).collect()
}

#[test]
fn readiness_names_the_stage_that_failed() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = closed.local_addr().unwrap();
    drop(closed);
    assert!(matches!(ready(&target(addr)), Err(ReadyError::Connect(_))));
    for behaviour in [
        Behaviour::NeverAnswers,
        Behaviour::Status404,
        Behaviour::ClosesAtOnce,
    ] {
        let result = readiness(behaviour);
        assert!(
            matches!(result, Err(ReadyError::Handshake(_))),
            "{behaviour:?}: {result:?}"
        );
    }
    for behaviour in [Behaviour::Freezes, Behaviour::UpgradesThenCloses] {
        let result = readiness(behaviour);
        assert!(
            matches!(result, Err(ReadyError::Echo(_))),
            "{behaviour:?}: {result:?}"
        );
    }
    let server = LiarServer::start(Lie::None).unwrap();
    ready(&target(server.addr())).unwrap();
}

#[test]
fn checks_of_a_dialect_that_is_not_spoken_are_skipped_with_a_reason() {
    let server = LiarServer::start(Lie::None).unwrap();
    let target = Target {
        dialects: vec![Dialect::Binary],
        timeout: Duration::from_secs(2),
        ..Target::new(server.addr())
    };
    let mut told = Vec::new();
    let outcomes = verify(&target, &mut |outcome| told.push(outcome.check.id));
    assert_eq!(failed(&outcomes), [""; 0]);
    let skipped: Vec<_> = outcomes
        .iter()
        .filter(
            |outcome| matches!(&outcome.verdict, Verdict::Skipped { reason } if !reason.is_empty()),
        )
        .map(|outcome| outcome.check.id)
        .collect();
    assert!(skipped.contains(&"protocol-both-dialects"));
    assert!(
        skipped.iter().all(|id| !id.contains("binary")),
        "{skipped:?}"
    );
    assert!(
        outcomes
            .iter()
            .all(|outcome| outcome.dialect != Some(Dialect::Text))
    );
    assert_eq!(told.len(), outcomes.len());
    assert_eq!(told.len(), checks().count());
}

#[test]
fn several_processes_may_deliver_a_little_later_than_they_answer() {
    let server = LiarServer::start(Lie::AcksEarly).unwrap();
    let check = checks()
        .find(|check| check.id == "protocol-ack-rule")
        .unwrap();
    for (multi_process, fails) in [(true, false), (false, true)] {
        let target = Target {
            multi_process,
            timeout: Duration::from_secs(2),
            ..Target::new(server.addr())
        };
        let outcome = run_check(&target, check, Dialect::Text);
        assert_eq!(outcome.failed(), fails, "{outcome}");
    }
}

#[test]
fn several_processes_owe_everything_else() {
    for (lie, id) in [
        (Lie::OwnBroadcastLast, "protocol-ack-rule-own-connection"),
        (Lie::DeliversTwice, "protocol-broadcast-exactly-once"),
        (Lie::ForgetsOne, "protocol-broadcast-exactly-once"),
    ] {
        let server = LiarServer::start(lie).unwrap();
        let target = Target {
            multi_process: true,
            timeout: Duration::from_millis(500),
            ..Target::new(server.addr())
        };
        let check = checks().find(|check| check.id == id).unwrap();
        let outcome = run_check(&target, check, Dialect::Binary);
        assert!(outcome.failed(), "{outcome}");
    }
}

#[test]
fn a_server_that_is_gone_is_not_asked_forty_times() {
    let server = OddServer::start(Behaviour::NeverAnswers, 0).unwrap();
    let started = Instant::now();
    let outcomes = verify(&target(server.addr()), &mut |_| {});
    let rest = &outcomes[1..];
    assert!(!rest.is_empty());
    assert!(rest.iter().all(|outcome| matches!(
        &outcome.verdict,
        Verdict::Fail { observed } if observed.starts_with("not run: after rfc6455-4.2.2-accept-key")
    )));
    assert!(started.elapsed() < Duration::from_secs(5));
}
