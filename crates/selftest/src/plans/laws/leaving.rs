//! What must hold of clients that leave, and of the messages to all.

use super::{CLOCKS_NS, Kind, PRECISION, Trial};
use plan::{Audience, Clients, Life, Population};
use record::RoomChanges;
use std::collections::{HashMap, HashSet};
use test_servers::oracle::{Asked, Copy, Fate};

/// Of a client that leaves: what was written so long before its end, it has had.
const TAKEN_NS: u64 = 500_000_000;
/// What was sent so long after a client heard something was for it, and what was complete so long
/// before another that it heard must have come (`ws-load/src/plan/life.rs`, with time for a busy
/// machine).
const KNOWN_NS: u64 = 500_000_000;
const PASSED_NS: u64 = 2_000_000_000;

impl Trial<'_> {
    pub(super) fn hold_leaving(&mut self) {
        self.hold_messages();
        self.hold_visits();
        self.hold_returns();
        self.hold_storms();
        self.hold_rooms();
    }

    fn hold_messages(&mut self) {
        let copies = self.copies(Kind::Awaited);
        let written = copies.filter(|(_, copy)| copy.written_ns.is_some());
        let messages = written.map(|(_, copy)| 1 + u64::from(copy.fate == Fate::Doubled));
        let messages = messages.sum::<u64>();
        let results = self.told.asked.iter().filter_map(|asked| asked.result_ns);
        let results = results.count() as u64;
        let known = messages + results + self.strays(Kind::Awaited);
        let of_others = self.churn(|churn| churn.messages) + self.slow(|slow| slow.messages);
        let reported = self.sum(|step| step.generator.messages);
        let (late, late_results) = self.under_way();
        let (of_feeds, perhaps) = self.fed();
        let of_parts = self.parted().messages;
        let surely = if self.is_partial() {
            0
        } else {
            of_feeds.messages + of_parts
        };
        let least = surely + known.saturating_sub(2 * late + late_results);
        // Those that leave take a message while they do, and those that change rooms are told so.
        let of_feeds = of_feeds.messages + perhaps.messages;
        let aside = self.told.answers + self.last_words() + self.asides();
        let most = known + aside + of_feeds + of_parts + self.of_later_clients();
        let law = "messages that were checked";
        self.within(law, least..=most, reported.saturating_sub(of_others));
    }

    /// Deliveries with this fate that clients which leave have surely had while the messages were for
    /// them. Where clients change rooms there are none: only the client knows when it left a room.
    pub(super) fn taken(&self, fate: Fate) -> u64 {
        if self.told.unsubscribed > 0 {
            return 0;
        }
        let taken = self
            .before_ends()
            .filter(|(copy, left_ns)| copy.fate == fate && *left_ns > TAKEN_NS);
        taken.count() as u64
    }

    /// Messages that clients which leave were sent while they did.
    fn last_words(&self) -> u64 {
        let last = self
            .before_ends()
            .filter(|(_, left_ns)| *left_ns <= TAKEN_NS);
        2 * last.count() as u64
    }

    /// Deliveries to connections that ended, with the time from each to that end.
    fn before_ends(&self) -> impl Iterator<Item = (&Copy, u64)> {
        let ends = self.told.connections.iter();
        let ends: HashMap<u64, u64> = ends
            .filter_map(|connection| Some((connection.id, connection.ended_ns?)))
            .collect();
        self.copies(Kind::Leaves).filter_map(move |(_, copy)| {
            let end = ends.get(&copy.connection)?;
            Some((copy, end.saturating_sub(copy.written_ns?)))
        })
    }

    /// What clients that leave must have heard.
    fn hold_visits(&mut self) {
        let mut by_connection: HashMap<u64, Vec<(&Asked, &Copy)>> = HashMap::new();
        for (asked, copy) in self.copies(Kind::Leaves) {
            by_connection
                .entry(copy.connection)
                .or_default()
                .push((asked, copy));
        }
        let (mut surely, mut perhaps) = (0, 0);
        for heard in by_connection.values() {
            let first = heard.iter().find_map(|(_, copy)| copy.written_ns);
            let last = heard
                .iter()
                .rev()
                .find(|(_, copy)| copy.written_ns.is_some());
            let last = last.map_or(0, |(asked, _)| asked.at_ns);
            for (asked, copy) in heard {
                if copy.fate != Fate::Lost {
                    continue;
                }
                perhaps += 1;
                let is_known = first.is_some_and(|first| first + KNOWN_NS < asked.at_ns);
                let was_passed = asked.at_ns + PASSED_NS < last;
                surely += u64::from(is_known && was_passed && self.is_whole(asked));
            }
        }
        // Those that change rooms begin a visit with each, on one connection.
        let changes = self.told.unsubscribed > 0;
        let least = if changes { 0 } else { surely };
        let reported = self.churn(|churn| churn.lost);
        self.within("lost to clients that leave", least..=perhaps, reported);
    }

    fn hold_returns(&mut self) {
        let of_one_step =
            matches!(self.plan().clients, Clients::Steps(steps) if steps.count == Some(1));
        if let ([step], true) = (&*self.record.steps, of_one_step) {
            let clients = step.clients;
            let connections = self.told.connections.iter();
            let refused = connections
                .filter(|connection| connection.was_refused)
                .count() as u64;
            let accepted = self.told.connections.len() as u64 - refused;
            let (back, attempts) = (
                self.churn(|churn| churn.reconnected),
                self.churn(|churn| churn.attempts),
            );
            let reported = accepted.saturating_sub(clients);
            self.within("connections that came again", back..=attempts, reported);
            let unfinished = self.churn(|churn| churn.unfinished);
            let known = refused.saturating_sub(unfinished)..=refused;
            let rejected = self.churn(|churn| churn.failures.rejected);
            let holds = known.contains(&rejected);
            let first = step
                .churn
                .as_ref()
                .and_then(|churn| churn.first_failure.clone());
            self.says("attempts that were rejected", holds, || {
                format!("{known:?} are known, {rejected} reported, the first: {first:?}")
            });
            let rooms = |of: fn(&RoomChanges) -> u64| {
                self.churn(|churn| churn.rooms.as_ref().map_or(0, of))
            };
            let (left, asked, joined) = (
                rooms(|rooms| rooms.left),
                rooms(|rooms| rooms.asked),
                rooms(|rooms| rooms.joined),
            );
            let told = self.told;
            self.exactly("rooms that were left", told.unsubscribed, left);
            self.exactly("rooms that were asked for", told.resubscribed, asked);
            let answered = told.resubscribed - told.ignored;
            self.within(
                "rooms that were entered",
                answered.saturating_sub(clients)..=answered,
                joined,
            );
        }
    }

    /// Who was cut off is back when a step passes, or as many as its limit wants and in its time.
    fn hold_storms(&mut self) {
        let returns = |of: &&Population| of.returns_after_cut();
        let is_demanded = self.plan().populations.iter().any(|of| returns(&of));
        let [step] = &*self.record.steps else {
            return;
        };
        let Some(cut) = step.churn.as_ref().and_then(|churn| churn.cut.as_ref()) else {
            return;
        };
        let mut back = self.back();
        back.sort_unstable();
        let known = back.len() as u64;
        let unfinished = self.churn(|churn| churn.unfinished);
        self.within(
            "clients that were back after a cut",
            known.saturating_sub(unfinished)..=known,
            cut.back,
        );
        let limit = self.plan().limits.back;
        let percentile = limit.map_or(100.0, |limit| limit.percentile);
        let wanted = (cut.clients as f64 * percentile / 100.0 - 1e-9).ceil() as usize;
        let law = "a storm is carried when all are back";
        if !is_demanded || wanted == 0 || !step.passed() {
            return;
        }
        let last = back.get(wanted - 1).copied();
        self.says(law, last.is_some(), || {
            format!("{known} of {wanted} came back, and the step passed")
        });
        if let (Some(last), Some(limit)) = (last, limit) {
            let is_kept = last as f64 <= limit.time.ns() as f64 * (1.0 + PRECISION) + CLOCKS_NS;
            self.says(
                "a storm is carried when they are back in time",
                is_kept,
                || format!("number {wanted} was back after {last} ns, and the step passed"),
            );
        }
    }

    /// How long each client that came back after a cut was away. Its server saw the end of its connection
    /// after the cut, and knows nothing of how long it took from its request on until it was ready.
    fn back(&self) -> Vec<u64> {
        let is_cut = |client: Option<u64>| {
            client.is_some_and(|client| {
                matches!(
                    ws_load::population_of(self.plan(), client).life,
                    Life::Cut(_)
                )
            })
        };
        let mut ends = HashMap::new();
        let mut back = HashMap::new();
        for connection in &self.told.connections {
            if connection.was_refused || !is_cut(connection.client) {
                continue;
            }
            match ends.get(&connection.client) {
                Some(ended) => {
                    let away = connection.opened_ns.saturating_sub(*ended);
                    back.entry(connection.client).or_insert(away);
                }
                None => {
                    let ended = connection.ended_ns.unwrap_or(u64::MAX);
                    ends.insert(connection.client, ended);
                }
            }
        }
        back.into_values().collect()
    }

    /// The clients that samples wait for are spread over the rooms, when each subscribes for the first
    /// time, as draws would spread them.
    fn hold_rooms(&mut self) {
        if !matches!(self.plan().audience, Audience::Room(_)) {
            return;
        }
        let is_awaited = |client: u64| self.kind(Some(client)) == Kind::Awaited;
        let mut rooms: HashMap<u32, (f64, f64)> = HashMap::new();
        let (mut seen, mut all_awaited) = (HashSet::new(), 0.0);
        for connection in &self.told.connections {
            if let (Some(client), Some(room)) = (connection.client, connection.room)
                && seen.insert(client)
            {
                let awaited = f64::from(u8::from(is_awaited(client)));
                let (of_room, of_awaited) = rooms.entry(room).or_default();
                *of_room += 1.0;
                *of_awaited += awaited;
                all_awaited += awaited;
            }
        }
        let share = all_awaited / seen.len().max(1) as f64;
        // Chi-squared, of rooms in which a client of each kind is to be expected.
        let is_large = |size: f64| size * share >= 4.0 && size * (1.0 - share) >= 4.0;
        let large: Vec<_> = rooms.values().filter(|(size, _)| is_large(*size)).collect();
        let squares = large.iter().map(|(size, awaited)| {
            (awaited - size * share).powi(2) / (size * share * (1.0 - share))
        });
        let (squares, rooms) = (squares.sum::<f64>(), large.len() as f64);
        // Exceeded once in a million plans (Laurent and Massart 2000, lemma 1).
        let rare = 1e6_f64.ln();
        let most = rooms + 2.0 * (rooms * rare).sqrt() + 2.0 * rare;
        self.says(
            "kinds of clients are spread over rooms",
            squares <= most,
            || format!("the squares of {rooms} rooms add up to {squares:.1}, {most:.1} at most"),
        );
    }
}
