//! Clients that come back to a server which gives them what they missed, and which knows what that was.
//!
//! What was lost is compared exactly. More may be made good than the server made good: a message that was
//! sent after the server knew the client again, and before the client knew that, is one of them.

use super::plan;
use crate::engine::common::{self, fates, run};
use ::plan::{Dialect, Nanos};
use record::{End, Verdict, Watched};
use test_servers::{Resumed, Resuming, ResumingOptions};

const CLIENTS: u32 = 12;
/// Those whose connections end.
const CUT: u64 = CLIENTS as u64 / 2;
const AWAY: usize = 20;

const HONEST: ResumingOptions = ResumingOptions {
    cut_at: 60,
    away: AWAY,
    knows_none: false,
    forgets: 0,
    doubles: 0,
    repeats: 0,
};

/// What was found, and what the server did.
fn watched(options: ResumingOptions) -> (Watched, Resumed) {
    let server = Resuming::start(options).unwrap();
    let plan = common::watching(plan(server.addr()), CLIENTS, Nanos::secs(4)).with(|plan| {
        plan.message.dialect = Dialect::SocketIo;
        plan.target.url = format!("ws://{}/?n={{client}}", server.addr());
    });
    let measured = run(&plan);
    let outcome = &measured.outcome;
    assert_eq!(outcome.end, End::StepsDone, "{outcome:?}");
    let [step] = &measured.steps[..] else {
        panic!("one step");
    };
    assert!(step.faults.is_empty(), "{}", step.faults);
    // A busy machine may stamp too few reads, which makes a step noisy.
    let is_known = matches!(step.verdict, Verdict::Pass | Verdict::Noisy);
    assert!(is_known, "{:?}: {:?}", step.verdict, step.verdict_reasons);
    assert_eq!(step.drops.as_ref().expect("they ended").count(), CUT);
    let of = *step.watched.clone().expect("a watched step");
    assert_eq!(fates(&of).all(), of.sent * u64::from(CLIENTS));
    (of, server.told())
}

/// Deliveries of messages that were sent on connections which the server had ended.
fn never_taken(of: &Watched, told: Resumed) -> u64 {
    (of.sent - told.taken) * u64::from(CLIENTS)
}

#[test]
fn what_clients_missed_and_get_when_they_come_back_is_made_good() {
    let (of, told) = watched(HONEST);
    assert_eq!(told.clients, CUT);
    assert!(told.made_good >= CUT * AWAY as u64, "{told:?}");
    let all = fates(&of);
    assert!(all.made_good >= told.made_good, "{all:?} {told:?}");
    assert_eq!(of.timeline.made_good.iter().sum::<u64>(), all.made_good);
    assert_eq!(all.lost(), never_taken(&of, told), "{all:?}");
    assert_eq!((of.duplicate, of.repeated, of.reordered), (0, 0, 0));
}

#[test]
fn what_the_server_forgets_of_that_is_lost_while_the_client_was_away() {
    const FORGOTTEN: usize = 3;
    let (of, told) = watched(ResumingOptions {
        forgets: FORGOTTEN,
        ..HONEST
    });
    assert_eq!(told.forgotten, CUT * FORGOTTEN as u64);
    let (all, never) = (fates(&of), never_taken(&of, told));
    assert!(all.made_good >= told.made_good, "{all:?} {told:?}");
    assert_eq!(all.lost(), told.forgotten + never, "{all:?} {told:?}");
    let expected = told.forgotten..=told.forgotten + never;
    assert!(expected.contains(&all.lost_away), "{all:?} {told:?}");
    assert_eq!((of.duplicate, of.repeated, of.reordered), (0, 0, 0));
}

#[test]
fn what_comes_twice_or_was_there_before_is_no_message_made_good() {
    let (of, told) = watched(ResumingOptions {
        doubles: 1,
        repeats: 2,
        ..HONEST
    });
    assert_eq!((told.doubled, told.repeated), (CUT, 2 * CUT));
    assert_eq!((of.duplicate, of.repeated), (told.doubled, told.repeated));
    assert!(fates(&of).made_good >= told.made_good);
    assert_eq!(fates(&of).lost(), never_taken(&of, told));
    assert_eq!(of.reordered, 0);
}

#[test]
fn a_client_that_the_server_does_not_know_any_more_begins_anew() {
    let (of, told) = watched(ResumingOptions {
        knows_none: true,
        ..HONEST
    });
    assert_eq!((told.clients, told.made_good), (0, 0));
    let all = fates(&of);
    assert!(all.lost_away >= CUT * AWAY as u64, "{all:?}");
    let never = never_taken(&of, told);
    assert_eq!(all.lost(), told.forgotten + never, "{all:?} {told:?}");
    assert_eq!((of.duplicate, of.repeated, of.reordered), (0, 0, 0));
}
