//! One step: its samples taken, its parts put together and judged.

use super::afford::{affordable, countable};
use super::crew::HURRY;
use super::merge::Merged;
use super::{ANSWER, Ended, Engine, Load, News, TICK, Team};
use crate::clock;
use crate::ledger::StepLedger;
use crate::plan;
use crate::site::{SitePart, StepTerms};
use run_record::{Backpressure, End, Event, StepRecord, Workload};
use std::sync::Arc;
use std::time::Duration;

/// After the end of a schedule: what a send that is due at its very end, or a short one, may lose to
/// the scheduler of a loaded machine.
const SEND_SLACK: Duration = Duration::from_millis(50);
/// After the last sample of a step: the time in which a second copy of it would come.
const SETTLE: Duration = Duration::from_millis(50);

impl<T: Team> Engine<'_, T> {
    /// Takes the samples of a step. Besides its record: why the run cannot go on, if it cannot.
    pub(super) fn measure(
        &mut self,
        step: u32,
        load: &Load,
    ) -> Result<(StepRecord, Option<Ended>), Ended> {
        let clients = load.clients;
        let schedule = load
            .open
            .clone()
            .map(|open| plan::Schedule::new(open, self.plan.generator.seed, self.samples));
        let (samples, warm_up) = match &schedule {
            Some(schedule) => {
                affordable(schedule)?;
                countable(schedule.counts())?
            }
            None => (load.samples, 0),
        };
        let ledger = self.begin(StepTerms {
            first_sample: self.samples,
            samples,
            warm_up,
            by_clock: schedule.is_some(),
            clients,
        })?;
        self.samples += u64::from(samples);
        let (began, cpu_began) = (clock::now_ns(), clock::process_cpu_ns());
        self.team.count_from(began);
        let sent_by = schedule.map(|schedule| {
            let start_ns = self.team.start(&schedule);
            start_ns + schedule.length_ns() + clock::nanos(SEND_SLACK)
        });
        if sent_by.is_none() {
            self.team.fill();
        }
        let early_end = self.await_samples(step, clients, &ledger, sent_by)?;
        let ended = clock::now_ns();
        let cpu_ns = clock::process_cpu_ns() - cpu_began;
        if early_end.is_none() {
            std::thread::sleep(SETTLE);
        }
        let (parts, lost) = self.collect_parts()?;
        let early_end = early_end.or(lost);
        // Of a schedule that was broken off, nobody can tell.
        let sent_by = sent_by.filter(|end_ns| early_end.is_none() || ended > *end_ns);
        let is_end = |end| early_end.as_ref().is_some_and(|early| early.end == end);
        let merged = Merged {
            plan: self.plan,
            clients,
            rate: load.open.as_ref().map(|open| open.rate),
            planned: u64::from(ledger.timed()),
            samples: u64::from(ledger.completed_timed()),
            sent: sent_by.map(|end_ns| ledger.sent_by(end_ns)),
            backpressure: backpressure(&ledger, sent_by),
            flight: ledger.flight(),
            elapsed_ns: ended - began,
            warm_up_ns: load.open.as_ref().map_or(0, |open| open.warm_up.ns()),
            cpu_ns,
            timed_out: is_end(End::TimedOut),
            kept: self.team.take_kept(),
            rows: self.team.rows(clients, sent_by),
            parts,
        };
        let (mut record, first) = merged.into_record();
        let judgement = if is_end(End::Interrupted) {
            run_record::judge_interrupted(&record)
        } else {
            run_record::judge(&record, self.plan, self.ceiling)
        };
        record.verdict = judgement.verdict;
        record.verdict_reasons = judgement.reasons;
        if let Some(ended) = early_end.as_ref().filter(|_| is_end(End::WorkerLost)) {
            record.verdict_reasons.push(ended.detail.clone());
        }
        let early_end = early_end.map(|mut ended| {
            if let Some(words) = &first.disconnect {
                let more = format!("; the first connection lost: {words}");
                ended.detail.push_str(&more);
            }
            ended
        });
        self.note_first(&mut record, first);
        Ok((record, early_end))
    }

    /// Tells all of a step, and waits until they know: a sample that one of them sends may reach
    /// another's clients at once.
    fn begin(&mut self, step: StepTerms) -> Result<Arc<StepLedger>, Ended> {
        let ledger = self.team.begin(step);
        let mut waiting = self.team.len();
        let end_ns = clock::now_ns() + clock::nanos(ANSWER);
        while waiting > 0 {
            self.check_interrupt()?;
            if clock::now_ns() >= end_ns {
                return Err(unanswered(waiting, "begin the step"));
            }
            match self.team.wait(TICK) {
                Some(News::Begun) => waiting -= 1,
                Some(other) => self.unexpected(other)?,
                None => {}
            }
        }
        Ok(ledger)
    }

    /// Waits for the last sample. `Some` when the step had to be given up.
    fn await_samples(
        &mut self,
        step: u32,
        clients: u64,
        ledger: &StepLedger,
        mut sent_by: Option<u64>,
    ) -> Result<Option<Ended>, Ended> {
        let books_lag_ns = clock::nanos(self.team.books_lag());
        let mut told = 0;
        loop {
            let news = self.team.wait(TICK);
            if matches!(news, Some(News::AllSamples)) {
                return Ok(None);
            }
            let ended = match news {
                Some(News::AllLost) => Some(Ended::new(
                    End::ServerLost,
                    format!("the server closed all connections at {clients} clients"),
                )),
                Some(News::NotUnderstood(words)) => Some(Ended::new(End::NotUnderstood, words)),
                Some(News::Lost(_, words)) => Some(Ended::new(End::WorkerLost, words)),
                Some(other) => {
                    self.unexpected(other)?;
                    None
                }
                None => self.stalled(ledger),
            };
            let ended = ended
                .or_else(|| self.check_interrupt().err())
                .or_else(|| overtaken(ledger, &mut sent_by, books_lag_ns));
            if let Some(ended) = ended {
                let count = !matches!(
                    ended.end,
                    End::Interrupted | End::GeneratorLimited | End::WorkerLost
                );
                self.team.give_up(count);
                return Ok(Some(ended));
            }
            if clock::now_ns() - told >= clock::nanos(TICK) {
                told = clock::now_ns();
                (self.on_event)(&Event::Measuring {
                    step,
                    clients,
                    samples: u64::from(ledger.settled()),
                    wanted: u64::from(ledger.len()),
                });
            }
        }
    }

    fn stalled(&self, ledger: &StepLedger) -> Option<Ended> {
        if self.team.doubts() {
            return None;
        }
        let is_overdue = ledger.is_overdue(clock::now_ns(), self.plan.limits.sample_timeout.ns());
        is_overdue.then(|| {
            Ended::new(
                End::TimedOut,
                format!(
                    "a {} was not complete after {} s (--sample-timeout)",
                    match self.plan.workload() {
                        Workload::Echo | Workload::Connect => "sample (echo)",
                        Workload::Broadcast => "broadcast",
                    },
                    self.plan.limits.sample_timeout.ns() as f64 / 1e9
                ),
            )
        })
    }

    /// The parts of a step, each with the number of its site. `Some` when a site was lost meanwhile.
    pub(super) fn collect_parts(&mut self) -> Result<(Parts, Option<Ended>), Ended> {
        self.team.finish();
        let mut waiting = self.team.len();
        let mut parts = Parts::new();
        let mut lost = None;
        let mut end_ns = clock::now_ns() + clock::nanos(ANSWER);
        while parts.len() < waiting {
            if self.is_interrupted() {
                end_ns = end_ns.min(clock::now_ns() + clock::nanos(HURRY));
            }
            if clock::now_ns() >= end_ns {
                let missing = unanswered(waiting - parts.len(), "say what its part was");
                lost.get_or_insert(self.check_interrupt().err().unwrap_or(missing));
                break;
            }
            match self.team.wait(TICK) {
                Some(News::Part(site, part)) => parts.push((site, *part)),
                Some(News::Broken(words)) => return Err(Ended::new(End::MachineLimit, words)),
                Some(News::Lost(site, words)) => {
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

/// Some of the team have not done what needs no server.
pub(super) fn unanswered(missing: usize, what: &str) -> Ended {
    Ended::new(
        End::WorkerLost,
        format!(
            "{missing} of the workers did not {what} within {} s; what the others measured is kept",
            ANSWER.as_secs()
        ),
    )
}

/// Parts of a step, each with the number of the site that it is from.
pub(super) type Parts = Vec<(u32, SitePart)>;

/// A schedule whose time is over, and that the generator has not kept up with: sending the rest
/// would only measure the generator for longer. Looks once, when every send of that time is known.
fn overtaken(ledger: &StepLedger, sent_by: &mut Option<u64>, books_lag_ns: u64) -> Option<Ended> {
    let end_ns = sent_by.filter(|end_ns| clock::now_ns() > *end_ns + books_lag_ns)?;
    *sent_by = None;
    let (sent, planned) = (ledger.sent_by(end_ns), u64::from(ledger.timed()));
    // Those that the peers would not take are the peers' doing, and are waited for.
    let ready = sent + ledger.late_by_backpressure(end_ns);
    (!run_record::all_sent(ready, planned)).then(|| {
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
