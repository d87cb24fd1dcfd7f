//! The checks are checked: an honest server passes all of them, and each server that lies in one
//! way fails the check of the rule that it breaks, and no other.

use super::{PATIENCE, is_late};
use conformance::{
    Check, CheckRun, Dialect, Found, ProtocolRequest, ServerMemory, Target, checks, run_check,
    verify_those,
};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use test_servers::Framework;
use test_servers::liar::{LiarServer, Lie};

const FRAMEWORKS: [Framework; 4] = [
    Framework::Plain,
    Framework::Phoenix,
    Framework::ActionCable,
    Framework::SocketIo,
];

/// Servers checked at once: the waits of one are the work of another.
const AT_ONCE: usize = 6;

fn dialects(framework: Framework) -> Vec<Dialect> {
    match framework {
        Framework::Plain => vec![Dialect::Text, Dialect::Binary],
        Framework::Phoenix => vec![Dialect::PhoenixV1, Dialect::PhoenixV2],
        Framework::ActionCable => vec![Dialect::ActionCable],
        Framework::SocketIo => vec![Dialect::SocketIo],
        // No check speaks it.
        Framework::Mqtt => Vec::new(),
    }
}

/// Compression is asked of the honest server, and of those that lie about it.
fn target(server: &Arc<LiarServer>, lie: Lie, framework: Framework, timeout: Duration) -> Target {
    let hoarding = Arc::clone(server);
    Target {
        // Of a server in this process, only what it keeps can be told apart.
        memory: Some(ServerMemory::new(move || Some(hoarding.hoarded_bytes()))),
        dialects: dialects(framework),
        workloads: vec![
            ProtocolRequest::Echo,
            ProtocolRequest::Broadcast,
            ProtocolRequest::Rooms,
        ],
        compression: lie == Lie::None || lie.id().starts_with("deflate-"),
        timeout,
        ..Target::new(server.addr())
    }
}

/// Send 16 to a hundred megabytes each, or have them delivered, of which no other check sends more than two, or
/// send thousands of frames, or open a hundred connections and more.
const LARGE: [&str; 16] = [
    "protocol-ack-rule",
    "protocol-many-messages",
    "rfc6455-5.4-many-fragments",
    "rfc6455-5.5.3-pings-unread",
    "protocol-endless-fragments",
    "protocol-rooms-memory",
    "protocol-large-messages-memory",
    "protocol-limit-refused-without-end",
    "protocol-limit-accepted",
    "protocol-limit-accepted-in-fragments",
    "protocol-limit-refused",
    "protocol-limit-refused-in-fragments",
    "protocol-large-broadcasts-at-once",
    "protocol-limit-slow-client",
    "protocol-churn",
    "protocol-no-half-closed-sockets",
];

/// Of all checks. A large one is asked of the honest and of those that lie about its rule; of all with
/// `TESTS=long` alone.
fn outcomes(lie: Lie, framework: Framework, timeout: Duration) -> Vec<CheckRun> {
    let server = Arc::new(LiarServer::start_as(lie, framework).expect("a port"));
    let every = lie == Lie::None || std::env::var("TESTS").is_ok_and(|which| which == "long");
    let own = lie.trips(framework);
    let is_wanted = |check: &Check| every || !LARGE.contains(&check.id) || own == Some(check.id);
    let target = target(&server, lie, framework, timeout);
    verify_those(&target, &is_wanted, &mut |_| {})
}

/// The outcomes with the first patience with which no check fails but that of the rule that is broken; or
/// with one with which another fails that was not late.
fn outcomes_in_time(lie: Lie, framework: Framework) -> Vec<CheckRun> {
    let broken = lie.trips(framework);
    let mut all = Vec::new();
    for timeout in PATIENCE {
        all = outcomes(lie, framework, timeout);
        let is_wrong = |of: &CheckRun| of.failed() && Some(of.check.id) != broken;
        if !all.iter().any(is_wrong) || !is_late(&all, timeout, broken) {
            break;
        }
    }
    all
}

fn failures(outcomes: &[CheckRun]) -> Vec<String> {
    let failed = outcomes.iter().filter(|outcome| outcome.failed());
    failed.map(ToString::to_string).collect()
}

/// What an honest server is not asked, by id; everything else it passes.
fn not_applicable(framework: Framework) -> BTreeSet<&'static str> {
    let plain = [
        "protocol-binary-payloads",
        "protocol-binary-byte-0-alone",
        "protocol-both-dialects",
        "protocol-error-empty-binary",
        "protocol-error-unknown-byte-0",
    ];
    let joined = ["protocol-members-only", "protocol-error-unknown-topic"];
    let phoenix = ["protocol-phoenix-refs", "protocol-phoenix-heartbeat"];
    match framework {
        Framework::Plain => joined.into_iter().chain(phoenix).collect(),
        Framework::Phoenix => plain.into_iter().collect(),
        Framework::ActionCable => {
            let unordered = [
                "protocol-ack-rule-own-connection",
                "protocol-rooms-ack-rule",
            ];
            plain.into_iter().chain(phoenix).chain(unordered).collect()
        }
        Framework::SocketIo | Framework::Mqtt => plain.into_iter().chain(phoenix).collect(),
    }
}

#[test]
fn the_honest_server_passes_every_check_and_what_is_skipped_has_a_reason() {
    for framework in FRAMEWORKS {
        let outcomes = outcomes_in_time(Lie::None, framework);
        assert_eq!(failures(&outcomes), [""; 0], "{framework:?}");
        let skipped: BTreeSet<_> = outcomes
            .iter()
            .filter(|outcome| match &outcome.verdict {
                Found::Skipped { reason } => !reason.is_empty(),
                _ => false,
            })
            .map(|outcome| outcome.check.id)
            .collect();
        assert_eq!(skipped, not_applicable(framework), "{framework:?}");
        let run: BTreeSet<_> = outcomes.iter().map(|outcome| outcome.check.id).collect();
        assert_eq!(run.len(), checks().count());
    }
}

#[test]
fn both_serializers_of_phoenix_are_run_and_told_apart() {
    let outcomes = outcomes_in_time(Lie::None, Framework::Phoenix);
    for check in [
        "protocol-echo",
        "rfc6455-5.4-fragments",
        "protocol-error-unknown-type",
    ] {
        let of_check = outcomes.iter().filter(|outcome| outcome.check.id == check);
        let dialects: Vec<_> = of_check.map(|outcome| outcome.dialect).collect();
        assert_eq!(
            dialects,
            [Some(Dialect::PhoenixV1), Some(Dialect::PhoenixV2)]
        );
    }
}

/// The outcomes of what a lie is held against. A lie that a plain server can tell too is held in the
/// frameworks against the check of its rule alone: that it trips no other is seen there.
fn outcomes_of(lie: Lie, framework: Framework, timeout: Duration) -> Vec<CheckRun> {
    let known = framework != Framework::Plain && Lie::all_in(Framework::Plain).any(|l| l == lie);
    let rule = lie.trips(framework).filter(|_| known);
    let Some(check) = checks().find(|check| Some(check.id) == rule) else {
        return outcomes(lie, framework, timeout);
    };
    let server = Arc::new(LiarServer::start_as(lie, framework).expect("a port"));
    let target = target(&server, lie, framework, timeout);
    let run = dialects(framework).into_iter();
    run.map(|dialect| run_check(&target, check, dialect))
        .collect()
}

#[test]
fn each_lie_trips_the_check_of_its_rule_and_no_other() {
    let lies = FRAMEWORKS.map(|framework| Lie::all_in(framework).map(move |lie| (lie, framework)));
    let lies = Mutex::new(lies.into_iter().flatten());
    let complaints = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some((lie, framework)) = lies.lock().unwrap().next() else {
                        return;
                    };
                    let expected = lie.trips(framework);
                    let is_expected = |failure: &String| {
                        let id = failure.split([' ', ':']).next();
                        id == expected
                    };
                    let mut failed = Vec::new();
                    let mut is_told = false;
                    for timeout in PATIENCE {
                        let all = outcomes_of(lie, framework, timeout);
                        failed = failures(&all);
                        is_told = failed.is_empty() == expected.is_none()
                            && failed.iter().all(is_expected);
                        if is_told || !is_late(&all, timeout, expected) {
                            break;
                        }
                    }
                    if !is_told {
                        complaints.lock().unwrap().push(format!(
                            "{} in {framework:?} should trip {expected:?}: {failed:#?}",
                            lie.id(),
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
fn ids_are_unique_and_every_check_has_its_liar_in_every_framework_that_it_is_for() {
    let ids: Vec<_> = checks().map(|check| check.id).collect();
    let unique: BTreeSet<_> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len());
    for framework in FRAMEWORKS {
        let lies = Lie::all_in(framework);
        let mut tripped: BTreeSet<_> = lies.filter_map(|lie| lie.trips(framework)).collect();
        tripped.extend(not_applicable(framework));
        assert_eq!(tripped, unique, "{framework:?}");
    }
    for check in checks() {
        let rfc = check.id.starts_with("rfc6455-") && check.section.starts_with("RFC 6455, ");
        let rule = check.id.starts_with("protocol-") && check.section.starts_with("protocol, ");
        let deflate = check.id.starts_with("rfc7692-") && check.section.starts_with("RFC 7692, ");
        assert!(rfc || deflate || rule, "{}: {}", check.id, check.section);
        if let Some(rest) = check.id.strip_prefix("rfc") {
            let number = check.section.trim_start_matches("RFC ").replace(", ", "-");
            assert!(rest.starts_with(&number), "{}: {}", check.id, check.section);
        }
    }
}

#[test]
fn a_failure_names_rule_expectation_and_observation() {
    let outcomes = outcomes_in_time(Lie::CutsPongs, Framework::Plain);
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
