//! Lives in virtual time, without a socket: the test does what is asked, and moves the clock.

use super::*;
use crate::net::Stage;
use plan::{Backoff, ChangesRoom, ComesAndGoes, Cut, Nanos};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const START: u64 = 1_000_000 * MS;
/// Half of them leave.
const CLIENTS: u32 = 20;
/// Time of a close, and after which it is given up.
const CLOSE: u64 = 3_000 * MS;
const TIMEOUT: u64 = 10_000 * MS;

fn plan(life: Life, reconnect: Reconnect) -> Plan {
    crate::test_plan("ws://127.0.0.1:1/").with(|plan| {
        plan.connection.at_once = 8;
        plan.connection.timeout = Nanos(TIMEOUT);
        plan.populations = vec![
            Population::default(),
            Population {
                life,
                reconnect,
                ..Population::default()
            },
        ];
    })
}

fn delays(first_ms: u64, jitter: f64) -> Reconnect {
    Reconnect::Backoff(Backoff {
        first: Nanos::millis(first_ms),
        jitter,
        ..Backoff::default()
    })
}

const fn cut_at(ms: u64) -> Life {
    Life::Cut(Cut {
        at: Nanos::millis(ms),
    })
}

fn refused() -> ConnectError {
    ConnectError::Refused {
        addr: ([127, 0, 0, 1], 1).into(),
    }
}

/// What a server makes of an attempt that began at a moment: when it ends, and whether well.
type Answer<'a> = &'a dyn Fn(u64) -> (u64, bool);

/// A worker whose clients are all ready, and what was done.
struct World {
    lives: Box<Lives>,
    now_ns: u64,
    acts: Vec<(u64, Act)>,
    /// Attempts and closes under way, with their ends.
    under_way: Vec<(u64, Token, Option<bool>)>,
    most_under_way: usize,
}

impl World {
    fn new(life: Life, reconnect: Reconnect) -> Self {
        let plan = Arc::new(plan(life, reconnect));
        let mut lives = Lives::new(&plan, (0, 1), CLOSE).unwrap();
        lives.begin(START, &[true; CLIENTS as usize]);
        Self {
            lives,
            now_ns: START,
            acts: Vec::new(),
            under_way: Vec::new(),
            most_under_way: 0,
        }
    }

    /// Runs until so many milliseconds after the start. A close takes 1 ms.
    fn run(&mut self, until_ms: u64, answer: Answer<'_>) {
        let until_ns = START + until_ms * MS;
        loop {
            while let Some(act) = self.lives.next(self.now_ns) {
                self.acts.push((self.now_ns, act));
                match act {
                    Act::Cut(_) => {}
                    Act::Leave(slot) => self.under_way.push((self.now_ns + MS, slot, None)),
                    Act::Try(slot) => {
                        let (at_ns, well) = answer(self.now_ns);
                        self.under_way.push((at_ns, slot, Some(well)));
                    }
                    Act::LeaveRoom(slot) => {
                        self.lives.leaves_room(slot, Some);
                        let (at_ns, well) = answer(self.now_ns);
                        self.under_way.extend(well.then_some((at_ns, slot, None)));
                    }
                    Act::JoinRoom(slot) => {
                        let (at_ns, well) = answer(self.now_ns);
                        self.under_way
                            .extend(well.then_some((at_ns, slot, Some(true))));
                    }
                    Act::EndUnanswered(slot) => {
                        self.under_way.retain(|(_, other, _)| *other != slot);
                    }
                    Act::EndUnclosed(slot) => {
                        self.under_way.retain(|(_, other, _)| *other != slot);
                        self.lives.closed(slot, self.now_ns);
                    }
                    Act::GiveUp(slot) => {
                        self.under_way.retain(|(_, other, _)| *other != slot);
                        let addr = ([127, 0, 0, 1], 1).into();
                        let late = ConnectError::TimedOut {
                            addr,
                            stage: Stage::Upgrade,
                            seconds: 10.0,
                        };
                        assert!(self.lives.failed(slot, &late, self.now_ns));
                    }
                }
            }
            let trying = self.under_way.iter().filter(|(_, _, of)| of.is_some());
            self.most_under_way = self.most_under_way.max(trying.count());
            let first = self.under_way.iter().map(|(at_ns, ..)| *at_ns).min();
            let next_ns = self.lives.next_ns().max(self.now_ns + 1);
            self.now_ns = next_ns.min(first.unwrap_or(u64::MAX)).max(self.now_ns);
            if self.now_ns >= until_ns {
                self.now_ns = until_ns;
                return;
            }
            let now_ns = self.now_ns;
            let ended: Vec<_> = self
                .under_way
                .extract_if(.., |(at_ns, ..)| *at_ns <= now_ns)
                .collect();
            for (_, slot, of) in ended {
                match of {
                    None => self.lives.closed(slot, now_ns),
                    Some(true) => self.lives.returned(slot, now_ns),
                    Some(false) => assert!(self.lives.failed(slot, &refused(), now_ns)),
                }
            }
        }
    }

    fn count(&self, is: fn(&Act) -> bool) -> usize {
        self.acts.iter().filter(|(_, act)| is(act)).count()
    }

    fn end(mut self) -> ChurnPart {
        self.lives.end();
        let mut part = StepPart::default();
        self.lives.finish(&mut part);
        *part.churn.unwrap()
    }
}

const ALL_LEAVE: u64 = CLIENTS as u64 / 2;

fn at_once(now_ns: u64) -> (u64, bool) {
    (now_ns + 5 * MS, true)
}

#[test]
fn those_that_are_cut_are_cut_at_once_and_come_back_after_their_delays() {
    let mut world = World::new(cut_at(100), delays(500, 0.5));
    world.run(99, &at_once);
    assert!(world.acts.is_empty());
    world.run(100, &at_once);
    world.run(101, &at_once);
    assert_eq!(
        world.count(|act| matches!(act, Act::Cut(_))) as u64,
        ALL_LEAVE
    );
    world.run(5_000, &at_once);
    assert_eq!(world.acts.len() as u64, 2 * ALL_LEAVE);
    for (at_ns, act) in &world.acts {
        if matches!(act, Act::Try(_)) {
            assert!((350..=605).contains(&((at_ns - START) / MS)), "{at_ns}");
        }
    }
    let part = world.end();
    assert_eq!(
        (part.cut, part.back.count(), part.reconnected),
        (ALL_LEAVE, ALL_LEAVE, ALL_LEAVE)
    );
    assert_eq!(
        (part.attempts, part.failures.total(), part.unfinished),
        (ALL_LEAVE, 0, 0)
    );
    // From the cut, and not from the attempt.
    assert!(part.back.percentile(0.0) >= 250 * MS && part.last_back_ns <= 510 * MS);
    assert_eq!(part.reconnect.count(), 0);
}

#[test]
fn no_more_attempts_than_permitted_are_under_way_and_the_wait_for_a_place_is_told() {
    let mut world = World::new(cut_at(0), delays(1, 0.0));
    world.run(10_000, &|now_ns| (now_ns + 100 * MS, true));
    assert_eq!(world.most_under_way, 8);
    let part = world.end();
    // 10 clients, 8 at a time, 100 ms each.
    assert!(
        (200..=205).contains(&(part.last_back_ns / MS)),
        "{}",
        part.last_back_ns
    );
    assert!((99..=102).contains(&(part.attempt_lag.percentile(100.0) / MS)));
    assert!(part.generator_lag.percentile(100.0) < 2 * MS);
}

#[test]
fn a_late_generator_is_told_from_a_want_of_places() {
    let mut world = World::new(cut_at(0), delays(1, 0.0));
    world.now_ns = START + 300 * MS;
    world.run(10_000, &|now_ns| (now_ns + 100 * MS, true));
    let part = world.end();
    // Eight have a place when it comes to them, and two wait for one after that.
    let of = |lag: &record::Recorder, percentile| lag.percentile(percentile) / MS;
    assert!((298..=300).contains(&of(&part.generator_lag, 100.0)));
    assert_eq!(of(&part.generator_lag, 20.0), 0);
    assert!((398..=402).contains(&of(&part.attempt_lag, 100.0)));
}

/// Refused for 5 s from the cut on.
#[test]
fn a_dead_server_is_tried_again_after_growing_delays_until_it_is_back() {
    let mut world = World::new(cut_at(0), delays(500, 0.0));
    world.run(20_000, &|now_ns| (now_ns, now_ns >= START + 5_000 * MS));
    let part = world.end();
    // At 0.5, 1.5, 3.5 and 7.5 s, give or take the turns.
    assert_eq!(part.attempts, 4 * ALL_LEAVE);
    assert_eq!(part.failures.refused, 3 * ALL_LEAVE);
    assert_eq!(part.failures.total(), 3 * ALL_LEAVE);
    assert!(part.first_failure.unwrap().contains("refused"));
    assert_eq!(part.back.count(), ALL_LEAVE);
    assert!((7_500..7_510).contains(&(part.last_back_ns / MS)));
    assert!(part.handshake.percentile(100.0) < 10 * MS);
}

#[test]
fn an_attempt_without_an_answer_is_given_up_and_made_again() {
    let mut world = World::new(cut_at(0), delays(500, 0.0));
    world.run(15_000, &|_| (u64::MAX, true));
    assert!(world.count(|act| matches!(act, Act::GiveUp(_))) >= 8);
    assert!(world.most_under_way <= 8);
    let part = world.end();
    assert_eq!(part.failures.timed_out, part.failures.total());
    assert_eq!(part.attempts, part.failures.total() + part.unfinished);
    assert_eq!((part.unfinished, part.reconnected), (8, 0));
}

#[test]
fn those_that_never_come_back_do_so_in_the_next_step() {
    for life in [
        cut_at(10),
        Life::ComesAndGoes(ComesAndGoes {
            stays: Nanos::millis(10),
            away: Nanos::millis(10),
        }),
    ] {
        let mut world = World::new(life, Reconnect::Never);
        world.run(60_000, &at_once);
        assert_eq!(world.count(|act| matches!(act, Act::Try(_))), 0);
        assert_eq!(world.acts.len() as u64, ALL_LEAVE);
        assert!(world.lives.end().is_empty());
        world.lives.reopen(world.now_ns);
        let mut tries = 0;
        while let Some(act) = world.lives.next(world.now_ns) {
            let Act::Try(slot) = act else {
                panic!("{act:?}")
            };
            tries += 1;
            world.lives.returned(slot, world.now_ns);
        }
        assert_eq!(tries, ALL_LEAVE);
        // Between steps nothing is counted.
        let part = world.end();
        assert_eq!((part.attempts, part.reconnected), (0, 0));
    }
}

#[test]
fn a_close_that_is_not_answered_is_ended_and_the_client_comes_back_all_the_same() {
    let stays = Nanos::secs(1);
    let away = Nanos::millis(1);
    let mut world = World::new(
        Life::ComesAndGoes(ComesAndGoes { stays, away }),
        delays(1, 0.0),
    );
    // Closes are not answered: the world's own answers are taken away.
    for step in 0..20_000 {
        world.run(step, &at_once);
        world.under_way.retain(|(_, _, of)| of.is_some());
    }
    let part = world.end();
    assert!(part.left > 35 && part.unclosed > 35, "{part:?}");
    assert!(part.left - part.unclosed <= ALL_LEAVE);
    assert!(part.reconnected <= part.unclosed);
}

#[test]
fn a_client_that_the_server_ends_comes_back_and_one_that_is_away_is_not_cut() {
    let mut world = World::new(cut_at(1_000), delays(100, 0.0));
    let leaves = (0..CLIENTS).find(|slot| world.lives.has(*slot)).unwrap();
    world.lives.lost(leaves, START + 950 * MS);
    world.run(5_000, &at_once);
    let part = world.end();
    assert_eq!(
        (part.cut, part.back.count()),
        (ALL_LEAVE - 1, ALL_LEAVE - 1)
    );
    assert_eq!((part.reconnected, part.reconnect.count()), (ALL_LEAVE, 1));
}

#[test]
fn when_a_step_ends_what_is_open_is_to_be_ended_and_nothing_follows() {
    let mut world = World::new(cut_at(0), delays(1, 0.0));
    world.run(50, &|_| (u64::MAX, true));
    assert_eq!(world.lives.end().len(), 8);
    assert_eq!(world.lives.next_ns(), u64::MAX);
    assert_eq!(world.lives.next(u64::MAX), None);
    assert!(world.lives.end().is_empty());
    assert_eq!(world.end().unfinished, 8);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the server does, each return belongs to an attempt, and each attempt ends once.
    #[test]
    fn the_counts_add_up(
        stays in 5u64..500, away in 0u64..200, took in 1u64..300, every in 1u64..6, seed: u64,
    ) {
        let life = Life::ComesAndGoes(ComesAndGoes {
            stays: Nanos::millis(stays),
            away: Nanos::millis(away),
        });
        let mut world = World::new(life, delays(50, 1.0));
        world.run(1_000, &|now_ns| (now_ns + took * MS, !crate::plan::mix(seed, now_ns).is_multiple_of(every)));
        prop_assert!(world.most_under_way <= 8);
        let tries = world.count(|act| matches!(act, Act::Try(_))) as u64;
        let leaves = world.count(|act| matches!(act, Act::Leave(_))) as u64;
        let part = world.end();
        prop_assert_eq!((part.attempts, part.left), (tries, leaves));
        prop_assert_eq!(part.attempts, part.failures.total() + part.reconnected + part.unfinished);
        prop_assert_eq!(part.reconnect.count(), part.reconnected);
        prop_assert!(part.reconnected <= part.left && part.left <= part.reconnected + ALL_LEAVE);
    }
}

/// Stays a second in the mean and is away for 100 ms.
fn changes_room() -> Life {
    Life::ChangesRoom(ChangesRoom {
        stays: Nanos::secs(1),
        away: Nanos::millis(100),
    })
}

#[test]
fn those_that_change_rooms_keep_their_connections_and_each_room_is_left_before_the_next() {
    let mut world = World::new(changes_room(), delays(500, 0.5));
    world.run(20_000, &at_once);
    let is_known = |act: &Act| matches!(act, Act::LeaveRoom(_) | Act::JoinRoom(_));
    assert!(world.acts.iter().all(|(_, act)| is_known(act)));
    for slot in 0..CLIENTS {
        let own =
            |(_, act): &&(u64, Act)| *act == Act::LeaveRoom(slot) || *act == Act::JoinRoom(slot);
        let acts: Vec<Act> = world.acts.iter().filter(own).map(|(_, act)| *act).collect();
        for (nth, act) in acts.iter().enumerate() {
            assert_eq!(matches!(act, Act::LeaveRoom(_)), nth % 2 == 0, "{acts:?}");
        }
        let left = acts.len().div_ceil(2) as u32;
        assert_eq!(world.lives.room(slot), (left > 0).then_some(left));
    }
    let left = world.count(|act| matches!(act, Act::LeaveRoom(_))) as u64;
    // 10 clients, 20 s, 1.1 s each in the mean: 182, standard deviation 14; six of them.
    assert!((98..266).contains(&left), "{left}");
    let part = world.end();
    assert_eq!((part.left, part.attempts, part.reconnected), (0, 0, 0));
    assert_eq!((part.rooms.left, part.rooms.unanswered), (left, 0));
    assert_eq!(part.rooms.join.count(), part.rooms.joined);
    assert!(part.rooms.asked - part.rooms.joined <= 8 && left - part.rooms.asked <= ALL_LEAVE);
    assert!(part.rooms.join.percentile(100.0) < 6 * MS);
}

#[test]
fn a_request_about_a_room_that_is_not_answered_ends_the_connection_and_a_new_one_follows() {
    // From the second second on nothing is answered but connections.
    let mut world = World::new(changes_room(), delays(100, 0.0));
    let silent = |now_ns: u64| (now_ns + 5 * MS, now_ns < START + 1_000 * MS);
    world.run(1_000, &silent);
    let before = world.lives.part.rooms.joined;
    world.run(11_050 + 4_000, &silent);
    let ended = world.count(|act| matches!(act, Act::EndUnanswered(_))) as u64;
    assert!(ended > 0);
    let part = world.end();
    assert_eq!(part.rooms.unanswered, ended);
    assert!(part.rooms.joined <= before + ALL_LEAVE);
    // Those that ended their connections try to connect, which is an attempt.
    assert!(part.attempts >= ended, "{} {ended}", part.attempts);
}

/// Within a step as well they are between two rooms for longer than it lasts.
fn mostly_between() -> Life {
    Life::ChangesRoom(ChangesRoom {
        stays: Nanos::secs(1),
        away: Nanos::secs(1_000),
    })
}

#[test]
fn a_subscription_that_is_not_answered_between_steps_is_followed_by_a_new_connection() {
    for reconnect in [Reconnect::Never, delays(500, 0.0)] {
        let mut world = World::new(mostly_between(), reconnect);
        world.run(20_000, &at_once);
        assert!(world.lives.end().is_empty());
        world.lives.reopen(world.now_ns);
        let (mut now_ns, mut asked, mut tried) = (world.now_ns, 0, 0);
        while world.lives.next_ns() != u64::MAX {
            now_ns = now_ns.max(world.lives.next_ns());
            while let Some(act) = world.lives.next(now_ns) {
                match act {
                    Act::JoinRoom(_) => asked += 1,
                    Act::EndUnanswered(_) => {}
                    Act::Try(slot) => {
                        tried += 1;
                        world.lives.returned(slot, now_ns);
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        assert!(asked > 0 && tried == asked, "{asked} {tried}");
        let is_here = |slot| world.lives.is_at(slot, Whereabouts::Here);
        assert!((0..CLIENTS).all(is_here), "the next step cannot begin");
    }
}

/// As many others are being subscribed as may be.
fn waiting_to_join(reconnect: Reconnect) -> (World, Token) {
    let soon = Life::ChangesRoom(ChangesRoom {
        stays: Nanos::millis(1),
        away: Nanos::millis(1),
    });
    let mut world = World::new(soon, reconnect);
    world.now_ns = START + 1_000 * MS;
    while let Some(act) = world.lives.next(world.now_ns) {
        if let Act::LeaveRoom(slot) = act {
            world.lives.leaves_room(slot, Some);
            world.lives.closed(slot, world.now_ns);
        }
    }
    let mut slots = 0..CLIENTS;
    let waits = slots.find(|slot| world.lives.is_at(*slot, Whereabouts::Waiting));
    (world, waits.unwrap())
}

#[test]
fn a_client_that_loses_its_connection_while_it_waits_for_a_place_comes_back_by_its_plan() {
    let (mut world, slot) = waiting_to_join(Reconnect::Never);
    world.lives.lost(slot, world.now_ns);
    let mut slots = 0..CLIENTS;
    let joins = slots.find(|slot| world.lives.is_trying(*slot)).unwrap();
    world.lives.returned(joins, world.now_ns);
    while let Some(act) = world.lives.next(world.now_ns) {
        assert_ne!(act, Act::Try(slot));
    }
    assert!(world.lives.is_at(slot, Whereabouts::Away));
}
