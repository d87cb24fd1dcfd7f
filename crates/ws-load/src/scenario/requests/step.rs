//! A worker's part of a step: whose turn it is, following up on settled samples, the final report.

use super::agenda::Agenda;
use super::backlog::Request;
use super::hold::Hold;
use super::send::SENDS_AT_ONCE;
use super::{Command, Core, Part, Report};
use crate::clock;
use crate::io::Control;
use crate::ledger::StepLedger;
use crate::plan::Schedule;
use crate::series::{Counts, Cutter};
use std::sync::Arc;

impl Core {
    pub(super) fn begin_step(&mut self, ledger: Arc<StepLedger>) {
        self.judge.open_step(ledger);
        // Opening and closing the ledger takes longer than a short step, and is not part of it.
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
        self.forget_sends();
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

    /// Sends nothing more of the step.
    pub(super) fn forget_sends(&mut self) {
        self.to_send.clear();
        self.backlog.clear();
        self.agenda = Agenda::default();
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
            self.to_send.push_back(Request::now(index, client));
        } else {
            self.peers[owner].tell(Command::Send { index, client });
        }
    }

    /// Sends the samples whose turn it is, and those that a failing send completes.
    #[inline]
    pub(super) fn send_due<C: Control>(&mut self, control: &mut C) {
        self.settle_lost();
        while let Some(request) = self.to_send.pop_front() {
            self.send_sample(control, request);
            self.settle_lost();
        }
        if self.backlog.has_ready() {
            self.send_ready(control);
            self.settle_lost();
        }
        if self.agenda.is_due(clock::now_ns()) {
            self.send_by_clock(control);
        }
    }

    /// True when there is something to send although nothing is due and nothing happens.
    pub(super) fn has_to_send(&self) -> bool {
        !self.to_send.is_empty() || self.backlog.has_ready()
    }

    /// Follows up on samples that waited for lost clients alone.
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

    /// Sends what is due by the clock, however late it is. The number is bounded, so that at a rate
    /// that cannot be met the loop still reads, and still obeys the command to give up.
    pub(super) fn send_by_clock<C: Control>(&mut self, control: &mut C) {
        for _ in 0..SENDS_AT_ONCE {
            let Some(send) = self.agenda.take_due(clock::now_ns()) else {
                break;
            };
            self.settle_lost();
            self.send_sample(control, Request::due(send.index, send.client, send.due_ns));
        }
        self.settle_lost();
    }
}
