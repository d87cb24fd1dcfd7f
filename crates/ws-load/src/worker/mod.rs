//! A worker: one thread, one event loop, its share of the clients.
//!
//! A worker takes [`Command`]s and gives [`Report`]s. During a step it talks to nobody but the
//! shared ledger, and to the worker whose client is to send the next sample.

mod agenda;
mod backlog;
mod clients;
mod hold;
mod opening;
mod packs;
mod send;
mod step;

use crate::clock;
use crate::dialect;
use crate::error::ConnectError;
use crate::io::{Backend, Control, Event, Handler, Token, Waker};
use crate::judge::{Judge, Latencies};
use crate::ledger::{Read, StepLedger};
use crate::plan::{self, Schedule};
use crate::series::{Counts, Cutter, Rows};
use crate::site::{Done, Share, Started};
use crate::stamp::Stamps;
use crate::target::Target;
use agenda::Agenda;
pub(crate) use backlog::BYTES_PER_WAITING_SAMPLE;
use backlog::{Backlog, Request};
use clients::{Clients, Stamp};
use hold::Hold;
pub(crate) use hold::{HeldPart, OpenOrder, StartByClock};
use opening::Opening;
pub(crate) use packs::{PacksOrder, PacksPart};
use run_record::{Faults, Plan, Timestamps};
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Longest wait of a loop that nothing wakes: the resolution of time-outs.
const IDLE_TURN: Duration = Duration::from_millis(50);

/// What a worker is told.
#[derive(Debug)]
pub(crate) enum Command {
    /// Have this many clients.
    Open(u64),
    /// Begin a step of a `connect` run: open what is missing, ping what is there.
    Connect(OpenOrder),
    /// Hold the connections, and report when the time has passed and no ping is under way.
    Hold { until_ns: u64 },
    /// Send packs to a raw echo over all connections, and give them up then.
    Packs(PacksOrder),
    /// Begin a step.
    Begin(Arc<StepLedger>),
    /// Send a sample of the step from one of the worker's clients.
    Send { index: u32, client: u64 },
    /// Count the seconds of the step from this moment on.
    CountFrom(u64),
    /// Send the step's samples by the clock.
    Start { schedule: Schedule, start_ns: u64 },
    /// Nothing; it wakes a worker that was told something for later.
    Wake,
    /// Give up what the step still waits for, counting it as missing if `count` is set.
    GiveUp { count: bool },
    /// End the step and report its part.
    Finish,
    /// Close all connections, politely until the time has passed, and end.
    Close { patience: Duration },
}

/// What a worker says.
#[derive(Debug)]
pub(crate) enum Report {
    /// All clients asked for are ready.
    Opened,
    /// A client could not be connected, or was lost between steps.
    OpenFailed(Box<ConnectError>),
    /// The worker knows the step and may receive its samples.
    Begun,
    /// The time of a hold has passed.
    Held,
    /// The last sample of the step is settled.
    AllSamples,
    /// Every client of a worker has been lost.
    AllLost,
    /// The first answers were not of the dialect: what they were, in words.
    NotUnderstood(String),
    /// Of a site: this sample was written.
    Sent(Started),
    /// Of a site: the connection of this sample takes no bytes at present.
    HeldBack(u32),
    /// Of a site: these samples are settled here.
    Done(Vec<Done>),
    /// What became of the packs.
    Packs(Box<PacksPart>),
    /// A worker's part of a step.
    Part(Box<Part>),
    /// The event loop cannot go on.
    Broken(io::Error),
}

/// A worker's part of a step.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// Number of the worker among those of its process.
    pub(crate) thread: u32,
    pub(crate) latencies: Latencies,
    pub(crate) faults: Faults,
    pub(crate) first_malformed: Option<String>,
    pub(crate) first_disconnect: Option<String>,
    pub(crate) messages: u64,
    pub(crate) reads: u64,
    pub(crate) unstamped: u64,
    pub(crate) clock_steps: u64,
    pub(crate) cpu_ns: u64,
    pub(crate) largest_lag_ns: u64,
    /// Everything that was sent and received.
    pub(crate) counts: Counts,
    pub(crate) rows: Rows,
    /// Empty but in a `connect` run.
    pub(crate) held: HeldPart,
}

/// What the controller may look at while workers work.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) connected: AtomicU64,
    /// Something that a server said was of the dialect.
    pub(crate) understood: AtomicBool,
    /// Messages that were not, before that.
    pub(crate) not_understood: AtomicU64,
    /// Bytes of raw echoes that have come back and are as they were sent.
    pub(crate) bytes: AtomicU64,
    turns: Box<[Turns]>,
}

/// Turns of a worker's loop, on a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Turns(AtomicU64);

impl Progress {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            turns: (0..workers).map(|_| Turns::default()).collect(),
            ..Self::default()
        }
    }

    pub(crate) const fn workers(&self) -> usize {
        self.turns.len()
    }

    /// How often a worker has turned.
    pub(crate) fn turns(&self, worker: usize) -> u64 {
        self.turns[worker].0.load(Ordering::Relaxed)
    }

    /// A worker turns; it alone says so of itself.
    #[inline]
    pub(crate) fn turned(&self, worker: usize) {
        let turns = &self.turns[worker].0;
        turns.store(turns.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

/// The way to another worker.
#[derive(Clone)]
pub(crate) struct Peer {
    commands: mpsc::Sender<Command>,
    waker: Waker,
}

impl Peer {
    pub(crate) fn tell(&self, command: Command) {
        self.tell_later(command);
        self.waker.wake();
    }

    /// Leaves a command that is obeyed with the next one that is told.
    pub(crate) fn tell_later(&self, command: Command) {
        // A worker that has ended has said so in its last report.
        let _ = self.commands.send(command);
    }
}

/// What all workers of a run share.
pub(crate) struct Common {
    pub(crate) plan: Arc<Plan>,
    /// The part of the run that this process has.
    pub(crate) share: Share,
    pub(crate) target: Arc<Target>,
    pub(crate) stamps: Stamps,
    pub(crate) progress: Arc<Progress>,
    pub(crate) reports: mpsc::Sender<Report>,
}

/// A worker before it has met its peers.
pub(crate) struct Worker<B: Backend> {
    backend: B,
    commands: mpsc::Receiver<Command>,
    peer: Peer,
}

impl<B: Backend> Worker<B> {
    pub(crate) fn new(timestamps: Timestamps) -> io::Result<Self> {
        let backend = B::new(timestamps)?;
        let (sender, commands) = mpsc::channel();
        let peer = Peer {
            commands: sender,
            waker: backend.waker(),
        };
        Ok(Self {
            backend,
            commands,
            peer,
        })
    }

    pub(crate) fn peer(&self) -> Peer {
        self.peer.clone()
    }

    /// Runs until it is told to close.
    pub(crate) fn run(mut self, thread: u32, peers: Vec<Peer>, common: Common) {
        let reports = common.reports.clone();
        let mut core = Core::new(thread, peers, common);
        let ran = self
            .backend
            .begin()
            .and_then(|()| core.run(&mut self.backend, &self.commands));
        if let Err(error) = ran {
            let _ = reports.send(Report::Broken(error));
        }
    }
}

/// Everything of a worker but its backend and its mailbox.
struct Core {
    /// Number of this worker among all workers of the run, and how many there are.
    number: u32,
    workers: u32,
    /// Number of this worker among its peers, who are those of this process.
    thread: u32,
    peers: Vec<Peer>,
    plan: Arc<Plan>,
    target: Arc<Target>,
    progress: Arc<Progress>,
    reports: mpsc::Sender<Report>,
    judge: Judge,
    clients: Clients,
    opening: Opening,
    /// Present in a `connect` run alone.
    hold: Option<Hold>,
    /// Samples that this worker's clients are to send next.
    to_send: VecDeque<Request>,
    /// Samples whose connections take no bytes.
    backlog: Backlog,
    /// Samples that this worker sends by the clock.
    agenda: Agenda,
    /// Random numbers drawn so far, for masks and nonces.
    drawn: u64,
    scratch: Vec<u8>,
    reads: u64,
    unstamped: u64,
    clock_steps: u64,
    largest_lag_ns: u64,
    step_cpu_start_ns: u64,
    /// Requests of the step that were written, and bytes of their frames.
    sent: u64,
    sent_bytes: u64,
    cutter: Cutter,
    closing: Option<u64>,
}

impl Core {
    fn new(thread: u32, peers: Vec<Peer>, common: Common) -> Self {
        let codec = dialect::codec(&common.plan);
        let (number, workers) = common.share.worker(thread, peers.len() as u32);
        Self {
            number,
            workers,
            thread,
            peers,
            judge: Judge::new(codec, common.stamps, common.plan.limited(), number, workers),
            opening: Opening::new(&common.plan, workers),
            hold: common.plan.connect().map(Hold::new),
            clients: Clients::new(plan::longest_message(&common.plan)),
            plan: common.plan,
            target: common.target,
            progress: common.progress,
            reports: common.reports,
            to_send: VecDeque::new(),
            backlog: Backlog::default(),
            agenda: Agenda::default(),
            drawn: 0,
            scratch: Vec::new(),
            reads: 0,
            unstamped: 0,
            clock_steps: 0,
            largest_lag_ns: 0,
            step_cpu_start_ns: 0,
            sent: 0,
            sent_bytes: 0,
            cutter: Cutter::default(),
            closing: None,
        }
    }

    fn run<B: Backend>(
        &mut self,
        backend: &mut B,
        commands: &mpsc::Receiver<Command>,
    ) -> io::Result<()> {
        loop {
            self.progress.turned(self.thread as usize);
            while let Ok(command) = commands.try_recv() {
                match command {
                    Command::Packs(order) => self.send_packs(order, backend, commands)?,
                    other => self.obey(other, backend.control()),
                }
            }
            self.send_due(backend.control());
            self.open_more(backend.control());
            self.ping_due(backend.control());
            if self.closing.is_some_and(|end| self.is_closed(end)) {
                self.clients.abort_all();
                return Ok(());
            }
            let idle = match self.has_to_send() {
                true => Duration::ZERO,
                false => self.idle(),
            };
            let turn = backend.turn(self.agenda.patience(idle), self)?;
            self.reads += turn.reads;
            self.unstamped += turn.unstamped;
            self.clock_steps += u64::from(turn.clock_stepped);
            if !self.judge.first_answers.is_settled() {
                self.heed_first_answers();
            }
            let lag = clock::now_ns().saturating_sub(turn.woke_ns);
            self.largest_lag_ns = self.largest_lag_ns.max(lag);
        }
    }

    fn heed_first_answers(&mut self) {
        let answers = &mut self.judge.first_answers;
        if !answers.is_hopeless(&self.progress, clock::now_ns()) {
            return;
        }
        let first = self.judge.first_malformed.as_deref().unwrap_or_default();
        self.report(Report::NotUnderstood(format!(
            "no answer could be understood; the first malformed message was {first}; expected was {} (docs/protocol.md): check --server-type, and that the server speaks the protocol",
            self.judge.codec().expects(self.plan.workload())
        )));
    }

    fn obey<C: Control>(&mut self, command: Command, control: &mut C) {
        match command {
            Command::Open(wanted) => self.opening.want(wanted as usize),
            Command::Connect(order) => self.begin_connections(order),
            Command::Hold { until_ns } => self.hold_until(until_ns),
            Command::Begin(ledger) => self.begin_step(ledger),
            Command::Send { index, client } => {
                self.to_send.push_back(Request::now(index, client));
            }
            Command::CountFrom(from_ns) => self.cutter.begin(from_ns),
            Command::Start { schedule, start_ns } => self.start(schedule, start_ns),
            Command::Packs(_) | Command::Wake => {}
            Command::GiveUp { count } => {
                self.forget_sends();
                self.judge.give_up_step(count);
                if let Some(hold) = &mut self.hold {
                    hold.give_up();
                }
            }
            Command::Finish => self.finish_step(),
            Command::Close { patience } => self.close(patience, control),
        }
    }

    fn report(&self, report: Report) {
        // Nobody listens any more only when the controller is gone, and the process with it.
        let _ = self.reports.send(report);
    }

    /// 64 random bits that nobody else in this run draws.
    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        let stream = self.plan.generator.seed ^ u64::from(self.number) << 32;
        plan::mix(!stream, self.drawn)
    }

    fn draw_mask(&mut self) -> [u8; 4] {
        (self.draw() as u32).to_ne_bytes()
    }

    fn note_connected(&self, change: i64) {
        self.progress
            .connected
            .fetch_add(change as u64, Ordering::Relaxed);
    }
}

impl<C: Control> Handler<C> for Core {
    #[inline]
    fn on_event(&mut self, control: &mut C, token: Token, event: Event<'_>) {
        match event {
            Event::Data {
                bytes,
                at_ns,
                there_ns,
                read_ns,
                stamped,
            } => {
                if read_ns >= self.cutter.end_ns {
                    self.cut(read_ns);
                }
                self.judge.latencies.receive_lag.record(read_ns - there_ns);
                self.judge.read = Read {
                    at_ns: read_ns,
                    unread_ns: read_ns - at_ns,
                    is_result: false,
                };
                self.on_data(control, token, bytes, Stamp { at_ns, stamped });
                if self.agenda.is_due(read_ns) {
                    self.send_by_clock(control);
                }
            }
            Event::Writable => self.on_writable(control, token),
            Event::End => self.on_end(control, token),
            Event::Failed(error) => self.on_failed(control, token, error),
        }
        if self.judge.finished > 0 {
            self.follow_up();
        }
    }
}
