//! A worker's part of a step: sending samples, following up on complete ones, the final report.

use super::agenda::Agenda;
use super::hold::Hold;
use super::{Command, Core, Part, Report};
use crate::clock;
use crate::io::{Control, Token};
use crate::ledger::{Sent, StepLedger};
use crate::plan::Schedule;
use crate::series::{Counts, Cutter};
use crate::site::Started;
use std::sync::Arc;
use ws_proto::{FrameHeader, apply_mask, encode_header};

/// About as many as an outgoing burst of one event's time.
const SENDS_AT_ONCE: u32 = 64;

impl Core {
    pub(super) fn begin_step(&mut self, ledger: Arc<StepLedger>) {
        self.judge.open_step(ledger);
        // Opening and closing the books takes longer than a short step, and is not its work.
        self.reset_counters();
        self.report(Report::Begun);
    }

    pub(super) fn reset_counters(&mut self) {
        self.largest_lag_ns = 0;
        self.reads = 0;
        self.unstamped = 0;
        self.clock_steps = 0;
        self.judge.latencies.receive_lag.reset();
        self.judge.messages = 0;
        self.judge.received_bytes = 0;
        (self.sent, self.sent_bytes) = (0, 0);
        self.cutter = Cutter::default();
        self.step_cpu_start_ns = clock::thread_cpu_ns();
    }

    pub(super) fn finish_step(&mut self) {
        let cpu_ns = clock::thread_cpu_ns() - self.step_cpu_start_ns;
        self.to_send.clear();
        self.agenda = Agenda::default();
        self.judge.close_step();
        let counts = self.counts();
        let cutter = std::mem::take(&mut self.cutter);
        let rows = cutter.finish(counts, &self.judge.latencies.completion);
        let part = Part {
            thread: self.thread,
            latencies: std::mem::take(&mut self.judge.latencies),
            faults: std::mem::take(&mut self.judge.faults),
            first_malformed: self.judge.first_malformed.take(),
            first_disconnect: self.judge.first_disconnect.take(),
            messages: self.judge.messages,
            reads: self.reads,
            unstamped: self.unstamped,
            clock_steps: self.clock_steps,
            cpu_ns,
            largest_lag_ns: self.largest_lag_ns,
            counts,
            rows,
            held: self.hold.as_mut().map(Hold::take_part).unwrap_or_default(),
        };
        self.report(Report::Part(Box::new(part)));
    }

    fn counts(&self) -> Counts {
        Counts {
            sent: self.sent,
            received: self.judge.messages,
            sent_bytes: self.sent_bytes,
            received_bytes: self.judge.received_bytes,
            faults: self.judge.faults.total(),
        }
    }

    /// An interval of the step is over.
    #[cold]
    pub(super) fn cut(&mut self, now_ns: u64) {
        let counts = self.counts();
        self.cutter
            .cut(now_ns, counts, &self.judge.latencies.completion);
    }

    /// Releases the next sample for each one that was settled here.
    pub(super) fn follow_up(&mut self) {
        let Some(ledger) = self.judge.step().cloned() else {
            return;
        };
        if ledger.is_shared() {
            self.judge.finished = 0;
            let done = std::mem::take(&mut self.judge.done);
            self.report(Report::Done(done));
            return;
        }
        for _ in 0..std::mem::take(&mut self.judge.finished) {
            match ledger.release() {
                Some((index, client)) => self.hand_over(index, client),
                None if ledger.is_over() => self.report(Report::AllSamples),
                None => {}
            }
        }
    }

    /// Gives a sample to the worker that owns the client which is to send it.
    fn hand_over(&mut self, index: u32, client: u64) {
        let owner = (client % self.peers.len() as u64) as usize;
        if owner == self.number as usize {
            self.to_send.push_back((index, client));
        } else {
            self.peers[owner].tell(Command::Send { index, client });
        }
    }

    /// Sends the samples whose turn it is, and those that a failing send completes.
    #[inline]
    pub(super) fn send_due<C: Control>(&mut self, control: &mut C) {
        self.settle_lost();
        while let Some((index, client)) = self.to_send.pop_front() {
            self.send_sample(control, index, client, None);
            self.settle_lost();
        }
        if self.agenda.is_due(clock::now_ns()) {
            self.send_by_clock(control);
        }
    }

    /// Follows up on samples that lost clients alone were waited for in.
    #[inline]
    fn settle_lost(&mut self) {
        self.judge.settle_lost();
        if self.judge.finished > 0 {
            self.follow_up();
        }
    }

    /// Begins to send by the clock.
    pub(super) fn start(&mut self, schedule: Schedule, start_ns: u64) {
        let Some(ledger) = self.judge.step().cloned() else {
            return;
        };
        let (worker, workers) = (u64::from(self.number), u64::from(self.workers));
        let is_ours = move |client: u64| client % workers == worker;
        clock::wake_precisely();
        self.agenda = Agenda::new(schedule, start_ns, ledger, is_ours);
    }

    /// Sends what is due by the clock, however late it is; so many at a time that a rate which
    /// cannot be met keeps nobody from reading, or from being told to give up.
    pub(super) fn send_by_clock<C: Control>(&mut self, control: &mut C) {
        for _ in 0..SENDS_AT_ONCE {
            let Some(send) = self.agenda.take_due(clock::now_ns()) else {
                break;
            };
            self.settle_lost();
            self.send_sample(control, send.index, send.client, Some(send.due_ns));
        }
        self.settle_lost();
    }

    /// Sends a sample that is `due_ns`, or is due now.
    fn send_sample<C: Control>(
        &mut self,
        control: &mut C,
        index: u32,
        client: u64,
        due_ns: Option<u64>,
    ) {
        let Some(ledger) = self.judge.step().cloned() else {
            return;
        };
        let workers = u64::from(self.workers);
        let Some(slot) = self.next_alive((client / workers) as Token) else {
            return;
        };
        let sender = slot * self.workers + self.number;
        let stamp = self.stamp_of(&ledger, index);
        let mut frame = std::mem::take(&mut self.scratch);
        self.encode_request(&ledger, stamp, &mut frame);
        let at_ns = clock::now_ns();
        if at_ns >= self.cutter.end_ns {
            self.cut(at_ns);
        }
        self.sent += 1;
        self.sent_bytes += frame.len() as u64;
        let due_ns = due_ns.unwrap_or(at_ns);
        if ledger.by_clock && ledger.is_timed(index) {
            let lag_ns = at_ns.saturating_sub(due_ns);
            self.judge.latencies.send_lag.record(lag_ns);
        }
        let sent = Sent {
            due_ns,
            at_ns,
            sender,
        };
        ledger.sent(index, sent);
        if ledger.is_shared() {
            self.report(Report::Sent(Started {
                index,
                sender,
                due_ns,
                at_ns,
            }));
        }
        self.send_bytes(control, slot, &frame);
        self.scratch = frame;
    }

    /// The first client at or after `slot` that is alive.
    fn next_alive(&self, slot: Token) -> Option<Token> {
        let slots = self.clients.len() as Token;
        (slot..slots)
            .chain(0..slot)
            .find(|slot| self.judge.is_alive(*slot))
    }

    fn stamp_of(&self, ledger: &StepLedger, index: u32) -> u64 {
        self.judge.stamp(ledger.first_sample + u64::from(index))
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
