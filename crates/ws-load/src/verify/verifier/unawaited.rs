//! Clients that no sample waits for: they read slowly, or leave and come back. What they hear is checked
//! by itself.

use super::Verifier;
use crate::dialect::{Kind, identifier};
use crate::message::{SlowPart, VisitsPart};
use crate::net::ConnectError;
use crate::verify::visits::Visits;
use std::collections::HashMap;

/// Where a client is that changes its room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    /// It has asked to leave this one.
    Leaving { room: u32 },
    /// It is in none.
    Nowhere,
    /// It has asked to enter this one.
    Joining { room: u32 },
}

/// What the server has confirmed to a client that changes its room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoomConfirmed {
    Left { slot: u32 },
    Joined { slot: u32, at_ns: u64 },
}

/// Clients that leave and come back, and those that change their rooms.
#[derive(Debug, Default)]
pub(crate) struct Movers {
    visits: Visits,
    /// Those that are in no room just now, by slot.
    between: HashMap<u32, Between>,
    /// What was confirmed to them since it was last followed up.
    pub(crate) confirmed: Vec<RoomConfirmed>,
}

impl Verifier {
    /// A client is ready that no sample waits for.
    pub(crate) fn slow_client_ready(&mut self, slot: u32) {
        self.asked.forget(slot);
        self.crowd.ready_unawaited(slot);
    }

    /// True of a client that no sample waits for.
    #[inline]
    pub(crate) fn is_unawaited(&self, slot: u32) -> bool {
        self.crowd.is_unawaited(slot)
    }

    /// A message to a client that no sample waits for. It may be of any sample that was sent, in an
    /// earlier step too: the client is behind. Whether it comes once and in order is not known of one
    /// that reads slowly.
    #[cold]
    pub(super) fn account_unawaited(
        &mut self,
        slot: u32,
        kind: Kind,
        stamp: u64,
        topic: Option<u32>,
    ) {
        let room = self.room(slot);
        let is_elsewhere = topic.is_some_and(|topic| topic != room);
        let sent = self.terms.stamps.sample(stamp).zip(self.steps.now.as_ref());
        let was_sent = sent.is_some_and(|(sample, step)| {
            let released = step.first_sample + u64::from(step.released());
            step.is_shared() || sample < released
        });
        if !self.is_visiting(slot) {
            self.tally.slow.messages += 1;
            self.tally.faults.misdirected +=
                u64::from(kind == Kind::Echo || is_elsewhere || !was_sent);
            return;
        }
        self.tally.visited.messages += 1;
        // It sends nothing.
        let is_for_others = matches!(kind, Kind::Broadcast | Kind::Message);
        if !is_for_others || !was_sent || is_elsewhere {
            self.tally.faults.misdirected += 1;
            return;
        }
        let Some((sample, step)) = sent.filter(|_| !self.steps.given_up) else {
            return;
        };
        let index = sample.checked_sub(step.first_sample);
        let index = index.filter(|index| Visits::is_near(*index, step));
        if index.is_some_and(|index| step.room(index as u32) != room) {
            self.tally.faults.misdirected += 1;
            return;
        }
        if let Some(index) = index
            && !self
                .movers
                .visits
                .note(slot, index as u32, self.reading.read.at_ns, step)
        {
            self.tally.visited.duplicate += 1;
            self.tally.faults.duplicate += 1;
        }
    }

    /// A client is ready that leaves during a step.
    pub(crate) fn visit_begins(&mut self, slot: u32, now_ns: u64) {
        self.slow_client_ready(slot);
        self.movers.between.remove(&slot);
        self.begin_visit(slot, now_ns);
    }

    fn begin_visit(&mut self, slot: u32, now_ns: u64) {
        let room = self.room(slot);
        let step = self.steps.now.as_ref();
        let after = step.map_or(0, |step| step.of_room(room).before(step.released()));
        self.movers.visits.begin(slot, room, now_ns, after);
    }

    /// A client has asked to leave its room; until that is confirmed it may hear of it.
    pub(crate) fn leaves_room(&mut self, slot: u32, room: u32) {
        self.movers.between.insert(slot, Between::Leaving { room });
    }

    /// A client has asked to enter a room; until that is confirmed it must hear nothing.
    pub(crate) fn joins_room(&mut self, slot: u32, room: u32) {
        self.movers.between.insert(slot, Between::Joining { room });
    }

    /// The server has not answered one of these requests in time.
    pub(crate) fn was_not_answered(&mut self) {
        self.tally.faults.unanswered += 1;
    }

    /// The server says that a client is in a room now, or is not any more.
    #[cold]
    pub(super) fn subscription(&mut self, slot: u32, room: u32, is_in: bool, at_ns: u64) {
        match (self.movers.between.get(&slot), is_in) {
            (Some(Between::Leaving { room: left }), false) if *left == room => {
                self.movers.between.insert(slot, Between::Nowhere);
                if let Some(seats) = &mut self.crowd.seats {
                    seats.leave_room(slot);
                }
                self.feed_leaves_room(slot);
                self.movers.confirmed.push(RoomConfirmed::Left { slot });
            }
            (Some(Between::Joining { room: next }), true) if *next == room => {
                self.movers.between.remove(&slot);
                self.client_in_room(slot, room, false);
                self.begin_visit(slot, at_ns);
                self.movers
                    .confirmed
                    .push(RoomConfirmed::Joined { slot, at_ns });
            }
            _ => self.tally.faults.misdirected += 1,
        }
    }

    /// The same, where the server names the identifier of the request alone.
    #[cold]
    pub(super) fn subscription_as(&mut self, slot: u32, named: u16, is_in: bool, at_ns: u64) {
        let room = match self.movers.between.get(&slot) {
            Some(Between::Leaving { room } | Between::Joining { room }) => Some(*room),
            _ => None,
        };
        match room.filter(|room| identifier(u64::from(*room)) == named) {
            Some(room) => self.subscription(slot, room, is_in, at_ns),
            None => self.tally.faults.misdirected += 1,
        }
    }

    /// It has left, or was left by the server.
    pub(crate) fn visit_ends(&mut self, slot: u32, now_ns: u64) {
        let step = self.steps.awaited();
        let lost = self.movers.visits.end(slot, now_ns, step);
        self.tally.visited.lost += lost;
        self.tally.faults.lost += lost;
    }

    /// True of a client that leaves during a step, while it is there.
    pub(crate) fn is_visiting(&self, slot: u32) -> bool {
        self.movers.visits.has(slot) || self.movers.between.contains_key(&slot)
    }

    /// The server has ended the connection of such a client.
    pub(crate) fn visit_cut_short(&mut self, slot: u32, now_ns: u64, how: &ConnectError) {
        self.visit_ends(slot, now_ns);
        self.tally.visited.disconnected += 1;
        self.disconnected(how);
    }

    /// A step has begun in which clients may leave.
    pub(crate) fn visits_begin(&mut self, now_ns: u64) {
        self.movers.visits.begin_step(now_ns);
    }

    /// It has ended.
    pub(crate) fn visits_end(&mut self, now_ns: u64) {
        self.count_visits(now_ns);
        self.tally.visited.count = self.movers.visits.count();
    }

    /// Counts what clients must have heard that are there, unless the step was given up: that was done
    /// then.
    pub(super) fn count_visits(&mut self, now_ns: u64) {
        if let Some(step) = self.steps.awaited() {
            let lost = self.movers.visits.end_step(now_ns, step);
            self.tally.visited.lost += lost;
            self.tally.faults.lost += lost;
        }
    }

    /// A step begins: what came before it is no message of it.
    pub(crate) fn begin_messages(&mut self) {
        (
            self.tally.messages,
            self.tally.slow.messages,
            self.tally.visited.messages,
        ) = (0, 0, 0);
    }

    /// What clients heard that leave, since it was last taken.
    pub(crate) fn take_visited(&mut self) -> VisitsPart {
        std::mem::take(&mut self.tally.visited)
    }

    /// What clients did that read slowly, since it was last taken.
    pub(crate) fn take_slow(&mut self) -> SlowPart {
        std::mem::take(&mut self.tally.slow)
    }

    /// A client that no sample waits for was cut off. That is the server's right.
    pub(crate) fn cut_off(&mut self, how: &ConnectError) {
        self.tally.slow.cut_off += 1;
        self.tally
            .slow
            .first_cut_off
            .get_or_insert_with(|| how.to_string());
    }
}
