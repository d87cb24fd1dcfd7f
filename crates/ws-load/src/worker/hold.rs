//! Connections that are held: started by the clock, pinged, and counted when they end.
//!
//! The orders and the parts of this file are plain data, so that they can be given to a worker on
//! another machine as well as to a thread. Reads no memory and judges nothing.

use super::{Core, IDLE_TURN, Report};
use crate::clock;
use crate::error::ConnectError;
use crate::io::{Control, Token};
use crate::plan::{self, Schedule};
use run_record::{Arrivals, Connect, Drops, Nanos, OpenLoop, Recorder};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::Duration;
use ws_proto::Opcode;

/// About as many as an outgoing burst of one event's time.
const PINGS_AT_ONCE: u32 = 256;
/// What may lie between the end of a schedule and a start that still counts as in time: what a
/// start that is due at its very end may lose to the scheduler of a loaded machine.
const START_SLACK_NS: u64 = 50_000_000;

/// To have `wanted` connections where there were `have`, of all workers together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenOrder {
    pub(crate) have: u64,
    pub(crate) wanted: u64,
    /// Absent when each start waits for the end of an earlier one.
    pub(crate) by_clock: Option<StartByClock>,
}

/// Starts at their own moments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StartByClock {
    /// Starts per second.
    pub(crate) rate: f64,
    pub(crate) arrivals: Arrivals,
    pub(crate) seed: u64,
    pub(crate) start_ns: u64,
}

/// The moments at which connections are started, each with the number of its connection among those
/// of the order, from 0.
pub(super) type Starts = Box<dyn Iterator<Item = u64> + Send>;

impl OpenOrder {
    /// How many connections a worker is to have.
    pub(super) const fn share(&self, worker: u64, workers: u64) -> u64 {
        plan::share_of(self.wanted, worker, workers)
    }

    /// When the connections of a worker are to be started, in the order of their slots; and when
    /// the last of all is.
    pub(super) fn starts(&self, worker: u64, workers: u64) -> Option<(Starts, u64)> {
        let by_clock = self.by_clock?;
        let have = self.have;
        let all = self.moments(by_clock);
        let last_ns = self.moments(by_clock).last().map_or(0, |(_, at_ns)| at_ns);
        let ours = all.filter(move |(index, _)| (have + index) % workers == worker);
        Some((Box::new(ours.map(|(_, at_ns)| at_ns)), last_ns))
    }

    fn moments(&self, by_clock: StartByClock) -> impl Iterator<Item = (u64, u64)> + Send + use<> {
        let load = OpenLoop {
            rate: by_clock.rate,
            ramp: None,
            arrivals: by_clock.arrivals,
            // The number of connections ends it, and not the time.
            duration: Nanos(u64::MAX / 4),
            warm_up: Nanos(0),
        };
        Schedule::new(load, by_clock.seed, self.have)
            .take((self.wanted - self.have) as usize)
            .map(move |due| (due.index, by_clock.start_ns + due.offset_ns))
    }
}

/// A worker's part of a step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HeldPart {
    pub(crate) opened: u64,
    pub(crate) failed: u64,
    pub(crate) first_failure: Option<String>,
    /// Starts by the clock that were made within the time of their schedule.
    pub(crate) in_time: u64,
    /// When the last connection was upgraded.
    pub(crate) last_open_ns: u64,
    pub(crate) tcp: Recorder,
    pub(crate) round_trip: Recorder,
    pub(crate) ping_lag: Recorder,
    pub(crate) sent: u64,
    pub(crate) answered: u64,
    pub(crate) unanswered: u64,
    pub(crate) cut_off: u64,
    pub(crate) unasked: u64,
    pub(crate) drops: Drops,
}

impl HeldPart {
    /// Adds the figures of another worker.
    pub(crate) fn merge(&mut self, other: Self) {
        self.opened += other.opened;
        self.failed += other.failed;
        self.first_failure = self.first_failure.take().or(other.first_failure);
        self.in_time += other.in_time;
        self.last_open_ns = self.last_open_ns.max(other.last_open_ns);
        self.tcp.merge(&other.tcp);
        self.round_trip.merge(&other.round_trip);
        self.ping_lag.merge(&other.ping_lag);
        self.sent += other.sent;
        self.answered += other.answered;
        self.unanswered += other.unanswered;
        self.cut_off += other.cut_off;
        self.unasked += other.unasked;
        self.drops.merge(&other.drops);
    }
}

/// A ping on its way.
#[derive(Clone, Copy, Debug)]
struct Ping {
    due_ns: u64,
    payload: u64,
}

/// What a worker knows of the connections that it holds. Memory per idle connection: one entry of
/// `due`.
#[derive(Debug)]
pub(super) struct Hold {
    terms: Connect,
    /// When each connection is pinged next, earliest first.
    due: BinaryHeap<Reverse<(u64, Token)>>,
    /// Pings on their way, by connection: one at most, since it must be answered before the next.
    under_way: HashMap<Token, Ping>,
    /// Pings in the order of their sending, each with the time at which it is given up; answered
    /// ones included.
    deadlines: VecDeque<(u64, Token, u64)>,
    /// When the schedule of the starts has surely ended.
    starts_end_ns: u64,
    /// No ping is due after this; absent until it is known.
    until_ns: Option<u64>,
    part: HeldPart,
}

impl Hold {
    pub(super) fn new(terms: Connect) -> Self {
        Self {
            terms,
            due: BinaryHeap::new(),
            under_way: HashMap::new(),
            deadlines: VecDeque::new(),
            starts_end_ns: 0,
            until_ns: None,
            part: HeldPart::default(),
        }
    }

    pub(super) fn take_part(&mut self) -> HeldPart {
        std::mem::take(&mut self.part)
    }

    /// Forgets the pings under way as if they had not been sent.
    pub(super) fn give_up(&mut self) {
        self.part.sent -= self.under_way.len() as u64;
        self.under_way.clear();
        self.until_ns = Some(0);
    }

    pub(super) fn started(&mut self, at_ns: u64) {
        self.part.in_time += u64::from(at_ns <= self.starts_end_ns);
    }

    pub(super) fn established(&mut self, took_ns: u64) {
        self.part.tcp.record(took_ns);
    }

    pub(super) fn failed(&mut self, error: &ConnectError) {
        self.part.failed += 1;
        if self.part.first_failure.is_none() {
            self.part.first_failure = Some(error.to_string());
        }
    }

    fn ended(&mut self, slot: Token, error: &ConnectError) {
        self.part.cut_off += u64::from(self.under_way.remove(&slot).is_some());
        let drops = &mut self.part.drops;
        *match error {
            ConnectError::Closed { reset: false, .. } => &mut drops.closed,
            ConnectError::PingUnanswered { .. } => &mut drops.unanswered,
            ConnectError::Protocol { .. } | ConnectError::TooLong { .. } => &mut drops.broken,
            _ => &mut drops.reset,
        } += 1;
    }

    /// Somewhere within the interval, so that the pings of connections that were opened together
    /// are spread over it.
    fn first_ping(&self, slot: Token, seed: u64, now_ns: u64) -> u64 {
        now_ns + 1 + plan::mix(seed, slot.into()) % self.terms.ping_interval.ns()
    }

    /// The next connection to ping, with the moment that was meant for it.
    fn take_due(&mut self, now_ns: u64) -> Option<(u64, Token)> {
        let Reverse((due_ns, _)) = *self.due.peek()?;
        let over = self.until_ns.is_some_and(|until_ns| due_ns >= until_ns);
        if due_ns > now_ns || over {
            return None;
        }
        self.due.pop().map(|Reverse(next)| next)
    }

    /// A connection whose ping was not answered in time.
    fn take_late(&mut self, now_ns: u64) -> Option<Token> {
        while let Some(&(deadline_ns, slot, payload)) = self.deadlines.front() {
            let waits = self
                .under_way
                .get(&slot)
                .is_some_and(|ping| ping.payload == payload);
            if waits && deadline_ns > now_ns {
                return None;
            }
            self.deadlines.pop_front();
            if waits {
                return Some(slot);
            }
        }
        None
    }

    /// When something is to be done next. After the end of the hold no ping is, and only answers
    /// are waited for.
    fn next_ns(&self, now_ns: u64) -> u64 {
        let until_ns = self.until_ns.unwrap_or(u64::MAX);
        let due = self.due.peek().map(|Reverse((due_ns, _))| *due_ns);
        let due = due.filter(|due_ns| *due_ns < until_ns);
        let late = self.deadlines.front().map(|late| late.0);
        let end = Some(until_ns).filter(|until_ns| *until_ns > now_ns);
        [due, late, end]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(u64::MAX)
    }

    /// A pong has arrived.
    pub(super) fn pong(&mut self, slot: Token, payload: &[u8], at_ns: u64) {
        let payload = payload.try_into().ok().map(u64::from_ne_bytes);
        match self.under_way.get(&slot) {
            Some(ping) if payload == Some(ping.payload) => {
                let took_ns = at_ns.saturating_sub(ping.due_ns);
                self.part.round_trip.record(took_ns);
                self.part.answered += 1;
                self.under_way.remove(&slot);
            }
            _ => self.part.unasked += 1,
        }
    }
}

impl Core {
    /// Begins a step: opens what is missing, pings what is there.
    pub(super) fn begin_connections(&mut self, order: OpenOrder) {
        self.reset_counters();
        let (worker, workers) = (u64::from(self.number), u64::from(self.workers));
        self.opening.want(order.share(worker, workers) as usize);
        if let Some((starts, last_ns)) = order.starts(worker, workers) {
            clock::wake_precisely();
            self.opening.by_clock(starts);
            if let Some(hold) = &mut self.hold {
                hold.starts_end_ns = last_ns + START_SLACK_NS;
            }
        }
        let now_ns = clock::now_ns();
        for slot in 0..self.clients.len() as Token {
            if self.judge.is_alive(slot) {
                self.ping_later(slot, now_ns);
            }
        }
        if let Some(hold) = &mut self.hold {
            hold.until_ns = None;
        }
    }

    /// Holds the connections until a moment.
    pub(super) fn hold_until(&mut self, until_ns: u64) {
        if let Some(hold) = &mut self.hold {
            hold.until_ns = Some(until_ns);
        }
    }

    /// A connection of the step has been upgraded.
    pub(super) fn note_opened(&mut self, slot: Token) {
        let Some(intended_ns) = self.opening.intended_ns(slot) else {
            return;
        };
        let at_ns = self.judge.read.at_ns - self.judge.read.unread_ns;
        let Some(hold) = &mut self.hold else {
            return;
        };
        hold.part.opened += 1;
        hold.part.last_open_ns = hold.part.last_open_ns.max(at_ns);
        let took_ns = at_ns.saturating_sub(intended_ns);
        self.judge.latencies.completion.record(took_ns);
        self.ping_later(slot, at_ns);
    }

    fn ping_later(&mut self, slot: Token, now_ns: u64) {
        let seed = self.plan.generator.seed ^ u64::from(self.number);
        if let Some(hold) = &mut self.hold {
            let due_ns = hold.first_ping(slot, seed, now_ns);
            hold.due.push(Reverse((due_ns, slot)));
        }
    }

    /// A connection that was held has ended.
    pub(super) fn note_dropped(&mut self, slot: Token, error: &ConnectError) {
        if let Some(hold) = &mut self.hold {
            hold.ended(slot, error);
            self.judge.disconnected(error);
        }
    }

    /// Sends the pings that are due, gives up those that are late, and tells the end of the hold.
    pub(super) fn ping_due<C: Control>(&mut self, control: &mut C) {
        if self.hold.is_none() {
            return;
        }
        let now_ns = clock::now_ns();
        while let Some(slot) = self.hold.as_mut().and_then(|hold| hold.take_late(now_ns)) {
            self.on_ping_unanswered(control, slot);
        }
        for _ in 0..PINGS_AT_ONCE {
            let now_ns = clock::now_ns();
            let Some((due_ns, slot)) = self.hold.as_mut().and_then(|hold| hold.take_due(now_ns))
            else {
                break;
            };
            if self.judge.is_alive(slot) {
                self.ping(control, slot, due_ns);
            }
        }
        let nobody = self.judge.alive_count() == 0;
        let Some(hold) = &mut self.hold else {
            return;
        };
        let over = hold
            .until_ns
            .is_some_and(|until_ns| nobody || clock::now_ns() >= until_ns);
        if over && hold.under_way.is_empty() && self.opening.is_done() {
            hold.until_ns = None;
            hold.due.clear();
            hold.deadlines.clear();
            self.report(Report::Held);
        }
    }

    fn ping<C: Control>(&mut self, control: &mut C, slot: Token, due_ns: u64) {
        let payload = self.draw();
        let now_ns = clock::now_ns();
        if let Some(hold) = &mut self.hold {
            let interval_ns = hold.terms.ping_interval.ns();
            // A generator that was stopped for long leaves out what it missed.
            let missed = now_ns.saturating_sub(due_ns) / interval_ns;
            let next_ns = due_ns + interval_ns * (missed + 1);
            hold.due.push(Reverse((next_ns, slot)));
            if hold.under_way.contains_key(&slot) {
                return;
            }
            let deadline_ns = now_ns + hold.terms.ping_timeout.ns();
            hold.deadlines.push_back((deadline_ns, slot, payload));
            hold.under_way.insert(slot, Ping { due_ns, payload });
            hold.part.sent += 1;
            hold.part.ping_lag.record(now_ns.saturating_sub(due_ns));
        }
        self.send_frame(control, slot, Opcode::Ping, &payload.to_ne_bytes());
    }

    #[cold]
    fn on_ping_unanswered<C: Control>(&mut self, control: &mut C, slot: Token) {
        let Some(hold) = &mut self.hold else {
            return;
        };
        hold.under_way.remove(&slot);
        hold.part.unanswered += 1;
        let seconds = hold.terms.ping_timeout.ns() as f64 / 1e9;
        let addr = self.target.addr;
        self.lose(
            control,
            slot,
            ConnectError::PingUnanswered { addr, seconds },
        );
    }

    /// How long a loop that has nothing else to do may wait.
    pub(super) fn idle(&self) -> Duration {
        let Some(hold) = &self.hold else {
            return IDLE_TURN;
        };
        let now_ns = clock::now_ns();
        let next_ns = hold.next_ns(now_ns).min(self.opening.next_start_ns());
        IDLE_TURN.min(Duration::from_nanos(next_ns.saturating_sub(now_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_connection_is_started_once_by_the_worker_that_will_have_it(
            have in 0u64..50, more in 0u64..200, workers in 1u64..5, poisson: bool, rate in 1.0f64..1e6,
        ) {
            let order = OpenOrder {
                have,
                wanted: have + more,
                by_clock: Some(StartByClock {
                    rate,
                    arrivals: if poisson { Arrivals::Poisson } else { Arrivals::Constant },
                    seed: 7,
                    start_ns: 1_000,
                }),
            };
            let mut all = Vec::new();
            for worker in 0..workers {
                let (starts, last_ns) = order.starts(worker, workers).unwrap();
                let starts: Vec<u64> = starts.collect();
                let had = plan::share_of(have, worker, workers);
                prop_assert_eq!(had + starts.len() as u64, order.share(worker, workers));
                prop_assert!(starts.is_sorted());
                prop_assert!(starts.iter().all(|at_ns| *at_ns <= last_ns));
                all.extend(starts);
            }
            all.sort_unstable();
            let alone: Vec<u64> = order.starts(0, 1).unwrap().0.collect();
            prop_assert_eq!(all, alone);
        }
    }

    /// At its end with a ping under way that may be answered until 900.
    #[test]
    fn a_hold_that_is_over_sleeps_until_the_last_answer_can_come() {
        let mut hold = Hold::new(Connect {
            rate: None,
            arrivals: Arrivals::Constant,
            hold: Nanos(100),
            ping_interval: Nanos(500),
            ping_timeout: Nanos(500),
        });
        hold.until_ns = Some(500);
        assert_eq!(hold.next_ns(100), 500);
        hold.due.push(Reverse((450, 7)));
        assert_eq!(hold.next_ns(400), 450);
        assert_eq!(hold.take_due(460), Some((450, 7)));
        hold.due.push(Reverse((550, 7)));
        hold.deadlines.push_back((900, 7, 1));
        let ping = Ping {
            due_ns: 450,
            payload: 1,
        };
        hold.under_way.insert(7, ping);
        assert_eq!(hold.next_ns(460), 500);
        for now_ns in [500, 600, 899] {
            assert_eq!(
                (hold.take_due(now_ns), hold.take_late(now_ns)),
                (None, None)
            );
            assert_eq!(hold.next_ns(now_ns), 900);
        }
        assert_eq!(hold.take_late(900), Some(7));
    }

    #[test]
    fn an_order_survives_a_network() {
        let order = OpenOrder {
            have: 3,
            wanted: 9,
            by_clock: None,
        };
        let text = serde_json::to_string(&order).unwrap();
        assert_eq!(serde_json::from_str::<OpenOrder>(&text).unwrap(), order);
    }
}
