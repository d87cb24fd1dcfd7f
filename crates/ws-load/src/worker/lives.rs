//! Clients that leave and come back during a step: which of them does what next.
//!
//! ```text
//! Here --stay over--> Leaving --closed--> Away --due--> (waiting) --place--> Trying --ready--> Here
//!   |                                      ^                                    |
//!   +------- cut, or lost by the server ---+---------------- failed -----------+
//! ```
//!
//! A client that changes rooms goes the same way with its connection kept: leaving is a request to be
//! unsubscribed, and an attempt one to be subscribed to the next room.
//!
//! It holds no socket and reads no clock, so that its tests run in virtual time. The planned moments
//! are functions of the plan and of when a client was ready; what is asked for at once is bounded,
//! and so is what is done in one turn of the loop, since others send meanwhile.

mod cuts;
mod failures;

use crate::io::Token;
use crate::message::{ChurnPart, StepPart};
use crate::net::ConnectError;
use crate::plan::{attempts_at_once, delay_ns, population_of, times};
use cuts::CutUnderWay;
use failures::reason;
use plan::{ChangesRoom, ComesAndGoes, Life, Plan, Population, Reconnect};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

/// Most connections that are ended or begun in a turn.
pub(super) const ACTS: usize = 32;

/// The clients of a worker, of a plan in which some leave.
pub(super) struct Lives {
    plan: Arc<Plan>,
    /// Number of this worker among all of the run, and how many there are.
    number: u32,
    workers: u32,
    at_once: u32,
    /// How long an attempt and a close may take.
    attempt_ns: u64,
    close_ns: u64,
    /// By slot.
    clients: Vec<Client>,
    timers: BinaryHeap<Reverse<(u64, Token)>>,
    /// Attempts that are due and have no place yet.
    waiting: VecDeque<Token>,
    under_way: u32,
    /// When a place became free that no attempt had been made for before.
    free_ns: u64,
    /// A step is under way, and this is when its schedule began.
    start_ns: Option<u64>,
    cut: Option<CutUnderWay>,
    part: Box<ChurnPart>,
}

/// A client, whether it leaves or not.
#[derive(Clone, Copy, Debug)]
struct Client {
    place: Whereabouts,
    life: Life,
    reconnect: Reconnect,
    /// How many stays it has begun.
    cycle: u32,
    /// How many rooms it has left.
    rooms_left: u32,
    /// The room that it entered last, or is to enter, of one that has left its first.
    room: Option<u32>,
    /// It is in no room and has a connection.
    is_between: bool,
    /// Failed attempts since it was last here.
    failures: u32,
    /// When its timer ends; earlier entries of the heap are void.
    timer_ns: u64,
    /// When its attempt was due.
    due_ns: u64,
    /// From when the time counts until it is back.
    gone_ns: u64,
    /// It was cut and is not back.
    is_cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whereabouts {
    Here,
    Leaving,
    Away,
    Waiting,
    Trying,
}

impl Client {
    const fn changes_room(&self) -> bool {
        matches!(self.life, Life::ChangesRoom(_))
    }

    /// Mean times of its stays and between them.
    const fn mean_times(&self) -> Option<ComesAndGoes> {
        match self.life {
            Life::ComesAndGoes(of) => Some(of),
            Life::ChangesRoom(ChangesRoom { stays, away }) => Some(ComesAndGoes { stays, away }),
            Life::Stays | Life::Cut(_) => None,
        }
    }
}

/// What is to be done with a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// End its connection by a reset.
    Cut(Token),
    /// Send a close frame.
    Leave(Token),
    /// End a connection whose close was not answered in time.
    EndUnclosed(Token),
    /// Begin an attempt.
    Try(Token),
    /// Ask to be unsubscribed.
    LeaveRoom(Token),
    /// Ask to be subscribed to the next room; without a connection, begin an attempt.
    JoinRoom(Token),
    /// End a connection on which a request to leave or join a room was not answered in time.
    EndUnanswered(Token),
    /// End an attempt that took too long.
    GiveUp(Token),
}

const NEVER: u64 = u64::MAX;

impl Lives {
    /// Of a plan in which clients leave, or come back whatever ends their connections; `None` of any
    /// other.
    pub(super) fn new(
        plan: &Arc<Plan>,
        (number, workers): (u32, u32),
        close_ns: u64,
    ) -> Option<Box<Self>> {
        let any_leaves = plan.populations.iter().any(Population::leaves);
        (any_leaves || plan.watch().is_some()).then(|| {
            Box::new(Self {
                plan: Arc::clone(plan),
                number,
                workers,
                at_once: attempts_at_once(plan, number, workers),
                attempt_ns: plan.connection.timeout.ns(),
                close_ns,
                clients: Vec::new(),
                timers: BinaryHeap::new(),
                waiting: VecDeque::new(),
                under_way: 0,
                free_ns: 0,
                start_ns: None,
                cut: None,
                part: Box::default(),
            })
        })
    }

    const fn number_of(&self, slot: Token) -> u64 {
        slot as u64 * self.workers as u64 + self.number as u64
    }

    /// Notes which clients are ready, by slot.
    fn know(&mut self, ready: &[bool]) {
        for slot in self.clients.len()..ready.len() {
            let number = self.number_of(slot as Token);
            let population = *population_of(&self.plan.populations, number);
            self.clients.push(Client {
                place: Whereabouts::Here,
                life: population.life,
                reconnect: population.reconnect,
                cycle: 0,
                rooms_left: 0,
                room: None,
                is_between: false,
                failures: 0,
                timer_ns: NEVER,
                due_ns: 0,
                gone_ns: 0,
                is_cut: false,
            });
        }
        for (client, is_ready) in self.clients.iter_mut().zip(ready) {
            client.place = if *is_ready {
                Whereabouts::Here
            } else {
                Whereabouts::Away
            };
        }
    }

    fn client(&mut self, slot: Token) -> &mut Client {
        &mut self.clients[slot as usize]
    }

    fn is_at(&self, slot: Token, place: Whereabouts) -> bool {
        let client = self.clients.get(slot as usize);
        client.is_some_and(|client| client.place == place)
    }

    /// True of a client whose attempt to come back is under way.
    pub(super) fn is_trying(&self, slot: Token) -> bool {
        self.is_at(slot, Whereabouts::Trying)
    }

    /// True while a client comes back, or is to.
    pub(super) fn has_attempts(&self) -> bool {
        self.under_way > 0 || !self.waiting.is_empty()
    }

    /// True of a client that leaves during a step, or comes back whatever ended its connection.
    pub(super) fn has(&self, slot: Token) -> bool {
        let population = population_of(&self.plan.populations, self.number_of(slot));
        population.leaves() || self.plan.watch().is_some()
    }

    /// How many attempts of a client have failed since it was here last.
    pub(super) fn failures(&self, slot: Token) -> u32 {
        self.clients.get(slot as usize).map_or(0, |of| of.failures)
    }

    /// The room of a client that has left its first.
    pub(super) fn room(&self, slot: Token) -> Option<u32> {
        self.clients.get(slot as usize)?.room
    }

    /// A client leaves its room. `draw` says which one is next when it has left so many.
    pub(super) fn leaves_room(&mut self, slot: Token, draw: impl FnOnce(u32) -> Option<u32>) {
        let client = self.client(slot);
        client.rooms_left += 1;
        client.room = draw(client.rooms_left);
    }

    /// A step's schedule begins; `ready` are the clients by slot.
    pub(super) fn begin(&mut self, start_ns: u64, ready: &[bool]) {
        self.know(ready);
        self.start_ns = Some(start_ns);
        let comes_back = self.plan.watch().is_some();
        for slot in 0..self.clients.len() as Token {
            let client = self.client(slot);
            if let Life::Cut(cut) = client.life {
                let at_ns = start_ns.saturating_add(cut.at.ns());
                self.cut = Some(CutUnderWay { at_ns, next: 0 });
            }
            match *self.client(slot) {
                Client {
                    life: Life::Stays, ..
                } if !comes_back => {}
                Client {
                    place: Whereabouts::Here,
                    ..
                } => self.stay(slot, start_ns),
                // The server ended it between the steps.
                _ => self.gone(slot, start_ns),
            }
        }
    }

    /// The step ends: no client leaves or comes any more. Returns those whose connections are neither
    /// ready nor gone, which are to be ended.
    pub(super) fn end(&mut self) -> Vec<Token> {
        if self.start_ns.take().is_some() {
            let all = self.clients.iter();
            let trying = all.filter(|of| of.place == Whereabouts::Trying && !of.is_between);
            self.part.unfinished += trying.count() as u64;
        }
        self.timers.clear();
        self.waiting.clear();
        self.under_way = 0;
        self.cut = None;
        let mut open = Vec::new();
        for (slot, client) in self.clients.iter_mut().enumerate() {
            client.timer_ns = NEVER;
            client.is_cut = false;
            client.failures = 0;
            if matches!(client.place, Whereabouts::Leaving | Whereabouts::Trying) {
                open.push(slot as Token);
                client.is_between = false;
            }
            if client.place != Whereabouts::Here {
                client.place = Whereabouts::Away;
            }
        }
        open
    }

    /// Between steps: has all clients that are away opened again.
    pub(super) fn reopen(&mut self, now_ns: u64) {
        for slot in 0..self.clients.len() as Token {
            let client = self.client(slot);
            if client.place == Whereabouts::Away && client.life != Life::Stays {
                self.await_place(slot, now_ns);
            }
        }
    }

    /// An attempt is due.
    fn await_place(&mut self, slot: Token, due_ns: u64) {
        let client = self.client(slot);
        client.place = Whereabouts::Waiting;
        client.due_ns = due_ns;
        self.waiting.push_back(slot);
    }

    /// When something is to be done next; 0 for at once.
    pub(super) fn next_ns(&self) -> u64 {
        if !self.waiting.is_empty() && self.under_way < self.at_once {
            return 0;
        }
        let timer_ns = self
            .timers
            .peek()
            .map_or(NEVER, |Reverse((at_ns, _))| *at_ns);
        timer_ns.min(self.cut.map_or(NEVER, |cut| cut.at_ns))
    }

    /// What is to be done now.
    pub(super) fn next(&mut self, now_ns: u64) -> Option<Act> {
        if let Some(slot) = self.next_cut(now_ns) {
            return Some(Act::Cut(slot));
        }
        while let Some(slot) = self.take_due(now_ns) {
            let return_ns = self.planned_return(slot);
            let client = self.client(slot);
            let due_ns = std::mem::replace(&mut client.timer_ns, NEVER);
            match client.place {
                Whereabouts::Here => {
                    client.place = Whereabouts::Leaving;
                    client.gone_ns = return_ns;
                    let changes_room = client.changes_room();
                    let (patience_ns, act) = match changes_room {
                        true => (self.attempt_ns, Act::LeaveRoom(slot)),
                        false => (self.close_ns, Act::Leave(slot)),
                    };
                    self.part.rooms.left += u64::from(changes_room);
                    self.part.left += u64::from(!changes_room);
                    self.set_timer(slot, now_ns.saturating_add(patience_ns));
                    return Some(act);
                }
                Whereabouts::Leaving if client.changes_room() => {
                    self.part.rooms.unanswered += 1;
                    self.gone(slot, now_ns);
                    return Some(Act::EndUnanswered(slot));
                }
                Whereabouts::Leaving => {
                    self.part.unclosed += 1;
                    return Some(Act::EndUnclosed(slot));
                }
                Whereabouts::Away => self.await_place(slot, due_ns),
                Whereabouts::Trying if client.is_between => {
                    self.free_place(now_ns);
                    self.part.rooms.unanswered += 1;
                    self.gone(slot, now_ns);
                    return Some(Act::EndUnanswered(slot));
                }
                Whereabouts::Trying => return Some(Act::GiveUp(slot)),
                Whereabouts::Waiting => {}
            }
        }
        if self.under_way >= self.at_once {
            return None;
        }
        let slot = self.next_waiting()?;
        self.under_way += 1;
        let attempt_ns = self.attempt_ns;
        let is_step = self.start_ns.is_some();
        let free_ns = self.free_ns;
        let client = self.client(slot);
        client.place = Whereabouts::Trying;
        let lag_ns = now_ns.saturating_sub(client.due_ns);
        let generator_lag_ns = now_ns.saturating_sub(client.due_ns.max(free_ns));
        let is_between = client.is_between;
        if is_step && is_between {
            self.part.rooms.asked += 1;
        } else if is_step {
            self.part.attempts += 1;
            self.part.attempt_lag.record(lag_ns);
            self.part.generator_lag.record(generator_lag_ns);
        }
        self.set_timer(slot, now_ns.saturating_add(attempt_ns));
        Some(match is_between {
            true => Act::JoinRoom(slot),
            false => Act::Try(slot),
        })
    }

    /// A client is ready again.
    pub(super) fn returned(&mut self, slot: Token, at_ns: u64) {
        self.free_place(at_ns);
        let is_step = self.start_ns.is_some();
        let client = &mut self.clients[slot as usize];
        client.place = Whereabouts::Here;
        client.failures = 0;
        client.timer_ns = NEVER;
        let has_joined = std::mem::take(&mut client.is_between);
        if !is_step {
            return;
        }
        let part = &mut self.part;
        if has_joined {
            part.rooms.joined += 1;
            let took_ns = at_ns.saturating_sub(client.due_ns);
            part.rooms.join.record(took_ns);
            return self.stay(slot, at_ns);
        }
        part.reconnected += 1;
        part.handshake.record(at_ns.saturating_sub(client.due_ns));
        let took_ns = at_ns.saturating_sub(client.gone_ns);
        if std::mem::take(&mut client.is_cut) {
            part.back.record(took_ns);
            part.last_back_ns = part.last_back_ns.max(took_ns);
        } else {
            part.reconnect.record(took_ns);
        }
        self.stay(slot, at_ns);
    }

    /// An attempt has failed. False between steps, where that ends the run.
    pub(super) fn failed(&mut self, slot: Token, error: &ConnectError, now_ns: u64) -> bool {
        self.free_place(now_ns);
        if self.start_ns.is_none() {
            self.leave_alone(slot);
            return false;
        }
        if self.client(slot).is_between {
            self.gone(slot, now_ns);
            return true;
        }
        *reason(&mut self.part.failures, error) += 1;
        self.part
            .first_failure
            .get_or_insert_with(|| error.to_string());
        let client = self.client(slot);
        client.failures += 1;
        self.retry(slot, now_ns);
        true
    }

    /// The server has ended a connection on which no attempt was under way.
    pub(super) fn lost(&mut self, slot: Token, now_ns: u64) {
        match self.start_ns {
            Some(_) => self.gone(slot, now_ns),
            // When its turn comes, it makes a new connection.
            None if self.is_at(slot, Whereabouts::Waiting) => self.client(slot).is_between = false,
            None => self.leave_alone(slot),
        }
    }

    /// A connection that was closing has ended, or a client has left its room.
    pub(super) fn closed(&mut self, slot: Token, now_ns: u64) {
        if self.is_at(slot, Whereabouts::Leaving) {
            let client = self.client(slot);
            client.place = Whereabouts::Away;
            client.is_between = client.changes_room();
            client.failures = 0;
            client.timer_ns = NEVER;
            let due_ns = client.gone_ns.max(now_ns);
            if client.is_between || client.reconnect != Reconnect::Never {
                self.set_timer(slot, due_ns);
            }
        }
    }

    /// Adds the figures of a step to a worker's part.
    pub(super) fn finish(&mut self, part: &mut StepPart) {
        part.churn
            .get_or_insert_default()
            .merge(std::mem::take(&mut self.part));
    }

    fn leave_alone(&mut self, slot: Token) {
        if let Some(client) = self.clients.get_mut(slot as usize) {
            client.place = Whereabouts::Away;
            client.is_between = false;
        }
    }

    /// A stay begins.
    fn stay(&mut self, slot: Token, at_ns: u64) {
        let (seed, number) = (self.plan.generator.seed, self.number_of(slot));
        let client = self.client(slot);
        if let Some(of) = client.mean_times() {
            let (stay_ns, _) = times(of, seed, number, client.cycle);
            client.cycle += 1;
            self.set_timer(slot, at_ns.saturating_add(stay_ns));
        }
    }

    /// When a client is to be back whose timer ends its stay.
    fn planned_return(&self, slot: Token) -> u64 {
        let client = &self.clients[slot as usize];
        let Some(of) = client.mean_times() else {
            return client.timer_ns;
        };
        let stay = client.cycle.saturating_sub(1);
        let (_, away_ns) = times(of, self.plan.generator.seed, self.number_of(slot), stay);
        client.timer_ns.saturating_add(away_ns)
    }

    /// A client is gone that had no time of its own to come back.
    fn gone(&mut self, slot: Token, at_ns: u64) {
        let client = self.client(slot);
        client.gone_ns = at_ns;
        client.failures = 0;
        client.is_between = false;
        match self.start_ns {
            Some(_) => self.retry_from(slot, at_ns, 0),
            // The next step begins with all clients, whatever the plan says of the time within one.
            None => self.await_place(slot, at_ns),
        }
    }

    /// Plans the attempt that follows a failed one.
    fn retry(&mut self, slot: Token, now_ns: u64) {
        let client = self.client(slot);
        // The first attempt of a client that comes and goes waited for the end of its time away.
        let waited = match client.life {
            Life::ComesAndGoes(_) => client.failures - 1,
            Life::Stays | Life::Cut(_) | Life::ChangesRoom(_) => client.failures,
        };
        self.retry_from(slot, now_ns, waited);
    }

    fn retry_from(&mut self, slot: Token, from_ns: u64, delays: u32) {
        let (seed, number) = (self.plan.generator.seed, self.number_of(slot));
        let client = self.client(slot);
        client.place = Whereabouts::Away;
        client.timer_ns = NEVER;
        if let Reconnect::Backoff(backoff) = client.reconnect {
            let delay_ns = delay_ns(backoff, seed, number, client.cycle, delays);
            self.set_timer(slot, from_ns.saturating_add(delay_ns));
        }
    }

    fn set_timer(&mut self, slot: Token, at_ns: u64) {
        self.client(slot).timer_ns = at_ns;
        self.timers.push(Reverse((at_ns, slot)));
    }

    /// The next client whose timer has ended.
    fn take_due(&mut self, now_ns: u64) -> Option<Token> {
        while let Some(&Reverse((at_ns, slot))) = self.timers.peek()
            && at_ns <= now_ns
        {
            self.timers.pop();
            if self.clients[slot as usize].timer_ns == at_ns {
                return Some(slot);
            }
        }
        None
    }

    /// An attempt has ended.
    fn free_place(&mut self, at_ns: u64) {
        if self.under_way == self.at_once {
            self.free_ns = at_ns;
        }
        self.under_way -= 1;
    }

    /// The next client that waits for a place. One that lost its connection meanwhile does not.
    fn next_waiting(&mut self) -> Option<Token> {
        while let Some(slot) = self.waiting.pop_front() {
            if self.is_at(slot, Whereabouts::Waiting) {
                return Some(slot);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
