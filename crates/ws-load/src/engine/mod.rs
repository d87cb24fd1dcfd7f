//! The step controller: more clients, a step, its verdict, and again until something ends it.
//!
//! It runs on the caller's thread, tells workers what to do and listens to them. It touches no
//! socket and no message.

mod connect;
mod crew;
mod memory;
mod merge;
mod search;
mod throughput;

pub use throughput::{Packs, Throughput, throughput};

use crate::error::{ConnectError, RunError};
use crate::ledger::{StepLedger, Terms};
use crate::target::Target;
use crate::worker::{Command, Report};
use crate::{clock, plan};
use crew::Crew;
use run_record::{
    Edge, End, Event, OpenLoop, Outcome, Plan, StepRecord, Timestamps, Verdict, Workload,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often progress is told and time-outs are looked at.
const TICK: Duration = Duration::from_millis(100);
/// Between the call to start and the start of a schedule: every worker has heard it by then.
const START_IN: Duration = Duration::from_millis(5);
/// After the end of a schedule: what a send that is due at its very end, or a short one, may lose to
/// the scheduler of a loaded machine.
const SEND_SLACK: Duration = Duration::from_millis(50);
/// After the last sample of a step: the time in which a second copy of it would come.
const SETTLE: Duration = Duration::from_millis(50);
/// How long closing connections may take.
const CLOSE_PATIENCE: Duration = Duration::from_secs(3);

/// What a run brought.
#[derive(Debug)]
pub struct Measured {
    /// The steps, in order; the one that broke the limit is among them.
    pub steps: Vec<StepRecord>,
    /// How it ended.
    pub outcome: Outcome,
}

/// Carries out `plan`, telling `on_event` what happens, until a step is over the limit, the plan
/// is done, something breaks, or `interrupted` becomes true.
///
/// # Errors
/// [`RunError`] when no connection can even be tried. Whatever goes wrong after that is an
/// outcome, and the steps measured before it are kept.
pub fn run(
    plan: &Plan,
    interrupted: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<Measured, RunError> {
    run_with_ceiling(plan, None, interrupted, on_event)
}

/// As [`run`], where it is known how many messages per second this generator can receive here with
/// such a plan.
///
/// # Errors
/// As [`run`].
pub fn run_with_ceiling(
    plan: &Plan,
    ceiling: Option<f64>,
    interrupted: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<Measured, RunError> {
    // Where it gives none, the reads without a stamp are counted.
    let _stamping = match plan.timestamps {
        Timestamps::Kernel => crate::io::keep_stamps_on().ok(),
        Timestamps::User => None,
    };
    let mut engine = Engine::set_up(plan, ceiling, interrupted, on_event)?;
    let ended = match plan.search {
        Some(terms) => engine.search(terms),
        None => engine.steps(),
    };
    engine.crew.dismiss(CLOSE_PATIENCE);
    let outcome = Outcome {
        end: ended.end,
        detail: ended.detail,
        carried_clients: engine.carried(),
        edge: engine.edge,
    };
    (engine.on_event)(&Event::End {
        outcome: outcome.clone(),
    });
    Ok(Measured {
        steps: engine.steps,
        outcome,
    })
}

/// Why no further step is made.
struct Ended {
    end: End,
    detail: String,
}

impl Ended {
    fn new(end: End, detail: impl Into<String>) -> Self {
        Self {
            end,
            detail: detail.into(),
        }
    }
}

struct Engine<'a> {
    plan: &'a Plan,
    ceiling: Option<f64>,
    target: Arc<Target>,
    crew: Crew,
    interrupted: &'a AtomicBool,
    on_event: &'a mut dyn FnMut(&Event),
    steps: Vec<StepRecord>,
    /// Samples of the steps so far.
    samples: u64,
    /// What a search knows so far.
    edge: Option<Edge>,
    /// Memory of both sides, in a `connect` run.
    watch: Option<memory::Watch>,
}

/// What a step puts on the server.
#[derive(Clone, Debug)]
struct Load {
    clients: u64,
    open: Option<OpenLoop>,
}

impl<'a> Engine<'a> {
    /// An engine whose workers wait for their first order.
    fn set_up(
        plan: &'a Plan,
        ceiling: Option<f64>,
        interrupted: &'a AtomicBool,
        on_event: &'a mut dyn FnMut(&Event),
    ) -> Result<Self, RunError> {
        let target = Arc::new(Target::of(plan)?);
        let crew = Crew::of(plan, Arc::clone(&target)).map_err(RunError::Worker)?;
        Ok(Self {
            plan,
            ceiling,
            target,
            crew,
            interrupted,
            on_event,
            steps: Vec::new(),
            samples: 0,
            edge: None,
            watch: None,
        })
    }
}

impl Engine<'_> {
    fn steps(&mut self) -> Ended {
        for step in 0.. {
            if self.plan.total_steps.is_some_and(|total| step >= total) {
                let words = match step {
                    1 => "the one planned step was measured".to_owned(),
                    several => format!("all {several} planned steps were measured"),
                };
                return Ended::new(End::StepsDone, words);
            }
            let load = self.load_at(step);
            match self.step(step, &load) {
                Err(ended) | Ok(Some(ended)) => return ended,
                Ok(None) => {}
            }
        }
        unreachable!("a run ends before 2^32 steps")
    }

    fn load_at(&self, step: u32) -> Load {
        Load {
            clients: self.plan.clients_at(step),
            open: self.plan.open_loop.clone(),
        }
    }

    /// Measures a step. `Some` when it is to be the last; an error when it could not be measured.
    fn step(&mut self, step: u32, load: &Load) -> Result<Option<Ended>, Ended> {
        let clients = load.clients;
        if let Some(terms) = self.plan.connect {
            return self.connect_step(step, clients, terms);
        }
        let connecting = clock::now_ns();
        self.connect(step, clients)?;
        let connecting_ns = clock::now_ns() - connecting;
        let (mut record, early_end) = self.measure(step, load)?;
        record.connecting_ns = connecting_ns;
        let verdict = self.verdict(&record);
        self.steps.push(record.clone());
        (self.on_event)(&Event::Step {
            step,
            record: Box::new(record),
        });
        Ok(match verdict {
            // Neither a time-out nor an unfinished schedule is the server's then.
            Some(limited) if limited.end == End::GeneratorLimited => Some(limited),
            verdict => early_end.or(verdict),
        })
    }

    fn connect(&mut self, step: u32, wanted: u64) -> Result<(), Ended> {
        let workers = self.crew.len() as u64;
        for worker in 0..workers {
            let share = plan::share_of(wanted, worker, workers);
            self.crew.tell(worker as usize, Command::Open(share));
        }
        let mut waiting = workers;
        let mut exhausted = None;
        while waiting > 0 {
            self.check_interrupt()?;
            match self.crew.wait(TICK) {
                Some(Report::Opened) => waiting -= 1,
                // The others may still have clients under way: how many fit is what is told.
                Some(Report::OpenFailed(error)) if error.is_machine_limit() => {
                    exhausted.get_or_insert(error);
                    waiting -= 1;
                }
                Some(Report::OpenFailed(error)) => return Err(self.connect_failed(wanted, &error)),
                Some(other) => self.unexpected(other)?,
                None => {}
            }
            (self.on_event)(&Event::Connecting {
                step,
                connected: self.crew.connected(),
                wanted,
            });
        }
        match exhausted {
            Some(error) => Err(self.connect_failed(wanted, &error)),
            None => Ok(()),
        }
    }

    fn connect_failed(&self, wanted: u64, error: &ConnectError) -> Ended {
        let end = if error.is_machine_limit() {
            End::MachineLimit
        } else {
            End::ConnectFailed
        };
        let connected = self.crew.connected();
        Ended::new(
            end,
            format!("{connected} of {wanted} clients connected, then: {error}"),
        )
    }

    /// Takes the samples of a step. Besides its record: why the run cannot go on, if it cannot.
    fn measure(&mut self, step: u32, load: &Load) -> Result<(StepRecord, Option<Ended>), Ended> {
        let clients = load.clients;
        let schedule = load
            .open
            .clone()
            .map(|open| plan::Schedule::new(open, self.plan.seed, self.samples));
        let (samples, warm_up) = match &schedule {
            Some(schedule) => {
                affordable(schedule)?;
                countable(schedule.counts())?
            }
            None => (self.plan.sample_size, 0),
        };
        let parties = match self.plan.workload {
            Workload::Broadcast => clients.min(self.crew.len() as u64) as u32,
            Workload::Echo | Workload::Connect => 1,
        };
        let ledger = Arc::new(StepLedger::new(Terms {
            workload: self.plan.workload,
            seed: self.plan.seed,
            first_sample: self.samples,
            samples,
            warm_up,
            by_clock: schedule.is_some(),
            clients,
            parties,
        }));
        self.samples += u64::from(samples);
        self.begin(&ledger)?;
        let (began, cpu_began) = (clock::now_ns(), clock::process_cpu_ns());
        let sent_by = schedule.map(|schedule| {
            let start_ns = self.send_by_clock(&schedule);
            start_ns + schedule.length_ns() + clock::nanos(SEND_SLACK)
        });
        if sent_by.is_none() {
            self.send_first(&ledger);
        }
        let early_end = self.await_samples(step, clients, &ledger, sent_by)?;
        let ended = clock::now_ns();
        let elapsed_ns = ended - began;
        let cpu_ns = clock::process_cpu_ns() - cpu_began;
        if early_end.is_none() {
            std::thread::sleep(SETTLE);
        }
        let parts = self.collect_parts()?;
        let timed_out = matches!(
            early_end,
            Some(Ended {
                end: End::TimedOut,
                ..
            })
        );
        let merged = merge::Merged {
            plan: self.plan,
            clients,
            rate: load.open.as_ref().map(|open| open.rate),
            planned: u64::from(ledger.timed()),
            samples: u64::from(ledger.completed_timed()),
            // Of a schedule that was broken off, nobody can tell.
            sent: sent_by
                .filter(|end_ns| early_end.is_none() || ended > *end_ns)
                .map(|end_ns| ledger.sent_by(end_ns)),
            flight: ledger.flight(),
            elapsed_ns,
            warm_up_ns: load.open.as_ref().map_or(0, |open| open.warm_up_ns),
            cpu_ns,
            timed_out,
            parts,
        };
        let (mut record, words) = merged.into_record();
        let judgement = run_record::judge(&record, self.plan, self.ceiling);
        record.verdict = judgement.verdict;
        record.verdict_reasons = judgement.reasons;
        let early_end = early_end.map(|mut ended| {
            if let Some(words) = words {
                ended.detail.push_str("; the first malformed message: ");
                ended.detail.push_str(&words);
            }
            ended
        });
        Ok((record, early_end))
    }

    /// Fills the closed loop, all at once: requests that trickle in one by one would be served one
    /// by one for the rest of the step, and cost everybody more reads and writes.
    fn send_first(&self, ledger: &StepLedger) {
        for _ in 0..self.plan.concurrent {
            if let Some((index, client)) = ledger.release() {
                let owner = (client % self.crew.len() as u64) as usize;
                self.crew.tell_later(owner, Command::Send { index, client });
            }
        }
        self.crew.tell_all(|| Command::Wake);
    }

    /// Has every worker send its part of the schedule, from one moment on that all can meet.
    /// Returns that moment.
    fn send_by_clock(&self, schedule: &plan::Schedule) -> u64 {
        let start_ns = clock::now_ns() + clock::nanos(START_IN);
        self.crew.tell_all(|| Command::Start {
            schedule: schedule.clone(),
            start_ns,
        });
        start_ns
    }

    /// Tells all workers of a step, and waits until they know: a sample that one of them sends may
    /// reach another's clients at once.
    fn begin(&mut self, ledger: &Arc<StepLedger>) -> Result<(), Ended> {
        self.crew.tell_all(|| Command::Begin(Arc::clone(ledger)));
        let mut waiting = self.crew.len();
        while waiting > 0 {
            match self.crew.wait(TICK) {
                Some(Report::Begun) => waiting -= 1,
                Some(other) => self.unexpected(other)?,
                None => {}
            }
        }
        Ok(())
    }

    /// Waits for the last sample. `Some` when the step had to be given up.
    fn await_samples(
        &mut self,
        step: u32,
        clients: u64,
        ledger: &StepLedger,
        mut sent_by: Option<u64>,
    ) -> Result<Option<Ended>, Ended> {
        let mut told = 0;
        loop {
            let report = self.crew.wait(TICK);
            if matches!(report, Some(Report::AllSamples)) {
                return Ok(None);
            }
            let ended = match report {
                Some(Report::AllLost) => Some(Ended::new(
                    End::ServerLost,
                    format!("the server closed all connections at {clients} clients"),
                )),
                Some(other) => {
                    self.unexpected(other)?;
                    None
                }
                None => self.stalled(ledger),
            };
            let ended = ended
                .or_else(|| self.check_interrupt().err())
                .or_else(|| overtaken(ledger, &mut sent_by));
            if let Some(ended) = ended {
                let count = !matches!(ended.end, End::Interrupted | End::GeneratorLimited);
                self.crew.tell_all(|| Command::GiveUp { count });
                return Ok(Some(ended));
            }
            if clock::now_ns() - told >= clock::nanos(TICK) {
                told = clock::now_ns();
                (self.on_event)(&Event::Measuring {
                    step,
                    clients,
                    samples: u64::from(ledger.completed()),
                    wanted: u64::from(ledger.len()),
                });
            }
        }
    }

    fn stalled(&self, ledger: &StepLedger) -> Option<Ended> {
        let waited = clock::now_ns().saturating_sub(ledger.oldest_open()?);
        (waited > self.plan.timeouts.sample_ns).then(|| {
            Ended::new(
                End::TimedOut,
                format!(
                    "a {} was not complete after {} s (--sample-timeout)",
                    match self.plan.workload {
                        Workload::Echo | Workload::Connect => "sample (echo)",
                        Workload::Broadcast => "broadcast",
                    },
                    self.plan.timeouts.sample_ns as f64 / 1e9
                ),
            )
        })
    }

    fn collect_parts(&mut self) -> Result<Vec<crate::worker::Part>, Ended> {
        self.crew.tell_all(|| Command::Finish);
        let mut parts = Vec::new();
        while parts.len() < self.crew.len() {
            match self.crew.wait(TICK) {
                Some(Report::Part(part)) => parts.push(*part),
                Some(Report::Broken(error)) => return Err(broken(&error)),
                // Losses reported meanwhile are in the parts.
                Some(_) | None => {}
            }
        }
        Ok(parts)
    }

    /// Why no further step is made after this one.
    fn verdict(&self, record: &StepRecord) -> Option<Ended> {
        match record.verdict {
            Verdict::Noisy => return None,
            Verdict::GeneratorLimited => {
                return Some(Ended::new(
                    End::GeneratorLimited,
                    format!(
                        "at {} clients the generator, and not the server, was the limit: {}; {}",
                        record.clients,
                        record.verdict_reasons.join("; "),
                        run_record::remedy(self.plan.open_loop.as_ref())
                    ),
                ));
            }
            Verdict::Pass | Verdict::Fail => {}
        }
        if record.over_limit {
            let limit = &self.plan.limit;
            return Some(Ended::new(
                End::OverLimit,
                format!(
                    "at {} clients the {}th percentile is above {} ms",
                    record.clients,
                    limit.percentile,
                    limit.rtt_ns as f64 / 1e6
                ),
            ));
        }
        (record.faults.disconnected > 0).then(|| {
            Ended::new(
                End::ServerLost,
                format!(
                    "{} of {} connections were lost in the step",
                    record.faults.disconnected, record.clients
                ),
            )
        })
    }

    fn check_interrupt(&self) -> Result<(), Ended> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(Ended::new(End::Interrupted, "interrupted by the user"));
        }
        Ok(())
    }

    /// Reports that matter whenever they come.
    fn unexpected(&self, report: Report) -> Result<(), Ended> {
        match report {
            Report::Broken(error) => Err(broken(&error)),
            Report::AllLost => Err(Ended::new(
                End::ServerLost,
                "the server closed all connections",
            )),
            Report::OpenFailed(error) => Err(Ended::new(
                End::ConnectFailed,
                format!("a client was lost before the step began: {error}"),
            )),
            _ => Ok(()),
        }
    }
}

/// A schedule whose time is over, and that the generator has not kept up with: sending the rest
/// would only measure the generator for longer. Looks once.
fn overtaken(ledger: &StepLedger, sent_by: &mut Option<u64>) -> Option<Ended> {
    let end_ns = sent_by.filter(|end_ns| clock::now_ns() > *end_ns)?;
    *sent_by = None;
    let (sent, planned) = (ledger.sent_by(end_ns), u64::from(ledger.timed()));
    (!run_record::all_sent(sent, planned)).then(|| {
        Ended::new(
            End::GeneratorLimited,
            format!("{sent} of {planned} requests were sent when the time of the step was over"),
        )
    })
}

/// Refuses a schedule that is too long to be gone through, or to keep books of.
fn affordable(schedule: &plan::Schedule) -> Result<(), Ended> {
    let sends = schedule.expected();
    let books_bytes = sends * StepLedger::BYTES_PER_SAMPLE as f64;
    if sends < f64::from(u32::MAX)
        && available_bytes().is_none_or(|available| books_bytes < available as f64 / 2.0)
    {
        return Ok(());
    }
    Err(Ended::new(
        End::MachineLimit,
        format!(
            "the schedule has about {sends:.0} sends, and their books take {:.1} GB, more than can \
             be kept here; lower --rate or --duration",
            books_bytes / 1e9
        ),
    ))
}

/// The numbers of a schedule as the books count.
fn countable((samples, warm_up): (u64, u64)) -> Result<(u32, u32), Ended> {
    match (u32::try_from(samples), u32::try_from(warm_up)) {
        (Ok(samples), Ok(warm_up)) if samples > warm_up => Ok((samples, warm_up)),
        _ => Err(Ended::new(
            End::MachineLimit,
            format!(
                "the schedule has {samples} sends, {warm_up} of them in the warm-up; \
                 a step can time 1 to {}",
                u32::MAX
            ),
        )),
    }
}

/// Memory that this machine can give without swapping, from /proc/meminfo.
fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

fn broken(error: &std::io::Error) -> Ended {
    Ended::new(
        End::MachineLimit,
        format!("the kernel refuses to go on: {error}"),
    )
}
