//! Parts of answers: whose they are, which faults they are, and the ends of the answers.

use super::Verifier;
use crate::dialect::{Kind, Malformed, Progress, Whose};
use crate::message::StreamsPart;
use crate::verify::ledger::Sent;
use crate::verify::streams::{Came, PartFault};
use record::Faults;

/// What a client knows of a request.
enum Request {
    /// Its answer is awaited.
    Awaited(u32, Sent),
    /// It has its answer.
    Answered,
    /// It was never made, or by another client.
    Unknown,
    /// The step was given up.
    Forgotten,
}

impl Verifier {
    /// A part of an answer came.
    #[cold]
    pub(super) fn part(&mut self, slot: u32, part: Progress, payload: &[u8], at_ns: u64) {
        let stamp = match part.whose {
            Whose::Stamp(stamp) => Some(stamp),
            Whose::Sequence(sequence) => self.asked.peek(slot, sequence),
            Whose::Oldest => self.asked.peek_oldest(slot),
        };
        // One that was asked and is not any more has its answer.
        let request = stamp.map_or(Request::Answered, |stamp| self.request(slot, stamp));
        let (index, sent) = match request {
            Request::Awaited(index, sent) => (index, sent),
            Request::Forgotten => return,
            Request::Answered => return self.unawaited_part(|faults| &mut faults.duplicate),
            Request::Unknown => return self.unawaited_part(|faults| &mut faults.misdirected),
        };
        let Some(streams) = &mut self.streams else {
            return;
        };
        let is_timed = self.steps.now.as_ref().is_some_and(|of| of.is_timed(index));
        let came = Came {
            index,
            slot,
            sent,
            is_timed,
            at_ns,
        };
        match streams.part(came, part.part) {
            None => {}
            Some(PartFault::Duplicate) => self.tally.faults.duplicate += 1,
            Some(PartFault::Reordered) => {
                self.tally.faults.reordered += u64::from(self.terms.keeps_order)
            }
            Some(PartFault::Malformed) => {
                let why = "a part of an answer without a number that can be read";
                self.note_malformed(slot, payload, &Malformed(why.to_owned()));
            }
        }
        let of_kind = part.of_kind;
        if of_kind.is_some() && stamp.is_some_and(|stamp| self.kind_of(stamp) != of_kind) {
            self.tally.faults.corrupt += 1;
        }
    }

    fn unawaited_part(&mut self, class: impl Fn(&mut Faults) -> &mut u64) {
        *class(&mut self.tally.faults) += 1;
        if let Some(streams) = &mut self.streams {
            streams.unawaited();
        }
    }

    fn request(&self, slot: u32, stamp: u64) -> Request {
        let Some((step, sample)) = self.steps.now.as_ref().zip(self.terms.stamps.sample(stamp))
        else {
            return Request::Unknown;
        };
        if self.steps.given_up {
            return Request::Forgotten;
        }
        let Some(index) = sample.checked_sub(step.first_sample) else {
            return Request::Answered;
        };
        let Some(index) = u32::try_from(index).ok().filter(|of| *of < step.len()) else {
            return Request::Unknown;
        };
        let listeners = self.crowd.listeners();
        match step.when_sent(index) {
            Some(sent) if listeners.is_slot_of(sent.sender, slot) => match step.is_open(index) {
                true => Request::Awaited(index, sent),
                false => Request::Answered,
            },
            _ => Request::Unknown,
        }
    }

    /// As [`Verifier::account`], of an answer that was parsed: it is the last message of one that may have
    /// come in parts.
    #[cold]
    pub(super) fn account_last(
        &mut self,
        slot: u32,
        kind: Kind,
        stamp: u64,
        topic: Option<u32>,
        at_ns: u64,
    ) {
        let is_dialogue = self.steps.now.as_ref().is_some_and(|of| of.is_dialogue());
        if kind == Kind::Echo
            && (is_dialogue || self.streams.is_some())
            && let Request::Awaited(index, _) = self.request(slot, stamp)
        {
            self.answer_ends(slot, index);
            if is_dialogue {
                self.asides().answered.push((index, at_ns));
            }
        }
        self.account(slot, kind, stamp, topic, at_ns);
    }

    fn answer_ends(&mut self, slot: u32, index: u32) {
        let parts = self.reading.parts_said;
        let Some(streams) = &mut self.streams else {
            return;
        };
        let ended = streams.ends(index, parts);
        self.tally.faults.lost = self.tally.faults.lost.saturating_add(ended.missing);
        self.tally.faults.duplicate = self.tally.faults.duplicate.saturating_add(ended.surplus);
        if ended.is_unreadable {
            let why = "the last message of an answer, whose number of parts cannot be read";
            self.note_malformed(slot, &[], &Malformed(why.to_owned()));
        }
    }

    /// The connection of the client in this slot has ended, and with it what it was being told.
    pub(super) fn parts_cut(&mut self, slot: u32) {
        if let Some(streams) = &mut self.streams {
            let missing = streams.cut(|of| of == slot, true);
            self.tally.faults.lost = self.tally.faults.lost.saturating_add(missing);
        }
    }

    /// The step ends, and with it the answers whose last messages have not come.
    pub(super) fn finish_parts(&mut self) -> Option<Box<StreamsPart>> {
        let streams = self.streams.as_mut()?;
        let missing = streams.cut(|_| true, false);
        self.tally.faults.lost = self.tally.faults.lost.saturating_add(missing);
        Some(Box::new(streams.take()))
    }
}
