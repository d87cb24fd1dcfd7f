//! One step: it is carried out, its parts are merged, and it is judged.

use super::afford::{affordable, countable};
use super::controller::StepLoad;
use super::merge::Merged;
use super::untold::Untold;
use super::{ANSWER, Controller, Ended, Workers, churn};
use crate::clock;
use crate::message::{Command, Report, StepPart, StepTerms};
use crate::plan::{self, Hearing as _};
use crate::verify::StepLedger;
use crate::worker::{HURRY, TICK};
use ::plan::OpenLoop;
use record::{Backpressure, End, Event, StepRecord};
use std::sync::Arc;
use std::time::Duration;

/// Grace after the end of a schedule: a send that is due at its end may be late by this much on a
/// loaded machine.
const SEND_SLACK: Duration = Duration::from_millis(50);
/// After a worker has lost all clients that send: how long the others may take to lose theirs. A server
/// that ends breaks all connections at once, but a busy machine learns of them one by one.
const ALL_LOST_WITHIN: Duration = Duration::from_secs(1);
/// Wait after the last sample of a step, in which duplicates of it would come.
const SETTLE: Duration = Duration::from_millis(50);

impl<W: Workers> Controller<'_, W> {
    /// Measures the samples of a step. Returns its record and, if the run cannot go on, the reason.
    pub(super) fn measure(
        &mut self,
        step: u32,
        load: &StepLoad,
    ) -> Result<(StepRecord, Option<Ended>), Ended> {
        let clients = load.clients;
        let schedule = load.open.clone().map(|open| self.schedule(open, clients));
        let (samples, warm_up) = match &schedule {
            Some(schedule) => {
                affordable(schedule)?;
                countable(schedule.counts())?
            }
            None => (load.samples, 0),
        };
        let (ledger, bereft_ns) = self.begin(StepTerms {
            first_sample: self.samples,
            samples,
            warm_up,
            by_clock: schedule.is_some(),
            clients,
        })?;
        self.samples += u64::from(samples);
        let (began, cpu_began) = (clock::now_ns(), clock::process_cpu_ns());
        self.untold = Untold::from(began);
        self.workers.tell(Command::CountFrom { from_ns: began });
        let start_ns = clock::now_ns() + clock::nanos(self.workers.start_in());
        let rate = schedule.as_ref().map(plan::Schedule::rate);
        let fills = schedule.is_none();
        let sent_by = schedule.and_then(|schedule| {
            self.workers.tell(Command::Start {
                load: schedule.load().clone(),
                start_ns,
            });
            let end_ns = start_ns + schedule.length_ns() + clock::nanos(SEND_SLACK);
            // When clients send after an answer is the server's doing.
            (!schedule.is_dialogue()).then_some(end_ns)
        });
        if fills {
            self.workers.fill(self.plan.in_flight());
        }
        let early_end = self.await_samples(step, clients, &ledger, (sent_by, bereft_ns))?;
        let ended = clock::now_ns();
        let cpu_ns = clock::process_cpu_ns() - cpu_began;
        if early_end.is_none() {
            std::thread::sleep(SETTLE);
        }
        let (mut parts, lost) = self.collect_parts()?;
        let churn = churn::taken(&mut parts);
        let early_end = early_end.or(lost);
        // Unknown for a schedule that was broken off.
        let sent_by = sent_by.filter(|end_ns| early_end.is_none() || ended > *end_ns);
        let is_end = |end| early_end.as_ref().is_some_and(|early| early.end == end);
        let merged = Merged {
            plan: self.plan,
            clients,
            rate,
            planned: u64::from(ledger.timed()),
            samples: u64::from(ledger.completed_timed()),
            sent: sent_by.map(|end_ns| ledger.sent_by(end_ns)),
            backpressure: backpressure(&ledger, sent_by),
            flight: ledger.flight(),
            elapsed_ns: ended - began,
            warm_up_ns: load.open.as_ref().map_or(0, |open| open.warm_up.ns()),
            cpu_ns,
            timed_out: is_end(End::TimedOut),
            kept: self.workers.take_kept(),
            rows: self.workers.rows(clients, sent_by),
            parts,
        };
        let (mut record, uncounted) = merged.into_record();
        record.churn = churn.map(|part| churn::recorded(part, self.plan, &ledger, start_ns));
        let judgement = if is_end(End::Interrupted) {
            record::judge_interrupted(&record)
        } else {
            record::judge(&record, self.plan, self.ceiling)
        };
        record.verdict = judgement.verdict;
        record.verdict_reasons = judgement.reasons;
        if let Some(ended) = early_end.as_ref().filter(|_| is_end(End::WorkerLost)) {
            record.verdict_reasons.push(ended.detail.as_str().into());
        }
        let early_end = early_end.map(|mut ended| {
            if let Some(words) = &uncounted.first.disconnect {
                let more = format!("; the first connection lost: {words}");
                ended.detail.push_str(&more);
            }
            ended
        });
        self.note_uncounted(&mut record, uncounted);
        Ok((record, early_end))
    }

    fn schedule(&self, open: OpenLoop, clients: u64) -> plan::Schedule {
        plan::Schedule::new(open, self.plan.generator.seed, self.samples)
            .with_script(plan::Script::new(self.plan).as_ref(), clients)
    }

    /// Tells all of a step, and waits until they know: a sample that one of them sends may reach
    /// another's clients at once. Returns also when one of them had lost all clients that send.
    fn begin(&mut self, step: StepTerms) -> Result<(Arc<StepLedger>, Option<u64>), Ended> {
        let ledger = self.workers.begin(step);
        let mut bereft_ns = None;
        let mut waiting = self.workers.len();
        let end_ns = clock::now_ns() + clock::nanos(ANSWER);
        while waiting > 0 {
            self.check_interrupt()?;
            if clock::now_ns() >= end_ns {
                return Err(unanswered(waiting, "begin the step"));
            }
            match self.workers.wait(TICK) {
                Some((_, Report::Begun)) => waiting -= 1,
                Some((_, Report::AllLost)) => {
                    bereft_ns.get_or_insert_with(clock::now_ns);
                }
                Some((_, other)) => self.unexpected(other)?,
                None => {}
            }
        }
        Ok((ledger, bereft_ns))
    }

    /// Waits for the last sample. `Some` when the step had to be given up.
    fn await_samples(
        &mut self,
        step: u32,
        clients: u64,
        ledger: &StepLedger,
        (mut sent_by, mut bereft_ns): (Option<u64>, Option<u64>),
    ) -> Result<Option<Ended>, Ended> {
        let lag_ns = clock::nanos(self.workers.ledger_lag());
        let mut told = 0;
        loop {
            let report = self.workers.wait(TICK);
            if matches!(report, Some((_, Report::AllSamples))) {
                return Ok(None);
            }
            let ended = match report {
                Some((_, Report::AllLost)) => {
                    bereft_ns.get_or_insert_with(clock::now_ns);
                    None
                }
                Some((_, Report::NotUnderstood(words))) => {
                    Some(Ended::new(End::NotUnderstood, words))
                }
                Some((_, Report::Lost(words))) => Some(Ended::new(End::WorkerLost, words)),
                Some((_, Report::Interval(interval))) => {
                    self.untold.add(&interval);
                    None
                }
                Some((_, other)) => {
                    self.unexpected(other)?;
                    None
                }
                None => self.stalled(ledger),
            };
            let ended =
                ended
                    .or_else(|| self.check_interrupt().err())
                    .or_else(|| match bereft_ns {
                        Some(since_ns) => self.bereft(clients, since_ns),
                        None => overtaken(ledger, &mut sent_by, lag_ns),
                    });
            if let Some(ended) = ended {
                let count = match ended.end {
                    End::Interrupted | End::GeneratorLimited | End::WorkerLost => false,
                    // What is on its way to those that are left is not lost.
                    End::ServerLost => self.workers.connected() == 0,
                    _ => true,
                };
                self.workers.tell(Command::GiveUp { count });
                return Ok(Some(ended));
            }
            if clock::now_ns() - told >= clock::nanos(TICK) {
                told = clock::now_ns();
                if self.warming_up.is_some() {
                    self.tell_warm_up();
                    continue;
                }
                (self.on_event)(&Event::Measuring {
                    step,
                    clients,
                    samples: u64::from(ledger.settled()),
                    wanted: u64::from(ledger.len()),
                });
                if let Some(row) = self.untold.take(told) {
                    let row = Box::new(row);
                    (self.on_event)(&Event::Interval { step, clients, row });
                }
            }
        }
    }

    /// The end of a step in which a worker has lost all clients that send, known since `since_ns`: nobody
    /// is left for its part of the requests. Waits until it is known whether that is true of all.
    fn bereft(&self, clients: u64, since_ns: u64) -> Option<Ended> {
        let words = match self.workers.connected() {
            0 => format!("the server closed all connections at {clients} clients"),
            _ if clock::now_ns() < since_ns + clock::nanos(ALL_LOST_WITHIN) => return None,
            open => format!(
                "at {clients} clients the server closed all connections that a worker sends its part \
                 of the requests on; {open} of {clients} were still open"
            ),
        };
        Some(Ended::new(End::ServerLost, words))
    }

    fn stalled(&self, ledger: &StepLedger) -> Option<Ended> {
        if self.workers.doubts() {
            return None;
        }
        let is_overdue = ledger.is_overdue(clock::now_ns(), self.plan.limits.sample_timeout.ns());
        is_overdue.then(|| {
            Ended::new(
                End::TimedOut,
                format!(
                    "a {} was not complete after {} s (limits.sample_timeout)",
                    match ledger.audience.reaches_others() {
                        false => "sample (echo)",
                        true => "broadcast",
                    },
                    self.plan.limits.sample_timeout.ns() as f64 / 1e9
                ),
            )
        })
    }

    /// The parts of a step, each with the number of its site. `Some` when a site was lost meanwhile.
    pub(super) fn collect_parts(&mut self) -> Result<(Parts, Option<Ended>), Ended> {
        self.workers.tell(Command::Finish);
        let mut waiting = self.workers.len();
        let mut parts = Parts::new();
        let mut lost = None;
        let mut hurries = false;
        let mut end_ns = clock::now_ns() + clock::nanos(ANSWER);
        while parts.len() < waiting {
            if self.is_interrupted() {
                if !std::mem::replace(&mut hurries, true) {
                    // Those whose clients still catch up end that.
                    self.workers.tell(Command::GiveUp { count: false });
                }
                end_ns = end_ns.min(clock::now_ns() + clock::nanos(HURRY));
            }
            if clock::now_ns() >= end_ns {
                let missing = unanswered(waiting - parts.len(), "say what its part was");
                lost.get_or_insert(self.check_interrupt().err().unwrap_or(missing));
                break;
            }
            match self.workers.wait(TICK) {
                Some((site, Report::Part(part))) => parts.push((site, *part)),
                Some((_, Report::Broken(words))) => {
                    return Err(Ended::new(End::MachineLimit, words));
                }
                Some((site, Report::Lost(words))) => {
                    waiting -= usize::from(parts.iter().all(|(from, _)| *from != site));
                    lost.get_or_insert(Ended::new(End::WorkerLost, words));
                }
                // Connections lost meanwhile are in the parts.
                Some(_) | None => {}
            }
        }
        Ok((parts, lost))
    }
}

/// Some workers did not answer a command that needs no server.
pub(crate) fn unanswered(missing: usize, what: &str) -> Ended {
    Ended::new(
        End::WorkerLost,
        format!(
            "{missing} of the workers did not {what} within {} s; what the others measured is kept",
            ANSWER.as_secs()
        ),
    )
}

/// Parts of a step, each with the number of the site that it is from.
pub(super) type Parts = Vec<(u32, StepPart)>;

/// A schedule whose time is over, and that the generator has not kept up with: sending the rest
/// would only measure the generator for longer. Looks once, when every send of that time is known.
fn overtaken(ledger: &StepLedger, sent_by: &mut Option<u64>, lag_ns: u64) -> Option<Ended> {
    let end_ns = sent_by.filter(|end_ns| clock::now_ns() > *end_ns + lag_ns)?;
    *sent_by = None;
    let (sent, planned) = (ledger.sent_by(end_ns), u64::from(ledger.timed()));
    // Those that the peers would not take are the peers' doing, and are waited for.
    let ready = sent + ledger.late_by_backpressure(end_ns);
    (!record::all_sent(ready, planned)).then(|| {
        Ended::new(
            End::GeneratorLimited,
            format!("{sent} of {planned} requests were sent when the time of the step was over"),
        )
    })
}

/// What the peers did not take in time: of a schedule by `sent_by`, else by the end of the step.
fn backpressure(ledger: &StepLedger, sent_by: Option<u64>) -> Option<Backpressure> {
    let of = Backpressure {
        late: ledger.late_by_backpressure(sent_by.unwrap_or(u64::MAX)),
        unsent: ledger.never_taken(),
    };
    (of.late > 0).then_some(of)
}
