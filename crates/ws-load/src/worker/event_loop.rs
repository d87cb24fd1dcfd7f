//! The event loop of a worker: it takes commands, serves sockets and passes events to the scenario.
//!
//! It knows connections and frames, and no scenario.

use super::catch_up::CatchUp;
use super::clients::{ClientTable, Session};
use super::missed::Missed;
use super::pacing::Pacing;
use super::{Common, Peer};
use crate::clock;
use crate::dialect::{self, Codec};
use crate::http::Access;
use crate::io::{Backend, Control, Event, Handler, Token};
use crate::message::{Command, StepPart};
use crate::plan;
use crate::scenario::{self, Scenario, Setting};
use crate::verify::Read;
use ::plan::{Plan, Timestamps};
use record::{CompressionUse, Recorder};
use std::io;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Longest wait of a loop that nothing wakes: the resolution of time-outs.
const IDLE_TURN: Duration = Duration::from_millis(50);

/// Everything of a worker but its backend and its mailbox.
pub(super) struct EventLoop {
    pub(super) clients: ClientTable,
    pub(super) scenario: Box<dyn Scenario>,
    pub(super) codec: Arc<dyn Codec>,
    plan: Arc<Plan>,
    /// Of the whole run.
    workers: u32,
    pacing: Pacing,
    /// What clients have of messages that go on, and are not ready.
    pub(super) begun: dialect::Begun,
    /// What they missed, of those that come back and are not ready.
    pub(super) missed: Missed,
    /// The scenario takes bytes in place of messages.
    pub(super) takes_bytes: bool,
    pub(super) kernel_stamps: bool,
    /// Bytes of frames that were received since the step began.
    pub(super) received_bytes: u64,
    receive_lag: Recorder,
    reads: u64,
    unstamped: u64,
    clock_steps: u64,
    largest_lag_ns: u64,
    step_cpu_start_ns: u64,
    catch_up: Option<CatchUp>,
    /// The step was given up before its end.
    given_up: bool,
    /// Until when the peers have time to close.
    closing: Option<u64>,
}

/// When the last bytes of a read arrived, as far as is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub(super) at_ns: u64,
    pub(super) since_ns: u64,
    pub(super) read_ns: u64,
    /// As of [`crate::io::Event::Data`].
    pub(super) stamped: bool,
}

impl EventLoop {
    pub(super) fn new(thread: u32, peers: Vec<Peer>, common: Common) -> Self {
        let codec = dialect::codec(&common.plan, common.target.lines.clone());
        let scenario = scenario::scenario(Setting {
            plan: Arc::clone(&common.plan),
            work: common.work,
            addr: common.target.endpoint.clone(),
            asks: common.target.asks.clone(),
            codec: Arc::clone(&codec),
            stamps: common.stamps,
            share: common.share,
            thread,
            threads: peers.len() as u32,
            step: Arc::clone(&common.step),
            understanding: Arc::clone(&common.understanding),
            bytes: Arc::clone(&common.progress.bytes),
            http: common.http.clone().map(|service| Access {
                service,
                waker: peers[thread as usize].waker.clone(),
            }),
        });
        Self {
            begun: dialect::Begun::default(),
            missed: Missed::default(),
            takes_bytes: scenario.takes_bytes(),
            scenario,
            plan: Arc::clone(&common.plan),
            workers: common.share.worker(thread, peers.len() as u32).1,
            kernel_stamps: common.plan.generator.timestamps == Timestamps::Kernel,
            clients: ClientTable::new(thread, peers, Arc::clone(&codec), common),
            codec,
            pacing: Pacing::default(),
            received_bytes: 0,
            receive_lag: Recorder::default(),
            reads: 0,
            unstamped: 0,
            clock_steps: 0,
            largest_lag_ns: 0,
            step_cpu_start_ns: 0,
            catch_up: None,
            given_up: false,
            closing: None,
        }
    }

    /// Runs until it is told to close, and all connections are closed or the time for it is over.
    pub(super) fn run<B: Backend>(
        &mut self,
        backend: &mut B,
        commands: &mpsc::Receiver<Command>,
    ) -> io::Result<()> {
        let mut turned_ns = clock::now_ns();
        loop {
            self.clients.note_turn();
            while let Ok(command) = commands.try_recv() {
                self.obey(command, backend.control());
            }
            let session = &mut self.clients.session(backend.control());
            session.end_steps();
            session.open_more();
            session.live_on();
            session.beat();
            if session.table.opening.settling.next_ns() != u64::MAX {
                self.end_settling(backend.control());
            }
            let session = &mut self.clients.session(backend.control());
            if self.pacing.has_paused() {
                self.pacing.resume_due(clock::now_ns(), session);
            }
            self.scenario.turn(session);
            self.end_catch_up(backend.control());
            if self
                .closing
                .is_some_and(|end_ns| self.clients.is_closed(end_ns))
            {
                self.clients.abort_all();
                return Ok(());
            }
            let turn = backend.turn(self.patience(turned_ns), self)?;
            self.reads += turn.reads;
            self.unstamped += turn.unstamped;
            self.clock_steps += u64::from(turn.clock_stepped);
            turned_ns = clock::now_ns();
            let lag_ns = turned_ns.saturating_sub(turn.woke_ns);
            self.largest_lag_ns = self.largest_lag_ns.max(lag_ns);
        }
    }

    /// How long the loop may wait for an event; its turn before ended at `turned_ns`. The clock is read
    /// anew only where something is due by it.
    fn patience(&self, turned_ns: u64) -> Duration {
        let next_ns = self.scenario.next_ns(turned_ns);
        let next_ns = next_ns.min(self.clients.opening.next_start_ns());
        let next_ns = next_ns.min(self.clients.opening.settling.next_ns());
        let next_ns = next_ns.min(self.pacing.next_ns());
        let caught_up_ns = self.catch_up.as_ref().map_or(u64::MAX, CatchUp::next_ns);
        let next_ns = next_ns.min(caught_up_ns);
        let lives = self.clients.lives.as_ref();
        let next_ns = next_ns.min(lives.map_or(u64::MAX, |lives| lives.next_ns()));
        let beats = self.clients.beats.as_ref();
        let next_ns = next_ns.min(beats.map_or(u64::MAX, |beats| beats.next_ns()));
        if next_ns == u64::MAX {
            return IDLE_TURN;
        }
        IDLE_TURN.min(Duration::from_nanos(
            next_ns.saturating_sub(clock::now_ns()),
        ))
    }

    fn obey(&mut self, command: Command, control: &mut dyn Control) {
        let mut session = self.clients.session(control);
        match command {
            Command::Open { clients } => session.table.want(clients),
            Command::Finish => {
                session.end_lives();
                return self.finish_step(control);
            }
            Command::Close => {
                self.pacing.resume_due(u64::MAX, &mut session);
                self.closing = Some(session.close());
                return;
            }
            Command::OpenAndHold(terms) => {
                let by_clock = terms.by_clock.map(|by_clock| by_clock.start_ns);
                let began_ns = by_clock.unwrap_or_else(clock::now_ns);
                session.table.drops.begin(began_ns);
                session.table.open(&terms);
                clock::wake_precisely();
            }
            Command::Begin(terms) => {
                session.table.drops.begin(clock::now_ns());
                let under_way = plan::most_under_way(&self.plan, terms.clients, self.workers);
                session.control.under_way(under_way);
            }
            Command::CountFrom { from_ns } => session.table.drops.begin(from_ns),
            Command::Start { start_ns, .. } => {
                session.begin_lives(start_ns);
                clock::wake_precisely();
            }
            Command::Watch { start_ns } => {
                session.table.drops.begin(start_ns);
                session.begin_lives(start_ns);
                clock::wake_precisely();
            }
            Command::GiveUp { .. } => {
                session.end_lives();
                self.given_up = true;
                if let Some(catch_up) = &mut self.catch_up {
                    catch_up.hurry();
                }
            }
            _ => {}
        }
        let begins = matches!(
            command,
            Command::OpenAndHold(_) | Command::Begin(_) | Command::Watch { .. }
        );
        if let Command::Begin(_) = command {
            session.table.begin_segments();
        }
        self.scenario.obey(command, &mut session);
        if begins {
            // Beginning takes longer than a short step, and is not its work.
            self.reset_counters();
        }
    }

    fn reset_counters(&mut self) {
        self.largest_lag_ns = 0;
        self.reads = 0;
        self.unstamped = 0;
        self.clock_steps = 0;
        self.received_bytes = 0;
        self.clients.deflate.used = CompressionUse::default();
        self.receive_lag.reset();
        self.scenario.reset();
        self.given_up = false;
        self.step_cpu_start_ns = clock::thread_cpu_ns();
    }

    /// Takes the figures of a step. They are reported once the clients that read slowly have caught
    /// up; at once of a step that was given up.
    fn finish_step(&mut self, control: &mut dyn Control) {
        let mut part = StepPart {
            busiest_cpu_ns: clock::thread_cpu_ns() - self.step_cpu_start_ns,
            reads: self.reads,
            unstamped: self.unstamped,
            clock_steps: self.clock_steps,
            largest_lag_ns: self.largest_lag_ns,
            compression: std::mem::take(&mut self.clients.deflate.used),
            handshakes: std::mem::take(&mut self.clients.handshakes),
            ..StepPart::default()
        };
        part.counts.received_bytes = self.received_bytes;
        self.scenario.finish(&mut part, clock::now_ns());
        part.segments = self.clients.segments();
        part.latencies.receive_lag.merge(&self.receive_lag);
        self.receive_lag.reset();
        self.clients.opening.finish(&mut part);
        if let Some(lives) = &mut self.clients.lives {
            lives.finish(&mut part);
        }
        part.heartbeats = self.clients.finish_beats();
        if let Some(steps) = &mut self.clients.steps {
            part.http.get_or_insert_default().merge(steps.finish());
        }
        let mut part = Box::new(part);
        if self.given_up {
            part.slow.is_kept_unknown = true;
            return self.clients.report_part(part);
        }
        let session = &mut self.clients.session(control);
        match CatchUp::begin(part, session) {
            Ok(catch_up) => {
                self.catch_up = Some(catch_up);
                self.pacing.resume_due(u64::MAX, session);
            }
            Err(part) => session.table.report_part(part),
        }
    }

    fn end_catch_up(&mut self, control: &mut dyn Control) {
        let is_over = |catch_up: &mut CatchUp| catch_up.next_ns() <= clock::now_ns();
        let Some(catch_up) = self.catch_up.take_if(is_over) else {
            return;
        };
        let mut part = catch_up.into_part(&mut self.clients.session(control));
        self.scenario.caught_up(&mut part);
        self.clients.report_part(part);
    }
}

impl<C: Control> Handler<C> for EventLoop {
    #[inline]
    fn on_event(&mut self, control: &mut C, token: Token, event: Event<'_>) {
        let mut now_ns = 0;
        match event {
            Event::Data {
                bytes,
                at_ns,
                there_ns,
                since_ns,
                read_ns,
                stamped,
            } => {
                now_ns = read_ns;
                let read = Read {
                    at_ns: read_ns,
                    unread_ns: read_ns - at_ns,
                    is_result: false,
                };
                self.scenario.read(read, self.received_bytes);
                let stamp = Stamp {
                    at_ns,
                    since_ns,
                    read_ns,
                    stamped,
                };
                self.on_data(control, token, bytes, stamp);
                let session = &mut self.clients.session(control);
                let reads_slowly = match &mut self.catch_up {
                    Some(catch_up) => catch_up.took(token, bytes.len(), read_ns),
                    None => self.pacing.took(token, bytes.len(), read_ns, session),
                };
                // What a client that reads slowly leaves unread is no lag of the loop.
                if !reads_slowly {
                    self.receive_lag.record(read_ns - there_ns);
                }
            }
            Event::Writable => self.on_writable(control, token),
            Event::End => self.clients.session(control).on_end(token),
            Event::Failed(error) => self.clients.session(control).on_failed(token, error),
        }
        self.scenario
            .follow_up(now_ns, &mut self.clients.session(control));
    }
}

impl ClientTable {
    pub(super) fn session<'a>(&'a mut self, control: &'a mut dyn Control) -> Session<'a> {
        Session {
            table: self,
            control,
        }
    }
}
