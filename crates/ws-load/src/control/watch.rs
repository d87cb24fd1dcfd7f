//! A watched step: messages are published by the clock, whatever happens to connections.

use super::merge::Merged;
use super::{ANSWER, Controller, Ended, Kept, Workers, measure, watched};
use crate::clock;
use crate::message::{Command, Report, WatchPart};
use crate::worker::TICK;
use plan::Watch;
use record::{End, Event};

impl<W: Workers> Controller<'_, W> {
    /// Carries out the step. As [`Controller::step`].
    pub(super) fn watch_step(
        &mut self,
        step: u32,
        clients: u64,
        terms: Watch,
    ) -> Result<Option<Ended>, Ended> {
        let connecting_ns = clock::now_ns();
        self.connect(step, clients)?;
        let start_ns = clock::now_ns() + clock::nanos(self.workers.start_in());
        let cpu_began_ns = clock::process_cpu_ns();
        self.workers.tell(Command::Watch { start_ns });
        let early_end = self.await_watched(step, clients, terms, start_ns)?;
        let elapsed_ns = clock::now_ns().saturating_sub(start_ns);
        let cpu_ns = clock::process_cpu_ns() - cpu_began_ns;
        let (mut parts, lost) = self.collect_parts()?;
        let early_end = early_end.or(lost);
        let mut all = WatchPart::default();
        for (_, part) in &mut parts {
            // Clients that come back are told of by what they heard.
            part.churn = None;
            if let Some(watch) = part.watch.take() {
                all.merge(*watch);
            }
        }
        let codec = crate::dialect::codec(self.plan, None);
        let found = watched::found(&all, &terms, codec.returns(), elapsed_ns);
        if let Some((_, part)) = parts.first_mut() {
            part.faults.misdirected += found.unsent_heard;
            part.latencies.delivery.merge(&found.live);
        }
        let merged = Merged {
            plan: self.plan,
            clients,
            rate: Some(terms.rate),
            planned: terms.messages(),
            samples: watched::come_due(&terms, elapsed_ns),
            sent: None,
            backpressure: None,
            flight: None,
            elapsed_ns,
            warm_up_ns: 0,
            cpu_ns,
            timed_out: false,
            kept: Kept::default(),
            rows: self.workers.rows(clients, None),
            parts,
        };
        let (mut record, uncounted) = merged.into_record();
        record.connecting_ns = start_ns.saturating_sub(connecting_ns);
        record.watched = Some(Box::new(found.watched));
        let is_interrupted = early_end
            .as_ref()
            .is_some_and(|early| early.end == End::Interrupted);
        let judgement = match is_interrupted {
            true => record::judge_interrupted(&record),
            false => record::judge(&record, self.plan, self.ceiling),
        };
        record.verdict = judgement.verdict;
        record.verdict_reasons = judgement.reasons;
        self.note_uncounted(&mut record, uncounted);
        let verdict = self.verdict(&record, clients);
        self.steps.push(record.clone());
        (self.on_event)(&Event::Step {
            step,
            record: Box::new(record),
        });
        Ok(early_end.or(verdict))
    }

    /// Waits until the messages were published and listened for. `Some` when that was broken off.
    fn await_watched(
        &mut self,
        step: u32,
        clients: u64,
        terms: Watch,
        start_ns: u64,
    ) -> Result<Option<Ended>, Ended> {
        let wanted_ns = terms.duration.ns() + terms.patience.ns();
        let end_ns = start_ns + wanted_ns + Watch::MOST_BEHIND.ns() + clock::nanos(ANSWER);
        let mut waiting = self.workers.len();
        while waiting > 0 {
            let ended = match self.workers.wait(TICK) {
                Some((_, Report::Held)) => {
                    waiting -= 1;
                    None
                }
                Some((_, Report::Lost(words))) => Some(Ended::new(End::WorkerLost, words)),
                Some((_, report)) => {
                    self.unexpected(report)?;
                    None
                }
                None => None,
            };
            let late = (clock::now_ns() >= end_ns)
                .then(|| measure::unanswered(waiting, "end the watched step"));
            if let Some(ended) = ended.or_else(|| self.check_interrupt().err()).or(late) {
                self.workers.tell(Command::GiveUp { count: false });
                return Ok(Some(ended));
            }
            (self.on_event)(&Event::Watching {
                step,
                connected: self.workers.connected(),
                clients,
                start_ns,
                elapsed_ns: clock::now_ns().saturating_sub(start_ns).min(wanted_ns),
                wanted_ns,
            });
        }
        Ok(None)
    }
}
