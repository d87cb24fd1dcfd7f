//! The sites of a run, as the step controller sees them: a team whose members are told by link.
//!
//! The coordinator keeps books of its own in which a site is what a worker is within a process. All
//! times in them are of its own clock; those of the sites are converted as they come and go, with
//! the relation of the clocks that was known when the step began.

mod roll;
mod step;

#[cfg(test)]
mod tests;

use super::measure::unanswered;
use super::team::{Kept, News, Team};
use super::{ANSWER, CLOSE_PATIENCE, Ended, Engine, Measured, TICK};
use crate::clock;
use crate::error::RunError;
use crate::ledger::StepLedger;
use crate::plan::Schedule;
use crate::site::{Heard, Order, Site, StepTerms, Unable, Word};
use crate::target::Target;
use crate::worker::OpenOrder;
use roll::Roll;
use run_record::{End, Event, Plan, SiteUse};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use step::Step;

/// Between the call to start and the start of a schedule, besides four times the bound of the least
/// known clock, which is half of a round trip: every site has heard it by then.
const START_IN: Duration = Duration::from_millis(50);
/// How much later than it happens the coordinator may hear of a send, with the same addition.
const NEWS_LAG: Duration = Duration::from_millis(100);
/// Between the end of a site's patience with its connections and the end of the coordinator's.
const FAREWELL: Duration = Duration::from_secs(1);

/// As [`super::run_with_ceiling`], on sites: they have the connections, this process has none.
///
/// `heard` brings what the sites say, each word with the number of its site in `sites`, in the order
/// in which the site said it. The n-th site serves with [`crate::site::Share`] `n` of `sites.len()`.
///
/// # Errors
/// [`RunError::NoSites`]. Whatever goes wrong after that is an outcome, and the steps measured before
/// it are kept.
pub fn run_on(
    plan: &Plan,
    sites: Vec<Site>,
    heard: mpsc::Receiver<(u32, Heard)>,
    ceiling: Option<f64>,
    interrupted: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<Measured, RunError> {
    if sites.is_empty() {
        return Err(RunError::NoSites);
    }
    let team = Sites {
        plan,
        roll: Roll::new(sites),
        heard,
        news: VecDeque::new(),
        step: None,
    };
    let engine = Engine::new(plan, team, ceiling, interrupted, on_event);
    Ok(engine.carry_out())
}

struct Sites<'a> {
    plan: &'a Plan,
    roll: Roll,
    heard: Receiver<(u32, Heard)>,
    news: VecDeque<News>,
    step: Option<Step>,
}

impl Sites<'_> {
    fn hear(&mut self, number: u32, heard: Heard) {
        let word = match heard {
            Heard::Lost(reason) => return self.lose(number, &reason),
            Heard::Word(word) => word,
        };
        let Some(member) = self.roll.member(number) else {
            return;
        };
        let word = member.to_coordinator(word);
        match word {
            Word::Connected(clients) => member.connected = clients,
            Word::Opened => self.news.push_back(News::Opened),
            Word::OpenFailed(unable) => {
                let words = format!("worker {}: {}", member.site.name, unable.words);
                let machine_limit = unable.machine_limit;
                self.news.push_back(News::OpenFailed(Unable {
                    words,
                    machine_limit,
                }));
            }
            Word::Begun => self.news.push_back(News::Begun),
            Word::Held => self.news.push_back(News::Held),
            Word::Samples {
                sent,
                done,
                held_back,
            } => {
                let Some(step) = &mut self.step else { return };
                self.roll.relay(number, &sent, self.plan.workload());
                step.note_held_back(&held_back);
                let complete = step.note(&sent, &done);
                if complete {
                    self.news.push_back(News::AllSamples);
                }
            }
            Word::AllLost => self.news.push_back(News::AllLost),
            Word::NotUnderstood(words) => self.news.push_back(News::NotUnderstood(words)),
            Word::Part(part) => self.news.push_back(News::Part(number, part)),
            Word::Renewed => {}
            Word::Broken(words) => {
                let words = format!("worker {}: {words}", member.site.name);
                self.news.push_back(News::Broken(words));
            }
            Word::Hung(reason) => self.lose(number, &reason),
            Word::Closed => self.lose(number, "it has ended although nobody told it to"),
        }
    }

    fn lose(&mut self, number: u32, reason: &str) {
        if let Some(member) = self.roll.member(number) {
            member.is_here = false;
            member.connected = 0;
            let words = format!("worker {} was lost: {reason}", member.site.name);
            self.news.push_back(News::Lost(number, words));
        }
    }

    /// Waits until `deadline` for something to be heard, and takes in all that has come by then.
    /// `false` when the time is over.
    fn listen(&mut self, deadline: Instant) -> bool {
        let timeout = deadline.saturating_duration_since(Instant::now());
        match self.heard.recv_timeout(timeout) {
            Ok((number, heard)) => self.hear(number, heard),
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => {
                let here: Vec<u32> = self.roll.here().collect();
                if here.is_empty() {
                    // Nobody will ever say anything; the wait was not the fault of a loop.
                    std::thread::sleep(timeout);
                    return false;
                }
                for number in here {
                    self.lose(number, "the way to it is gone");
                }
            }
        }
        while let Ok((number, heard)) = self.heard.try_recv() {
            self.hear(number, heard);
        }
        if let Some(step) = &mut self.step {
            self.roll.send(step.take_released());
        }
        true
    }
}

impl Team for Sites<'_> {
    fn len(&self) -> usize {
        self.roll.here().count()
    }

    fn connected(&self) -> u64 {
        self.roll.connected()
    }

    fn open(&mut self, clients: u64) {
        self.roll.tell_all(&Order::Open { clients });
    }

    fn begin(&mut self, terms: StepTerms) -> Arc<StepLedger> {
        self.roll.compare_clocks();
        let step = Step::new(self.plan, terms, self.roll.len());
        let ledger = Arc::clone(step.ledger());
        self.step = Some(step);
        self.roll.tell_all(&Order::Begin(terms));
        ledger
    }

    fn count_from(&mut self, from_ns: u64) {
        if let Some(step) = &mut self.step {
            step.count_from(from_ns);
        }
        self.roll.tell_all(&Order::CountFrom { from_ns });
    }

    fn fill(&mut self) {
        let Some(step) = &mut self.step else { return };
        for _ in 0..self.plan.in_flight() {
            step.release(None);
        }
        self.roll.send(step.take_released());
    }

    fn start(&mut self, schedule: &Schedule) -> u64 {
        let start_ns = clock::now_ns() + clock::nanos(self.start_in());
        self.roll.tell_all(&Order::Start {
            load: schedule.load().clone(),
            start_ns,
        });
        start_ns
    }

    fn open_and_hold(&mut self, order: OpenOrder) {
        self.step = None;
        self.roll.compare_clocks();
        self.roll.tell_all(&Order::Connect(order.into()));
    }

    fn hold(&mut self, until_ns: u64) {
        self.roll.tell_all(&Order::Hold { until_ns });
    }

    fn server(&self) -> Option<SocketAddr> {
        Target::of(self.plan).ok().map(|target| target.addr)
    }

    fn start_in(&self) -> Duration {
        START_IN + Duration::from_nanos(4 * self.roll.worst_bound_ns())
    }

    fn wait(&mut self, timeout: Duration) -> Option<News> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(news) = self.news.pop_front() {
                return Some(news);
            }
            if !self.listen(deadline) {
                return None;
            }
        }
    }

    fn books_lag(&self) -> Duration {
        NEWS_LAG + Duration::from_nanos(4 * self.roll.worst_bound_ns())
    }

    /// A site says itself that it hangs, or nothing is heard of it any more.
    fn doubts(&self) -> bool {
        false
    }

    fn give_up(&mut self, count: bool) {
        if let Some(step) = &mut self.step {
            step.give_up();
        }
        self.roll.tell_all(&Order::GiveUp { count });
    }

    fn finish(&mut self) {
        self.roll.tell_all(&Order::Finish);
    }

    fn take_kept(&mut self) -> Kept {
        self.step.as_mut().map(Step::take_kept).unwrap_or_default()
    }

    fn rows(&self, clients: u64, sent_by: Option<u64>) -> Vec<SiteUse> {
        let mut rows = self.roll.rows(clients);
        if let Some(step) = &self.step {
            step.count_sends(sent_by, &mut rows);
        }
        rows
    }

    fn begin_anew(&mut self, interrupted: &AtomicBool) -> Result<(), Ended> {
        self.roll.tell_all(&Order::Anew);
        let deadline = Instant::now() + CLOSE_PATIENCE + ANSWER;
        self.step = None;
        let mut waiting: Vec<u32> = self.roll.here().collect();
        while !waiting.is_empty() {
            if interrupted.load(Ordering::Relaxed) {
                return Err(Ended::new(End::Interrupted, "interrupted by the user"));
            }
            if Instant::now() >= deadline {
                return Err(unanswered(waiting.len(), "close their connections"));
            }
            match self.heard.recv_timeout(TICK) {
                Ok((number, Heard::Word(Word::Renewed))) => waiting.retain(|n| *n != number),
                // Of the connections that it closes.
                Ok((_, Heard::Word(_))) | Err(RecvTimeoutError::Timeout) => {}
                Ok((number, Heard::Lost(reason))) => self.lose(number, &reason),
                Err(RecvTimeoutError::Disconnected) => {
                    waiting
                        .iter()
                        .for_each(|n| self.lose(*n, "the way to it is gone"));
                }
            }
            let lost = self.news.drain(..).find_map(|news| match news {
                News::Lost(_, words) => Some(words),
                _ => None,
            });
            if let Some(words) = lost {
                return Err(Ended::new(End::WorkerLost, words));
            }
        }
        self.roll.forget_connected();
        Ok(())
    }

    /// The sites close their connections in a time of their own.
    fn dismiss(&mut self, _: &AtomicBool) {
        self.roll.tell_all(&Order::Close);
        let deadline = Instant::now() + CLOSE_PATIENCE + FAREWELL;
        let mut waiting: Vec<u32> = self.roll.here().collect();
        while !waiting.is_empty() {
            let timeout = deadline.saturating_duration_since(Instant::now());
            match self.heard.recv_timeout(timeout) {
                Ok((number, Heard::Word(Word::Closed) | Heard::Lost(_))) => {
                    waiting.retain(|n| *n != number);
                }
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }
}
