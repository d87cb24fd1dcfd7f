//! Messages that a server sends by itself: how many each client gets, whether their numbers rise by one,
//! and how old they are.
//!
//! Numbers are followed from the first message of a connection on, whatever step there is; what they show
//! counts in the step under way, or in the next. Everything else counts within a step. A message costs no
//! memory but for the first of its sequence and for a number that is not the next.

use crate::dialect::{FeedMessage, FeedNumber, FeedTerms, Said};
use crate::message::{AgesPart, FeedPart};
use crate::verify::numbers::{Numbers, Seen};
use plan::MOST_FEED_KEYS;
use record::FeedNumbers;

/// Clients that were ready for less than this, and for less than half of the step, have no rate.
const SHORTEST_NS: u64 = 1_000_000_000;

/// The feeds of a worker's clients.
#[derive(Debug)]
pub(crate) struct Feeds {
    terms: FeedTerms,
    /// The server has the clock of this machine.
    shares_clock: bool,
    clients: Vec<Client>,
    began_ns: u64,
    /// Ages count from here on.
    aged_from_ns: u64,
    part: FeedPart,
    numbers: FeedNumbers,
}

/// A client, by its slot.
#[derive(Debug, Default)]
struct Client {
    /// Since when it has been ready, or since the step began; `None` while it is not.
    since_ns: Option<u64>,
    /// How long it was ready before that, in the step.
    before_ns: u64,
    messages: u64,
    /// By the number that tells them apart.
    sequences: Vec<Numbers>,
}

/// The fault that a message of a feed is. A number that is missing is known at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeedFault {
    Duplicate,
    Reordered,
    Malformed,
}

impl Feeds {
    pub(crate) fn new(terms: FeedTerms, shares_clock: bool) -> Self {
        Self {
            terms,
            shares_clock,
            clients: Vec::new(),
            began_ns: 0,
            aged_from_ns: 0,
            part: FeedPart::default(),
            numbers: FeedNumbers::default(),
        }
    }

    fn client(&mut self, slot: u32) -> &mut Client {
        let place = slot as usize;
        if self.clients.len() <= place {
            self.clients.resize_with(place + 1, Client::default);
        }
        &mut self.clients[place]
    }

    /// A client that reads all it gets is ready, on a new connection.
    pub(crate) fn client_ready(&mut self, slot: u32, now_ns: u64) {
        let client = self.client(slot);
        client.since_ns = Some(now_ns);
        client.forget_numbers();
        client.sequences.iter_mut().for_each(Numbers::connect_anew);
    }

    /// A client that left its room still has its connection.
    pub(crate) fn client_stays(&mut self, slot: u32, now_ns: u64) {
        self.client(slot).since_ns = Some(now_ns);
    }

    /// The server has confirmed that it left: what the next room is sent begins anew.
    pub(crate) fn client_left_room(&mut self, slot: u32) {
        self.client(slot).forget_numbers();
    }

    /// A client is gone, or has begun to leave.
    pub(crate) fn client_gone(&mut self, slot: u32, now_ns: u64) {
        let began_ns = self.began_ns;
        self.client(slot).pause(began_ns, now_ns);
    }

    /// A step begins.
    pub(crate) fn begin_step(&mut self, now_ns: u64, aged_from_ns: u64) {
        (self.began_ns, self.aged_from_ns) = (now_ns, aged_from_ns);
        self.part = FeedPart::default();
        for client in &mut self.clients {
            (client.messages, client.before_ns) = (0, 0);
            client.since_ns = client.since_ns.map(|_| now_ns);
        }
    }

    /// Ages count from this moment on.
    pub(crate) const fn age_from(&mut self, from_ns: u64) {
        self.aged_from_ns = from_ns;
    }

    /// A message came at `at_ns`, by the realtime clock at what `realtime_ns` says.
    pub(crate) fn message(
        &mut self,
        slot: u32,
        message: &FeedMessage,
        at_ns: u64,
        realtime_ns: impl FnOnce() -> u64,
    ) -> Option<FeedFault> {
        let client = self.clients.get_mut(slot as usize);
        let client = client.filter(|client| client.since_ns.is_some())?;
        client.messages += 1;
        self.part.messages += 1;
        let fault = match message.number {
            Said::NotAsked => None,
            Said::Unreadable => {
                self.numbers.unreadable += 1;
                Some(FeedFault::Malformed)
            }
            Said::This(number) => client.number(number, &mut self.numbers),
        };
        if self.terms.is_dated && at_ns >= self.aged_from_ns {
            let ages = self.part.ages.get_or_insert_default();
            match message.sent_ns {
                Said::NotAsked => {}
                Said::Unreadable => ages.unreadable += 1,
                Said::This(sent_ns) => note_age(ages, sent_ns, realtime_ns()),
            }
        }
        fault
    }

    /// The step ends: its part, and how many numbers are missing.
    pub(crate) fn finish(&mut self, now_ns: u64) -> FeedPart {
        let began_ns = self.began_ns;
        let mut part = std::mem::take(&mut self.part);
        part.elapsed_ns = now_ns.saturating_sub(began_ns);
        for client in &mut self.clients {
            client.sequences.iter_mut().for_each(Numbers::end_step);
            let is_there = client.since_ns.is_some();
            client.pause(began_ns, now_ns);
            let there_ns = client.before_ns;
            client.since_ns = is_there.then_some(now_ns);
            if !is_there && there_ns == 0 {
                continue;
            }
            part.clients += 1;
            part.silent += u64::from(client.messages == 0);
            if there_ns >= SHORTEST_NS || there_ns >= part.elapsed_ns / 2 {
                part.rates.record(client.messages, there_ns);
            }
        }
        let numbers = std::mem::take(&mut self.numbers);
        part.numbers = self.terms.is_numbered.then_some(numbers);
        if self.terms.is_dated {
            part.ages.get_or_insert_default().is_clock_unknown = !self.shares_clock;
        }
        part
    }
}

impl Client {
    fn pause(&mut self, began_ns: u64, now_ns: u64) {
        if let Some(since_ns) = self.since_ns.take() {
            self.before_ns += now_ns.saturating_sub(since_ns.max(began_ns));
        }
    }

    fn forget_numbers(&mut self) {
        self.sequences.retain(|numbers| numbers.resumes);
    }

    /// A number came.
    fn number(&mut self, said: FeedNumber, counts: &mut FeedNumbers) -> Option<FeedFault> {
        let FeedNumber {
            sequence,
            number,
            resumes,
        } = said;
        let place = match &self.sequences[..] {
            [only] if only.sequence == sequence => Ok(0),
            all => all.binary_search_by_key(&sequence, |of| of.sequence),
        };
        let seen = match place {
            Ok(at) => self.sequences[at].note(number),
            Err(_) if self.sequences.len() >= MOST_FEED_KEYS => {
                counts.unfollowed += 1;
                return None;
            }
            Err(at) => {
                let begun = Numbers::begin(sequence, resumes, number);
                self.sequences.insert(at, begun);
                return None;
            }
        };
        match seen {
            Seen::Ahead { missing: 0 } => None,
            Seen::Ahead { missing } => {
                counts.gaps += 1;
                counts.missing = counts.missing.saturating_add(missing);
                None
            }
            Seen::Back { was_missing } => {
                counts.missing = counts.missing.saturating_sub(u64::from(was_missing));
                counts.steps_back += 1;
                Some(FeedFault::Reordered)
            }
            Seen::AfterStep => {
                counts.after_step += 1;
                None
            }
            Seen::Repeat => {
                counts.repeats += 1;
                Some(FeedFault::Duplicate)
            }
        }
    }
}

fn note_age(ages: &mut AgesPart, sent_ns: u64, realtime_ns: u64) {
    match realtime_ns.checked_sub(sent_ns) {
        Some(age_ns) => ages.all.record(age_ns),
        None => {
            ages.negative += 1;
            ages.most_negative_ns = ages.most_negative_ns.max(sent_ns - realtime_ns);
        }
    }
}

#[cfg(test)]
mod tests;
