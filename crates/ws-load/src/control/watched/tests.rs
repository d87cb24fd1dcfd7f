use super::*;
use plan::Nanos;
use proptest::prelude::*;
use record::Fates;

const BOTH: Returns = Returns::BOTH;
const S: u32 = 1_000_000;

/// Ten messages a second for ten seconds, each of which may take two.
const TERMS: Watch = Watch {
    rate: 10.0,
    duration: Nanos::secs(10),
    patience: Nanos::secs(2),
};
const WHOLE_NS: u64 = 12_000_000_000;

fn sent(index: u32) -> SentMessage {
    SentMessage {
        index,
        at_us: index * 100_000,
        node: index % 2,
        is_confirmed: true,
    }
}

/// A client that hears everything 1 ms after it was sent, on node `client % 2`.
fn watcher(client: u64) -> Watcher {
    Watcher {
        client,
        stays: vec![Stay {
            from_us: 0,
            until_us: NEVER,
            first_us: 1000,
            node: client as u32 % 2,
        }],
        heard: (0..100).map(|index| index * 100_000 + 1000).collect(),
    }
}

fn part(clients: u64) -> WatchPart {
    WatchPart {
        sent: (0..100).map(sent).collect(),
        watchers: (0..clients).map(watcher).collect(),
        ..WatchPart::default()
    }
}

fn of(all: &WatchPart) -> Watched {
    found(all, &TERMS, BOTH, WHOLE_NS).watched
}

#[test]
fn whatever_comes_at_once_is_live_and_is_told_apart_by_nodes() {
    let found = found(&part(4), &TERMS, BOTH, WHOLE_NS);
    let watched = found.watched;
    assert_eq!(
        (watched.planned, watched.sent, watched.confirmed),
        (100, 100, 100)
    );
    let live = Fates {
        live: 400,
        ..Fates::default()
    };
    assert_eq!(watched.of_confirmed, live);
    assert_eq!(watched.of_unconfirmed, Fates::default());
    assert_eq!(watched.bystanders, 4);
    for of in [&watched.same_node, &watched.cross_node] {
        let latency = of.as_ref().unwrap();
        assert_eq!(latency.count, 200);
        // As exact as histograms are.
        assert!(
            (999_000..1_001_000).contains(&latency.p50_ns),
            "{latency:?}"
        );
    }
    assert_eq!(watched.bystander_latency.unwrap().count, 400);
    assert_eq!(found.live.count(), 400);
    assert_eq!(watched.timeline.ready, vec![4; 120]);
    assert_eq!(watched.timeline.live[..3], [4, 4, 4]);
}

#[test]
fn without_its_own_copy_a_publisher_is_due_none() {
    let returns = Returns {
        copy: false,
        result: false,
    };
    let mut all = part(4);
    for watcher in &mut all.watchers {
        for index in (0..100).filter(|index| index % 4 == watcher.client) {
            watcher.heard[index as usize] = NEVER;
        }
    }
    let watched = found(&all, &TERMS, returns, WHOLE_NS).watched;
    assert_eq!(watched.of_confirmed.all(), 300);
    assert_eq!(watched.of_confirmed.live, 300);
    assert!(watched.has_no_results);
}

/// A client whose connection is gone from 3.05 s to 5.05 s, with what it hears changed.
fn with_a_gap(change: impl FnOnce(&mut Watcher)) -> Fates {
    let mut all = part(4);
    let watcher = &mut all.watchers[1];
    watcher.stays = vec![
        Stay {
            until_us: 3 * S + 50_000,
            ..watcher.stays[0]
        },
        Stay {
            from_us: 5 * S + 50_000,
            until_us: NEVER,
            first_us: 5 * S + 101_000,
            node: 0,
        },
    ];
    // Sent from 3.1 s to 5.0 s.
    watcher.heard[31..=50].fill(NEVER);
    change(watcher);
    let watched = of(&all);
    assert_eq!(watched.bystanders, 3);
    watched.of_confirmed
}

#[test]
fn what_a_client_misses_is_told_apart_by_its_connections() {
    let fates = with_a_gap(|_| {});
    assert_eq!((fates.lost_away, fates.lost()), (20, 20));
    // Sent at 2.9 s and 3.0 s, and the connection ended before they were due to have come.
    let fates = with_a_gap(|watcher| watcher.heard[29..31].fill(NEVER));
    assert_eq!((fates.lost_cut, fates.lost()), (2, 22));
    // Sent at 1.5 s: another that was sent a second later came on the same connection.
    let fates = with_a_gap(|watcher| watcher.heard[15] = NEVER);
    assert_eq!((fates.lost_silent, fates.lost()), (1, 21));
    // Kept for the client, and sent when it was back.
    let fates = with_a_gap(|watcher| watcher.heard[31..=50].fill(5 * S + 60_000));
    assert_eq!((fates.made_good, fates.lost()), (20, 0));
    // Not known to the server until 5.5 s.
    let fates = with_a_gap(|watcher| {
        watcher.heard[51..=54].fill(NEVER);
        watcher.stays[1].first_us = 5 * S + 501_000;
    });
    assert_eq!((fates.lost_joining, fates.lost()), (4, 24));
    // Heard, and then passed over.
    let fates = with_a_gap(|watcher| watcher.heard[53] = NEVER);
    assert_eq!((fates.lost_silent, fates.lost()), (1, 21));
}

#[test]
fn a_client_that_goes_deaf_is_lost_to_silence_until_the_end() {
    let mut all = part(2);
    all.watchers[0].heard[40..].fill(NEVER);
    let watched = of(&all);
    assert_eq!(watched.of_confirmed.lost_silent, 60);
    assert_eq!(watched.silent_clients, 1);
    assert_eq!(watched.timeline.lost_silent.iter().sum::<u64>(), 60);
}

#[test]
fn messages_that_were_not_confirmed_are_counted_apart() {
    let mut all = part(2);
    all.sent[7].is_confirmed = false;
    all.watchers[0].heard[7] = NEVER;
    let watched = of(&all);
    assert_eq!((watched.sent, watched.confirmed), (100, 99));
    assert_eq!(watched.of_unconfirmed.lost_silent, 1);
    assert_eq!(watched.of_unconfirmed.all(), 2);
    assert_eq!(watched.of_confirmed.lost(), 0);
}

#[test]
fn what_was_never_sent_is_in_no_figure_and_must_not_be_heard() {
    let mut all = part(2);
    all.sent.remove(9);
    all.watchers[1].heard[9] = NEVER;
    let found = found(&all, &TERMS, BOTH, WHOLE_NS);
    assert_eq!(found.unsent_heard, 1);
    assert_eq!(
        (found.watched.sent, found.watched.of_confirmed.all()),
        (99, 198)
    );
}

#[test]
fn a_step_that_was_broken_off_tells_of_what_had_its_time() {
    let mut all = part(2);
    for watcher in &mut all.watchers {
        watcher.heard[45..].fill(NEVER);
    }
    all.sent.truncate(50);
    // Broken off after 5 s: what was sent after 3 s may still have come.
    let watched = found(&all, &TERMS, BOTH, 5_000_000_000).watched;
    assert_eq!((watched.sent, watched.of_confirmed.live), (31, 62));
    assert_eq!(watched.of_confirmed.lost(), 0);
    assert_eq!(come_due(&TERMS, 5_000_000_000), 51);
}

proptest! {
    /// Every delivery has one fate, in the figures and in the timeline alike.
    #[test]
    fn every_delivery_has_one_fate(
        gaps in prop::collection::vec((0u32..12_000, 1u32..3000, 0u32..2), 0..5),
        missed in prop::collection::vec((0usize..3, 0usize..100), 0..80),
        unconfirmed in prop::collection::vec(0usize..100, 0..20),
    ) {
        let mut all = part(3);
        for of in unconfirmed {
            all.sent[of].is_confirmed = false;
        }
        for (client, message) in missed {
            all.watchers[client].heard[message] = NEVER;
        }
        let mut at = 0;
        let mut stays = Vec::new();
        let mut gaps = gaps;
        gaps.sort_unstable();
        for (from, length, node) in gaps {
            let until = from.max(at) * 1000;
            stays.push(Stay { from_us: at * 1000, until_us: until.max(at * 1000 + 1), first_us: NEVER, node });
            at = from.max(at) + length;
        }
        stays.push(Stay { from_us: at * 1000, until_us: NEVER, first_us: NEVER, node: 0 });
        all.watchers[0].stays = stays;
        let watched = of(&all);
        let mut fates = watched.of_confirmed;
        fates.add(watched.of_unconfirmed);
        prop_assert_eq!(fates.all(), 300);
        let line = &watched.timeline;
        let sum = |of: &[u64]| of.iter().sum::<u64>();
        prop_assert_eq!(sum(&line.live), fates.live);
        prop_assert_eq!(sum(&line.made_good), fates.made_good);
        prop_assert_eq!(sum(&line.lost_silent), fates.lost_silent);
        prop_assert_eq!(sum(&line.lost_joining), fates.lost_joining);
        prop_assert_eq!(sum(&line.lost_cut), fates.lost_cut);
        prop_assert_eq!(sum(&line.lost_away), fates.lost_away);
        prop_assert_eq!(sum(&line.sent), 100);
        let live = watched.same_node.map_or(0, |of| of.count) + watched.cross_node.map_or(0, |of| of.count);
        prop_assert_eq!(live, fates.live);
        prop_assert!(line.ready.iter().all(|ready| (2..=3).contains(ready)));
    }
}
