//! Sending samples. One counts as sent when the kernel has taken the last byte of its frame.
//!
//! It is noted as sent before the bytes go, since a delivery of it may reach a client of another
//! worker before the call returns, and taken back when the kernel did not take all of them: then the
//! peer cannot have it, and nothing of it can have come.

use super::backlog::Request;
use super::{Core, Report};
use crate::clock;
use crate::io::{Control, Token};
use crate::ledger::{Sent, StepLedger};
use crate::site::Started;
use ws_proto::{FrameHeader, apply_mask, encode_header};

/// About as many as an outgoing burst of one event's time.
pub(super) const SENDS_AT_ONCE: u32 = 64;

impl Core {
    /// Sends a sample, or has it wait for its connection.
    pub(super) fn send_sample<C: Control>(&mut self, control: &mut C, request: Request) {
        let Some(ledger) = self.judge.step().cloned() else {
            return;
        };
        let workers = u64::from(self.workers);
        let Some(slot) = self.next_alive((request.client / workers) as Token) else {
            return;
        };
        if self.backlog.holds(slot) || self.is_blocked(slot) {
            let now_ns = clock::now_ns();
            let request = self.note_lag(&ledger, request, now_ns);
            self.hold_back(&ledger, request, now_ns);
            self.backlog.push(slot, request);
        } else {
            self.write_sample(control, &ledger, slot, request);
        }
    }

    /// Before bytes that wait are written: the frame that was cut may be complete by that.
    pub(super) fn before_flush(&mut self, slot: Token) {
        if let Some(request) = self.backlog.cut(slot)
            && let Some(ledger) = self.judge.step()
        {
            ledger.sent(request.index, self.sent_now(slot, request));
        }
    }

    /// After that: sends more where the socket takes it.
    pub(super) fn after_flush<C: Control>(&mut self, control: &mut C, slot: Token) {
        if !self.backlog.holds(slot) {
            return;
        }
        let Some(ledger) = self.judge.step().cloned() else {
            return;
        };
        if self.is_blocked(slot) {
            if let Some(request) = self.backlog.cut(slot) {
                ledger.take_back(request.index);
            }
            return;
        }
        if let Some(request) = self.backlog.take_cut(slot) {
            self.tell_sent(&ledger, request.index);
        }
        self.send_waiting(control, &ledger, slot);
    }

    /// Gives more to the connections that took all they were given.
    pub(super) fn send_ready<C: Control>(&mut self, control: &mut C) {
        for slot in self.backlog.take_ready() {
            self.after_flush(control, slot);
        }
    }

    /// What waits for a connection that is lost is sent by other clients.
    pub(super) fn send_elsewhere(&mut self, slot: Token) {
        if !self.backlog.holds(slot) {
            return;
        }
        if let Some(request) = self.backlog.cut(slot)
            && let Some(ledger) = self.judge.step()
        {
            ledger.take_back(request.index);
        }
        self.to_send.extend(self.backlog.remove(slot));
    }

    fn send_waiting<C: Control>(&mut self, control: &mut C, ledger: &StepLedger, slot: Token) {
        for _ in 0..SENDS_AT_ONCE {
            let Some(request) = self.backlog.next(slot) else {
                break;
            };
            self.write_sample(control, ledger, slot, request);
            if !self.judge.is_alive(slot) || self.backlog.cut(slot).is_some() {
                return;
            }
        }
        if !self.backlog.drop_empty(slot) {
            self.backlog.set_ready(slot);
        }
    }

    fn write_sample<C: Control>(
        &mut self,
        control: &mut C,
        ledger: &StepLedger,
        slot: Token,
        request: Request,
    ) {
        let stamp = self
            .judge
            .stamp(ledger.first_sample + u64::from(request.index));
        let mut frame = std::mem::take(&mut self.scratch);
        self.encode_request(ledger, stamp, &mut frame);
        let sent = self.sent_now(slot, request);
        if sent.at_ns >= self.cutter.end_ns {
            self.cut(sent.at_ns);
        }
        self.sent_bytes += frame.len() as u64;
        let request = self.note_lag(ledger, request, sent.at_ns);
        ledger.sent(request.index, sent);
        let taken = self.send_bytes(control, slot, &frame);
        self.scratch = frame;
        if taken == Some(false) {
            ledger.take_back(request.index);
            self.hold_back(ledger, request, sent.at_ns);
            self.backlog.set_cut(slot, request);
        } else {
            // One that a broken connection had is lost with it.
            self.tell_sent(ledger, request.index);
        }
    }

    fn sent_now(&self, slot: Token, request: Request) -> Sent {
        let at_ns = clock::now_ns();
        Sent {
            due_ns: request.due_ns.unwrap_or(at_ns),
            at_ns,
            sender: slot * self.workers + self.number,
        }
    }

    /// How late the generator comes to a sample, whether or not the connection takes it then.
    fn note_lag(&mut self, ledger: &StepLedger, request: Request, now_ns: u64) -> Request {
        if let Some(due_ns) = request.due_ns
            && request.is_new
            && ledger.is_timed(request.index)
        {
            let lag_ns = now_ns.saturating_sub(due_ns);
            self.judge.latencies.send_lag.record(lag_ns);
        }
        Request {
            is_new: false,
            ..request
        }
    }

    fn hold_back(&self, ledger: &StepLedger, request: Request, now_ns: u64) {
        let since_ns = request.due_ns.unwrap_or(now_ns);
        if ledger.hold_back(request.index, since_ns) && ledger.is_shared() {
            self.report(Report::HeldBack(request.index));
        }
    }

    /// The kernel has a whole frame. Of a site: the coordinator and the other sites are to know.
    fn tell_sent(&mut self, ledger: &StepLedger, index: u32) {
        self.sent += 1;
        if ledger.is_shared()
            && let Some(sent) = ledger.when_sent(index)
        {
            self.report(Report::Sent(Started {
                index,
                sender: sent.sender,
                due_ns: sent.due_ns,
                at_ns: sent.at_ns,
            }));
        }
    }

    /// The first client at or after `slot` that is alive.
    fn next_alive(&self, slot: Token) -> Option<Token> {
        let slots = self.clients.len() as Token;
        (slot..slots)
            .chain(0..slot)
            .find(|slot| self.judge.is_alive(*slot))
    }

    /// Writes the whole frame of a request into `frame`.
    fn encode_request(&mut self, ledger: &StepLedger, stamp: u64, frame: &mut Vec<u8>) {
        let mask = self.draw_mask();
        let codec = self.judge.codec();
        let mut payload = Vec::new();
        codec.request(ledger.workload, stamp, &mut payload);
        frame.clear();
        encode_header(
            frame,
            &FrameHeader {
                fin: true,
                opcode: codec.opcode(),
                mask: Some(mask),
                payload_len: payload.len() as u64,
            },
        );
        apply_mask(&mut payload, mask);
        frame.extend_from_slice(&payload);
    }
}
