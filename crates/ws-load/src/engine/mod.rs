//! The step controller: more clients, a step, its verdict, and again until something ends it.
//!
//! It runs on the caller's thread, tells its team what to do and listens to it. It touches no
//! socket and no message, and does not know whether the team is the threads of this process or
//! sites elsewhere.

mod afford;
mod connect;
mod crew;
mod end;
mod local;
mod measure;
mod memory;
mod merge;
mod search;
mod sites;
mod team;
#[cfg(test)]
mod tests;
mod throughput;
mod watchdog;

pub(crate) use afford::available_bytes;
pub(crate) use crew::{Crew, hire, hung};
pub(crate) use merge::resident_bytes;
pub use sites::run_on;
pub(crate) use team::terms;
pub use throughput::{Packs, Throughput, throughput};
pub(crate) use watchdog::Watchdog;

use crate::clock;
use crate::error::RunError;
use crate::site::Unable;
use end::Ended;
use run_record::{Edge, End, Event, OpenLoop, Outcome, Plan, StepRecord, Timestamps};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use team::{News, Team};

/// How often progress is told and time-outs are looked at.
const TICK: Duration = Duration::from_millis(100);
/// How long closing connections may take.
pub(crate) const CLOSE_PATIENCE: Duration = Duration::from_secs(3);
/// How long one of the team may take for an answer that needs no server. Not the way in which a
/// worker that hangs is found ([`watchdog`]), but what no wait exceeds.
const ANSWER: Duration = Duration::from_secs(30);

/// What a run brought.
#[derive(Debug)]
pub struct Measured {
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
    crate::check_message(plan)?;
    let team = local::Local::hire(plan)?;
    let server = team.server();
    let engine = Engine::new(plan, team, ceiling, interrupted, on_event);
    Ok(Measured {
        server,
        ..engine.carry_out()
    })
}

struct Engine<'a, T> {
    plan: &'a Plan,
    ceiling: Option<f64>,
    team: T,
    interrupted: &'a AtomicBool,
    on_event: &'a mut dyn FnMut(&Event),
    steps: Vec<StepRecord>,
    /// Samples of the steps so far.
    samples: u64,
    /// What a search knows so far.
    edge: Option<Edge>,
    /// Memory of both sides, in a `connect` run.
    watch: Option<memory::Watch>,
    /// How the first connection that the last step lost had ended, in words.
    first_disconnect: Option<String>,
    /// The first malformed message of the run, in words.
    first_malformed: Option<String>,
}

/// What a step puts on the server.
#[derive(Clone, Debug)]
struct Load {
    clients: u64,
    open: Option<OpenLoop>,
    /// Samples of a closed loop.
    samples: u32,
}

impl<'a, T: Team> Engine<'a, T> {
    /// An engine whose team waits for its first order.
    fn new(
        plan: &'a Plan,
        team: T,
        ceiling: Option<f64>,
        interrupted: &'a AtomicBool,
        on_event: &'a mut dyn FnMut(&Event),
    ) -> Self {
        Self {
            plan,
            ceiling,
            team,
            interrupted,
            on_event,
            steps: Vec::new(),
            samples: 0,
            edge: None,
            watch: None,
            first_disconnect: None,
            first_malformed: None,
        }
    }

    /// Goes through the plan to its end.
    fn carry_out(mut self) -> Measured {
        let ended = match self.plan.search() {
            Some(terms) => self.search(terms),
            None => self.steps(),
        };
        let ended = self.tell_malformed(ended);
        self.team.dismiss(self.interrupted);
        let outcome = Outcome {
            end: ended.end,
            detail: ended.detail,
            carried_clients: self.carried(),
            edge: self.edge,
        };
        (self.on_event)(&Event::End {
            outcome: outcome.clone(),
        });
        Measured {
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

    fn load_at(&self, step: u32) -> Load {
        Load {
            clients: self.plan.clients_at(step),
            open: self.plan.open_loop().cloned(),
            samples: self.plan.samples(),
        }
    }

    /// Measures a step. `Some` when it is to be the last; an error when it could not be measured.
    fn step(&mut self, step: u32, load: &Load) -> Result<Option<Ended>, Ended> {
        let clients = load.clients;
        if let Some(terms) = self.plan.connect() {
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
            Some(limited)
                if limited.end == End::GeneratorLimited
                    && early_end
                        .as_ref()
                        .is_none_or(|early| early.end != End::WorkerLost) =>
            {
                Some(limited)
            }
            verdict => early_end.or(verdict),
        })
    }

    fn connect(&mut self, step: u32, wanted: u64) -> Result<(), Ended> {
        self.team.open(wanted);
        let mut waiting = self.team.len();
        let mut exhausted = None;
        while waiting > 0 {
            self.check_interrupt()?;
            match self.team.wait(TICK) {
                Some(News::Opened) => waiting -= 1,
                // The others may still have clients under way: how many fit is what is told.
                Some(News::OpenFailed(unable)) if unable.machine_limit => {
                    exhausted.get_or_insert(unable);
                    waiting -= 1;
                }
                Some(News::OpenFailed(unable)) => {
                    return Err(self.connect_failed(wanted, &unable));
                }
                Some(other) => self.unexpected(other)?,
                None => {}
            }
            (self.on_event)(&Event::Connecting {
                step,
                connected: self.team.connected(),
                wanted,
            });
        }
        match exhausted {
            Some(unable) => Err(self.connect_failed(wanted, &unable)),
            None => Ok(()),
        }
    }

    fn connect_failed(&self, wanted: u64, unable: &Unable) -> Ended {
        let end = if unable.machine_limit {
            End::MachineLimit
        } else {
            End::ConnectFailed
        };
        let connected = self.team.connected();
        let words = &unable.words;
        Ended::new(
            end,
            format!("{connected} of {wanted} clients connected, then: {words}"),
        )
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn check_interrupt(&self) -> Result<(), Ended> {
        if self.is_interrupted() {
            return Err(Ended::new(End::Interrupted, "interrupted by the user"));
        }
        Ok(())
    }

    /// News that matters whenever it comes.
    fn unexpected(&self, news: News) -> Result<(), Ended> {
        match news {
            News::Broken(words) => Err(Ended::new(End::MachineLimit, words)),
            News::Lost(_, words) => Err(Ended::new(End::WorkerLost, words)),
            News::AllLost => Err(Ended::new(
                End::ServerLost,
                "the server closed all connections",
            )),
            News::OpenFailed(unable) => Err(Ended::new(
                End::ConnectFailed,
                format!("a client was lost before the step began: {}", unable.words),
            )),
            _ => Ok(()),
        }
    }
}
