//! The controller: more clients, a step, its verdict, and again until something ends it.
//!
//! It runs on the caller's thread, sends commands to its workers and takes their reports. It touches no
//! socket and no message, and does not know whether the workers are the threads of this process or
//! sites elsewhere.

use super::end::Ended;
use super::error::RunError;
use super::local::Local;
use super::memory::Watch;
use super::untold::Untold;
use super::warm_up::WarmingUp;
use super::workers::Workers;
use crate::clock;
use crate::message::{Command, FirstFaults, OfSender, Report, Unable};
use crate::scenario::Work;
use crate::worker::TICK;
use plan::{OpenLoop, Plan, Timestamps};
use record::{Edge, End, Event, Outcome, StepRecord, WarmUp};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Longest wait for an answer that needs no server. A worker that hangs is found earlier, by
/// [`crate::worker::Watchdog`].
pub(crate) const ANSWER: Duration = Duration::from_secs(30);

/// The result of a run.
#[derive(Debug)]
pub struct Measured {
    /// What came before the first step.
    pub warm_up: Option<Box<WarmUp>>,
    /// The steps, in order; the one that broke the limit is among them.
    pub steps: Vec<StepRecord>,
    /// How it ended.
    pub outcome: Outcome,
    /// The address that was loaded, where this process made the connections.
    pub server: Option<SocketAddr>,
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
    let _stamping = match plan.generator.timestamps {
        Timestamps::Kernel => crate::io::keep_stamps_on().ok(),
        Timestamps::User => None,
    };
    crate::dialect::check_message(plan)?;
    let workers = Local::start(plan, Work::Plan)?;
    let server = workers.server();
    let controller = Controller::new(plan, workers, ceiling, interrupted, on_event);
    Ok(Measured {
        server,
        ..controller.carry_out()
    })
}

pub(crate) struct Controller<'a, W> {
    pub(super) plan: &'a Plan,
    pub(super) ceiling: Option<f64>,
    pub(super) workers: W,
    pub(super) interrupted: &'a AtomicBool,
    pub(super) on_event: &'a mut dyn FnMut(&Event),
    pub(super) warm_up: Option<Box<WarmUp>>,
    /// While the steps are those of the warm-up.
    pub(super) warming_up: Option<WarmingUp>,
    pub(super) steps: Vec<StepRecord>,
    /// Samples of the steps so far.
    pub(super) samples: u64,
    /// What a search knows so far.
    pub(super) edge: Option<Edge>,
    /// Loads that a search could not measure, since connections failed.
    pub(super) unmeasured: Vec<f64>,
    /// The end of the latest try of a search, where it could not connect and no step was measured.
    pub(super) unreachable: Option<Ended>,
    /// Memory of both sides, in a `connect` run.
    pub(super) watch: Option<Watch>,
    /// What has become known of the step that no event has told.
    pub(super) untold: Untold,
    /// The first malformed message and the first refusal are of the run, the first connection lost is of
    /// the last step.
    pub(super) first: FirstFaults,
    /// Of the last step.
    pub(super) of_sender: OfSender,
}

/// The load of a step.
#[derive(Clone, Debug)]
pub(super) struct StepLoad {
    pub(super) clients: u64,
    pub(super) open: Option<OpenLoop>,
    /// Samples of a closed loop.
    pub(super) samples: u32,
}

impl<'a, W: Workers> Controller<'a, W> {
    /// A controller whose workers wait for their first command.
    pub(crate) fn new(
        plan: &'a Plan,
        workers: W,
        ceiling: Option<f64>,
        interrupted: &'a AtomicBool,
        on_event: &'a mut dyn FnMut(&Event),
    ) -> Self {
        Self {
            plan,
            ceiling,
            workers,
            interrupted,
            on_event,
            warm_up: None,
            warming_up: None,
            steps: Vec::new(),
            samples: 0,
            edge: None,
            unmeasured: Vec::new(),
            unreachable: None,
            watch: None,
            untold: Untold::default(),
            first: FirstFaults::default(),
            of_sender: OfSender::default(),
        }
    }

    /// Goes through the plan to its end.
    pub(crate) fn carry_out(mut self) -> Measured {
        let ended = match (self.warm_up(), self.plan.search()) {
            (Err(ended), _) => ended,
            (Ok(()), Some(terms)) => self.search(terms),
            (Ok(()), None) => self.steps(),
        };
        let ended = self.tell_answers(ended);
        self.workers.stop(self.interrupted);
        let outcome = Outcome {
            end: ended.end,
            detail: ended.detail.into(),
            carried_clients: self.carried(),
            edge: self.edge,
            unmeasured: self.unmeasured,
        };
        (self.on_event)(&Event::End {
            outcome: outcome.clone(),
        });
        Measured {
            warm_up: self.warm_up,
            steps: self.steps,
            outcome,
            server: None,
        }
    }

    fn steps(&mut self) -> Ended {
        for step in 0.. {
            if self.plan.steps().is_some_and(|total| step >= total) {
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

    pub(super) fn load_at(&self, step: u32) -> StepLoad {
        StepLoad {
            clients: self.plan.clients_at(step),
            open: self.plan.open_loop().cloned(),
            samples: self.plan.samples(),
        }
    }

    /// Measures a step. `Some` when it is to be the last; an error when it could not be measured.
    pub(super) fn step(&mut self, step: u32, load: &StepLoad) -> Result<Option<Ended>, Ended> {
        let clients = load.clients;
        if let Some(terms) = self.plan.connect() {
            return self.connect_step(step, clients, terms);
        }
        if let Some(terms) = self.plan.watch() {
            return self.watch_step(step, clients, terms);
        }
        let connecting = clock::now_ns();
        self.connect(step, clients)?;
        let connecting_ns = clock::now_ns() - connecting;
        let (mut record, early_end) = self.measure(step, load)?;
        record.connecting_ns = connecting_ns;
        let verdict = self.verdict(&record, record.clients);
        self.steps.push(record.clone());
        (self.on_event)(&Event::Step {
            step,
            record: Box::new(record),
        });
        Ok(match verdict {
            // Neither a time-out nor an unfinished schedule is the server's then.
            Some(limited)
                if limited.end == End::GeneratorLimited
                    && early_end
                        .as_ref()
                        .is_none_or(|early| early.end != End::WorkerLost) =>
            {
                Some(limited)
            }
            // Where none of a kind comes, the first that is awaited is late.
            Some(contradicted) if contradicted.end == End::DialectContradicted => early_end
                .filter(|early| early.end != End::TimedOut)
                .or(Some(contradicted)),
            verdict => early_end.or(verdict),
        })
    }

    pub(super) fn connect(&mut self, step: u32, wanted: u64) -> Result<(), Ended> {
        self.workers.tell(Command::Open { clients: wanted });
        let mut waiting = self.workers.len();
        let mut exhausted = None;
        while waiting > 0 {
            self.check_interrupt()?;
            match self.workers.wait(TICK) {
                Some((_, Report::Opened)) => waiting -= 1,
                // The others may still be opening clients: the message says how many fit.
                Some((_, Report::OpenFailed(unable))) if unable.machine_limit => {
                    exhausted.get_or_insert(unable);
                    waiting -= 1;
                }
                Some((_, Report::OpenFailed(unable))) => {
                    return Err(self.connect_failed(wanted, &unable));
                }
                Some((_, other)) => self.unexpected(other)?,
                None => {}
            }
            if self.warming_up.is_none() {
                (self.on_event)(&Event::Connecting {
                    step,
                    connected: self.workers.connected(),
                    wanted,
                });
            }
        }
        match exhausted {
            Some(unable) => Err(self.connect_failed(wanted, &unable)),
            None => Ok(()),
        }
    }

    pub(super) fn connect_failed(&self, wanted: u64, unable: &Unable) -> Ended {
        let end = if unable.machine_limit {
            End::MachineLimit
        } else {
            End::ConnectFailed
        };
        let connected = self.workers.connected();
        let words = &unable.words;
        Ended::new(
            end,
            format!("{connected} of {wanted} clients connected, then: {words}"),
        )
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    pub(super) fn check_interrupt(&self) -> Result<(), Ended> {
        if self.is_interrupted() {
            return Err(Ended::new(End::Interrupted, "interrupted by the user"));
        }
        Ok(())
    }

    /// A report that matters whenever it comes.
    pub(super) fn unexpected(&self, report: Report) -> Result<(), Ended> {
        match report {
            Report::Broken(words) => Err(Ended::new(End::MachineLimit, words)),
            Report::Lost(words) => Err(Ended::new(End::WorkerLost, words)),
            Report::OpenFailed(unable) => Err(Ended::new(
                End::ConnectFailed,
                format!("a client was lost before the step began: {}", unable.words),
            )),
            _ => Ok(()),
        }
    }
}
