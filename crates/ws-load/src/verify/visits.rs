//! What clients hear that leave and come back: no message twice, and none missed that they must have
//! heard. A visit lasts from when such a client is ready until it leaves or the step ends.
//!
//! A visit keeps a bit per message to its room, of the part of the step that it is in. Messages that all
//! came are dropped from its front, so that a visit without a loss has a few words, and none has more
//! than [`WORDS`].

use super::ledger::{OfRoom, StepLedger};
use crate::plan::{Heard, Hearing as _, Sent, must_hear};
use std::collections::VecDeque;

/// Most words of a visit: 8,192 messages between the oldest that did not come and the latest.
const WORDS: usize = 128;

/// The clients of a worker that leave and come back.
#[derive(Debug, Default)]
pub(crate) struct Visits {
    /// By slot; absent of other clients, and of those that are away.
    of: Vec<Option<Box<Visit>>>,
    /// How many began.
    begun: u64,
    spans: Spans,
}

/// When messages were sent and complete, 64 at a time: a server may tell nothing to a great many clients,
/// and each message would be looked up for each of them.
#[derive(Debug, Default)]
struct Spans {
    /// By the word of [`OfRoom`]; absent until all 64 are complete.
    words: Vec<Option<Span>>,
}

/// Of 64 messages that are complete.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// The first send and the last completion: a client that must have heard such a message must have
    /// heard all 64.
    outer: Sent,
    /// The last send and the first completion: a client that need not have heard such a message need
    /// have heard none of them.
    inner: Sent,
}

/// A client that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Visit {
    /// Messages of this room are for it; 0 without rooms.
    room: u32,
    ready_ns: u64,
    first_ns: Option<u64>,
    latest_sent_ns: u64,
    /// Place in its room of the first message that has a bit, a multiple of 64.
    from: u32,
    /// From here to `from` each message came.
    whole_from: u32,
    bits: VecDeque<u64>,
    /// Messages behind `from` that must have come and did not.
    lost: u64,
}

impl Visit {
    /// One that begins after so many messages to its room.
    fn new(room: u32, ready_ns: u64, after: u32) -> Self {
        let from = after & !63;
        Self {
            room,
            ready_ns,
            from,
            whole_from: from,
            ..Self::default()
        }
    }

    const fn heard(&self, left_ns: u64) -> Heard {
        Heard {
            ready_ns: self.ready_ns,
            first_ns: self.first_ns,
            latest_sent_ns: self.latest_sent_ns,
            left_ns,
        }
    }

    /// Notes a message. `false` when it had come before.
    fn note(&mut self, index: u32, now_ns: u64, step: &StepLedger, spans: &mut Spans) -> bool {
        if let Some(sent) = step.when_sent(index) {
            self.latest_sent_ns = self.latest_sent_ns.max(sent.at_ns);
        }
        self.first_ns.get_or_insert(now_ns);
        let place = step.place_in_room(index);
        let Some(beyond) = place.checked_sub(self.from) else {
            return place < self.whole_from;
        };
        let word = beyond as usize / 64;
        if word >= WORDS {
            self.drop_front(word, now_ns, step, spans);
        }
        let word = (place - self.from) as usize / 64;
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        let bit = 1 << (place % 64);
        let is_new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        while self.bits.front() == Some(&u64::MAX) {
            self.bits.pop_front();
            self.from += 64;
        }
        is_new
    }

    /// Drops words from the front until the one that stood at `word` is within the bound.
    #[cold]
    fn drop_front(&mut self, word: usize, now_ns: u64, step: &StepLedger, spans: &mut Spans) {
        let messages = step.of_room(self.room);
        for _ in 0..=word - WORDS {
            let came = self.bits.pop_front().unwrap_or(0);
            self.lost += spans.lost(step, messages, self.from, came, self.heard(now_ns));
            self.from += 64;
        }
        self.whole_from = self.from;
    }

    /// How many messages must have come and did not.
    fn lost(&self, left_ns: u64, step: &StepLedger, spans: &mut Spans) -> u64 {
        // An echo is for its sender, and no client that leaves sends.
        if !step.audience.reaches_others() {
            return 0;
        }
        let messages = step.of_room(self.room);
        let end = messages.before(step.released());
        let words = end.saturating_sub(self.from).div_ceil(64);
        let heard = self.heard(left_ns);
        let lost = (0..words).map(|word| {
            let came = self.bits.get(word as usize).copied().unwrap_or(0);
            spans.lost(step, messages, self.from + word * 64, came, heard)
        });
        self.lost + lost.sum::<u64>()
    }
}

impl Spans {
    /// Of the 64 messages from the place `from` on that are not set in `came`: how many a client must
    /// have heard.
    fn lost(
        &mut self,
        step: &StepLedger,
        messages: OfRoom<'_>,
        from: u32,
        came: u64,
        heard: Heard,
    ) -> u64 {
        let missed = !came;
        if missed == 0 {
            return 0;
        }
        if let Some(span) = self.span(step, messages, from) {
            if must_hear(heard, span.outer) {
                return missed.count_ones().into();
            }
            if !must_hear(heard, span.inner) {
                return 0;
            }
        }
        let missed = (0..64).filter(|bit| missed & (1 << bit) != 0);
        let sent = missed.filter_map(|bit| complete(step, messages, from + bit));
        sent.filter(|message| must_hear(heard, *message)).count() as u64
    }

    /// The span of the 64 messages from there on, if all are complete.
    fn span(&mut self, step: &StepLedger, messages: OfRoom<'_>, from: u32) -> Option<Span> {
        let word = messages.word(from);
        if let Some(Some(span)) = self.words.get(word) {
            return Some(*span);
        }
        let first = Span::new(complete(step, messages, from)?);
        let rest = from + 1..from + 64;
        let span = rest
            .map(|place| complete(step, messages, place))
            .try_fold(first, |span, message| Some(span.with(message?)))?;
        if self.words.len() <= word {
            self.words.resize(word + 1, None);
        }
        self.words[word] = Some(span);
        Some(span)
    }
}

impl Span {
    const fn new(message: Sent) -> Self {
        Self {
            outer: message,
            inner: message,
        }
    }

    fn with(self, message: Sent) -> Self {
        let Self { outer, inner } = self;
        Self {
            outer: Sent {
                sent_ns: outer.sent_ns.min(message.sent_ns),
                completed_ns: outer.completed_ns.max(message.completed_ns),
            },
            inner: Sent {
                sent_ns: inner.sent_ns.max(message.sent_ns),
                completed_ns: inner.completed_ns.min(message.completed_ns),
            },
        }
    }
}

/// When the message in a place of a room was sent and complete, if it is.
fn complete(step: &StepLedger, messages: OfRoom<'_>, place: u32) -> Option<Sent> {
    let index = messages.sample(place)?;
    Some(Sent {
        sent_ns: step.when_sent(index)?.at_ns,
        completed_ns: step.when_complete(index)?,
    })
}

impl Visits {
    /// A client is ready, in a room if there are any, to which so many messages have been sent.
    pub(crate) fn begin(&mut self, slot: u32, room: u32, now_ns: u64, after: u32) {
        let slot = slot as usize;
        if self.of.len() <= slot {
            self.of.resize_with(slot + 1, || None);
        }
        self.of[slot] = Some(Box::new(Visit::new(room, now_ns, after)));
        self.begun += 1;
    }

    /// A step begins: so do the visits of those that are there.
    pub(crate) fn begin_step(&mut self, now_ns: u64) {
        self.begun = 0;
        self.spans = Spans::default();
        for visit in self.of.iter_mut().flatten() {
            **visit = Visit::new(visit.room, now_ns, 0);
            self.begun += 1;
        }
    }

    /// True of a client whose visit is under way.
    #[inline]
    pub(crate) fn has(&self, slot: u32) -> bool {
        self.of.get(slot as usize).is_some_and(Option::is_some)
    }

    /// False of a message that cannot have been sent yet: at a site, what others send is known a little
    /// later than it comes, and a server must not have its bits passed over.
    #[inline]
    pub(crate) fn is_near(index: u64, step: &StepLedger) -> bool {
        let near = u64::from(step.released()) + WORDS as u64 * 64;
        index < near.min(step.len().into())
    }

    /// A message has come. `false` when its client had it before.
    pub(crate) fn note(&mut self, slot: u32, index: u32, now_ns: u64, step: &StepLedger) -> bool {
        let visit = self.of.get_mut(slot as usize).and_then(Option::as_mut);
        visit.is_none_or(|visit| visit.note(index, now_ns, step, &mut self.spans))
    }

    /// A client has left. Returns how many messages it must have had and had not.
    pub(crate) fn end(&mut self, slot: u32, left_ns: u64, step: Option<&StepLedger>) -> u64 {
        let visit = self.of.get_mut(slot as usize).and_then(Option::take);
        match (visit, step) {
            (Some(visit), Some(step)) => visit.lost(left_ns, step, &mut self.spans),
            _ => 0,
        }
    }

    /// The same of all that are there: the step ends, and they stay for the next.
    pub(crate) fn end_step(&mut self, now_ns: u64, step: &StepLedger) -> u64 {
        let visits = self.of.iter().flatten();
        let lost = visits.map(|visit| visit.lost(now_ns, step, &mut self.spans));
        lost.sum()
    }

    /// How many visits of the step there were.
    pub(crate) const fn count(&self) -> u64 {
        self.begun
    }
}

#[cfg(test)]
mod tests;
