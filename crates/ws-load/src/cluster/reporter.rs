//! What the workers of a site report, put together: samples in batches, parts merged.

use crate::clock;
use crate::control::resident_bytes;
use crate::message::{Report, Samples, StepPart, Unable};
use crate::worker::{Progress, Watchdog, WorkerPool, hung};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// The first sample after a pause is reported at once. Those that follow closely are reported together
/// after this time: in a closed loop the next samples wait for them, and a report for each would cost
/// more than it saves.
const GATHER: Duration = Duration::from_micros(200);
/// How often the number of connections is reported.
const TICK: Duration = Duration::from_millis(50);
/// Up to this many sites report it that often; with more sites each reports it less often, so that
/// the coordinator's one thread has time for other work.
const TELLING: u32 = 8;

/// CPU time of this process at both ends of a step.
#[derive(Debug, Default)]
pub(super) struct CpuMarks {
    began_ns: AtomicU64,
    ended_ns: AtomicU64,
}

impl CpuMarks {
    pub(super) fn began(&self) {
        let cpu_ns = clock::process_cpu_ns();
        self.began_ns.store(cpu_ns, Ordering::Release);
    }

    pub(super) fn ended(&self) {
        let cpu_ns = clock::process_cpu_ns();
        self.ended_ns.store(cpu_ns, Ordering::Release);
    }

    fn between(&self) -> u64 {
        let ended_ns = self.ended_ns.load(Ordering::Acquire);
        ended_ns.saturating_sub(self.began_ns.load(Ordering::Acquire))
    }
}

pub(super) struct Reporter {
    reports: Receiver<(u32, Report)>,
    workers: usize,
    progress: Arc<Progress>,
    watchdog: Watchdog,
    over: Arc<AtomicBool>,
    tell: Arc<dyn Fn(Report) + Send + Sync>,
    cpu: Arc<CpuMarks>,
    samples: Samples,
    /// When samples were reported last.
    told_ns: u64,
    /// The number of connections that was reported last, and when the next report is due.
    connected: u64,
    count_ns: u64,
    tick: Duration,
    /// How many workers have answered the last command to open.
    opened: usize,
    /// Why one of them could not connect all its clients.
    exhausted: Option<Unable>,
    begun: usize,
    held: usize,
    parts: usize,
    part: StepPart,
}

impl Reporter {
    pub(super) fn new(
        pool: &mut WorkerPool,
        tell: Arc<dyn Fn(Report) + Send + Sync>,
        cpu: Arc<CpuMarks>,
        sites: u32,
    ) -> Self {
        Self {
            reports: pool.take_reports(),
            workers: pool.len(),
            progress: pool.progress(),
            watchdog: pool.watchdog(),
            over: Arc::default(),
            tell,
            cpu,
            samples: Samples::default(),
            told_ns: 0,
            connected: 0,
            count_ns: 0,
            tick: TICK * sites.div_ceil(TELLING),
            opened: 0,
            exhausted: None,
            begun: 0,
            held: 0,
            parts: 0,
            part: StepPart::default(),
        }
    }

    /// Has it end when `over` becomes true, although a worker may still report.
    pub(super) fn end_with(&mut self, over: &Arc<AtomicBool>) {
        self.over = Arc::clone(over);
    }

    /// Runs until the last worker has ended.
    pub(super) fn run(mut self) {
        clock::wake_precisely();
        loop {
            match self.reports.recv_timeout(self.patience()) {
                Ok((_, report)) => self.take(report),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // Before the last look at what was reported until then.
            let is_over = self.over.load(Ordering::Relaxed);
            while let Ok((_, report)) = self.reports.try_recv() {
                self.take(report);
            }
            if !self.samples.is_empty() && self.patience().is_zero() {
                self.tell_samples();
            }
            if is_over {
                break;
            }
            if let Some(worker) = self.watchdog.look() {
                self.say(Report::Lost(hung(worker, self.workers)));
            }
            if clock::now_ns() >= self.count_ns {
                self.count_ns = clock::now_ns() + clock::nanos(self.tick);
                self.tell_connected();
            }
        }
    }

    /// Time until the next report is due.
    fn patience(&self) -> Duration {
        if self.samples.is_empty() {
            return self.tick;
        }
        let next_ns = self.told_ns + clock::nanos(GATHER);
        Duration::from_nanos(next_ns.saturating_sub(clock::now_ns()))
    }

    fn take(&mut self, report: Report) {
        match report {
            Report::Samples(samples) => self.samples.extend(samples),
            Report::Opened => self.take_opened(),
            // The others may still be opening clients.
            Report::OpenFailed(unable) if unable.machine_limit => {
                self.exhausted.get_or_insert(unable);
                self.take_opened();
            }
            Report::OpenFailed(unable) => {
                self.tell_connected();
                self.say(Report::OpenFailed(unable));
            }
            Report::Begun => {
                self.begun += 1;
                if self.begun == self.workers {
                    self.begun = 0;
                    self.cpu.began();
                    self.say(Report::Begun);
                }
            }
            Report::Held => {
                self.held += 1;
                if self.held == self.workers {
                    self.held = 0;
                    self.tell_connected();
                    self.say(Report::Held);
                }
            }
            Report::Part(part) => {
                self.part.merge(*part);
                self.parts += 1;
                if self.parts == self.workers {
                    self.parts = 0;
                    self.tell_part();
                }
            }
            // It may overtake samples, which it says nothing of.
            report @ Report::Interval(_) => (self.tell)(report),
            report @ (Report::AllLost | Report::NotUnderstood(_) | Report::Broken(_)) => {
                self.say(report);
            }
            // Only the coordinator knows which sample is the last; the others are not a thread's.
            _ => {}
        }
    }

    fn take_opened(&mut self) {
        self.opened += 1;
        if self.opened < self.workers {
            return;
        }
        self.opened = 0;
        self.tell_connected();
        match self.exhausted.take() {
            Some(unable) => self.say(Report::OpenFailed(unable)),
            None => self.say(Report::Opened),
        }
    }

    fn tell_part(&mut self) {
        let mut part = std::mem::take(&mut self.part);
        part.process_cpu_ns = self.cpu.between();
        part.resident_bytes = resident_bytes();
        self.say(Report::Part(Box::new(part)));
    }

    /// Sends a report, after those that wait.
    fn say(&mut self, report: Report) {
        if !self.samples.is_empty() {
            self.tell_samples();
        }
        (self.tell)(report);
    }

    fn tell_samples(&mut self) {
        self.told_ns = clock::now_ns();
        (self.tell)(Report::Samples(std::mem::take(&mut self.samples)));
    }

    fn tell_connected(&mut self) {
        let connected = self.progress.connected.load(Ordering::Relaxed);
        if connected != self.connected {
            self.connected = connected;
            (self.tell)(Report::Connected(connected));
        }
    }
}
