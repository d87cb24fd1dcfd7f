//! Dialogues: a client sends its next request when it has thought about the answer before.
//!
//! When a client begins is a function of its number, as any send by the clock. Every later request of it is
//! due at a time after an answer, from which its latency counts.

use super::send_queue::Send;
use super::{Clients, Requests, Slot};
use crate::message::DialoguesPart;
use crate::verify::StepLedger;
use std::sync::Arc;

impl Requests {
    /// Requests have their answers, each at its time.
    pub(super) fn continue_dialogues(&mut self, answered: Vec<(u32, u64)>) {
        let Some(ledger) = self.verifier.step().cloned() else {
            return;
        };
        for (index, at_ns) in answered {
            self.turn_over(&ledger, index, at_ns);
        }
    }

    /// A request has its answer, or was sent and awaits none.
    pub(super) fn turn_over(&mut self, ledger: &StepLedger, index: u32, at_ns: u64) {
        let Some(part) = &mut self.dialogues else {
            return;
        };
        if let Some(kind) = ledger.kind(index).filter(|_| ledger.is_answered(index)) {
            let due_ns = ledger.when_sent(index).map_or(at_ns, |sent| sent.due_ns);
            part.answered(kind, at_ns.saturating_sub(due_ns));
        }
        if let Some((index, think_ns)) = ledger.next_turn(index) {
            self.by_clock.push(Send {
                index,
                client: ledger.sender(index),
                due_ns: at_ns.saturating_add(think_ns),
            });
            return;
        }
        let first = u64::from(index) % ledger.clients();
        if let Some(begun) = ledger.when_sent(first as u32) {
            part.finished(at_ns.saturating_sub(begun.due_ns));
        }
    }

    /// The client that is to send a request of a dialogue, which no other sends in its place.
    pub(super) fn speaker(
        &mut self,
        ledger: &Arc<StepLedger>,
        (index, slot): (u32, Slot),
        clients: &dyn Clients,
    ) -> Option<Slot> {
        if slot < clients.slots() && clients.is_ready(slot) {
            return ledger.is_open(index).then_some(slot);
        }
        self.leave_dialogue(slot, clients.now_ns());
        None
    }

    /// A client is gone: it does not send the rest.
    pub(super) fn leave_dialogue(&mut self, slot: Slot, now_ns: u64) {
        let Some(ledger) = self.verifier.step().cloned() else {
            return;
        };
        if self.dialogues.is_none() {
            return;
        }
        let client = u64::from(slot) * u64::from(self.workers) + u64::from(self.number);
        for index in ledger.unsent_of(client) {
            self.verifier.sent_unanswered(&ledger, index, now_ns);
        }
    }

    /// What came of them in the step.
    pub(super) fn take_dialogues(&mut self) -> Option<Box<DialoguesPart>> {
        let part = self.dialogues.as_mut()?;
        if let Some(ledger) = self.verifier.step() {
            let own = (u64::from(self.number)..ledger.clients()).step_by(self.workers as usize);
            let begun = own.filter(|client| ledger.when_sent(*client as u32).is_some());
            part.begun = begun.count() as u64;
        }
        Some(std::mem::take(part))
    }
}
