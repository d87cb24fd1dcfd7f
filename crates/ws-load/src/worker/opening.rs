//! Opening clients: a bounded number of handshakes at once, or starts by the clock, each within its
//! time.

mod failed;

use super::clients::Session;
use super::pacing;
use super::settling::Settling;
use super::starts::Starts;
use crate::clock;
use crate::figures::Latencies;
use crate::io::Token;
use crate::message::{HeldPart, OpenTerms, Report, StepPart, Unable};
use crate::net::{ConnectError, Connection, Phase, Stage, Transport, Tunnelling, Upgrade, offer};
use crate::plan::attempts_at_once;
use crate::scenario::Work;
use plan::Plan;
use std::collections::VecDeque;
use std::io;
use ws_proto::{UpgradeRequest, encode_key};

/// Most starts in one turn, so that this worker still reads when it cannot keep up with the schedule.
const STARTS_AT_ONCE: usize = 64;
/// A start counts as in time up to this long after the end of the schedule: a start that is due at the
/// end may be late by this much on a loaded machine.
const START_SLACK_NS: u64 = 50_000_000;

/// How many clients are wanted and which attempts are under way.
pub(super) struct Opening {
    wanted: usize,
    at_once: u32,
    under_way: u32,
    /// The schedule of starts, independent of earlier attempts; absent when each start waits for the
    /// end of an earlier attempt.
    starts: Option<Starts>,
    next_start_ns: u64,
    /// How long an attempt may take.
    patience_ns: u64,
    /// Attempts in the order of their start, each with the time at which it is given up.
    deadlines: VecDeque<(u64, Token)>,
    pub(super) settling: Settling,
    /// All wanted clients have been reported as ready.
    reported: bool,
    /// This machine's limit, reported once the attempts under way have ended.
    exhausted: Option<Box<ConnectError>>,
    /// How the client that was lost last had ended that was ready, in words.
    last_lost: String,
    /// Of a `connect` run, which counts the connections that fail and goes on.
    figures: Option<Box<Figures>>,
}

/// Figures of the opening since the last report.
#[derive(Debug, Default)]
struct Figures {
    /// When the schedule of the starts has surely ended.
    starts_end_ns: u64,
    part: HeldPart,
    latencies: Latencies,
}

impl Opening {
    /// Of worker `number` of `workers`.
    pub(super) fn new(plan: &Plan, number: u32, workers: u32, work: Work) -> Self {
        let terms = plan.connect().filter(|_| work == Work::Plan);
        Self {
            wanted: 0,
            at_once: attempts_at_once(plan, number, workers),
            under_way: 0,
            starts: None,
            next_start_ns: u64::MAX,
            patience_ns: plan.connection.timeout.ns(),
            deadlines: VecDeque::new(),
            settling: Settling::default(),
            reported: true,
            exhausted: None,
            last_lost: String::new(),
            figures: terms.map(|_| Box::default()),
        }
    }

    pub(super) fn want(&mut self, clients: usize) {
        self.wanted = clients;
        self.reported = false;
    }

    /// Has a worker's share of the connections opened, by the clock where the terms say when.
    pub(super) fn begin(&mut self, terms: &OpenTerms, worker: u64, workers: u64) {
        self.want(terms.share(worker, workers) as usize);
        if let Some((mut starts, last_ns)) = terms.starts(worker, workers) {
            self.next_start_ns = starts.next().unwrap_or(u64::MAX);
            self.starts = Some(starts);
            if let Some(figures) = &mut self.figures {
                figures.starts_end_ns = last_ns + START_SLACK_NS;
            }
        }
    }

    /// When the next attempt is to be started by the clock; far in the future when none is.
    pub(super) const fn next_start_ns(&self) -> u64 {
        self.next_start_ns
    }

    /// The moment that was meant for the start of an attempt, if one may be made now.
    fn take_start(&mut self) -> Option<u64> {
        let now_ns = clock::now_ns();
        let Some(starts) = &mut self.starts else {
            let under_way = self.under_way - self.settling.attempts();
            return (under_way < self.at_once).then_some(now_ns);
        };
        if now_ns < self.next_start_ns {
            return None;
        }
        let due_ns = self.next_start_ns;
        self.next_start_ns = starts.next().unwrap_or(u64::MAX);
        Some(due_ns)
    }

    /// When the attempt of a client that is not ready yet was meant to start. Slots are used in
    /// turn, so that the attempts stand in their order.
    fn intended_ns(&self, slot: Token) -> Option<u64> {
        let (_, first) = self.deadlines.front()?;
        let at = slot.checked_sub(*first)? as usize;
        let (deadline_ns, _) = self.deadlines.get(at)?;
        Some(deadline_ns - self.patience_ns)
    }

    /// True while some wanted client is not ready and has not failed.
    pub(super) const fn is_under_way(&self) -> bool {
        !self.reported
    }

    pub(super) fn stop(&mut self) {
        self.wanted = 0;
        self.next_start_ns = u64::MAX;
        self.reported = true;
    }

    /// This machine has met a limit: it is reported once the attempts under way have ended.
    fn exhaust(&mut self, error: ConnectError) {
        self.stop();
        self.exhausted = Some(Box::new(error));
    }

    /// Requests over HTTP are answered: the attempt to connect begins, and has its own time. Those of later
    /// clients wait with it for their end, which may be up to this time later.
    pub(super) fn note_connects(&mut self, slot: Token, at_ns: u64) {
        let first = self.deadlines.front().map_or(slot, |(_, first)| *first);
        if let Some((deadline_ns, _)) = self.deadlines.get_mut((slot - first) as usize) {
            *deadline_ns = at_ns + self.patience_ns;
        }
    }

    /// Notes the start of an attempt.
    pub(super) fn note_started(&mut self, slot: Token, due_ns: u64, at_ns: u64) {
        self.deadlines.push_back((due_ns + self.patience_ns, slot));
        self.under_way += 1;
        if let Some(figures) = &mut self.figures
            && self.starts.is_some()
        {
            figures.part.in_time += u64::from(at_ns <= figures.starts_end_ns);
            let lag_ns = at_ns.saturating_sub(due_ns);
            figures.latencies.send_lag.record(lag_ns);
        }
    }

    /// Notes that a TCP connection was established.
    fn note_established(&mut self, slot: Token, at_ns: u64) {
        let intended_ns = self.intended_ns(slot);
        if let (Some(figures), Some(intended_ns)) = (&mut self.figures, intended_ns) {
            figures.part.tcp.record(at_ns.saturating_sub(intended_ns));
        }
    }

    /// Notes that a client is ready.
    pub(super) fn note_ready(&mut self, slot: Token, at_ns: u64) {
        self.under_way -= 1;
        let intended_ns = self.intended_ns(slot);
        if let (Some(figures), Some(intended_ns)) = (&mut self.figures, intended_ns) {
            let part = &mut figures.part;
            part.opened += 1;
            part.last_open_ns = part.last_open_ns.max(at_ns);
            let took_ns = at_ns.saturating_sub(intended_ns);
            figures.latencies.completion.record(took_ns);
        }
    }

    /// Counts an attempt that failed, where these are counted.
    fn count_failed(&mut self, error: &ConnectError) -> bool {
        let Some(figures) = &mut self.figures else {
            return false;
        };
        figures.part.failed += 1;
        figures
            .part
            .first_failure
            .get_or_insert_with(|| error.to_string());
        true
    }

    /// A client that was ready is lost.
    pub(super) fn note_lost(&mut self, error: &ConnectError) {
        self.last_lost = error.to_string();
    }

    /// Why there are no more than `opened` clients, although each has been opened once.
    fn lost_some(&self, opened: usize) -> Unable {
        let (lost, last) = (self.wanted - opened, &self.last_lost);
        Unable {
            words: format!("{lost} connections were lost before the step; the last: {last}"),
            machine_limit: false,
        }
    }

    /// Adds what opening took to a worker's part of a step.
    pub(super) fn finish(&mut self, part: &mut StepPart) {
        if let Some(figures) = &mut self.figures {
            let figures = std::mem::take(&mut **figures);
            part.faults.refused += figures.part.failed;
            part.held.merge(figures.part);
            part.latencies.merge(&figures.latencies);
        }
    }
}

/// Which attempt of a client it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// Its first; it was meant to start at `due_ns`.
    First { due_ns: u64 },
    /// The same once its requests over HTTP are answered.
    AfterSteps,
    /// It has left, and comes back.
    Again,
}

impl Session<'_> {
    /// Starts attempts up to the bound, gives up those whose time is over, and reports the end.
    pub(super) fn open_more(&mut self) {
        self.give_up_late();
        let most = match self.table.opening.starts {
            Some(_) => STARTS_AT_ONCE,
            None => usize::MAX,
        };
        for _ in 0..most {
            // Those that come back take the places of others.
            if self.table.len() >= self.table.opening.wanted || self.table.has_returning() {
                break;
            }
            let Some(due_ns) = self.table.opening.take_start() else {
                break;
            };
            if let Err(error) = self.open_one(due_ns)
                && !self.go_on_after(error, due_ns)
            {
                break;
            }
        }
        if self.table.opening.under_way == 0
            && let Some(error) = self.table.opening.exhausted.take()
        {
            self.table.report(Report::OpenFailed((*error).into()));
        }
        self.report_opened();
    }

    /// An attempt could not even be made. True when others may be.
    fn go_on_after(&mut self, error: io::Error, due_ns: u64) -> bool {
        let slot = self.table.len() as Token;
        let error = self.table.explain(error, Stage::Connect, slot);
        let opening = &mut self.table.opening;
        if error.is_machine_limit() {
            opening.exhaust(error);
            return false;
        }
        if opening.count_failed(&error) {
            opening.deadlines.push_back((due_ns, slot));
            self.table.add(Connection::gone());
            return true;
        }
        opening.stop();
        self.table.report(Report::OpenFailed(error.into()));
        false
    }

    fn report_opened(&mut self) {
        let opening = &self.table.opening;
        if opening.reported {
            return;
        }
        let opened = self.table.opened_count() as usize;
        let has_tried_all = opening.under_way == 0 && self.table.len() >= opening.wanted;
        let report = match opening.figures {
            Some(_) if has_tried_all => Report::Opened,
            None if opened >= opening.wanted => Report::Opened,
            None if has_tried_all && !self.table.has_returning() => {
                Report::OpenFailed(opening.lost_some(opened))
            }
            _ => return,
        };
        self.table.opening.reported = true;
        self.table.report(report);
    }

    fn open_one(&mut self, due_ns: u64) -> io::Result<()> {
        let slot = self.table.len() as Token;
        if self.table.steps.is_some() {
            self.begin_steps(slot, due_ns);
            return Ok(());
        }
        self.connect(slot, Attempt::First { due_ns })
    }

    /// Begins an attempt.
    pub(super) fn connect(&mut self, slot: Token, attempt: Attempt) -> io::Result<()> {
        let at_ns = clock::now_ns();
        let local = self.table.local_addr(slot);
        let reading = match attempt {
            Attempt::First { .. } => self.table.note_reading(),
            Attempt::AfterSteps | Attempt::Again => self.table.reading(slot),
        };
        let receive_buffer = pacing::receive_buffer(reading);
        self.table.choose_node(slot);
        let endpoint = self.table.endpoint(slot);
        let transport = Transport::connect(&endpoint, local, receive_buffer)?;
        self.control.connecting(slot, transport.raw())?;
        self.table.put(slot, transport);
        if let Attempt::First { due_ns } = attempt {
            self.table.opening.note_started(slot, due_ns, at_ns);
        }
        Ok(())
    }

    fn give_up_late(&mut self) {
        if self.table.opening.deadlines.is_empty() {
            return;
        }
        let now = clock::now_ns();
        while let Some(&(deadline, slot)) = self.table.opening.deadlines.front() {
            let connection = self.table.get(slot);
            let is_asking = matches!(connection.phase, Phase::Asking);
            if connection.is_opening() && (is_asking || deadline > now) {
                return;
            }
            let late = connection.is_opening().then(|| connection.stage());
            self.table.opening.deadlines.pop_front();
            if let Some(stage) = late {
                let error = self.table.late(slot, stage);
                self.lose(slot, error);
            }
        }
    }

    /// The TCP connection attempt has ended.
    pub(super) fn on_connected(&mut self, slot: Token) {
        // Taken before the request is written: the answer may come before this thread runs again.
        let connected_ns = clock::now_ns();
        let tunnel = self
            .table
            .common
            .target
            .asks
            .tunnel(self.table.client(slot));
        let connection = self.table.get(slot);
        let Some(transport) = &mut connection.transport else {
            return;
        };
        if let Err(error) = transport.connected() {
            return self.on_failed(slot, error);
        }
        let Some(request) = tunnel else {
            if self.ask_for_upgrade(slot, connected_ns) {
                self.table.opening.note_established(slot, connected_ns);
            }
            return;
        };
        let asked = transport.send(&request).and_then(|_| {
            self.control
                .established(slot, transport.raw(), transport.wants_write())
        });
        match asked {
            Ok(()) => {
                connection.phase = Phase::Tunnelling(Box::<Tunnelling>::default());
                self.table.opening.note_established(slot, connected_ns);
            }
            Err(error) => self.on_failed(slot, error),
        }
    }

    /// Asks the server for an upgrade, behind TLS where that is spoken. False when the connection is
    /// broken.
    pub(super) fn ask_for_upgrade(&mut self, slot: Token, connected_ns: u64) -> bool {
        let key = encode_key(self.draw_nonce());
        let common = &self.table.common;
        let codec = &self.table.codec;
        let asked = common
            .target
            .asks
            .of_client(self.table.client(slot), self.table.told(slot));
        let mut request = Vec::new();
        asked.encode(
            UpgradeRequest {
                authority: "",
                target: "",
                key: &key,
                origin: common.plan.connection.origin.as_deref().or(codec.origin()),
                subprotocol: codec.subprotocol(),
                deflate: offer(&common.plan),
            },
            &mut request,
        );
        let tls = self.table.tls_of(slot);
        let connection = self.table.get(slot);
        let Some(transport) = &mut connection.transport else {
            return false;
        };
        let sent = tls
            .map_or(Ok(()), |(config, name)| transport.secure(config, name))
            .and_then(|()| transport.send(&request))
            .and_then(|_| {
                self.control
                    .established(slot, transport.raw(), transport.wants_write())
            });
        match sent {
            Ok(()) => {
                connection.phase = Phase::Upgrading(Box::new(Upgrade {
                    key,
                    asked,
                    connected_ns,
                    response: Vec::new(),
                }));
                true
            }
            Err(error) => {
                self.on_failed(slot, error);
                false
            }
        }
    }

    fn draw_nonce(&mut self) -> [u8; 16] {
        let halves = [self.table.draw(), self.table.draw()];
        let mut nonce = [0; 16];
        nonce[..8].copy_from_slice(&halves[0].to_ne_bytes());
        nonce[8..].copy_from_slice(&halves[1].to_ne_bytes());
        nonce
    }
}
