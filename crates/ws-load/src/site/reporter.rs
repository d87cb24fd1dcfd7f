//! What the workers of a site report, put into words: samples in batches, parts merged.

use super::{Done, SitePart, Started, Unable, Word};
use crate::clock;
use crate::engine::{Crew, Watchdog, hung, resident_bytes};
use crate::worker::{Progress, Report};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// The first sample after a pause is told at once, those that follow it closely together after this
/// time: in a closed loop somebody waits for them, and a word for each would cost more than it saves.
const GATHER: Duration = Duration::from_micros(200);
/// How often the number of connections is told.
const TICK: Duration = Duration::from_millis(50);
/// Sites that tell it so often; of more, each tells it less often. The coordinator's one thread would
/// be busy with nothing else, and on a machine that it shares with them it gets one turn in as many.
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
    reports: Receiver<Report>,
    workers: usize,
    progress: Arc<Progress>,
    watchdog: Watchdog,
    over: Arc<AtomicBool>,
    words: Arc<dyn Fn(Word) + Send + Sync>,
    cpu: Arc<CpuMarks>,
    sent: Vec<Started>,
    done: Vec<Done>,
    held_back: Vec<u32>,
    /// When samples were told last.
    told_ns: u64,
    /// The number of connections that was told last, and when the next is due.
    connected: u64,
    count_ns: u64,
    tick: Duration,
    /// How many workers have answered the last order to open.
    opened: usize,
    /// What has kept one of them from having all its clients.
    exhausted: Option<Unable>,
    begun: usize,
    held: usize,
    parts: usize,
    part: SitePart,
}

impl Reporter {
    pub(super) fn new(
        crew: &mut Crew,
        words: Arc<dyn Fn(Word) + Send + Sync>,
        cpu: Arc<CpuMarks>,
        sites: u32,
    ) -> Self {
        Self {
            reports: crew.take_reports(),
            workers: crew.len(),
            progress: crew.progress(),
            watchdog: crew.watchdog(),
            over: Arc::default(),
            words,
            cpu,
            sent: Vec::new(),
            done: Vec::new(),
            held_back: Vec::new(),
            told_ns: 0,
            connected: 0,
            count_ns: 0,
            tick: TICK * sites.div_ceil(TELLING),
            opened: 0,
            exhausted: None,
            begun: 0,
            held: 0,
            parts: 0,
            part: SitePart::default(),
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
                Ok(report) => self.hear(report),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // Before the last look at what was reported until then.
            let is_over = self.over.load(Ordering::Relaxed);
            while let Ok(report) = self.reports.try_recv() {
                self.hear(report);
            }
            if self.has_samples() && self.patience().is_zero() {
                self.tell_samples();
            }
            if is_over {
                break;
            }
            if let Some(worker) = self.watchdog.look() {
                self.say(Word::Hung(hung(worker, self.workers)));
            }
            if clock::now_ns() >= self.count_ns {
                self.count_ns = clock::now_ns() + clock::nanos(self.tick);
                self.tell_connected();
            }
        }
    }

    fn has_samples(&self) -> bool {
        !self.sent.is_empty() || !self.done.is_empty() || !self.held_back.is_empty()
    }

    /// How long nothing needs to be told.
    fn patience(&self) -> Duration {
        if !self.has_samples() {
            return self.tick;
        }
        let next_ns = self.told_ns + clock::nanos(GATHER);
        Duration::from_nanos(next_ns.saturating_sub(clock::now_ns()))
    }

    fn hear(&mut self, report: Report) {
        match report {
            Report::Sent(sample) => self.sent.push(sample),
            Report::Done(samples) => self.done.extend(samples),
            Report::HeldBack(sample) => self.held_back.push(sample),
            Report::Opened => self.hear_opened(),
            // The others may still have clients under way.
            Report::OpenFailed(error) if error.is_machine_limit() => {
                self.exhausted.get_or_insert((*error).into());
                self.hear_opened();
            }
            Report::OpenFailed(error) => {
                self.tell_connected();
                self.say(Word::OpenFailed((*error).into()));
            }
            Report::Begun => {
                self.begun += 1;
                if self.begun == self.workers {
                    self.begun = 0;
                    self.cpu.began();
                    self.say(Word::Begun);
                }
            }
            Report::Held => {
                self.held += 1;
                if self.held == self.workers {
                    self.held = 0;
                    self.tell_connected();
                    self.say(Word::Held);
                }
            }
            Report::Part(part) => {
                self.part.merge((*part).into());
                self.parts += 1;
                if self.parts == self.workers {
                    self.parts = 0;
                    self.tell_part();
                }
            }
            Report::AllLost => self.say(Word::AllLost),
            Report::NotUnderstood(words) => self.say(Word::NotUnderstood(words)),
            Report::Broken(error) => {
                self.say(Word::Broken(format!(
                    "the kernel refuses to go on: {error}"
                )));
            }
            // Only the coordinator knows when it is the last; packs are sent by one process alone.
            Report::AllSamples | Report::Packs(_) => {}
        }
    }

    fn hear_opened(&mut self) {
        self.opened += 1;
        if self.opened < self.workers {
            return;
        }
        self.opened = 0;
        self.tell_connected();
        match self.exhausted.take() {
            Some(unable) => self.say(Word::OpenFailed(unable)),
            None => self.say(Word::Opened),
        }
    }

    fn tell_part(&mut self) {
        let mut part = std::mem::take(&mut self.part);
        part.process_cpu_ns = self.cpu.between();
        part.resident_bytes = resident_bytes();
        self.say(Word::Part(Box::new(part)));
    }

    /// Says something, after what has been gathered.
    fn say(&mut self, word: Word) {
        if self.has_samples() {
            self.tell_samples();
        }
        (self.words)(word);
    }

    fn tell_samples(&mut self) {
        self.told_ns = clock::now_ns();
        (self.words)(Word::Samples {
            sent: std::mem::take(&mut self.sent),
            done: std::mem::take(&mut self.done),
            held_back: std::mem::take(&mut self.held_back),
        });
    }

    fn tell_connected(&mut self) {
        let connected = self.progress.connected.load(Ordering::Relaxed);
        if connected != self.connected {
            self.connected = connected;
            (self.words)(Word::Connected(connected));
        }
    }
}
