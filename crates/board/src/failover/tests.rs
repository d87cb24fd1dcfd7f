//! Times and promises of steps that are made by hand.

use super::*;
use plan::{Fault, FaultPart, Nanos};
use record::Claim;

const SECOND: u64 = 1_000_000_000;
const TICK: u64 = SECOND / 10;

fn fault(deed: FaultDeed, at_ns: u64) -> FaultDone {
    FaultDone {
        planned: Fault {
            at: Nanos(at_ns),
            jitter: Nanos(0),
            deed,
            what: FaultPart::Node(2),
        },
        due_ns: at_ns,
        began_ns: Some(at_ns),
        ended_ns: Some(at_ns),
        failure: None,
    }
}

/// A step of ten seconds whose 100 clients are ready and that loses nothing.
fn quiet() -> Watched {
    let mut timeline = Timeline::new(TICK, 100);
    timeline.ready = vec![100; 100];
    // For the last second clients only listen.
    timeline.sent[..90].fill(1);
    Watched {
        timeline,
        ..Watched::default()
    }
}

fn failover<'m>(watched: &'m Watched, faults: &'m [FaultDone]) -> Failover<'m> {
    Failover {
        watched,
        clients: 100,
        faults,
    }
}

#[test]
fn clients_are_back_when_they_stay() {
    let mut watched = quiet();
    // Forty leave in the part from 2.0 s on. Half are back in that from 2.5 s on, and some leave again.
    let ready = &mut watched.timeline.ready;
    ready[20..25].fill(60);
    ready[25..30].fill(82);
    ready[30] = 70;
    ready[31..40].fill(98);
    let faults = [fault(FaultDeed::Kill, 2 * SECOND)];
    let one = &failover(&watched, &faults).recoveries()[0];
    assert_eq!((one.left, one.began_ns), (40, 2 * SECOND));
    let at = |part: u64| Some(part * TICK - 2 * SECOND);
    assert_eq!(one.back, [at(32), at(32), at(41)]);
    // One that never comes back.
    watched.timeline.ready[40..].fill(99);
    let one = &failover(&watched, &faults).recoveries()[0];
    assert_eq!(one.back, [at(32), at(32), None]);
    assert_eq!(failover(&watched, &faults).missing(), 1);
    assert_eq!(
        failover(&watched, &faults).longest(|one| one.back[2]),
        Some(f64::INFINITY)
    );
}

#[test]
fn losses_belong_to_the_fault_before_them_and_those_of_connected_clients_end_it() {
    let mut watched = quiet();
    let lost = &mut watched.timeline;
    // On its way when the node died.
    lost.lost_cut[19] = 3;
    lost.lost_silent[22] = 5;
    lost.lost_away[30] = 7;
    // Of the next fault.
    lost.lost_silent[59] = 1;
    lost.lost_joining[62] = 1;
    let faults = [
        fault(FaultDeed::Kill, 2 * SECOND + TICK / 2),
        fault(FaultDeed::Start, 4 * SECOND),
        fault(FaultDeed::Cut, 6 * SECOND),
    ];
    let all = failover(&watched, &faults).recoveries();
    let [kill, start, cut] = all.as_slice() else {
        panic!("{all:?}");
    };
    let half = (TICK / 2) as i64;
    let tick = TICK as i64;
    assert_eq!(
        (kill.lost, kill.loss),
        (15, Some((-tick - half, 11 * tick - half)))
    );
    assert_eq!(kill.whole, Some(3 * TICK - TICK / 2));
    // What mends is no harm: what was lost after it was lost by the fault before it, too.
    assert_eq!((start.lost, start.loss, start.whole), (0, None, Some(0)));
    assert_eq!((cut.lost, cut.whole), (2, Some(3 * TICK)));
    assert_eq!(
        failover(&watched, &faults).longest(|one| one.whole),
        Some(3.0 * TICK as f64)
    );
}

#[test]
fn what_is_lost_to_the_end_is_never_whole_again() {
    let mut watched = quiet();
    watched.timeline.lost_silent[50..90].fill(1);
    let faults = [fault(FaultDeed::Freeze, 5 * SECOND)];
    assert_eq!(failover(&watched, &faults).recoveries()[0].whole, None);
    // Neither is what is lost to the next fault.
    let two = [faults[0].clone(), fault(FaultDeed::Kill, 7 * SECOND)];
    let all = failover(&watched, &two).recoveries();
    assert_eq!((all[0].whole, all[0].lost), (None, 19));
}

#[test]
fn a_fault_that_did_not_begin_has_no_time_and_a_broken_record_does_no_harm() {
    let mut watched = quiet();
    let mut faults = vec![fault(FaultDeed::Kill, SECOND)];
    faults[0].began_ns = None;
    assert_eq!(failover(&watched, &faults).recoveries(), []);
    assert_eq!(failover(&watched, &faults).longest(|one| one.whole), None);
    let late = [fault(FaultDeed::Kill, u64::MAX), fault(FaultDeed::Kill, 1)];
    watched.timeline.ready.truncate(3);
    watched.timeline.lost_cut = vec![u64::MAX; 100];
    watched.timeline.lost_away = vec![u64::MAX; 100];
    assert_eq!(failover(&watched, &late).recoveries().len(), 2);
    watched.timeline.tick_ns = 0;
    assert_eq!(failover(&watched, &late).recoveries(), []);
}

#[test]
fn a_claim_is_broken_by_what_it_excludes_and_by_nothing_else() {
    let with = |change: fn(&mut Watched)| {
        let mut watched = quiet();
        change(&mut watched);
        watched
    };
    let lost = |change: fn(&mut Fates)| {
        let mut watched = quiet();
        change(&mut watched.of_confirmed);
        watched
    };
    let twice = with(|of| (of.duplicate, of.repeated) = (12, 1));
    let silent = lost(|of| of.lost_silent = 1_200);
    let away = lost(|of| (of.lost_away, of.lost_cut) = (4, 1));
    let joining = lost(|of| of.lost_joining = 9);
    let refused = with(|of| of.of_unconfirmed.lost_silent = 9);
    let kept = "keeps its claim";
    for (watched, words) in [
        (&twice, ["breaks it: 12 duplicates, 1 repeat", kept, kept]),
        (
            &silent,
            [
                kept,
                "breaks it: 1,200 messages lost silently",
                "breaks it: 1,200 messages lost silently",
            ],
        ),
        (
            &away,
            [
                kept,
                kept,
                "breaks it: 1 on a cut connection, 4 while clients were away",
            ],
        ),
        (&joining, [kept; 3]),
        (&refused, [kept; 3]),
    ] {
        let claims = [Claim::AtMostOnce, Claim::AtLeastOnce, Claim::Resumes];
        let found = claims.map(|claim| Promise::new(claim, &[failover(watched, &[])]).words());
        assert_eq!(found, words);
    }
}

#[test]
fn what_cannot_be_told_of_a_claim_is_said() {
    let mut watched = quiet();
    watched.of_confirmed.lost_away = 4;
    *watched.timeline.ready.last_mut().unwrap() = 99;
    fn of(claim: Claim, watched: &Watched) -> String {
        Promise::new(claim, &[failover(watched, &[])]).words()
    }
    assert_eq!(
        of(Claim::Resumes, &watched),
        "cannot be told: not every client came back"
    );
    watched.has_no_results = true;
    let words = "cannot be told: no message is confirmed in this dialect";
    assert_eq!(of(Claim::AtLeastOnce, &watched), words);
    assert_eq!(of(Claim::AtMostOnce, &watched), "keeps its claim");
}

#[test]
fn the_share_is_of_what_was_confirmed() {
    let mut watched = quiet();
    assert_eq!(failover(&watched, &[]).loss(), None);
    watched.of_confirmed.live = 3;
    watched.of_confirmed.lost_away = 1;
    watched.of_unconfirmed.lost_silent = 8;
    assert_eq!(failover(&watched, &[]).loss(), Some(0.25));
    watched.has_no_results = true;
    assert_eq!(failover(&watched, &[]).loss(), Some(1.0));
}
