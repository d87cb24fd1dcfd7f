//! Sending samples. One counts as sent when the kernel has taken the last byte of its frame.
//!
//! It is noted as sent before the write, since a delivery of it may reach a client of another worker
//! before the write returns. The note is taken back when the kernel did not take the whole frame: then
//! the peer cannot have the request, and nothing of it can have come.

use super::backlog::Request;
use super::{Clients, Requests, Slot, Way};
use crate::dialect::Returns;
use crate::message::{Report, Samples, SentSample};
use crate::verify::{Sent, StepLedger};
use std::sync::Arc;

/// Most samples that are sent before the loop reads again.
const SENDS_AT_ONCE: u32 = 64;

impl Requests {
    /// Sends a sample, or has it wait for its connection. Nothing is sent of a step that was given up:
    /// another worker may have released a sample before it heard of that, and such a request would be in
    /// no count.
    pub(super) fn send_sample(&mut self, request: Request, clients: &mut dyn Clients) {
        if self.verifier.is_given_up() {
            return;
        }
        let Some(ledger) = self.verifier.step().cloned() else {
            return;
        };
        let planned = request.client / u64::from(self.workers);
        let room = ledger.room(request.index);
        let slot = match self.dialogues {
            None => self.sender(planned as Slot, room, clients),
            Some(_) => self.speaker(&ledger, (request.index, planned as Slot), clients),
        };
        let Some(slot) = slot else {
            return;
        };
        if self.publish_sample(&ledger, slot, request, clients) {
            return;
        }
        if self.backlog.holds(slot) || clients.is_blocked(slot) {
            let now_ns = clients.now_ns();
            let request = self.note_lag(&ledger, request, now_ns);
            hold_back(&ledger, request, now_ns, clients);
            self.backlog.push(slot, request);
        } else {
            self.write_sample(&ledger, slot, request, clients);
        }
    }

    /// Sends what is due by the clock, however late it is. The number is bounded, so that at a rate
    /// that cannot be met this worker still reads, and still obeys the command to give up.
    pub(super) fn send_by_clock(&mut self, clients: &mut dyn Clients) {
        for _ in 0..SENDS_AT_ONCE {
            let Some(send) = self.by_clock.take_due(clients.now_ns()) else {
                break;
            };
            self.settle_lost(clients);
            self.send_sample(Request::due(send.index, send.client, send.due_ns), clients);
        }
        self.settle_lost(clients);
    }

    /// Called before waiting bytes are written, which may complete a frame that was cut.
    pub(super) fn note_cut_as_sent(&self, slot: Slot, now_ns: u64) {
        if let Some(request) = self.backlog.cut(slot)
            && let Some(ledger) = self.verifier.step()
        {
            ledger.sent(request.index, self.sent_at(now_ns, slot, request));
        }
    }

    /// Called after that: sends more where the socket takes it.
    pub(super) fn send_rest(&mut self, slot: Slot, clients: &mut dyn Clients) {
        if !self.backlog.holds(slot) {
            return;
        }
        let Some(ledger) = self.verifier.step().cloned() else {
            return;
        };
        if !clients.has_gone(slot) {
            if let Some(request) = self.backlog.cut(slot) {
                ledger.take_back(request.index);
            }
            return;
        }
        if let Some(request) = self.backlog.take_cut(slot) {
            self.tell_sent(&ledger, slot, request.index, clients);
        }
        // What the server asked for and does not read.
        if clients.is_blocked(slot) {
            return;
        }
        self.send_waiting(&ledger, slot, clients);
    }

    /// Gives more to the connections that took all they were given.
    pub(super) fn send_ready(&mut self, clients: &mut dyn Clients) {
        for slot in self.backlog.take_ready() {
            self.send_rest(slot, clients);
        }
    }

    /// What waits for a connection that is lost is sent by other clients.
    pub(super) fn send_elsewhere(&mut self, slot: Slot) {
        if !self.backlog.holds(slot) {
            return;
        }
        if let Some(request) = self.backlog.cut(slot)
            && let Some(ledger) = self.verifier.step()
        {
            ledger.take_back(request.index);
        }
        self.to_send.extend(self.backlog.remove(slot));
    }

    /// The first ready client at or after `slot` that samples wait for and that is in the room; if there
    /// is none, the first in any room; and if there is none of these, the first that is ready.
    fn sender(&self, slot: Slot, room: u32, clients: &dyn Clients) -> Option<Slot> {
        let ready = || {
            let slots = (slot..clients.slots()).chain(0..slot);
            slots.filter(|slot| clients.is_ready(*slot))
        };
        let awaited = || ready().filter(|slot| !self.verifier.is_unawaited(*slot));
        let member = awaited().find(|slot| self.verifier.room(*slot) == room);
        member
            .or_else(|| awaited().next())
            .or_else(|| ready().next())
    }

    fn send_waiting(&mut self, ledger: &Arc<StepLedger>, slot: Slot, clients: &mut dyn Clients) {
        for _ in 0..SENDS_AT_ONCE {
            let Some(request) = self.backlog.next(slot) else {
                break;
            };
            self.write_sample(ledger, slot, request, clients);
            if !clients.is_ready(slot) || self.backlog.cut(slot).is_some() {
                return;
            }
        }
        if !self.backlog.drop_empty(slot) {
            self.backlog.set_ready(slot);
        }
    }

    fn write_sample(
        &mut self,
        ledger: &Arc<StepLedger>,
        slot: Slot,
        request: Request,
        clients: &mut dyn Clients,
    ) {
        let sample = ledger.first_sample + u64::from(request.index);
        let mask = (clients.draw() as u32).to_ne_bytes();
        let room = ledger.room(request.index);
        let stamp = self.verifier.stamp(sample);
        let way = match ledger.kind(request.index) {
            Some(kind) => Way::Script(kind),
            None => Way::Room(room),
        };
        let codec = self.verifier.codec();
        self.writer.write(codec, (way, stamp), mask, slot, clients);
        let sequence = match self.says_sequence {
            true => clients.end_message(slot),
            false => None,
        };
        let sent = self.sent_at(clients.now_ns(), slot, request);
        if sent.at_ns >= self.cutter.end_ns {
            self.cut(sent.at_ns);
        }
        self.sent_bytes += self.writer.frames().len() as u64;
        let request = self.note_lag(ledger, request, sent.at_ns);
        ledger.sent(request.index, sent);
        if ledger.is_answered(request.index) {
            self.verifier.asked(slot, stamp, sequence);
        }
        if clients.send(slot, self.writer.frames()) == Some(false) {
            ledger.take_back(request.index);
            hold_back(ledger, request, sent.at_ns, clients);
            self.backlog.set_cut(slot, request);
        } else {
            // One that a broken connection had is lost with it.
            self.tell_sent(ledger, slot, request.index, clients);
        }
    }

    pub(super) fn sent_at(&self, at_ns: u64, slot: Slot, request: Request) -> Sent {
        Sent {
            due_ns: request.due_ns.unwrap_or(at_ns),
            at_ns,
            sender: slot * self.workers + self.number,
        }
    }

    /// Records how late the generator is with a sample, whether or not the connection takes it.
    fn note_lag(&mut self, ledger: &StepLedger, request: Request, now_ns: u64) -> Request {
        if let Some(due_ns) = request.due_ns
            && request.is_new
            && ledger.is_timed(request.index)
        {
            let lag_ns = now_ns.saturating_sub(due_ns);
            self.verifier.tally.latencies.send_lag.record(lag_ns);
        }
        Request {
            is_new: false,
            ..request
        }
    }

    /// The kernel has a whole frame. At a site, the coordinator and the other sites are told.
    pub(super) fn tell_sent(
        &mut self,
        ledger: &Arc<StepLedger>,
        slot: Slot,
        index: u32,
        clients: &mut dyn Clients,
    ) {
        self.sent += 1;
        if self.returns != Returns::BOTH {
            self.verifier.sent_in_part(ledger, index, slot);
        }
        if !ledger.is_answered(index) {
            let now_ns = clients.now_ns();
            self.verifier.sent_unanswered(ledger, index, now_ns);
            self.turn_over(ledger, index, now_ns);
        }
        if ledger.is_shared()
            && let Some(sent) = ledger.when_sent(index)
        {
            clients.report(Report::Samples(Samples {
                sent: vec![SentSample {
                    index,
                    sender: sent.sender,
                    due_ns: sent.due_ns,
                    at_ns: sent.at_ns,
                }],
                ..Samples::default()
            }));
        }
    }
}

fn hold_back(ledger: &StepLedger, request: Request, now_ns: u64, clients: &mut dyn Clients) {
    let since_ns = request.due_ns.unwrap_or(now_ns);
    if ledger.hold_back(request.index, since_ns) && ledger.is_shared() {
        clients.report(Report::Samples(Samples {
            held_back: vec![request.index],
            ..Samples::default()
        }));
    }
}
