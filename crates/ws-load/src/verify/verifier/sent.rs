//! Requests that were sent and of which their sender hears nothing.

use super::Verifier;
use crate::dialect::Kind;
use crate::figures::Arrival;
use crate::verify::first_answers::Answers;
use crate::verify::ledger::{Read, Received, StepLedger};
use plan::Audience;
use std::sync::Arc;

impl Verifier {
    /// A request that has no answer was sent, or one will not be sent: nothing of it is awaited.
    pub(crate) fn sent_unanswered(&mut self, step: &StepLedger, index: u32, now_ns: u64) {
        if step.take_echo(index) {
            step.abandon(index);
            self.settle(step, index, Arrival::from(now_ns));
        }
    }

    /// A request was sent by the client in `slot`, which does not get both its copy and a result: it does
    /// not wait for what it does not get.
    pub(crate) fn sent_in_part(&mut self, step: &Arc<StepLedger>, index: u32, slot: u32) {
        let Some(sent) = step.when_sent(index) else {
            return;
        };
        let at = Arrival::from(sent.at_ns);
        if !self.terms.returns.result {
            self.expect_no_result(slot);
        }
        let listeners = self.crowd.listeners();
        let has_copy = !self.terms.returns.copy && self.room(slot) == step.room(index);
        let copy = has_copy.then(|| self.steps.window.deliver(step, listeners, index, slot, at));
        let has_result = !self.terms.returns.result;
        let result = has_result.then(|| self.steps.window.result(step, listeners, index, slot, at));
        let last = copy.into_iter().chain(result).find_map(|of| match of {
            Received::Due { party_done, .. } => party_done,
            _ => None,
        });
        if let Some(last) = last {
            self.settle(step, index, last);
        }
    }

    /// The answer to a publication over HTTP has come: the result of the client in `slot`.
    pub(crate) fn publication_taken(&mut self, slot: u32, stamp: u64, at_ns: u64, now_ns: u64) {
        let Some(step) = &self.steps.now else { return };
        let kind = match step.audience {
            Audience::Room(_) => Kind::Published,
            _ => Kind::Result,
        };
        self.first_answers.understood(kind.into());
        self.reading.read = Read {
            at_ns: now_ns,
            unread_ns: now_ns.saturating_sub(at_ns),
            is_result: true,
        };
        self.reading.slack_ns = 0;
        self.account(slot, kind, stamp, None, at_ns);
    }

    /// Another answer to one has come, or none.
    pub(crate) fn publication_refused(&mut self) {
        self.first_answers.understood(Answers::ALL);
        self.tally.faults.refused += 1;
    }

    /// A request was sent that has no result.
    fn expect_no_result(&mut self, slot: u32) {
        let slot = slot as usize;
        if self.unconfirmed.len() <= slot {
            self.unconfirmed.resize(slot + 1, 0);
        }
        self.unconfirmed[slot] += 1;
    }

    /// Takes a message that no rule matches for the result of a request of its client, if that has sent
    /// one more than it got such messages.
    pub(super) fn note_unasked(&mut self, slot: u32) {
        if let Some(requests) = self.unconfirmed.get_mut(slot as usize)
            && *requests > 0
        {
            *requests -= 1;
            self.tally.of_sender.unasked += 1;
        }
    }

    /// Counts what reached its own sender, where it must not.
    #[cold]
    pub(super) fn count_returned(&mut self, kind: Kind) {
        self.tally.faults.misdirected += 1;
        match kind.is_result() {
            true => self.tally.of_sender.unasked += 1,
            false => self.tally.of_sender.copies += 1,
        }
    }

    /// True of a client that came after the step of a sample whose sender gets neither a copy nor a result.
    #[cold]
    pub(super) fn is_newer_than(&self, slot: u32, sample: u64) -> bool {
        let step = self
            .steps
            .so_far
            .iter()
            .rfind(|(first, _)| *first <= sample);
        let client = self.crowd.number(slot);
        let is_told_nothing = !self.terms.returns.copy && !self.terms.returns.result;
        is_told_nothing && step.is_some_and(|(_, clients)| client >= *clients)
    }

    /// True of a message that reached its own sender, where it must not.
    #[inline]
    pub(super) fn is_of_itself(
        &self,
        step: &StepLedger,
        kind: Kind,
        index: u32,
        slot: u32,
    ) -> bool {
        let comes = match kind {
            Kind::Echo => true,
            Kind::Broadcast | Kind::Message => self.terms.returns.copy,
            Kind::Result | Kind::Published => self.terms.returns.result,
        };
        !comes && self.crowd.listeners().sent(step, index, slot)
    }
}
