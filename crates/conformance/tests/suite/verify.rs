//! The library around the checks: readiness by stage, dialects left out, several processes, and
//! servers that are gone.

use conformance::{
    CheckRun, Dialect, Found, ProtocolRequest, ReadyError, Target, checks, ready, run_check, verify,
};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;
use test_servers::Framework;
use test_servers::fault::{Fault, FaultServer};
use test_servers::liar::{LiarServer, Lie};

fn target(addr: SocketAddr) -> Target {
    Target {
        timeout: Duration::from_secs(1),
        ..Target::new(addr)
    }
}

/// The outcomes for a server that does nothing wrong. A busy machine can make it too late for one
/// patience: it is given a longer one then.
fn verified(target: &Target, told: &mut dyn FnMut(&CheckRun)) -> Vec<CheckRun> {
    let mut outcomes = Vec::new();
    for timeout in super::PATIENCE {
        let target = Target {
            timeout,
            ..target.clone()
        };
        outcomes = verify(&target, &mut |_| {});
        if failed(&outcomes).is_empty() || !super::is_late(&outcomes, timeout, None) {
            break;
        }
    }
    outcomes.iter().for_each(told);
    outcomes
}

fn readiness(fault: Fault) -> Result<(), ReadyError> {
    let server = FaultServer::start(fault, 0).unwrap();
    ready(&target(server.addr()))
}

fn failed(outcomes: &[CheckRun]) -> Vec<&'static str> {
    let failed = outcomes.iter().filter(|outcome| outcome.failed());
    failed.map(|outcome| outcome.check.id).collect()
}

#[test]
fn readiness_names_the_stage_that_failed() {
    // The system gives no listener a port below 1024 by itself.
    let addr = SocketAddr::from(([127, 0, 0, 1], 1));
    assert!(matches!(ready(&target(addr)), Err(ReadyError::Connect(_))));
    for behaviour in [Fault::NeverAnswers, Fault::Status404, Fault::ClosesAtOnce] {
        let result = readiness(behaviour);
        assert!(
            matches!(result, Err(ReadyError::Handshake(_))),
            "{behaviour:?}: {result:?}"
        );
    }
    for behaviour in [Fault::Freezes, Fault::UpgradesThenCloses] {
        let result = readiness(behaviour);
        assert!(
            matches!(result, Err(ReadyError::Echo(_))),
            "{behaviour:?}: {result:?}"
        );
    }
    let server = LiarServer::start(Lie::None).unwrap();
    ready(&target(server.addr())).unwrap();
}

fn speaking(dialect: Dialect, addr: SocketAddr) -> Target {
    Target {
        dialects: vec![dialect],
        timeout: Duration::from_secs(1),
        ..Target::new(addr)
    }
}

#[test]
fn readiness_joins_first_where_the_dialect_wants_it() {
    for (dialect, framework) in [
        (Dialect::PhoenixV1, Framework::Phoenix),
        (Dialect::PhoenixV2, Framework::Phoenix),
        (Dialect::ActionCable, Framework::ActionCable),
        (Dialect::SocketIo, Framework::SocketIo),
    ] {
        let server = LiarServer::start_as(Lie::None, framework).unwrap();
        ready(&speaking(dialect, server.addr())).unwrap();
        let foreign = LiarServer::start(Lie::None).unwrap();
        let result = ready(&speaking(dialect, foreign.addr()));
        assert!(matches!(result, Err(ReadyError::Join(_))), "{result:?}");
    }
}

#[test]
fn an_origin_is_sent_where_the_dialect_wants_one_and_the_targets_own_is_kept() {
    let server = LiarServer::start_as(Lie::None, Framework::ActionCable).unwrap();
    // The double answers 404 to a handshake without an origin, as Action Cable does.
    let foreign = ready(&target(server.addr()));
    assert!(
        matches!(foreign, Err(ReadyError::Handshake(_))),
        "{foreign:?}"
    );
    let own = Target {
        origin: Some("http://elsewhere/".into()),
        ..speaking(Dialect::ActionCable, server.addr())
    };
    ready(&own).unwrap();
}

#[test]
fn checks_of_a_request_that_the_server_does_not_answer_are_skipped_with_a_reason() {
    let served = [
        (Dialect::Text, Framework::Plain),
        (Dialect::PhoenixV2, Framework::Phoenix),
        (Dialect::ActionCable, Framework::ActionCable),
    ];
    thread::scope(|scope| {
        for (dialect, framework) in served {
            let echo = (ProtocolRequest::Echo, "protocol-broadcast-exactly-once");
            let broadcast = (ProtocolRequest::Broadcast, "protocol-echo");
            scope.spawn(move || answers_only(echo, dialect, framework));
            scope.spawn(move || answers_only(broadcast, dialect, framework));
        }
    });
}

/// A server that has this request alone; the check of this id is skipped.
fn answers_only((workload, id): (ProtocolRequest, &str), dialect: Dialect, framework: Framework) {
    let server = LiarServer::start_as(Lie::None, framework).unwrap();
    let target = Target {
        workloads: vec![workload],
        ..speaking(dialect, server.addr())
    };
    ready(&target).unwrap();
    let outcomes = verified(&target, &mut |_| {});
    assert_eq!(failed(&outcomes), [""; 0], "{dialect}, {workload} alone");
    let told: BTreeSet<_> = outcomes.iter().map(|outcome| outcome.check.id).collect();
    assert_eq!(told.len(), checks().count());
    let skipped = outcomes.iter().find(|outcome| outcome.check.id == id);
    assert!(matches!(
        skipped.map(|outcome| &outcome.verdict),
        Some(Found::Skipped { reason }) if reason.starts_with("the server has no ")
    ));
}

#[test]
fn a_server_without_one_request_is_still_caught_at_the_other() {
    for (workload, lie, id) in [
        (
            ProtocolRequest::Broadcast,
            Lie::DeliversTwice,
            "protocol-broadcast-exactly-once",
        ),
        (
            ProtocolRequest::Broadcast,
            Lie::ErrorToAll,
            "protocol-error-isolated",
        ),
        (
            ProtocolRequest::Echo,
            Lie::ErrorToAll,
            "protocol-error-isolated",
        ),
        (
            ProtocolRequest::Echo,
            Lie::RoundsDoubles,
            "protocol-text-numbers",
        ),
        (
            ProtocolRequest::Broadcast,
            Lie::RoundsDoubles,
            "protocol-text-numbers",
        ),
    ] {
        let server = LiarServer::start(lie).unwrap();
        let target = Target {
            workloads: vec![workload],
            ..speaking(Dialect::Text, server.addr())
        };
        let check = checks().find(|check| check.id == id).unwrap();
        let outcome = run_check(&target, check, Dialect::Text);
        assert!(outcome.failed(), "{outcome}");
    }
}

#[test]
fn checks_of_a_dialect_that_is_not_spoken_are_skipped_with_a_reason() {
    let server = LiarServer::start(Lie::None).unwrap();
    let target = Target {
        dialects: vec![Dialect::Binary],
        ..Target::new(server.addr())
    };
    let mut told = Vec::new();
    let outcomes = verified(&target, &mut |outcome| told.push(outcome.check.id));
    assert_eq!(failed(&outcomes), [""; 0]);
    let skipped: Vec<_> = outcomes
        .iter()
        .filter(
            |outcome| matches!(&outcome.verdict, Found::Skipped { reason } if !reason.is_empty()),
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
            timeout: Duration::from_secs(10),
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
    let server = FaultServer::start(Fault::NeverAnswers, 0).unwrap();
    let outcomes = verify(&target(server.addr()), &mut |_| {});
    let run = |outcome: &&CheckRun| !matches!(outcome.verdict, Found::Skipped { .. });
    let rest: Vec<_> = outcomes[1..].iter().filter(run).collect();
    assert!(rest.len() > 50);
    assert!(rest.iter().all(|outcome| matches!(
        &outcome.verdict,
        Found::Fail { observed } if observed.starts_with("not run: after rfc6455-4.2.2-accept-key")
    )));
}
