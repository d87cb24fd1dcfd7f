//! The coordinator of a run over sites. To the controller, sites are workers as the threads of a
//! process are; commands and reports go through a transport.
//!
//! The coordinator keeps a ledger of its own in which a site is what a worker is within a process.
//! All times in it are of its own clock; those of the sites are converted as they come and go, with
//! the relation of the clocks that was known when the step began.

mod members;
mod step;

#[cfg(test)]
mod tests;

use crate::control::{ANSWER, Controller, Ended, Kept, Measured, RunError, Workers, unanswered};
use crate::message::{Command, Report, StepTerms, Unable};
use crate::net::server_addr;
use crate::verify::StepLedger;
use crate::worker::{CLOSE_PATIENCE, TICK};
use members::Members;
use plan::Plan;
use record::{End, Event, SiteUse};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use step::Step;

/// The way to a site. What comes back arrives as [`Report`]s, in the order in which the site made
/// them.
pub trait NodeTransport: Send {
    /// Sends a command. Commands arrive in the order in which they are told; where the site can no
    /// longer be reached they are dropped, and [`Report::Lost`] says so.
    fn tell(&self, command: Command);

    /// What is known of the site's clock now; may improve or be measured again while a run lasts.
    fn clock(&self) -> ClockRelation;
}

/// `site clock - coordinator clock`, both `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockRelation {
    /// The difference in nanoseconds.
    pub offset_ns: i64,
    /// How far off that may be, either way, in nanoseconds. 0: one kernel, and so one clock.
    pub bound_ns: u64,
}

/// A site as the coordinator sees it.
pub struct Site {
    /// Its name, as shown to the user.
    pub name: String,
    /// The way to it.
    pub transport: Box<dyn NodeTransport>,
}

/// Time from the command to the start of a schedule, so that every site has the command by then. Four
/// times the largest clock error is added; that error is half of a round trip.
const START_IN: Duration = Duration::from_millis(50);
/// How long after a send its report may reach the coordinator, with the same addition.
const NEWS_LAG: Duration = Duration::from_millis(100);
/// How much longer the coordinator waits for a site than the site for its connections.
const FAREWELL: Duration = Duration::from_secs(1);

/// As [`crate::run_with_ceiling`], on sites: they have the connections, this process has none.
///
/// `reports` brings what the sites report, each with the number of its site in `sites`, in the order
/// in which the site made it. The n-th site serves with [`crate::cluster::Share`] `n` of
/// `sites.len()`.
///
/// # Errors
/// [`RunError::NoSites`] and [`RunError::TooManySites`]. Whatever goes wrong after that is an outcome,
/// and the steps measured before it are kept.
pub fn run_on(
    plan: &Plan,
    sites: Vec<Site>,
    reports: mpsc::Receiver<(u32, Report)>,
    ceiling: Option<f64>,
    interrupted: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<Measured, RunError> {
    if sites.is_empty() {
        return Err(RunError::NoSites);
    }
    super::check_sites(plan, sites.len() as u32)?;
    if plan.watch().is_some() {
        return Err(RunError::WatchedBySites);
    }
    let workers = Sites {
        plan,
        members: Members::new(sites),
        inbox: reports,
        reports: VecDeque::new(),
        step: None,
    };
    let controller = Controller::new(plan, workers, ceiling, interrupted, on_event);
    Ok(controller.carry_out())
}

struct Sites<'a> {
    plan: &'a Plan,
    members: Members,
    /// What comes from the sites.
    inbox: Receiver<(u32, Report)>,
    /// Reports for the controller.
    reports: VecDeque<(u32, Report)>,
    step: Option<Step>,
}

impl Sites<'_> {
    fn take(&mut self, number: u32, report: Report) {
        let Some(member) = self.members.member(number) else {
            return;
        };
        let report = match member.to_coordinator(report) {
            Report::Connected(clients) => {
                member.connected = clients;
                return;
            }
            Report::Samples(samples) => {
                let Some(step) = &mut self.step else { return };
                self.members
                    .relay(number, &samples.sent, self.plan.audience);
                if !step.note(&samples) {
                    return;
                }
                Report::AllSamples
            }
            Report::OpenFailed(unable) => Report::OpenFailed(Unable {
                words: format!("worker {}: {}", member.site.name, unable.words),
                ..unable
            }),
            Report::Broken(words) => {
                Report::Broken(format!("worker {}: {words}", member.site.name))
            }
            Report::Lost(reason) => return self.lose(number, &reason),
            Report::Closed => {
                return self.lose(number, "it has ended although it was not told to");
            }
            // Only the coordinator knows which sample is the last.
            Report::Renewed | Report::AllSamples => return,
            report => report,
        };
        self.reports.push_back((number, report));
    }

    fn lose(&mut self, number: u32, reason: &str) {
        if let Some(member) = self.members.member(number) {
            member.is_here = false;
            member.connected = 0;
            let words = format!("worker {} was lost: {reason}", member.site.name);
            self.reports.push_back((number, Report::Lost(words)));
        }
    }

    /// Waits until `deadline` for a report, and takes all that have come by then. `false` when the
    /// time is over.
    fn listen(&mut self, deadline: Instant) -> bool {
        let timeout = deadline.saturating_duration_since(Instant::now());
        match self.inbox.recv_timeout(timeout) {
            Ok((number, report)) => self.take(number, report),
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => {
                let here: Vec<u32> = self.members.here().collect();
                if here.is_empty() {
                    // No site is left, so that no report can come. The wait keeps its length.
                    std::thread::sleep(timeout);
                    return false;
                }
                for number in here {
                    self.lose(number, "its connection has ended");
                }
            }
        }
        while let Ok((number, report)) = self.inbox.try_recv() {
            self.take(number, report);
        }
        if let Some(step) = &mut self.step {
            self.members.send(step.take_released());
            self.members.tell_complete(step.take_complete());
            if let Some(interval) = step.take_interval() {
                self.reports.push_back((0, Report::Interval(interval)));
            }
        }
        true
    }
}

impl Workers for Sites<'_> {
    fn len(&self) -> usize {
        self.members.here().count()
    }

    fn connected(&self) -> u64 {
        self.members.connected()
    }

    fn tell(&mut self, command: Command) {
        match (&command, &mut self.step) {
            (Command::CountFrom { from_ns }, Some(step)) => step.count_from(*from_ns),
            (Command::GiveUp { .. }, Some(step)) => step.give_up(),
            (Command::OpenAndHold(_), _) => {
                self.step = None;
                self.members.compare_clocks();
            }
            _ => {}
        }
        self.members.tell_all(&command);
    }

    fn begin(&mut self, terms: StepTerms) -> Arc<StepLedger> {
        self.members.compare_clocks();
        let step = Step::new(self.plan, terms, self.members.len() as u32);
        let ledger = Arc::clone(step.ledger());
        self.step = Some(step);
        self.members.tell_all(&Command::Begin(terms));
        ledger
    }

    fn fill(&mut self, in_flight: u32) {
        let Some(step) = &mut self.step else { return };
        for _ in 0..in_flight {
            step.release(None);
        }
        self.members.send(step.take_released());
    }

    fn server(&self) -> Option<SocketAddr> {
        server_addr(self.plan)
    }

    fn start_in(&self) -> Duration {
        START_IN + Duration::from_nanos(4 * self.members.worst_bound_ns())
    }

    fn wait(&mut self, timeout: Duration) -> Option<(u32, Report)> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(report) = self.reports.pop_front() {
                return Some(report);
            }
            if !self.listen(deadline) {
                return None;
            }
        }
    }

    fn ledger_lag(&self) -> Duration {
        NEWS_LAG + Duration::from_nanos(4 * self.members.worst_bound_ns())
    }

    /// A site has reported that it hangs, or is silent.
    fn doubts(&self) -> bool {
        false
    }

    fn take_kept(&mut self) -> Kept {
        self.step.as_mut().map(Step::take_kept).unwrap_or_default()
    }

    fn rows(&self, clients: u64, sent_by: Option<u64>) -> Vec<SiteUse> {
        let mut rows = self.members.rows(clients);
        if let Some(step) = &self.step {
            step.count_sends(sent_by, &mut rows);
        }
        rows
    }

    fn renew(&mut self, interrupted: &AtomicBool) -> Result<(), Ended> {
        self.members.tell_all(&Command::Renew);
        let deadline = Instant::now() + CLOSE_PATIENCE + ANSWER;
        self.step = None;
        let mut waiting: Vec<u32> = self.members.here().collect();
        while !waiting.is_empty() {
            if interrupted.load(Ordering::Relaxed) {
                return Err(Ended::new(End::Interrupted, "interrupted by the user"));
            }
            if Instant::now() >= deadline {
                return Err(unanswered(waiting.len(), "close their connections"));
            }
            match self.inbox.recv_timeout(TICK) {
                Ok((number, Report::Renewed)) => waiting.retain(|n| *n != number),
                Ok((number, Report::Lost(reason))) => self.lose(number, &reason),
                // Of the connections that it closes.
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    waiting
                        .iter()
                        .for_each(|n| self.lose(*n, "its connection has ended"));
                }
            }
            let lost = self.reports.drain(..).find_map(|(_, report)| match report {
                Report::Lost(words) => Some(words),
                _ => None,
            });
            if let Some(words) = lost {
                return Err(Ended::new(End::WorkerLost, words));
            }
        }
        self.members.forget_connected();
        Ok(())
    }

    /// The sites have their own time limit for closing connections.
    fn stop(&mut self, _: &AtomicBool) {
        self.members.tell_all(&Command::Close);
        let deadline = Instant::now() + CLOSE_PATIENCE + FAREWELL;
        let mut waiting: Vec<u32> = self.members.here().collect();
        while !waiting.is_empty() {
            let timeout = deadline.saturating_duration_since(Instant::now());
            match self.inbox.recv_timeout(timeout) {
                Ok((number, Report::Closed | Report::Lost(_))) => {
                    waiting.retain(|n| *n != number);
                }
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }
}
