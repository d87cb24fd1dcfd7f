//! Heartbeats: when each client sends its next, and what became of their answers.
//!
//! One entry of a heap for each client, so that ten thousand clients cost no more than what they send.

use super::Common;
use super::clients::{ClientTable, Session};
use crate::clock;
use crate::dialect::{Beat, Codec, Heartbeat, NoBeat};
use crate::io::Token;
use crate::message::HeartbeatPart;
use crate::net::{Phase, Transport};
use crate::plan::mix;
use crate::scenario::Work;
use plan::Reading;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use ws_proto::{Opcode, encode_frame};

/// Most beats that are sent in one turn of the loop.
const BEATS_AT_ONCE: u32 = 64;
/// Times that count no more are kept up to the number of clients and this.
const SPARE: usize = 64;
/// After so long at most a beat is tried again whose connection took no bytes.
const RETRY_NS: u64 = 1_000_000_000;
/// Sets the moments of beats apart from all else that is drawn from a run's seed.
const MOMENTS: u64 = 0x0062_6561_7473;

/// The beats of a worker's clients.
#[derive(Debug)]
pub(super) struct Beats {
    terms: Heartbeat,
    seed: u64,
    drawn: u64,
    clients: Vec<Beating>,
    /// When each client beats next, and times that count no more.
    order: BinaryHeap<Reverse<(u64, Token)>>,
    part: HeartbeatPart,
}

/// A client, by its slot. Times are 0 where there is none.
#[derive(Clone, Copy, Debug, Default)]
struct Beating {
    next_ns: u64,
    every_ns: u64,
    /// When the beat was sent that has no answer yet.
    sent_ns: u64,
}

impl Beats {
    pub(super) fn for_worker(codec: &dyn Codec, common: &Common, worker: u32) -> Option<Box<Self>> {
        let terms = codec.heartbeat().filter(|_| common.work == Work::Plan)?;
        let seed = mix(common.plan.generator.seed ^ MOMENTS, worker.into());
        Some(Box::new(Self::new(terms, seed)))
    }

    fn new(terms: Heartbeat, seed: u64) -> Self {
        Self {
            terms,
            seed,
            drawn: 0,
            clients: Vec::new(),
            order: BinaryHeap::new(),
            part: HeartbeatPart::default(),
        }
    }

    /// When the next client may have to beat; far in the future when none does.
    pub(super) fn next_ns(&self) -> u64 {
        let next = self.order.peek();
        next.map_or(u64::MAX, |Reverse((at_ns, _))| *at_ns)
    }

    /// A share from 0 to below 1.
    fn share(&mut self) -> f64 {
        self.drawn += 1;
        (mix(self.seed, self.drawn) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A client is ready. Its first beat is somewhere within the interval, so that those of clients that
    /// are ready at once are spread over it. One that beats goes on as it does.
    fn begin(&mut self, slot: Token, every_ns: u64, now_ns: u64) {
        let place = slot as usize;
        if self.clients.len() <= place {
            self.clients.resize(place + 1, Beating::default());
        }
        if self.clients[place].next_ns == 0 {
            self.clients[place].every_ns = every_ns;
            let first_ns = now_ns + 1 + (self.share() * every_ns as f64) as u64;
            self.put(slot, first_ns);
        }
    }

    /// The connection of a client is over.
    pub(super) fn forget(&mut self, slot: Token) {
        if let Some(client) = self.clients.get_mut(slot as usize) {
            *client = Beating::default();
        }
    }

    fn put(&mut self, slot: Token, at_ns: u64) {
        // Clients that come and go leave times behind.
        if self.order.len() > 2 * self.clients.len() + SPARE {
            let clients = &self.clients;
            self.order
                .retain(|Reverse((at_ns, slot))| clients[*slot as usize].next_ns == *at_ns);
        }
        self.clients[slot as usize].next_ns = at_ns;
        self.order.push(Reverse((at_ns, slot)));
    }

    /// The next client whose beat is due.
    fn take_due(&mut self, now_ns: u64) -> Option<Token> {
        while self.next_ns() <= now_ns {
            let Reverse((at_ns, slot)) = self.order.pop()?;
            if self.clients[slot as usize].next_ns == at_ns {
                return Some(slot);
            }
        }
        None
    }

    /// The connection takes no bytes just now.
    fn put_off(&mut self, slot: Token, now_ns: u64) {
        let retry_ns = (self.clients[slot as usize].every_ns / 4).min(RETRY_NS);
        self.put(slot, now_ns + retry_ns);
    }

    /// A client has sent a beat that was due. Those that were missed, by a generator that was stopped for
    /// long, are left out.
    fn sent(&mut self, slot: Token, now_ns: u64, awaits_answer: bool) {
        let share = self.share();
        let client = &mut self.clients[slot as usize];
        let pause_ns = client.every_ns as f64 * (1.0 - self.terms.jitter * share);
        let next_ns = (client.next_ns + pause_ns as u64).max(now_ns + 1);
        self.part.unanswered += u64::from(client.sent_ns > 0);
        client.sent_ns = if awaits_answer { now_ns } else { 0 };
        self.part.sent += 1;
        self.put(slot, next_ns);
    }

    /// The answer to a client's beat has come. One that nothing asked for counts as none.
    fn answered(&mut self, slot: Token, at_ns: u64) {
        let Some(client) = self.clients.get_mut(slot as usize) else {
            return;
        };
        let sent_ns = std::mem::take(&mut client.sent_ns);
        if sent_ns == 0 {
            return;
        }
        let took_ns = at_ns.saturating_sub(sent_ns);
        if self.terms.within_ns.is_some_and(|most| took_ns > most) {
            self.part.unanswered += 1;
        } else {
            self.part.answered += 1;
            self.part.round_trip.record(took_ns);
        }
    }

    /// What was counted since it was last taken. A beat whose time for an answer is over is not answered.
    fn finish(&mut self, now_ns: u64) -> HeartbeatPart {
        for client in &mut self.clients {
            let patience_ns = self.terms.within_ns.unwrap_or(client.every_ns);
            if client.sent_ns > 0 && client.sent_ns + patience_ns < now_ns {
                client.sent_ns = 0;
                self.part.unanswered += 1;
            }
        }
        std::mem::take(&mut self.part)
    }
}

impl ClientTable {
    /// What a client was not told before it was ready, or not as it has to be, in words.
    pub(super) fn untold(&self, slot: Token) -> Option<String> {
        if let Some(name) = self.captured.missing(slot) {
            return Some(format!("it did not say `{name}`, which messages repeat"));
        }
        self.beats.as_ref()?;
        self.beat_interval(slot).err().map(|why| why.to_string())
    }

    fn beat_interval(&self, slot: Token) -> Result<u64, NoBeat> {
        let told = |name: &str| {
            let value = self.captured.value(slot, name)?;
            String::from_utf8(value.to_vec()).ok()
        };
        let beats = self.beats.as_ref();
        beats.map_or(Ok(u64::MAX), |beats| beats.terms.every.of_client(told))
    }

    /// A client is ready.
    pub(super) fn begin_beats(&mut self, slot: Token) {
        if self.beats.is_none() {
            return;
        }
        let every = self.beat_interval(slot);
        if let (Some(beats), Ok(every_ns)) = (&mut self.beats, every) {
            beats.begin(slot, every_ns, clock::now_ns());
        }
    }

    /// The answer to a client's beat has come.
    pub(super) fn beat_answered(&mut self, slot: Token, at_ns: u64) {
        if let Some(beats) = &mut self.beats {
            beats.answered(slot, at_ns);
        }
    }

    /// What became of the beats since the last part of a step.
    pub(super) fn finish_beats(&mut self) -> Option<Box<HeartbeatPart>> {
        let beats = self.beats.as_mut()?;
        Some(Box::new(beats.finish(clock::now_ns())))
    }
}

impl Session<'_> {
    /// Has the clients beat whose time it is.
    pub(super) fn beat(&mut self) {
        if self.table.beats.is_none() {
            return;
        }
        let now_ns = clock::now_ns();
        for _ in 0..BEATS_AT_ONCE {
            let beats = self.table.beats.as_mut();
            let Some(slot) = beats.and_then(|beats| beats.take_due(now_ns)) else {
                return;
            };
            let connection = self.table.get(slot);
            let beats_still = matches!(connection.phase, Phase::Ready | Phase::Between);
            let transport = connection.transport.as_ref();
            let is_blocked = transport.is_some_and(Transport::wants_write);
            let awaits = self.table.reading(slot) == Reading::Full;
            let was_sent = beats_still && !is_blocked && self.send_beat(slot);
            let Some(beats) = &mut self.table.beats else {
                return;
            };
            match (was_sent, beats_still && is_blocked) {
                (true, _) => {
                    let awaits_answer = awaits && beats.terms.is_answered;
                    beats.sent(slot, now_ns, awaits_answer);
                }
                (false, true) => beats.put_off(slot, now_ns),
                (false, false) => beats.forget(slot),
            }
        }
    }

    /// Sends one beat. Uncompressed, as a message may be (RFC 7692, 6). False when the connection is
    /// broken.
    fn send_beat(&mut self, slot: Token) -> bool {
        let Some(beats) = &self.table.beats else {
            return false;
        };
        let message = match &beats.terms.message {
            Beat::Text(text) => self.table.filled(slot, text),
            Beat::Fill(fill) => self.table.filled_in(slot, fill),
            Beat::AsIs(bytes) => bytes.clone(),
        };
        let opcode: Opcode = self.table.codec.opcode();
        let mask = (self.table.draw() as u32).to_ne_bytes();
        let mut frame = Vec::new();
        encode_frame(&mut frame, opcode, Some(mask), &message);
        self.write(slot, |transport| transport.send(&frame))
            .is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Every;

    const EVERY_NS: u64 = 1_000_000;

    fn beats(jitter: f64, within_ns: Option<u64>) -> Beats {
        let terms = Heartbeat {
            every: Every::Fixed(EVERY_NS),
            jitter,
            message: Beat::AsIs(Vec::new()),
            is_answered: true,
            within_ns,
        };
        Beats::new(terms, 7)
    }

    #[test]
    fn the_first_beats_are_spread_and_the_next_come_by_the_clock() {
        let mut beats = beats(0.0, None);
        for slot in 0..10_000 {
            beats.begin(slot, EVERY_NS, 500);
        }
        let mut tenths = [0; 10];
        let mut first = vec![0; 10_000];
        for now_ns in (500..=500 + EVERY_NS).step_by(1_000) {
            while let Some(slot) = beats.take_due(now_ns) {
                tenths[((now_ns - 500) * 10 / (EVERY_NS + 1)) as usize] += 1;
                first[slot as usize] = beats.clients[slot as usize].next_ns;
                beats.sent(slot, now_ns, false);
            }
        }
        assert!(
            tenths.iter().all(|count| (800..1_200).contains(count)),
            "{tenths:?}"
        );
        for (slot, first_ns) in first.iter().enumerate() {
            let next_ns = beats.clients[slot].next_ns;
            assert!(
                next_ns >= 500 + EVERY_NS && next_ns == first_ns + EVERY_NS || next_ns > *first_ns
            );
        }
    }

    #[test]
    fn a_beat_comes_earlier_by_the_jitter_and_never_later() {
        let mut beats = beats(0.25, None);
        beats.begin(3, EVERY_NS, 0);
        let mut last_ns = beats.next_ns();
        for _ in 0..1_000 {
            assert_eq!(beats.take_due(last_ns), Some(3));
            beats.sent(3, last_ns, false);
            let pause_ns = beats.next_ns() - last_ns;
            assert!(
                (EVERY_NS * 3 / 4..=EVERY_NS).contains(&pause_ns),
                "{pause_ns}"
            );
            last_ns = beats.next_ns();
        }
        // What a generator missed that was stopped is left out.
        let late_ns = last_ns + 50 * EVERY_NS;
        assert_eq!(beats.take_due(late_ns), Some(3));
        beats.sent(3, late_ns, false);
        assert_eq!(beats.take_due(late_ns), None);
    }

    #[test]
    fn a_client_that_comes_back_begins_anew_and_one_that_stays_goes_on() {
        let mut beats = beats(0.0, None);
        beats.begin(0, EVERY_NS, 10);
        let at_ns = beats.next_ns();
        beats.begin(0, EVERY_NS, 20);
        assert_eq!(beats.next_ns(), at_ns);
        beats.forget(0);
        assert_eq!(beats.take_due(u64::MAX), None);
        beats.begin(0, EVERY_NS, 5 * EVERY_NS);
        assert!(beats.next_ns() > 5 * EVERY_NS);
        assert_eq!(beats.take_due(u64::MAX), Some(0));

        for visit in 0..10_000 {
            beats.begin(0, EVERY_NS, visit);
            beats.forget(0);
        }
        assert!(beats.order.len() <= 2 + SPARE + 1, "{}", beats.order.len());
    }

    #[test]
    fn each_beat_is_answered_in_time_or_counted_as_not() {
        let mut beats = beats(0.0, Some(100));
        beats.begin(0, EVERY_NS, 0);
        let mut at_ns = beats.next_ns();
        for took_ns in [Some(100), Some(101), None, Some(1)] {
            assert_eq!(beats.take_due(at_ns), Some(0));
            beats.sent(0, at_ns, true);
            if let Some(took_ns) = took_ns {
                beats.answered(0, at_ns + took_ns);
            }
            // One that nothing asked for.
            beats.answered(9, at_ns);
            at_ns = beats.next_ns();
        }
        beats.answered(0, at_ns);
        let part = beats.finish(at_ns);
        assert_eq!((part.sent, part.answered, part.unanswered), (4, 2, 2));
        assert_eq!(part.round_trip.latency().unwrap().count, 2);

        beats.take_due(at_ns);
        beats.sent(0, at_ns, true);
        assert_eq!(beats.finish(at_ns + 100).unanswered, 0);
        assert_eq!(beats.finish(at_ns + 101).unanswered, 1);
    }
}
