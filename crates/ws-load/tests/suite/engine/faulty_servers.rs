//! Against servers that misbehave in one way each: the fault is counted exactly, named, and
//! nothing hangs.

use super::plan;
use crate::engine::common::{CLOSED, run};
use ::plan::{Audience, Clients, Dialect, Load, Nanos, Plan};
use record::{End, Faults, Verdict};
use test_servers::Framework;
use test_servers::fault::{Fault, FaultServer};
use ws_load::Measured;

fn against(fault: Fault, count: u64, change: impl FnOnce(&mut Plan)) -> Measured {
    let server = FaultServer::start(fault, count).unwrap();
    let mut plan = plan(server.addr());
    plan.clients = Clients::steps(10, 10, Some(1));
    plan.limits.sample_timeout = Nanos::secs(3);
    change(&mut plan);
    run(&plan)
}

fn faults(measured: &Measured) -> Faults {
    let mut all = Faults::default();
    measured
        .steps
        .iter()
        .for_each(|step| all.merge(&step.faults));
    all
}

#[test]
fn exactly_the_dropped_deliveries_are_lost() {
    // One sample at a time: the first drop ends the step, so the second is never made.
    let measured = against(Fault::Drops, 1, |plan| plan.load = Load::closed(1, 20));
    assert_eq!(measured.outcome.end, End::TimedOut);
    assert_eq!(
        faults(&measured),
        Faults {
            lost: 1,
            ..Faults::default()
        }
    );
    assert!(measured.steps[0].timed_out && !measured.steps[0].passed());
}

#[test]
fn drops_in_samples_that_are_in_flight_together_are_all_counted() {
    let measured = against(Fault::Drops, 4, |plan| plan.load = Load::closed(4, 4));
    assert_eq!(
        faults(&measured),
        Faults {
            lost: 4,
            ..Faults::default()
        }
    );
}

#[test]
fn exactly_the_duplicated_deliveries_are_duplicates() {
    for count in [1, 7] {
        let warm = against(Fault::Duplicates, count, |plan| {
            plan.warm_up = Nanos::millis(100);
        });
        // All of them are made at once, before the first step.
        assert!(faults(&warm).is_empty());
        assert_eq!(warm.warm_up.unwrap().faults.duplicate, count);
        let measured = against(Fault::Duplicates, count, |_| {});
        assert_eq!(measured.outcome.end, End::StepsDone);
        assert_eq!(
            faults(&measured),
            Faults {
                duplicate: count,
                ..Faults::default()
            }
        );
        assert_eq!(measured.outcome.carried_clients, None);
    }
}

/// What was wrong is counted, and the next step says whether it goes on.
#[test]
fn a_run_goes_on_after_wrong_messages_and_carries_nothing_more() {
    let measured = against(Fault::Duplicates, 1, |plan| {
        plan.clients = Clients::steps(10, 10, Some(2));
    });
    assert_eq!(measured.outcome.end, End::StepsDone, "{:?}", measured.outcome);
    let [first, second] = &measured.steps[..] else {
        panic!("{:?}", measured.outcome);
    };
    assert_eq!((first.verdict, first.faults.total()), (Verdict::Fail, 1));
    assert!(second.passed(), "{:?}", second.verdict_reasons);
    assert_eq!(measured.outcome.carried_clients, None);
}

#[test]
fn exactly_the_corrupted_deliveries_are_corrupt() {
    for count in [1, 9] {
        let measured = against(Fault::Corrupts, count, |_| {});
        assert_eq!(
            faults(&measured),
            Faults {
                corrupt: count,
                ..Faults::default()
            }
        );
    }
}

#[test]
fn exactly_the_swapped_broadcasts_are_reordered() {
    let measured = against(Fault::Reorders, 3, |plan| {
        plan.clients = Clients::steps(2, 10, Some(1));
        plan.load = Load::closed(16, 200);
    });
    assert_eq!(
        faults(&measured),
        Faults {
            reordered: 3,
            ..Faults::default()
        }
    );
}

#[test]
fn a_swap_is_a_fault_in_phoenix_and_none_in_action_cable() {
    for (dialect, framework, reordered) in [
        (Dialect::Phoenix, Framework::Phoenix, 3),
        (Dialect::ActionCable, Framework::ActionCable, 0),
    ] {
        let server = FaultServer::start_as(Fault::Reorders, 3, framework).unwrap();
        let measured = run(&plan(server.addr()).with(|plan| { plan.message.dialect = dialect; plan.load = Load::closed(16, 200); plan.clients = Clients::steps(2, 10, Some(1)); }));
        let expected = Faults {
            reordered,
            ..Faults::default()
        };
        assert_eq!(faults(&measured), expected, "{dialect:?}");
        assert_eq!(measured.steps[0].samples, 200);
    }
}

#[test]
fn an_echo_to_the_wrong_client_is_misdirected_and_missed() {
    let measured = against(Fault::Misdelivers, 2, |plan| {
        plan.audience = Audience::Sender;
        plan.load = Load::closed(2, 2);
    });
    assert_eq!(
        faults(&measured),
        Faults {
            misdirected: 2,
            lost: 2,
            ..Faults::default()
        }
    );
}

#[test]
fn results_that_never_come_are_unanswered() {
    let measured = against(Fault::NoResult, 0, |plan| plan.load = Load::closed(3, 20));
    assert_eq!(measured.outcome.end, End::TimedOut);
    assert_eq!(
        faults(&measured),
        Faults {
            unanswered: 3,
            ..Faults::default()
        }
    );
}

#[test]
fn a_server_that_stops_answering_times_out_and_never_hangs() {
    let measured = against(Fault::Freezes, 5, |plan| plan.load = Load::closed(1, 20));
    assert_eq!(measured.outcome.end, End::TimedOut);
    assert_eq!(measured.steps[0].samples, 5);
    assert_eq!(
        faults(&measured),
        Faults {
            lost: 10,
            unanswered: 1,
            ..Faults::default()
        }
    );
}

#[test]
fn a_reset_in_mid_step_is_a_lost_connection_and_the_others_go_on() {
    // A request of the lost client that the server had not read is heard by none of the others, so
    // that the step times out: then it is tried anew.
    let mut tries = (0..20).map(|_| against(Fault::Resets, 5, |_| {}));
    let measured = tries.find(|measured| {
        let is_unread = measured.outcome.end == End::TimedOut;
        assert!(!is_unread || faults(measured).unanswered > 0);
        !is_unread
    });
    let measured = measured.expect("no try without such a request");
    assert_eq!(measured.outcome.end, End::ServerLost);
    let faults = faults(&measured);
    assert_eq!(faults.disconnected, 1);
    let step = &measured.steps[0];
    // What the lost client missed of the four that were under way is not complete.
    assert!((16..20).contains(&step.samples), "{}", step.samples);
    assert_eq!(step.completion.as_ref().unwrap().count, step.samples);
    assert!(faults.lost >= 1, "{faults}");
    assert_eq!(faults.total(), faults.lost + faults.unanswered + 1);
}

#[test]
fn malformed_and_truncated_frames_are_told_apart() {
    let malformed = faults(&against(Fault::MalformedFrame, 5, |_| {}));
    assert_eq!(malformed.malformed, 1, "{malformed}");
    let cut = faults(&against(Fault::CutShort, 5, |_| {}));
    assert_eq!((cut.malformed, cut.disconnected), (0, 1), "{cut}");
}

#[test]
fn late_delivery_shows_in_completion_and_not_in_ack() {
    let measured = against(Fault::AcksFirst, 0, |plan| plan.load = Load::closed(1, 20));
    assert!(faults(&measured).is_empty());
    let step = &measured.steps[0];
    let (completion, ack) = (
        step.completion.as_ref().unwrap(),
        step.ack.as_ref().unwrap(),
    );
    assert!(completion.min_ns >= 20_000_000, "{completion:?}");
    assert!(ack.p50_ns < completion.p50_ns, "{ack:?}");
}

#[test]
fn servers_that_do_not_open_a_websocket_are_named_in_words() {
    for (fault, words) in [
        (
            Fault::NeverAnswers,
            "silent before it answered the WebSocket upgrade",
        ),
        (Fault::Status200, "HTTP 200"),
        (Fault::Status404, "HTTP 404"),
        (Fault::WrongAccept, "wrong Sec-WebSocket-Accept"),
        // By a reset, when the request came after the close.
        (
            Fault::ClosesAtOnce,
            "the connection before it answered",
        ),
        (
            Fault::UpgradesThenCloses,
            "closed the connection after the WebSocket was open",
        ),
    ] {
        let measured = against(fault, 0, |plan| {
            if fault == Fault::NeverAnswers {
                plan.connection.timeout = Nanos::secs(1);
            }
        });
        assert_eq!(measured.outcome.end, End::ConnectFailed, "{fault:?}");
        assert!(measured.steps.is_empty());
        assert!(
            measured.outcome.detail.contains(words),
            "{fault:?}: {}",
            measured.outcome.detail
        );
    }
}

#[test]
fn a_port_without_a_listener_is_refused() {
    let measured = run(&plan(CLOSED));
    assert_eq!(measured.outcome.end, End::ConnectFailed);
    assert!(measured.outcome.detail.contains("refused the connection"));
    assert!(measured.outcome.detail.starts_with("0 of 10 clients"));
}

#[test]
fn a_foreign_source_address_is_named() {
    let server = FaultServer::start(Fault::NoResult, 0).unwrap();
    let measured = run(&plan(server.addr()).with(|plan| { plan.target.local_addrs = vec![[192, 0, 2, 1].into()]; }));
    assert!(
        measured
            .outcome
            .detail
            .contains("192.0.2.1 is not one of this machine's"),
        "{}",
        measured.outcome.detail
    );
}
