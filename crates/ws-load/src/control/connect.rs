//! The `connect` workload: open connections, hold them, look at what they cost.

use super::measure::{Parts, unanswered};
use super::memory::Watch;
use super::{ANSWER, Controller, Ended, Kept, Workers, merge};
use crate::clock;
use crate::message::{Command, HeldPart, OpenTerms, Report, StartByClock};
use crate::worker::{HURRY, TICK};
use plan::Connect;
use record::{Connections, End, Event, Pings, StepRecord, Told, Verdict};
use std::time::Duration;

/// Interval of the progress checks until half of the connections are open.
const SHORT_TICK: Duration = Duration::from_millis(10);

/// Figures of a step that are not in the parts.
struct Times {
    began_ns: u64,
    opened_ns: u64,
    held_ns: u64,
    cpu_began_ns: u64,
    /// The schedule ran to its end, and every site has reported its part.
    all_started: bool,
}

impl<W: Workers> Controller<'_, W> {
    /// Opens what is missing of `clients` connections and holds them all. As [`Controller::step`].
    pub(super) fn connect_step(
        &mut self,
        step: u32,
        clients: u64,
        terms: Connect,
    ) -> Result<Option<Ended>, Ended> {
        if self.watch.is_none() {
            self.watch = self.workers.server().map(Watch::begin);
        }
        let have = self.workers.connected();
        let by_clock = terms.rate.map(|rate| StartByClock {
            rate,
            arrivals: terms.arrivals,
            seed: self.plan.generator.seed,
            start_ns: clock::now_ns() + clock::nanos(self.workers.start_in()),
        });
        let began_ns = by_clock.map_or_else(clock::now_ns, |by_clock| by_clock.start_ns);
        let cpu_began_ns = clock::process_cpu_ns();
        let wanted = OpenTerms {
            have,
            wanted: clients,
            by_clock,
        };
        self.workers.tell(Command::OpenAndHold(wanted));
        let broken_off = self.await_opened(step, wanted)?;
        let opened_ns = clock::now_ns();
        let open = self.workers.connected();
        let all_opened = broken_off.is_none();
        let early_end = match broken_off {
            None => self.hold(step, open, opened_ns + terms.hold.ns())?,
            // What was opened, pinged and dropped by then is kept.
            Some(ended) => {
                self.workers.tell(Command::GiveUp { count: false });
                Some(ended)
            }
        };
        let mut times = Times {
            began_ns,
            opened_ns,
            held_ns: u64::from(all_opened) * (clock::now_ns() - opened_ns),
            cpu_began_ns,
            all_started: all_opened,
        };
        let (parts, lost) = self.collect_parts()?;
        let early_end = early_end.or(lost);
        times.all_started &= early_end
            .as_ref()
            .is_none_or(|early| early.end != End::WorkerLost);
        let (mut record, uncounted) = self.connect_record(wanted, open, &times, parts);
        let is_interrupted = early_end
            .as_ref()
            .is_some_and(|early| early.end == End::Interrupted);
        let judgement = if is_interrupted {
            record::judge_interrupted(&record)
        } else {
            record::judge(&record, self.plan, self.ceiling)
        };
        record.verdict = judgement.verdict;
        record.verdict_reasons = judgement.reasons;
        self.note_uncounted(&mut record, uncounted);
        if early_end.is_some() && record.verdict == Verdict::Pass {
            record.verdict = Verdict::Noisy;
            record.verdict_reasons = vec![
                format!(
                    "it was ended after {:.1} s of a hold of {:.1} s",
                    times.held_ns as f64 / 1e9,
                    terms.hold.ns() as f64 / 1e9
                )
                .into(),
            ];
        }
        if let Some(ended) = early_end
            .as_ref()
            .filter(|ended| ended.end == End::WorkerLost)
        {
            record.verdict_reasons.push(ended.detail.as_str().into());
        }
        let opened = record.connections.as_ref().map_or(0, |of| of.opened);
        let ended = early_end
            .or_else(|| failed_to_connect(&record))
            .or_else(|| self.verdict(&record, have + opened));
        self.steps.push(record.clone());
        (self.on_event)(&Event::Step {
            step,
            record: Box::new(record),
        });
        Ok(ended)
    }

    /// Waits until all workers have their connections. `Some` when that was broken off: a site was
    /// lost, the machine allows no more connections, or the user ended it.
    fn await_opened(&mut self, step: u32, terms: OpenTerms) -> Result<Option<Ended>, Ended> {
        let OpenTerms { have, wanted, .. } = terms;
        let mut half_way = Some(u64::midpoint(have, wanted)).filter(|_| self.watch.is_some());
        let mut waiting = self.workers.len();
        let mut exhausted = None;
        while waiting > 0 {
            if let Err(ended) = self.check_interrupt() {
                return Ok(Some(ended));
            }
            let connected = self.workers.connected();
            if half_way.is_some_and(|half| connected >= half)
                && let Some(watch) = &mut self.watch
            {
                watch.look(connected);
                half_way = None;
            }
            let patience = if half_way.is_some() { SHORT_TICK } else { TICK };
            match self.workers.wait(patience) {
                Some((_, Report::Opened)) => waiting -= 1,
                Some((_, Report::Lost(words))) => {
                    return Ok(Some(Ended::new(End::WorkerLost, words)));
                }
                Some((_, Report::OpenFailed(unable))) => {
                    exhausted.get_or_insert(unable);
                    waiting -= 1;
                }
                Some((_, report @ Report::Broken(_))) => self.unexpected(report)?,
                Some(_) | None => {}
            }
            (self.on_event)(&Event::Connecting {
                step,
                connected: self.workers.connected(),
                wanted,
            });
        }
        match exhausted {
            Some(unable) => {
                let ended = self.connect_failed(wanted, &unable);
                if self.workers.connected() == have {
                    return Err(ended);
                }
                Ok(Some(ended))
            }
            None => Ok(None),
        }
    }

    /// Waits until all pings of the hold are accounted for. `Some` when the user ended it before.
    fn hold(&mut self, step: u32, open: u64, until_ns: u64) -> Result<Option<Ended>, Ended> {
        self.workers.tell(Command::Hold { until_ns });
        let began_ns = clock::now_ns();
        let mut waiting = self.workers.len();
        let mut early_end = None;
        let timeout_ns = self
            .plan
            .connect()
            .map_or(0, |connect| connect.ping_timeout.ns());
        let mut end_ns = until_ns.max(began_ns) + timeout_ns + clock::nanos(ANSWER);
        while waiting > 0 {
            if clock::now_ns() >= end_ns {
                early_end.get_or_insert_with(|| unanswered(waiting, "end the hold"));
                break;
            }
            match self.workers.wait(TICK) {
                Some((_, Report::Held)) => waiting -= 1,
                // It may have answered before, so that the number awaited is unknown.
                Some((_, Report::Lost(words))) => {
                    self.workers.tell(Command::GiveUp { count: false });
                    return Ok(Some(
                        early_end.unwrap_or_else(|| Ended::new(End::WorkerLost, words)),
                    ));
                }
                Some((_, report @ Report::Broken(_))) => self.unexpected(report)?,
                Some(_) | None => {}
            }
            if early_end.is_none()
                && let Err(ended) = self.check_interrupt()
            {
                self.workers.tell(Command::GiveUp { count: false });
                early_end = Some(ended);
                end_ns = clock::now_ns() + clock::nanos(HURRY);
            }
            let total_ns = until_ns.saturating_sub(began_ns);
            (self.on_event)(&Event::Holding {
                step,
                connected: self.workers.connected(),
                opened: open,
                held_ns: (clock::now_ns() - began_ns).min(total_ns),
                hold_ns: total_ns,
            });
        }
        Ok(early_end)
    }

    fn connect_record(
        &mut self,
        terms: OpenTerms,
        open: u64,
        times: &Times,
        mut parts: Parts,
    ) -> (StepRecord, merge::Uncounted) {
        let mut held = HeldPart::default();
        for (_, part) in &mut parts {
            held.merge(std::mem::take(&mut part.held));
        }
        let planned = terms.wanted - terms.have;
        let merged = merge::Merged {
            plan: self.plan,
            clients: open,
            rate: terms.by_clock.map(|by_clock| by_clock.rate),
            planned,
            samples: held.opened + held.failed,
            sent: terms
                .by_clock
                .filter(|_| times.all_started)
                .map(|_| held.in_time),
            backpressure: None,
            flight: None,
            elapsed_ns: clock::now_ns() - times.began_ns,
            warm_up_ns: 0,
            cpu_ns: clock::process_cpu_ns() - times.cpu_began_ns,
            timed_out: false,
            kept: Kept::default(),
            rows: self.workers.rows(terms.wanted, None),
            parts,
        };
        let (mut record, uncounted) = merged.into_record();
        record.connecting_ns = times.opened_ns.saturating_sub(times.began_ns);
        let now_open = self.workers.connected();
        let opening_ns = held.last_open_ns.saturating_sub(times.began_ns).max(1);
        let watch = self.watch.as_mut();
        let (generator, server) = watch
            .map(|watch| (watch.generator(now_open), watch.server(now_open)))
            .unzip();
        // The memory of sites is known where they are children of this process, and not elsewhere.
        let sites = record.sites.len();
        let generator = generator
            .flatten()
            .filter(|used| used.after.processes as usize > sites || sites == 0);
        let kernel = generator.and(self.watch.as_ref());
        let kernel = kernel.and_then(|watch| watch.kernel(now_open));
        let (server, server_unknown) = match server {
            Some(Ok((server, doubt))) => (Some(server), doubt),
            Some(Err(reason)) => (None, Some(reason.to_string())),
            None => (None, None),
        };
        record.connections = Some(Box::new(Connections {
            planned,
            opened: held.opened,
            first_failure: held.first_failure.map(Told::from),
            opened_per_second: held.opened as f64 * 1e9 / opening_ns as f64,
            tcp: held.tcp.latency(),
            held_ns: times.held_ns,
            pings: Pings {
                sent: held.sent,
                answered: held.answered,
                unanswered: held.unanswered,
                cut_off: held.cut_off,
                unasked_pongs: held.unasked,
                round_trip: held.round_trip.latency(),
                send_lag: held.ping_lag.latency(),
            },
            drops: held.drops,
            unasked_messages: held.unasked_messages,
            server,
            server_unknown: server_unknown.map(Told::from),
            generator,
            kernel,
        }));
        (record, uncounted)
    }
}

fn failed_to_connect(record: &StepRecord) -> Option<Ended> {
    let connections = record.connections.as_ref()?;
    let failure = connections.first_failure.as_ref()?;
    Some(Ended::new(
        End::ConnectFailed,
        format!(
            "{} of {} connections were opened; the first failure: {failure}",
            connections.opened, connections.planned
        ),
    ))
}
